//! Servers that are given so much at once and no more.

use std::num::NonZeroU32;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use super::client::Reply;
use super::forwarding::reply_of;
use super::proxy::{Plan, get};
use super::upstream::{Heard, Upstream};

/// A server that answers when it is told to.
fn held() -> (Upstream, Sender<()>) {
    let (go, gone) = channel::<()>();
    let gone = Mutex::new(gone);
    let upstream = Upstream::run(move |peer| {
        while peer.request().is_some() {
            let told = gone.lock().unwrap().recv();
            peer.send(reply_of(if told.is_ok() { "old" } else { "left" }));
        }
    });
    (upstream, go)
}

fn plan(upstream: &Upstream, queue: u32) -> Plan {
    let mut plan = Plan::to(&[upstream]);
    plan.fleets[0].max_connections = NonZeroU32::new(1);
    (plan.fleets[0].queue, plan.fleets[0].queue_timeout) = (queue, Duration::from_secs(9));
    plan
}

fn is_busy(reply: &Reply) {
    assert_eq!((reply.status, reply.field("retry-after").as_deref()), (503, Some("1")));
    let status = reply.field("proxy-status").unwrap();
    assert_eq!(status, "fingerpost; error=connection_limit_reached");
}

#[test]
fn lets_so_many_wait() {
    let (upstream, go) = held();
    let proxy = plan(&upstream, 1).start();
    let (mut first, mut second, mut third) = (proxy.client(), proxy.client(), proxy.client());
    first.send(get("/1", ""));
    upstream.head();
    second.send(get("/2", ""));
    // What comes later on the one thread is answered later.
    assert_eq!(proxy.ask(get("/healthz", "")).status, 200);
    is_busy(&third.ask(get("/3", "")));
    go.send(()).unwrap();
    assert_eq!(first.reply().text(), "old");
    assert!(upstream.head().starts_with("GET /2 "));
    // The place in the queue is free again, and the client's connection as good as before.
    third.send(get("/3", ""));
    go.send(()).unwrap();
    assert_eq!(second.reply().text(), "old");
    go.send(()).unwrap();
    assert_eq!(third.reply().text(), "old");
    assert!(upstream.head().starts_with("GET /3 "));
}

#[test]
fn lets_nobody_wait_too_long() {
    let (upstream, go) = held();
    let mut plan = plan(&upstream, 9);
    plan.fleets[0].queue_timeout = Duration::from_millis(50);
    let proxy = plan.start();
    let mut first = proxy.client();
    first.send(get("/1", ""));
    upstream.head();
    is_busy(&proxy.ask(get("/2", "")));
    go.send(()).unwrap();
    assert_eq!(first.reply().text(), "old");
    assert!(upstream.is_silent());
}

/// In order: who comes when a place falls free doesn't overtake those who wait.
#[test]
fn serves_in_order() {
    let (upstream, go) = held();
    let proxy = plan(&upstream, 9).start();
    let mut clients: Vec<_> = (0..6).map(|_| proxy.client()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.send(get(&format!("/{number}"), ""));
        assert_eq!(proxy.ask(get("/healthz", "")).status, 200);
    }
    for (number, client) in clients.iter_mut().enumerate() {
        let Heard::Request { head, .. } = upstream.heard() else { panic!() };
        assert!(head.starts_with(&format!("GET /{number} ")), "{head}");
        go.send(()).unwrap();
        assert_eq!(client.reply().text(), "old");
    }
}

/// A client that goes away makes room, in the queue as well.
#[test]
fn who_goes_away_makes_room() {
    let (upstream, go) = held();
    let proxy = plan(&upstream, 1).start();
    let (mut first, mut second) = (proxy.client(), proxy.client());
    first.send(get("/1", ""));
    upstream.head();
    second.send(get("/2", ""));
    assert_eq!(proxy.ask(get("/healthz", "")).status, 200);
    drop((first, second));
    let mut third = proxy.client();
    // Its connection ends with the exchange; the server notices when it answers.
    go.send(()).unwrap();
    let mut reply = None;
    while reply.as_ref().is_none_or(|reply: &Reply| reply.status == 503) {
        go.send(()).unwrap();
        reply = Some(third.ask(get("/3", "")));
    }
    assert_eq!(reply.unwrap().text(), "old");
}

/// A request that waits is looked up again before it is sent: a flip in between decides.
#[test]
fn looks_up_again_after_a_wait() {
    for (what, flips, releases) in [
        ("a flip, then room", true, true),
        ("a flip, and never any room", true, false),
        ("another host's flip", false, true),
    ] {
        let (old, go) = held();
        let new = Upstream::fixed(reply_of("new"));
        let plan = || plan(&old, 9).and("next.example", &new);
        let proxy = plan().start();
        let (mut first, mut second) = (proxy.client(), proxy.client());
        first.send(get("/", ""));
        old.head();
        second.send(get("/moved/x", ""));
        assert_eq!(proxy.ask(get("/healthz", "")).status, 200, "{what}");
        let next = if flips { plan().mapped() } else { plan() };
        proxy.snapshots.publish(next.generation(2).snapshot());
        if releases {
            go.send(()).unwrap();
            assert_eq!(first.reply().text(), "old", "{what}");
        }
        if flips {
            assert_eq!(second.reply().text(), "new", "{what}");
            assert!(old.is_silent(), "{what}");
        } else {
            go.send(()).unwrap();
            assert_eq!(second.reply().text(), "old", "{what}");
        }
    }
}
