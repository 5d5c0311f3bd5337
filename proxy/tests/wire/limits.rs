//! Clients that take too long, or send too much (slowloris-no-timer).

use std::time::Duration;

use super::forwarding::reply_of;
use super::proxy::{Plan, get};
use super::upstream::Upstream;

const SHORT: Duration = Duration::from_millis(100);

#[test]
fn closes_connections_that_stay_silent() {
    let upstream = Upstream::echo();
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.header_timeout = SHORT;
    plan.settings.keep_alive_timeout = SHORT;
    let proxy = plan.start();
    for sent in ["", "GET / HTTP/1.1\r\nHost: a.exa"] {
        let mut client = proxy.client();
        client.send(sent);
        assert!(client.is_closed(), "{sent:?}");
    }
    // Also after a request, and within the next one's header.
    for sent in ["", "GET / HT"] {
        let mut client = proxy.client();
        assert_eq!(client.ask(get("/", "")).status, 200);
        client.send(sent);
        assert!(client.is_closed(), "{sent:?}");
    }
}

/// A header that trickles in has no more time than one that doesn't come.
#[test]
fn closes_connections_that_trickle() {
    let mut plan = Plan::to_addresses(&[]);
    plan.settings.header_timeout = SHORT;
    let proxy = plan.start();
    let mut client = proxy.client();
    client.send("GET /");
    let mut sent = 0;
    while client.try_send("x") {
        sent += 1;
        assert!(sent < 200, "never closed");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn gives_up_on_content_that_stops() {
    let upstream = Upstream::echo();
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.body_timeout = SHORT;
    let proxy = plan.start();
    let mut client = proxy.client();
    let reply = client.ask("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhel");
    assert_eq!((reply.status, reply.closes()), (408, true));
    assert!(client.is_closed());
}

/// A client that takes nothing is cut, and its upstream connection with it.
#[test]
fn gives_up_on_a_client_that_takes_nothing() {
    let upstream = Upstream::run(|peer| {
        peer.request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
        peer.send(vec![b'x'; 1 << 28]);
    });
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.body_timeout = SHORT;
    let proxy = plan.start();
    let mut client = proxy.client();
    client.send(get("/", ""));
    upstream.head();
    // It can only end because the proxy does.
    assert!(matches!(upstream.heard(), super::upstream::Heard::End { .. }));
}

/// A response that takes its time is nobody's fault, as long as it goes on.
#[test]
fn lets_slow_responses_go_on() {
    let upstream = Upstream::run(|peer| {
        peer.request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
        for _ in 0..4 {
            std::thread::sleep(Duration::from_millis(80));
            peer.send("x");
        }
    });
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.body_timeout = SHORT;
    plan.settings.keep_alive_timeout = SHORT;
    plan.settings.header_timeout = SHORT;
    plan.fleets[0].response_timeout = SHORT;
    plan.fleets[0].body_timeout = Duration::from_millis(200);
    let proxy = plan.start();
    assert_eq!(proxy.ask(get("/", "")).text(), "xxxx");
}

/// uri-too-long, large-headers: hyper's own answers have no content.
#[test]
fn refuses_what_is_too_large() {
    let upstream = Upstream::fixed(reply_of("fine"));
    let proxy = Plan::to(&[&upstream]).start();
    for (request, status) in [
        (get(&format!("/{}", "a".repeat(8000)), ""), 200),
        (get(&format!("/{}", "a".repeat(65_535)), ""), 431),
        (get("/", &format!("Cookie: {}\r\n", "c".repeat(60_000))), 200),
        (get("/", &format!("Cookie: {}\r\n", "c".repeat(70_000))), 431),
        (get("/", &format!("Cookie: {}\r\n", "c".repeat(1_000_000))), 431),
        (get("/", &"X: y\r\n".repeat(99)), 200),
        (get("/", &"X: y\r\n".repeat(101)), 431),
    ] {
        let mut client = proxy.client();
        client.try_send(&request);
        assert_eq!(client.reply().status, status, "{} bytes", request.len());
    }
}
