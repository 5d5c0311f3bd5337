//! Answers of the proxy's own.

use super::proxy::{Plan, get};
use super::upstream::Upstream;

#[test]
fn responds() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    let reply = client.ask(get("/healthz", ""));
    assert_eq!((reply.status, reply.text()), (200, "ok"));
    let reply = client.send(get("/healthz", "").replace("GET", "HEAD")).reply_to("HEAD");
    assert_eq!((reply.status, reply.field("content-length").as_deref()), (200, Some("2")));
    let reply = client.ask(get("/empty", ""));
    assert_eq!((reply.status, reply.field("content-length")), (204, None));
    assert_eq!(client.ask(get("/healthz", "")).text(), "ok");
    assert!(upstream.is_silent());
}

/// options-asterisk
#[test]
fn answers_options_for_itself() {
    let proxy = Plan::to_addresses(&[]).start();
    let mut client = proxy.client();
    for _ in 0..2 {
        let reply = client.ask("OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n");
        assert_eq!(reply.status, 200);
        assert!(reply.field("allow").unwrap().contains("GET"));
    }
}

/// redirect-loop-proto: the normalised host, the raw path and query, 308, no open redirect.
#[test]
fn redirects() {
    let proxy = Plan::to_addresses(&[]).and("b.example", &Upstream::echo()).start();
    for (host, path, want) in [
        ("a.example", "/secure/x//y?q=%2F", "https://a.example/secure/x//y?q=%2F"),
        ("A.Example.:8080", "/secure/", "https://a.example/secure/"),
        ("[2001:DB8::1]:80", "/secure/x", "https://[2001:db8::1]/secure/x"),
        ("a.example", "/old/a/b?c", "/new/a/b?c"),
        ("a.example", "/old//evil.example/x", "/new//evil.example/x?"),
        ("a.example", "/old/a%20b%2Fc", "/new/a%20b/c?"),
    ] {
        let reply = proxy.ask(format!("POST {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(reply.status, 308, "{host} {path}");
        assert_eq!(reply.field("location").as_deref(), Some(want), "{host} {path}");
    }
    let reply = proxy.ask("GET http://b.example/secure/x HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert_eq!(reply.field("location").as_deref(), Some("https://b.example/secure/x"));
    // Without a host there is nowhere to go.
    assert_eq!(proxy.ask("GET /secure/x HTTP/1.0\r\n\r\n").status, 400);
}

/// smuggle-unread-body-reuse: what is behind a request that we answer ourselves is never a request.
#[test]
fn closes_after_content_that_nobody_reads() {
    let upstream = Upstream::echo();
    let proxy = Plan::to_addresses(&[]).and("b.example", &upstream).start();
    let hidden = "GET /alpha HTTP/1.1\r\nHost: b.example\r\n\r\n";
    for (host, path, status) in [
        ("b.example", "/healthz", 200),
        ("b.example", "/secure/x", 308),
        ("nobody.example", "/x", 421),
        ("a.example", "/x", 503),
    ] {
        for lines in [
            format!("Content-Length: {}\r\n", hidden.len() + 20),
            "Transfer-Encoding: chunked\r\n".into(),
        ] {
            let mut client = proxy.client();
            let reply =
                client.ask(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{lines}\r\n{hidden}"));
            assert_eq!((reply.status, reply.closes()), (status, true), "{host}{path}");
            client.finish_sending();
            assert_eq!(client.rest(), b"", "{host}{path}");
        }
    }
    assert!(upstream.is_silent());
}

/// And a client that is still sending hears the answer, instead of a reset.
#[test]
fn is_heard_over_content_that_nobody_reads() {
    let proxy = Plan::to_addresses(&[]).start();
    for _ in 0..20 {
        let mut client = proxy.client();
        client.send("POST /healthz HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3000000\r\n\r\n");
        client.try_send(vec![b'x'; 2_000_000]);
        assert_eq!(client.reply().status, 200);
    }
}

/// A fleet without servers.
#[test]
fn says_that_nobody_is_there() {
    let proxy = Plan::to_addresses(&[]).start();
    let reply = proxy.ask(get("/", ""));
    assert_eq!(reply.status, 503);
    let proxy_status = reply.field("proxy-status");
    assert_eq!(proxy_status.as_deref(), Some("fingerpost; error=destination_unavailable"));
}
