//! How much clients may ask for.

use std::time::Duration;

use super::client::{Client, Reply};
use super::forwarding::reply_of;
use super::guarded::Guarded;
use super::h2_client::{H2, get as h2_get, post as h2_post};
use super::proxy::{Plan, get};
use super::upstream::{Heard, Upstream};

fn is_busy(reply: &Reply) -> bool {
    reply.status == 503
        && reply.field("retry-after").as_deref() == Some("1")
        && reply.field("content-type").as_deref() == Some("application/problem+json")
        && reply.closes()
}

/// Asks until there is room again: a connection that has closed is noticed a moment later.
fn served_soon(ask: impl Fn() -> Reply) {
    for _ in 0..500 {
        let reply = ask();
        if reply.status == 200 {
            return;
        }
        assert!(is_busy(&reply), "{}", reply.head);
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("never served");
}

#[test]
fn more_connections_than_may_be_are_told_to_come_back() {
    let upstream = Upstream::echo();
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.admission.connections = 2;
    let proxy = plan.start();
    let mut held = [proxy.client(), proxy.client()];
    for client in &mut held {
        assert_eq!(client.ask(get("/", "")).status, 200);
    }
    for _ in 0..100 {
        let mut client = proxy.client();
        let reply = client.ask(get("/", ""));
        assert!(is_busy(&reply), "{}", reply.head);
        assert!(client.is_closed());
    }
    // A client that says nothing is told as well.
    assert!(is_busy(&proxy.client().reply()));
    for client in &mut held {
        assert_eq!(client.ask(get("/", "")).status, 200);
    }
    drop(held);
    served_soon(|| proxy.ask(get("/", "")));
}

#[test]
fn a_client_has_its_own_share_of_connections() {
    let upstream = Upstream::echo();
    let text = r#"
[limits]
max_connections_per_address = 1
[forwarding]
trusted_proxies = ["127.0.0.9"]
[[routes]]
hosts = ["a.example"]
fleet = "old"
"#;
    let proxy = Guarded::start(&upstream, &upstream, text);
    let mut held = proxy.client();
    assert_eq!(held.ask(get("/", "")).status, 200);
    assert!(is_busy(&proxy.ask(get("/", "X-Forwarded-For: 127.0.0.2\r\n"))));
    assert_eq!(proxy.ask_from("127.0.0.2", get("/", "")).status, 200);
    let mut proxied: Vec<_> =
        (0..3).map(|_| Client::connect_from("127.0.0.9", proxy.address())).collect();
    for client in &mut proxied {
        assert_eq!(client.ask(get("/", "")).status, 200);
    }
    drop(held);
    served_soon(|| proxy.ask(get("/", "")));
}

#[test]
fn a_connection_ends_after_its_last_request() {
    let upstream = Upstream::echo();
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.admission.requests_per_connection = Some(3);
    plan.settings.http2.prior_knowledge = true;
    let proxy = plan.start();
    let mut client = proxy.client();
    for last in [false, false, true] {
        let reply = client.ask(get("/", ""));
        assert_eq!((reply.status, reply.closes()), (200, last));
    }
    assert!(client.is_closed());
    // By HTTP/2 what is under way is finished.
    let mut client = H2::plain(proxy.address);
    let first = client.begin(h2_post("http://a.example/"), false).unwrap();
    for _ in 0..2 {
        assert_eq!(client.get("http://a.example/").status(), 200);
    }
    assert!(client.takes_no_more());
    let mut first = first;
    client.send(&mut first, "x", true);
    assert_eq!(client.finish(first).unwrap().status(), 200);
    assert!(client.end().is_ok());
}

#[test]
fn more_fields_than_may_be_are_refused() {
    let upstream = Upstream::fixed(reply_of("fine"));
    for most in [10, 100, 300] {
        let mut plan = Plan::to(&[&upstream]);
        plan.settings.admission.headers = most;
        plan.settings.http2.prior_knowledge = true;
        let proxy = plan.start();
        let fields = |count: usize| get("/", &"X: y\r\n".repeat(count - 1));
        assert_eq!(proxy.ask(fields(most)).status, 200, "{most}");
        let reply = proxy.ask(fields(most + 1));
        assert_eq!(reply.status, 431, "{most}");
        for (count, want) in [(most, 200), (most + 1, 431)] {
            let mut request = h2_get("http://a.example/");
            for _ in 0..count {
                request.headers_mut().append("x", "y".parse().unwrap());
            }
            assert_eq!(H2::plain(proxy.address).ask(request).unwrap().status(), want, "{count}");
        }
    }
}

const BODIES: &str = r#"
[limits]
max_body_size = 10
[[routes]]
hosts = ["a.example"]
fleet = "old"
[[routes]]
hosts = ["a.example"]
path = "/large"
fleet = "old"
max_body_size = 1000
[[site]]
hosts = ["b.example"]
max_body_size = 20
routes = [{ fleet = "old" }, { path = "/small", fleet = "old", max_body_size = 1 }]
"#;

#[test]
fn more_content_than_may_be_is_refused_before_it_is_read() {
    let upstream = Upstream::echo();
    let proxy = Guarded::start(&upstream, &upstream, BODIES);
    for (host, path, length, want) in [
        ("a.example", "/", 10, 200),
        ("a.example", "/", 11, 413),
        ("a.example", "/large", 1000, 200),
        ("a.example", "/large", 1001, 413),
        ("a.example", "/", 1_u64 << 60, 413),
        ("b.example", "/", 20, 200),
        ("b.example", "/", 21, 413),
        ("b.example", "/small", 1, 200),
        ("b.example", "/small", 2, 413),
    ] {
        let mut client = proxy.client();
        let head = format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n");
        if want == 413 {
            // Nothing of it is sent.
            let reply = client.ask(format!("{head}Expect: 100-continue\r\n\r\n"));
            assert_eq!((reply.status, reply.closes()), (413, true), "{host}{path} {length}");
        } else {
            let content = "x".repeat(usize::try_from(length).unwrap());
            let reply = client.ask(format!("{head}\r\n{content}"));
            assert_eq!((reply.status, reply.closes()), (200, false), "{host}{path} {length}");
        }
    }
    assert_eq!(upstream.requests(), 4);
}

/// Of content whose length nobody has said, no more than may be reaches an application.
#[test]
fn more_content_than_may_be_is_cut() {
    let upstream = Upstream::run(|peer| {
        // The proxy may give up before it has sent anything.
        let Some(head) = peer.head() else { return };
        let body = peer.wait_for_end();
        peer.told(&head, &body);
    });
    let proxy = Guarded::start_listening("h2c = true\n", &upstream, &upstream, BODIES);
    let head = "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut client = proxy.client();
    client.send(head).send("6\r\nabcdef\r\n");
    client.send("5\r\nABCDE\r\n");
    let reply = client.reply();
    assert_eq!((reply.status, reply.closes()), (413, true));
    let mut client = H2::plain(proxy.address());
    let mut begun = client.begin(h2_post("http://a.example/"), false).unwrap();
    client.send(&mut begun, "abcdef", false);
    client.send(&mut begun, "ABCDE", false);
    assert_eq!(client.finish(begun).unwrap().status(), 413);
    let mut ends = 0;
    while ends < 2 {
        match upstream.heard() {
            Heard::Request { body, .. } => assert!(!body.contains('A'), "{body}"),
            Heard::End { .. } => ends += 1,
        }
    }
}
