//! Which server of a fleet is asked, and which one after it has failed.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;

use super::forwarding::reply_of;
use super::proxy::{Plan, get};
use super::upstream::Upstream;

const LONG: Duration = Duration::from_secs(600);

#[test]
fn gives_by_weight() {
    let (one, two) = (Upstream::fixed(reply_of("1")), Upstream::fixed(reply_of("2")));
    let mut plan = Plan::to(&[&one, &two]);
    plan.fleets[0].servers[0].weight = NonZeroU32::new(3).unwrap();
    let proxy = plan.start();
    let mut client = proxy.client();
    for _ in 0..40 {
        client.ask(get("/", ""));
    }
    assert_eq!((one.requests(), two.requests()), (30, 10));
}

/// A server that is busy with one request gets no second one while the other has none.
#[test]
fn asks_the_one_with_less_to_do() {
    let slow = Upstream::run(|peer| {
        peer.request();
        peer.wait_for_end();
    });
    let fast = Upstream::fixed(reply_of("fast"));
    let proxy = Plan::to(&[&slow, &fast]).start();
    let mut held = proxy.client();
    held.send(get("/", ""));
    slow.head();
    let mut client = proxy.client();
    for _ in 0..10 {
        assert_eq!(client.ask(get("/", "")).text(), "fast");
    }
    assert!(slow.is_silent());
}

/// Statuses of choice count as failures; what was known is known after a reload.
#[test]
fn passes_over_a_server_that_fails() {
    let bad = Upstream::fixed("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
    let good = Upstream::fixed(reply_of("good"));
    let plan = |statuses: &[StatusCode]| {
        let mut plan = Plan::to(&[&bad, &good]);
        plan.fleets[0].fail_statuses = statuses.to_vec();
        (plan.fleets[0].max_fails, plan.fleets[0].fail_timeout) = (2, LONG);
        plan
    };
    let ask = |proxy: &super::proxy::Proxy| {
        let mut client = proxy.client();
        (0..10).for_each(|_| drop(client.ask(get("/", ""))));
        (bad.requests(), good.requests())
    };
    // A status that nobody named says nothing.
    assert_eq!(ask(&plan(&[StatusCode::BAD_GATEWAY]).start()), (5, 5));
    let counted = [StatusCode::BAD_GATEWAY, StatusCode::SERVICE_UNAVAILABLE];
    let proxy = plan(&counted).start();
    assert_eq!(ask(&proxy), (2, 8));
    proxy.snapshots.publish(plan(&counted).generation(2).snapshot());
    assert_eq!(ask(&proxy), (0, 10));
    // Where failures don't count any more, it is up.
    let mut plan = plan(&counted);
    plan.fleets[0].max_fails = 0;
    proxy.snapshots.publish(plan.generation(3).snapshot());
    assert_eq!(ask(&proxy), (5, 5));
}

/// When its time is over, one request tries it; a failure costs that one request a retry.
#[test]
fn tries_a_server_again() {
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let down = Upstream::run(move |peer| {
        // Before it answers it gives up three connections.
        if counted.fetch_add(1, Ordering::SeqCst) >= 3 {
            while peer.request().is_some() {
                peer.send(reply_of("back"));
            }
        }
    });
    let up = Upstream::fixed(reply_of("up"));
    let mut plan = Plan::to(&[&down, &up]);
    plan.fleets[0].fail_timeout = Duration::from_millis(20);
    plan.fleets[0].max_fails = 1;
    let proxy = plan.start();
    let mut client = proxy.client();
    let mut answers = (0..1_000_000).map(|_| client.ask(get("/", "")).text().to_owned());
    assert!(answers.by_ref().take_while(|answer| answer != "back").all(|answer| answer == "up"));
    // It is back with its full share.
    let again: Vec<_> = answers.take(10).collect();
    assert_eq!(again.iter().filter(|answer| *answer == "back").count(), 5);
}

/// What died with a server is sent to another one, if that does no harm.
#[test]
fn replays_elsewhere() {
    for (method, lines, budget, want) in [
        ("GET", "", 20, 200),
        ("PUT", "", 20, 200),
        ("POST", "", 20, 502),
        ("PUT", "Content-Length: 0\r\n", 20, 200),
        // Nothing is sent twice where nobody pays for it.
        ("GET", "", 0, 502),
    ] {
        let dies = Upstream::run(|peer| {
            peer.request();
        });
        let lives = Upstream::fixed(reply_of("lives"));
        let mut plan = Plan::to(&[&dies, &lives]);
        plan.fleets[0].retry_budget = budget;
        let proxy = plan.start();
        let request = format!("{method} / HTTP/1.1\r\nHost: a.example\r\n{lines}\r\n");
        assert_eq!(proxy.ask(request).status, want, "{method} {lines:?} {budget}");
        assert_eq!(dies.requests(), 1, "{method}");
        assert_eq!(lives.requests(), usize::from(want == 200), "{method}");
    }
}

/// A fleet that is broken as a whole is not asked twice for everything.
#[test]
fn retries_within_a_budget() {
    let dies = || {
        Upstream::run(|peer| {
            peer.request();
        })
    };
    let (one, two) = (dies(), dies());
    let mut plan = Plan::to(&[&one, &two]);
    plan.fleets[0].max_fails = 0;
    let proxy = plan.start();
    let mut client = proxy.client();
    for _ in 0..200 {
        assert_eq!(client.ask(get("/", "")).status, 502);
    }
    // Thirty that need no requests, a fifth of two hundred; some more if ten seconds went by.
    let retries = one.requests() + two.requests() - 200;
    assert!((60..=110).contains(&retries), "{retries}");
}

/// The time for the whole exchange: up to the header, and up to the end of the content.
#[test]
fn ends_an_exchange_in_time() {
    for response in ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhal"] {
        let upstream = Upstream::run(move |peer| {
            peer.request();
            peer.send(response);
            peer.wait_for_end();
        });
        let mut plan = Plan::to(&[&upstream]);
        plan.fleets[0].request_timeout = Some(Duration::from_millis(200));
        let proxy = plan.start();
        let mut client = proxy.client();
        client.send(get("/", ""));
        if response.is_empty() {
            let reply = client.reply();
            assert_eq!(reply.status, 504);
            let status = reply.field("proxy-status").unwrap();
            assert_eq!(status, "fingerpost; error=http_response_timeout");
        } else {
            assert!(client.head().starts_with("HTTP/1.1 200"));
            assert_eq!(client.rest(), b"hal");
        }
    }
}
