//! Content and trailers, both ways.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use super::client::field;
use super::forwarding::reply_of;
use super::proxy::{Plan, get};
use super::upstream::{Heard, Upstream};

fn post(lines: &str, content: &str) -> String {
    format!("POST /p HTTP/1.1\r\nHost: a.example\r\n{lines}\r\n{content}")
}

/// Framing is generated anew: sizes and extensions of a client's chunks are never relayed.
#[test]
fn reframes_requests() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    for (request, framing, content) in [
        (post("Content-Length: 5\r\n", "hello"), ("content-length", "5"), "hello"),
        (post("Content-Length: 0\r\n", ""), ("content-length", "0"), ""),
        (
            post("Transfer-Encoding: CHUNKED\r\n", "5;ext=\"x\"\r\nhello\r\n0;last\r\n\r\n"),
            ("transfer-encoding", "chunked"),
            "5\r\nhello\r\n0\r\n\r\n",
        ),
        // GET with content of unknown length keeps it.
        (
            post("Transfer-Encoding: chunked\r\n", "1\r\nx\r\n0\r\n\r\n").replace("POST", "GET"),
            ("transfer-encoding", "chunked"),
            "1\r\nx\r\n0\r\n\r\n",
        ),
    ] {
        let reply = client.ask(&request);
        let (head, body) = reply.text().split_once("\r\n\r\n").unwrap();
        assert_eq!(field(head, framing.0).as_deref(), Some(framing.1), "{request:?}");
        assert_eq!(body, content, "{request:?}");
    }
}

/// Both lengths: the coding wins, the other goes, and the connection is not used again.
#[test]
fn takes_the_coding_over_the_length() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    for lines in [
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
    ] {
        let mut client = proxy.client();
        let reply = client.ask(post(lines, "1\r\nx\r\n0\r\n\r\n"));
        assert!(!reply.text().contains("content-length"), "{}", reply.text());
        assert!(reply.closes() && client.is_closed());
    }
}

/// smuggle-bare-lf-chunk-ext, and a 400 that is ours: never 502, never sent again.
#[test]
fn refuses_malformed_content() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    for content in
        ["zz\r\n", "2\r\nabc\r\n0\r\n\r\n", "10000000000000000\r\n", "1\nx\n0\n\n", "-1\r\n"]
    {
        let mut client = proxy.client();
        let reply = client.ask(post("Transfer-Encoding: chunked\r\n", content));
        assert_eq!((reply.status, reply.closes()), (400, true), "{content:?}");
        assert!(client.is_closed(), "{content:?}");
        assert!(reply.text().contains("content is malformed"), "{content:?}");
    }
    // Whether or not it heard of them, nothing of them was sent twice.
    assert!(upstream.requests() <= 5);
}

/// trailers: those that the `Trailer` field names go through, both ways.
#[test]
fn passes_trailers() {
    let upstream = Upstream::run(|peer| {
        while let Some((_, body)) = peer.request() {
            assert_eq!(body, "2\r\nhi\r\n0\r\nx-sum: 1\r\n\r\n");
            peer.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Grpc-Status, X-Other\r\n\r\n\
                 2\r\nyo\r\n0\r\nGrpc-Status: 5\r\nX-Unnamed: 1\r\n\r\n",
            );
        }
    });
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    let content = "2\r\nhi\r\n0\r\nX-Sum: 1\r\nX-Unnamed: 2\r\n\r\n";
    let lines =
        "Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\nTE: trailers\r\nConnection: TE\r\n";
    let reply = client.ask(post(lines, content));
    assert_eq!(reply.field("trailer").as_deref(), Some("Grpc-Status, X-Other"));
    assert_eq!(reply.text(), "2\r\nyo\r\n0\r\ngrpc-status: 5\r\n\r\n");
    let Heard::Request { head, .. } = upstream.heard() else { panic!() };
    assert_eq!(field(&head, "trailer").as_deref(), Some("X-Sum"));
    // A client that didn't ask for trailers gets the content without them.
    let reply = client.ask(post("Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n", content));
    assert_eq!(reply.text(), "2\r\nyo\r\n0\r\n\r\n");
}

/// smuggle-forbidden-trailers: whatever `Trailer` says, these never come behind content.
#[test]
fn drops_forbidden_trailers() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    let names = "Host, Content-Length, Transfer-Encoding, X-Forwarded-Host, Authorization, X_Fwd, \
                 X-Script-Name, Cookie, X-Ok";
    let reply = proxy.ask(post(
        &format!("Transfer-Encoding: chunked\r\nTrailer: {names}\r\n"),
        "1\r\nx\r\n0\r\nHost: b.example\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\
         X-Forwarded-Host: b\r\nAuthorization: x\r\nX_Fwd: b\r\nX-Script-Name: /b\r\nCookie: a\r\nX-Ok: 1\r\n\r\n",
    ));
    let (head, body) = reply.text().split_once("\r\n\r\n").unwrap();
    assert_eq!(body, "1\r\nx\r\n0\r\nx-ok: 1\r\n\r\n");
    assert_eq!(field(head, "host").as_deref(), Some("a.example"));
}

/// expect-100-deadlock: the upstream's 100 is what opens the way, and there is one of it.
#[test]
fn asks_the_upstream_before_the_client() {
    let upstream = Upstream::run(|peer| {
        let head = peer.head().unwrap();
        assert_eq!(field(&head, "expect").as_deref(), Some("100-Continue"));
        peer.told(&head, "");
        peer.send("HTTP/1.1 100 Continue\r\n\r\n");
        let body = peer.take(5).unwrap();
        peer.send(reply_of(&body));
    });
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    client.send(post("Content-Length: 5\r\nExpect: 100-Continue\r\n", ""));
    assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n\r\n");
    let reply = client.ask("hello");
    assert_eq!((reply.status, reply.text()), (200, "hello"));
}

/// expect-100-deadlock: an upstream that refuses by the header alone is heard at once.
#[test]
fn relays_an_early_refusal() {
    for status in ["417 Expectation Failed", "401 Unauthorized"] {
        let upstream = Upstream::run(move |peer| {
            let head = peer.head().unwrap();
            peer.told(&head, "");
            peer.send(format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nno"));
            assert_eq!(peer.wait_for_end(), "");
        });
        let proxy = Plan::to(&[&upstream]).start();
        let mut client = proxy.client();
        let reply = client.ask(post("Content-Length: 2048\r\nExpect: 100-continue\r\n", ""));
        assert_eq!(reply.status.to_string(), status[..3]);
        assert!(reply.closes() && client.is_closed());
        assert!(matches!(upstream.heard(), Heard::Request { .. }));
        assert!(matches!(upstream.heard(), Heard::End { .. }));
    }
}

/// expect-100-deadlock: an upstream that knows no 100 gets the content after a while.
#[test]
fn does_not_wait_for_a_100_for_ever() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    client.send(post("Content-Length: 2\r\nExpect: 100-continue\r\n", ""));
    assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n\r\n");
    assert!(client.ask("hi").text().ends_with("hi"));
    // HTTP/1.0 knows none either, and is never sent one.
    let request = post("Content-Length: 2\r\nExpect: 100-continue\r\n", "hi").replace("1.1", "1.0");
    let reply = proxy.ask(request);
    assert_eq!(reply.status, 200);
    assert_eq!(field(reply.text(), "expect"), None);
}

/// Other expectations are the upstream's to judge.
#[test]
fn passes_other_expectations_on() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    let reply = proxy.ask(post("Content-Length: 2\r\nExpect: foo\r\n", "hi"));
    assert_eq!(field(reply.text(), "expect").as_deref(), Some("foo"));
}

/// Content flows as it comes, each way, with nothing held back.
#[test]
fn streams_both_ways() {
    let upstream = Upstream::run(|peer| {
        let head = peer.head().unwrap();
        peer.told(&head, "");
        peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        while let Some(line) = peer.until(b"\r\n") {
            if line == "0\r\n" {
                break;
            }
            let data = peer.until(b"\r\n").unwrap();
            peer.send(format!("{line}{data}"));
        }
        peer.send("0\r\n\r\n");
    });
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    client.send(post("Transfer-Encoding: chunked\r\n", ""));
    assert!(client.head().starts_with("HTTP/1.1 200"));
    for word in ["one", "three", "x"] {
        let chunk = format!("{}\r\n{word}\r\n", word.len());
        assert_eq!(client.send(&chunk).take(chunk.len()), chunk.as_bytes());
    }
    assert_eq!(client.send("0\r\n\r\n").take(5), b"0\r\n\r\n");
}

/// A client that takes nothing stops the upstream, and an upstream that takes nothing the client.
#[test]
fn pushes_back() {
    let (written, wrote) = channel();
    let written = Mutex::new(written);
    let upstream = Upstream::run(move |peer| {
        let head = peer.head().unwrap();
        peer.told(&head, "");
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 268435456\r\n\r\n");
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..256 {
            peer.send(&chunk);
            let _ = written.lock().unwrap().send(chunk.len());
        }
    });
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    client.send(get("/", ""));
    client.head();
    let mut sent = 0;
    while let Ok(more) = wrote.recv_timeout(std::time::Duration::from_millis(300)) {
        sent += more;
    }
    // What the buffers of two sockets take, and not the 256 MiB that there are.
    assert!(sent < 64 << 20, "{sent}");
    assert_eq!(client.take(1 << 28).len(), 1 << 28);
}

/// A request's end before its content's end reaches the upstream as such.
#[test]
fn a_client_that_leaves_takes_its_request_along() {
    let upstream = Upstream::run(|peer| {
        let head = peer.head().unwrap();
        let rest = peer.wait_for_end();
        peer.told(&head, &rest);
    });
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    client.send(post("Content-Length: 10\r\n", "hel"));
    client.finish_sending();
    client.rest();
    let Heard::Request { body, .. } = upstream.heard() else { panic!() };
    assert_eq!(body, "hel");
    // Also while it waits for a response.
    let mut client = proxy.client();
    client.send(get("/", ""));
    drop(client);
    assert!(matches!(upstream.heard(), Heard::End { .. } | Heard::Request { .. }));
}

/// An answer that comes before the request is complete is passed on; neither connection is reused.
#[test]
fn answers_early() {
    let numbers = Arc::new(Mutex::new(Vec::new()));
    let upstream = Upstream::run({
        let numbers = Arc::clone(&numbers);
        move |peer| {
            numbers.lock().unwrap().push(peer.number);
            let head = peer.head().unwrap();
            peer.told(&head, "");
            peer.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
            peer.wait_for_end();
        }
    });
    let proxy = Plan::to(&[&upstream]).start();
    for _ in 0..2 {
        let mut client = proxy.client();
        client.send(post("Content-Length: 100000000\r\n", "some"));
        let reply = client.reply();
        assert_eq!((reply.status, reply.text(), reply.closes()), (413, "big", true));
        // Much more than sockets hold; the client is not reset while it still writes.
        client.try_send(vec![b'x'; 1 << 20]);
        drop(client);
    }
    assert_eq!(*numbers.lock().unwrap(), [0, 1]);
}
