//! Clients that a proxy in front announces by PROXY protocol.

use std::time::Duration;

use super::guarded::Guarded;
use super::proxy::get;
use super::upstream::Upstream;

/// `/` is for everybody, `/inside` for 10.0.0.0/8.
const ROUTES: &str = r#"
[timeouts]
header_read_timeout = "200ms"
[forwarding]
trusted_proxies = ["192.0.2.9"]
[[routes]]
hosts = ["a.example"]
fleet = "old"
[[routes]]
hosts = ["a.example"]
path = "/inside"
fleet = "old"
internal_only = ["10.0.0.0/8"]
"#;

const LISTEN: &str = "proxy_protocol = [\"127.0.0.1:0\"]\n";

/// A header of version 2 for a client's address.
fn binary(client: [u8; 4]) -> Vec<u8> {
    let mut header = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0f".to_vec();
    header.extend(client);
    header.extend([10, 0, 0, 1, 0x12, 0x67, 0, 80, 4, 0, 0]);
    header
}

fn line(client: &str) -> Vec<u8> {
    format!("PROXY TCP4 {client} 10.0.0.1 4711 8443\r\n").into_bytes()
}

#[test]
fn the_client_is_who_was_announced() {
    let upstream = Upstream::echo();
    let proxy = Guarded::start_listening(LISTEN, &upstream, &upstream, ROUTES);
    let forged = "X-Forwarded-For: 10.0.0.7\r\n";
    for (header, lines, client, inside) in [
        (line("192.0.2.1"), "", "192.0.2.1", false),
        (line("192.0.2.1"), forged, "192.0.2.1", false),
        (line("10.0.0.7"), "", "10.0.0.7", true),
        (binary([192, 0, 2, 1]), forged, "192.0.2.1", false),
        (binary([10, 0, 0, 7]), "", "10.0.0.7", true),
        // One who is trusted may say more.
        (line("192.0.2.9"), forged, "10.0.0.7, 192.0.2.9", true),
        (b"PROXY UNKNOWN\r\n".to_vec(), "", "127.0.0.1", false),
        (b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0".to_vec(), "", "127.0.0.1", false),
    ] {
        let mut connection = proxy.client();
        connection.send(&header);
        let reply = connection.ask(get("/", lines));
        let told = format!("x-forwarded-for: {client}\r\n");
        assert!(reply.text().contains(&told), "{header:?} {}", reply.text());
        let port = if header.starts_with(b"PROXY TCP4") { "8443" } else { "" };
        assert!(reply.text().contains(&format!("x-forwarded-port: {port}")), "{}", reply.text());
        // A header counts for the whole connection, however many requests are on it.
        for _ in 0..2 {
            let want = if inside { 200 } else { 403 };
            assert_eq!(connection.ask(get("/inside", lines)).status, want, "{header:?}");
        }
    }
}

/// Neither where it is expected and doesn't come, nor where it comes and isn't expected.
#[test]
fn a_header_is_read_where_it_is_expected_only() {
    let upstream = Upstream::echo();
    let proxy = Guarded::start_listening(LISTEN, &upstream, &upstream, ROUTES);
    let twice = [line("10.0.0.7"), line("10.0.0.8")].concat();
    let long = format!("PROXY UNKNOWN {}\r\n", "x".repeat(100)).into_bytes();
    let large = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\xff\xff".to_vec();
    for header in
        [b"".to_vec(), b"PROXY ".to_vec(), b"PROXY TCP4 1 2 3 4\r\n".to_vec(), long, large]
    {
        let mut client = proxy.client();
        client.try_send(&header);
        client.try_send(get("/", ""));
        assert!(client.is_closed(), "{header:?}");
    }
    let mut client = proxy.client();
    assert_eq!(client.send(twice).ask(get("/", "")).status, 400);
    // A client that says nothing has no more time for this than for anything else.
    for begun in ["", "PROXY TCP4 10.0"] {
        let mut client = proxy.client();
        client.send(begun);
        assert!(client.is_closed(), "{begun:?}");
    }
    assert_eq!(upstream.requests(), 0);
    let open = Guarded::start(&upstream, &upstream, ROUTES);
    let mut client = open.client();
    assert_eq!(client.send(line("10.0.0.7")).reply().status, 400);
}

/// It may come in pieces, and what comes with it is not lost.
#[test]
fn a_header_is_cut_off_exactly() {
    let upstream = Upstream::echo();
    let proxy = Guarded::start_listening(LISTEN, &upstream, &upstream, ROUTES);
    for header in [line("10.0.0.7"), binary([10, 0, 0, 7])] {
        let whole = [header.clone(), get("/inside", "").into_bytes()].concat();
        assert_eq!(proxy.client().ask(whole).status, 200);
        let mut client = proxy.client();
        for byte in &header {
            client.send([*byte]);
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(client.ask(get("/inside", "")).status, 200);
    }
}

#[test]
fn limits_count_the_client_that_was_announced() {
    let upstream = Upstream::echo();
    let text = format!("{ROUTES}[limits]\nmax_connections_per_address = 1\n");
    let proxy = Guarded::start_listening(LISTEN, &upstream, &upstream, &text);
    let mut held = proxy.client();
    assert_eq!(held.send(line("192.0.2.1")).ask(get("/", "")).status, 200);
    for (client, want) in [("192.0.2.1", 503), ("192.0.2.2", 200)] {
        assert_eq!(proxy.client().send(line(client)).ask(get("/", "")).status, want, "{client}");
    }
    assert_eq!(held.ask(get("/", "")).status, 200);
}
