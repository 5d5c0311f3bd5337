//! The request line, the host, and what routing makes of them.

use super::proxy::{Plan, get};
use super::upstream::{Heard, Upstream};

/// DESIGN 8: path and query byte for byte; absolute-form becomes origin-form.
#[test]
fn forwards_the_target_byte_for_byte() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    for (target, want) in [
        ("/", "/"),
        ("//x//./../y", "//x//./../y"),
        ("/%7Ea%2f%2F%c3%a9?q=%20+&x=%zz", "/%7Ea%2f%2F%c3%a9?q=%20+&x=%zz"),
        ("/a;b=c,d@e:f'(g)!*~", "/a;b=c,d@e:f'(g)!*~"),
        ("/?", "/?"),
        ("/x?a?b/c", "/x?a?b/c"),
        ("http://a.example/x//y?z", "/x//y?z"),
        ("HTTP://A.example:8080/%41", "/%41"),
        // absolute-form-empty-path
        ("http://a.example", "/"),
        ("http://a.example?q=1", "/?q=1"),
    ] {
        let reply = client.ask(format!("GET {target} HTTP/1.1\r\nHost: a.example\r\n\r\n"));
        assert_eq!(reply.status, 200, "{target}");
        let line = reply.text().lines().next().unwrap().to_owned();
        assert_eq!(line, format!("GET {want} HTTP/1.1"), "{target}");
    }
}

/// absolute-form-vs-host: nobody sees the `Host` that was sent.
#[test]
fn absolute_form_replaces_the_host() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    let reply = proxy.ask("GET http://a.example:81/x HTTP/1.1\r\nHost: b.example\r\n\r\n");
    assert_eq!(reply.status, 200);
    let text = reply.text();
    assert!(text.contains("host: a.example:81\r\n"), "{text}");
    assert!(text.contains("x-forwarded-host: a.example:81\r\n"), "{text}");
    assert!(!text.contains("b.example"), "{text}");
}

/// host-port-suffix, host-uppercase-lookup, host-trailing-dot: matched alike, forwarded as sent.
#[test]
fn preserves_the_host() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    for host in ["a.example", "A.eXample", "a.example:8443", "a.example:", "a.example."] {
        let reply = proxy.ask(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert!(reply.text().contains(&format!("\r\nhost: {host}\r\n")), "{}", reply.text());
    }
}

/// What is refused before any route is looked at, and whether the connection survives it.
#[test]
fn refuses_what_names_no_one_host() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    for (bug, request, status, closes) in [
        ("host-missing-http11", "GET / HTTP/1.1\r\n\r\n", 400, true),
        (
            "host-duplicate-headers",
            "GET / HTTP/1.1\r\nHost: a.example\r\nHost: b\r\n\r\n",
            400,
            true,
        ),
        ("host-duplicate-headers", "GET / HTTP/1.1\r\nHost: a.example, b\r\n\r\n", 400, true),
        (
            "authority-form-without-connect",
            "GET a.example HTTP/1.1\r\nHost: a.example\r\n\r\n",
            400,
            false,
        ),
        ("options-asterisk", "GET * HTTP/1.1\r\nHost: a.example\r\n\r\n", 400, false),
        ("", "TRACE / HTTP/1.1\r\nHost: a.example\r\n\r\n", 405, false),
        ("", "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n", 405, false),
        ("", "GET / HTTP/1.1\r\nHost: nobody.example\r\n\r\n", 421, false),
        (
            "",
            "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            400,
            true,
        ),
        (
            "",
            "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400,
            true,
        ),
    ] {
        let mut client = proxy.client();
        let reply = client.ask(request);
        assert_eq!((reply.status, reply.closes()), (status, closes), "{bug}: {request:?}");
        assert_eq!(reply.field("content-type").as_deref(), Some("application/problem+json"));
        assert!(reply.field("proxy-status").unwrap().starts_with("fingerpost; error="));
        let problem: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(problem["status"], status, "{request:?}");
        if closes {
            assert!(client.is_closed(), "{request:?}");
        } else {
            assert_eq!(client.ask(get("/", "")).status, 200, "{request:?}");
            assert!(matches!(upstream.heard(), Heard::Request { .. }));
        }
        assert!(upstream.is_silent(), "{request:?}");
    }
    let allow = proxy.ask("TRACE / HTTP/1.1\r\nHost: a.example\r\n\r\n").field("allow");
    assert!(allow.unwrap().starts_with("GET, HEAD"));
}

/// host-missing-http10: the shared layer only, and close semantics of HTTP/1.0.
#[test]
fn serves_http_1_0() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();

    let mut client = proxy.client();
    let reply = client.ask("GET /healthz HTTP/1.0\r\n\r\n");
    assert_eq!((reply.status, reply.text()), (200, "ok"));
    assert!(reply.head.starts_with("HTTP/1.0 200"), "{}", reply.head);
    assert!(client.is_closed());

    assert_eq!(proxy.ask("GET /x HTTP/1.0\r\n\r\n").status, 404);

    // Upstream it is HTTP/1.1, and `Via` says what it was.
    let mut client = proxy.client();
    let request = "GET /x HTTP/1.0\r\nHost: a.example\r\nConnection: keep-alive\r\n\r\n";
    for _ in 0..2 {
        let reply = client.ask(request);
        assert!(reply.text().starts_with("GET /x HTTP/1.1\r\n"), "{}", reply.text());
        assert!(reply.text().contains("via: 1.0 fingerpost"), "{}", reply.text());
        assert_eq!(reply.field("connection").as_deref(), Some("keep-alive"));
    }
}

/// An HTTP/1.0 client gets content of unknown length up to the end of the connection.
#[test]
fn unchunks_for_http_1_0() {
    let upstream = Upstream::fixed(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n",
    );
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    let reply = client.ask("GET / HTTP/1.0\r\nHost: a.example\r\nConnection: keep-alive\r\n\r\n");
    assert_eq!(reply.text(), "abc");
    assert!(reply.closes() && reply.field("transfer-encoding").is_none(), "{}", reply.head);
    assert!(client.is_closed());
}

/// Requests on one connection, pipelined ones too, are answered in order over few connections.
#[test]
fn keeps_connections_alive() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    client.send((0..5).map(|n| get(&format!("/{n}"), "")).collect::<String>());
    for n in 0..5 {
        let reply = client.reply();
        assert!(reply.text().starts_with(&format!("GET /{n} ")), "{}", reply.text());
        assert!(!reply.closes());
        let Heard::Request { connection: 0, .. } = upstream.heard() else { panic!() };
    }
}

/// Servers are asked in turn.
#[test]
fn takes_turns() {
    let (one, two) = (Upstream::fixed(reply_of("1")), Upstream::fixed(reply_of("2")));
    let proxy = Plan::to(&[&one, &two]).start();
    let mut client = proxy.client();
    let turns: String = (0..6).map(|_| client.ask(get("/", "")).text().to_owned()).collect();
    assert_eq!(turns, "121212");
}

/// path-override-headers: on a host with a prefix map no field says another path; the
/// method decides nothing, so that what overrides it stays.
#[test]
fn a_map_decides_by_the_path_alone() {
    let (old, new) = (Upstream::echo(), Upstream::echo());
    let lines = "X-Original-URL: /moved\r\nX-Rewrite-URL: /moved\r\nX-Forwarded-Prefix: /moved\r\n\
                 X-Forwarded-Uri: /moved\r\nX-Forwarded-Path: /moved\r\nX_Original_URL: /moved\r\n\
                 X-Script-Name: /moved\r\nX-Original-URI: /moved\r\nX-Original-Path: /moved\r\n\
                 X-Envoy-Original-Path: /moved\r\nX-WAWS-Unencoded-URL: /moved\r\n\
                 X-HTTP-Method-Override: DELETE\r\nX-Keep: yes\r\n";
    let mut plan = Plan::to(&[&old]).and("next.example", &new).mapped();
    // Not even a trusted proxy's.
    plan.settings.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    let proxy = plan.start();

    let reply = proxy.ask(get("/bravo", lines));
    assert!(reply.text().starts_with("GET /bravo HTTP/1.1\r\n"));
    assert!(!reply.text().contains("/moved"), "{}", reply.text());
    assert!(reply.text().contains("x-http-method-override: DELETE"), "{}", reply.text());
    assert!(reply.text().contains("x-keep: yes"));
    assert!(new.is_silent());

    assert_eq!(proxy.ask(get("/moved/x", lines)).status, 200);
    assert!(new.head().starts_with("GET /moved/x HTTP/1.1\r\n"));
}

/// A host with a prefix map refuses a path that it can't read, and says why.
#[test]
fn says_what_is_wrong_with_a_path() {
    let upstream = Upstream::fixed(reply_of("hi"));
    let proxy = Plan::to(&[&upstream]).and("next.example", &upstream).mapped().start();
    let long = |piece: &str| format!("/{}", piece.repeat(8_000 / piece.len()));
    for (path, status, detail) in [
        ("/%4".into(), 400, "the path is malformed"),
        ("/%41".into(), 200, "hi"),
        (long("%2525"), 400, "the path has too many readings"),
        (long("abcde"), 200, "hi"),
    ] {
        let reply = proxy.ask(get(&path, ""));
        assert_eq!(reply.status, status, "{path:.20}");
        assert!(reply.text().contains(detail), "{path:.20}: {}", reply.text());
    }
}

/// An upgrade that nobody asked for, and one that we don't pass on (hop-h2c-upgrade-tunnel).
#[test]
fn no_upgrade_but_to_a_websocket_gets_through() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    for upgrade in ["h2c", "websocket/2", "h2c, web-socket", "TLS/1.0, foo/2"] {
        let reply = proxy.ask(get(
            "/bravo",
            &format!("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: {upgrade}\r\nHTTP2-Settings: AAMAAABk\r\n"),
        ));
        let text = reply.text().to_ascii_lowercase();
        assert_eq!(reply.status, 200);
        assert!(!text.contains("upgrade") && !text.contains("http2-settings"), "{text}");
    }
}

pub(crate) fn reply_of(content: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{content}", content.len())
}
