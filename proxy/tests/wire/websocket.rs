//! WebSockets, over HTTP/1.1 and HTTP/2.

use std::time::Duration;

use h2::ext::Protocol;
use http::{Method, Request};

use super::client::Client;
use super::h2_client::{Begun, H2};
use super::proxy::{Plan, Proxy, get};
use super::secure::{Pem, Trust};
use super::upstream::{Heard, Peer, Upstream};

const ASK: &str = "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                   Sec-WebSocket-Protocol: chat\r\n";
const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade, x-hop\r\nUpgrade: websocket\r\n\
                      x-hop: 1\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\
                      Sec-WebSocket-Protocol: chat\r\n\r\n";

/// Switches, and answers each line with itself; `bye` ends it.
fn echo_lines(peer: &mut Peer, switch: &str) {
    let Some(head) = peer.head() else { return };
    peer.told(&head, "");
    peer.send(switch);
    while let Some(line) = peer.until(b"\n") {
        if line == "bye\n" {
            return;
        }
        peer.send(line);
    }
}

fn lines_upstream() -> Upstream {
    Upstream::run(|peer| echo_lines(peer, SWITCH))
}

fn opened(proxy: &Proxy) -> Client {
    let mut client = proxy.client();
    client.send(get("/chat", ASK));
    let head = client.head();
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    client
}

#[test]
fn bytes_pass_both_ways() {
    let upstream = lines_upstream();
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    client.send(get("/chat?x=1", ASK));
    let head = client.head();
    for line in [
        "HTTP/1.1 101 Switching Protocols",
        "connection: upgrade",
        "upgrade: websocket",
        "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        "sec-websocket-protocol: chat",
    ] {
        assert_eq!(head.matches(&format!("{line}\r\n")).count(), 1, "{line} in {head}");
    }
    for absent in ["x-hop", "content-length", "transfer-encoding"] {
        assert!(!head.contains(absent), "{absent} in {head}");
    }
    let head = format!("\r\n{}", upstream.head());
    for line in [
        "GET /chat?x=1 HTTP/1.1",
        "host: a.example",
        "connection: upgrade",
        "upgrade: websocket",
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-version: 13",
    ] {
        assert_eq!(head.matches(&format!("\r\n{line}\r\n")).count(), 1, "{line} in {head}");
    }
    for line in ["one\n", "two\n"] {
        client.send(line);
        assert_eq!(client.until(b"\n"), line.as_bytes());
    }
    // The upstream ends it, and everything with it.
    client.send("bye\n");
    assert!(client.is_closed());
    assert_eq!(upstream.heard(), Heard::End { connection: 0 });
}

#[test]
fn nothing_is_lost_that_comes_early() {
    let upstream = Upstream::run(|peer| echo_lines(peer, &format!("{SWITCH}hello\n")));
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    client.send(get("/", ASK) + "early\n");
    assert!(client.head().starts_with("HTTP/1.1 101 "));
    assert_eq!(client.until(b"\n"), b"hello\n");
    assert_eq!(client.until(b"\n"), b"early\n");
}

#[test]
fn a_client_that_goes_takes_the_upstream_along() {
    let upstream = lines_upstream();
    let proxy = Plan::to(&[&upstream]).start();
    drop(opened(&proxy));
    upstream.head();
    assert_eq!(upstream.heard(), Heard::End { connection: 0 });
}

#[test]
fn an_end_of_one_side_is_passed_on_behind_its_bytes() {
    let upstream = Upstream::run(|peer| {
        peer.head();
        peer.send(SWITCH);
        let heard = peer.wait_for_end();
        peer.send(format!("heard {}\n", heard.len()));
    });
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = opened(&proxy);
    client.send("x".repeat(300_000)).finish_sending();
    assert_eq!(client.rest(), b"heard 300000\n");
}

#[test]
fn silence_ends_it_and_a_word_of_either_side_keeps_it() {
    let upstream = Upstream::run(|peer| {
        peer.head();
        peer.send(SWITCH);
        for _ in 0..6 {
            std::thread::sleep(Duration::from_millis(100));
            peer.send(".");
        }
        assert_eq!(peer.wait_for_end().len(), 6);
        peer.told("", "");
    });
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.websocket_timeout = Duration::from_millis(250);
    plan.settings.keep_alive_timeout = Duration::from_millis(50);
    plan.settings.header_timeout = Duration::from_millis(50);
    let proxy = plan.start();
    let mut client = opened(&proxy);
    assert_eq!(client.take(6), b"......");
    for _ in 0..6 {
        std::thread::sleep(Duration::from_millis(100));
        client.send(".");
    }
    assert!(client.is_closed());
    upstream.head();
}

#[test]
fn only_a_websocket_is_asked_for() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    let h2c = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n";
    let post = format!("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 1\r\n{ASK}\r\nx");
    let old = format!("GET / HTTP/1.0\r\nHost: a.example\r\n{ASK}\r\n");
    for request in [
        get("/", h2c),
        get("/", "Connection: Upgrade\r\nUpgrade: TLS/1.0, foo\r\n"),
        get("/", "Upgrade: websocket\r\n"),
        get("/", "Connection: Upgrade\r\nUpgrade: websockets\r\n"),
        get("/", "Connection: Upgrade\r\n"),
        post,
        old,
    ] {
        let mut client = proxy.client();
        let reply = client.ask(&request);
        assert_eq!(reply.status, 200, "{request}");
        let text = reply.text().to_ascii_lowercase();
        assert!(!text.contains("\r\nupgrade:") && !text.contains("settings"), "{text}");
        assert!(!text.contains("connection: upgrade"), "{text}");
        if !request.contains("HTTP/1.0") {
            assert_eq!(client.ask(get("/", "Connection: close\r\n")).status, 200, "{request}");
            assert!(client.is_closed());
        }
    }
    // One of several is enough.
    let upstream = lines_upstream();
    let proxy = Plan::to(&[&upstream]).start();
    let both = "Connection: upgrade\r\nConnection: x\r\nUpgrade: h2c, websocket\r\n";
    assert!(proxy.client().send(get("/", both)).head().starts_with("HTTP/1.1 101 "));
}

#[test]
fn an_upstream_may_refuse_but_not_switch_to_something_else() {
    for (response, want) in [
        ("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", 403),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200),
        ("HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nContent-Length: 0\r\n\r\n", 426),
        ("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", 502),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", 502),
    ] {
        let upstream = Upstream::fixed(response);
        let proxy = Plan::to(&[&upstream]).start();
        let mut client = proxy.client();
        let reply = client.ask(get("/", ASK));
        assert_eq!(reply.status, want, "{response}");
        assert!(!reply.closes(), "{response}");
        assert_eq!(client.ask(get("/healthz", "")).status, 200, "{response}");
    }
    let unasked = Upstream::fixed(SWITCH);
    let proxy = Plan::to(&[&unasked]).start();
    assert_eq!(proxy.ask(get("/", "")).status, 502);
}

#[test]
fn it_works_by_tls() {
    let upstream = lines_upstream();
    let pem = Pem::of(&["a.example"]);
    let proxy = Plan::to(&[&upstream]).secure(&[&pem], None).start();
    let mut client = proxy.secure_client(&Trust::in_these(&[&pem]), "a.example");
    client.send(get("/", ASK));
    assert!(client.head().starts_with("HTTP/1.1 101 "));
    let line = "y".repeat(200_000) + "\n";
    client.send(&line);
    assert!(client.until(b"\n") == line.as_bytes());
    client.send("bye\n");
    assert!(client.is_closed());
}

/// Asks for a WebSocket on a stream.
fn connect(client: &mut H2, protocol: &'static str) -> Begun {
    // The server's settings come first.
    assert_eq!(client.get("https://a.example/healthz").status(), 200);
    let request = Request::builder()
        .method(Method::CONNECT)
        .uri("https://a.example/chat?x=1")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "client's own")
        .extension(Protocol::from_static(protocol))
        .body(())
        .unwrap();
    client.begin(request, false).unwrap()
}

fn secure(upstream: &Upstream) -> (Proxy, Trust) {
    let pem = Pem::of(&["a.example"]);
    let trust = Trust::in_these(&[&pem]);
    (Plan::to(&[upstream]).secure(&[&pem], None).start(), trust)
}

#[test]
fn a_stream_becomes_a_websocket() {
    let upstream = lines_upstream();
    let (proxy, trust) = secure(&upstream);
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    let Begun { response, mut body } = connect(&mut client, "websocket");
    let response = client.block_on(response).unwrap();
    assert_eq!(response.status(), 200);
    for absent in ["connection", "upgrade", "sec-websocket-accept", "content-length"] {
        assert!(!response.headers().contains_key(absent), "{absent}");
    }
    assert_eq!(response.headers()["sec-websocket-protocol"], "chat");
    let head = upstream.head();
    for line in
        ["GET /chat?x=1 HTTP/1.1", "host: a.example", "connection: upgrade", "upgrade: websocket"]
    {
        assert!(head.contains(&format!("{line}\r\n")), "{line} in {head}");
    }
    let key = super::client::field(&head, "sec-websocket-key").unwrap();
    assert!(key.len() == 24 && key.ends_with("=="), "{key}");

    let mut incoming = response.into_body();
    for line in ["one\n", "two\n"] {
        body.send_data(line.into(), false).unwrap();
        let data = client.block_on(incoming.data()).unwrap().unwrap();
        assert_eq!(data, line.as_bytes());
        assert_eq!(client.get("https://a.example/healthz").status(), 200);
    }
    body.send_data("bye\n".into(), false).unwrap();
    // It ends, and is not reset.
    while let Some(data) = client.block_on(incoming.data()) {
        assert_eq!(data.unwrap(), "");
    }
    assert_eq!(upstream.heard(), Heard::End { connection: 0 });
    assert_eq!(client.get("https://a.example/healthz").status(), 200);

    // A stream that is given up is given up upstream.
    let Begun { response, body } = connect(&mut client, "websocket");
    let response = client.block_on(response).unwrap();
    upstream.head();
    drop((response, body));
    assert_eq!(client.get("https://a.example/healthz").status(), 200);
    assert_eq!(upstream.heard(), Heard::End { connection: 1 });
}

#[test]
fn a_stream_is_a_websocket_only_if_the_upstream_says_so() {
    for (response, want) in [
        ("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", 403),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 502),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", 502),
    ] {
        let upstream = Upstream::fixed(response);
        let (proxy, trust) = secure(&upstream);
        let mut client = H2::secure(proxy.https, &trust, "a.example");
        let begun = connect(&mut client, "websocket");
        assert_eq!(client.head(begun).unwrap().status(), want, "{response}");
        assert_eq!(client.get("https://a.example/healthz").status(), 200);
    }
    // No other protocol is spoken that way.
    let upstream = Upstream::echo();
    let (proxy, trust) = secure(&upstream);
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    let begun = connect(&mut client, "connect-udp");
    assert_eq!(client.head(begun).unwrap().status(), 405);
}
