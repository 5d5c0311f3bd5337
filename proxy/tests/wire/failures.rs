//! Upstreams that fail.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::forwarding::reply_of;
use super::proxy::{Plan, get};
use super::upstream::Upstream;

/// An address where nobody listens.
fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn says_what_failed() {
    let cases: [(&str, &str, u16, &str); 12] = [
        ("closes at once", "", 502, "connection_terminated"),
        ("closes within the header", "HTTP/1.1 200 OK\r\nContent-", 502, "connection_terminated"),
        ("speaks something else", "SSH-2.0-OpenSSH_9.2\r\n", 502, "http_protocol_error"),
        ("speaks garbage", "\0\u{1}\u{2}\u{3}\r\n\r\n", 502, "http_protocol_error"),
        (
            "NUL in a field (header-nul-bytes)",
            "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
            502,
            "http_protocol_error",
        ),
        (
            "folds a line",
            "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
            502,
            "http_protocol_error",
        ),
        (
            "space before the colon",
            "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n",
            502,
            "http_protocol_error",
        ),
        (
            "lengths that differ",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nhi",
            502,
            "http_protocol_error",
        ),
        (
            "a coding unknown",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            502,
            "http_protocol_error",
        ),
        (
            "a coding in HTTP/1.0",
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            502,
            "http_protocol_error",
        ),
        (
            "switches protocols unasked",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
            502,
            "http_upgrade_failed",
        ),
        ("HTTP/2", "\0\0\x12\x04\0\0\0\0\0", 502, "http_protocol_error"),
    ];
    for (what, response, status, error) in cases {
        let upstream = Upstream::run(move |peer| {
            peer.request();
            peer.send(response);
        });
        let proxy = Plan::to(&[&upstream]).start();
        let mut client = proxy.client();
        let reply = client.ask(get("/", ""));
        assert_eq!(reply.status, status, "{what}");
        let proxy_status = format!("fingerpost; error={error}");
        assert_eq!(reply.field("proxy-status"), Some(proxy_status), "{what}");
        assert_eq!(reply.field("content-type").as_deref(), Some("application/problem+json"));
        let problem: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(problem["status"], status, "{what}");
        // The client's connection is as good as before, and one failure was one request.
        assert_eq!(client.ask(get("/healthz", "")).status, 200, "{what}");
        assert_eq!(upstream.requests(), 1, "{what}");
    }
}

#[test]
fn says_that_nobody_listens() {
    let proxy = Plan::to_addresses(&[nobody()]).start();
    let reply = proxy.ask(get("/", ""));
    assert_eq!(reply.status, 502);
    assert_eq!(
        reply.field("proxy-status").as_deref(),
        Some("fingerpost; error=connection_refused")
    );
}

/// Nothing was sent, so that another server may be asked; with any method.
#[test]
fn asks_the_next_server() {
    let upstream = Upstream::fixed(reply_of("here"));
    let proxy = Plan::to_addresses(&[nobody(), upstream.address, nobody()]).start();
    let mut client = proxy.client();
    for _ in 0..6 {
        let request = "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\n\r\nhi";
        assert_eq!(client.ask(request).text(), "here");
    }
    assert_eq!(upstream.requests(), 6);
}

/// A server that gave no connection is passed over for a while, unless no other is left.
#[test]
fn passes_over_a_server_that_is_down() {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    // It accepts, and closes before anything was sent: nothing gets there.
    let down = Upstream::run(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    let up = Upstream::fixed(reply_of("up"));
    let proxy = Plan::to_addresses(&[nobody(), up.address]).start();
    let mut client = proxy.client();
    for _ in 0..6 {
        assert_eq!(client.ask(get("/", "")).text(), "up");
    }
    let proxy = Plan::to_addresses(&[nobody(), nobody(), down.address]).start();
    let mut client = proxy.client();
    for _ in 0..3 {
        assert_eq!(client.ask(get("/", "")).status, 502);
    }
    assert!(connections.load(Ordering::SeqCst) >= 3);
}

#[test]
fn gives_up_on_a_slow_response() {
    let upstream = Upstream::run(|peer| {
        peer.request();
        peer.wait_for_end();
    });
    let mut plan = Plan::to(&[&upstream]);
    plan.fleets[0].response_timeout = Duration::from_millis(100);
    let proxy = plan.start();
    let mut client = proxy.client();
    let reply = client.ask(get("/", ""));
    assert_eq!(reply.status, 504);
    let proxy_status = reply.field("proxy-status");
    assert_eq!(proxy_status.as_deref(), Some("fingerpost; error=http_response_timeout"));
    assert_eq!(client.ask(get("/healthz", "")).status, 200);
    // The request is not sent again, and its connection is closed.
    upstream.head();
    assert!(matches!(upstream.heard(), super::upstream::Heard::End { connection: 0 }));
}

/// The time for a response begins when the request is complete.
#[test]
fn a_slow_upload_is_no_slow_response() {
    let upstream = Upstream::echo();
    let mut plan = Plan::to(&[&upstream]);
    plan.fleets[0].response_timeout = Duration::from_millis(200);
    let proxy = plan.start();
    let mut client = proxy.client();
    client.send("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\n\r\n");
    for byte in ["h", "e", "l", "l"] {
        client.send(byte);
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(client.ask("o").text().ends_with("hello"));
}

/// Content that stops: a length or chunks that don't come make the client's connection fail too.
#[test]
fn cuts_what_was_cut() {
    for (response, content) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhal", "hal"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhal\r\n", "3\r\nhal\r\n"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhal\r\nzz\r\n", "3\r\nhal\r\n"),
    ] {
        for stalls in [false, true] {
            let upstream = Upstream::run(move |peer| {
                peer.request();
                peer.send(response);
                if stalls {
                    peer.wait_for_end();
                }
            });
            let mut plan = Plan::to(&[&upstream]);
            plan.fleets[0].body_timeout = Duration::from_millis(100);
            let proxy = plan.start();
            let mut client = proxy.client();
            client.send(get("/", ""));
            assert!(client.head().starts_with("HTTP/1.1 200"));
            assert_eq!(String::from_utf8(client.rest()).unwrap(), content, "{response:?}");
        }
    }
}

/// The pool recovers: a server that comes back is used again.
#[test]
fn recovers() {
    let address = nobody();
    let proxy = Plan::to_addresses(&[address]).start();
    let mut client = proxy.client();
    assert_eq!(client.ask(get("/", "")).status, 502);
    let listener = TcpListener::bind(address).unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 1024];
        assert!(std::io::Read::read(&mut stream, &mut head).unwrap() > 0);
        std::io::Write::write_all(&mut stream, reply_of("back").as_bytes()).unwrap();
        stream
    });
    assert_eq!(client.ask(get("/", "")).text(), "back");
    server.join().unwrap();
}

/// A response header larger than we take (large-headers).
#[test]
fn refuses_a_huge_response_header() {
    let upstream = Upstream::run(|peer| {
        peer.request();
        peer.send(format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(1 << 20)));
    });
    let proxy = Plan::to(&[&upstream]).start();
    let reply = proxy.ask(get("/", ""));
    assert_eq!(reply.status, 502);
    assert!(reply.field("proxy-status").unwrap().contains("header_section_size"), "{}", reply.head);
}
