//! Connections to upstream servers, and who uses them again.

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::forwarding::reply_of;
use super::proxy::{Plan, get};
use super::upstream::Upstream;

/// Two fleets may name one server: each keeps and takes connections by its own limits.
#[test]
fn obeys_the_limits_of_the_fleet_that_asks() {
    let (go, gone) = channel::<()>();
    let gone = Mutex::new(gone);
    let upstream = Upstream::run(move |peer| {
        while let Some((head, _)) = peer.request() {
            if head.starts_with("GET /held ") {
                gone.lock().unwrap().recv().unwrap();
            }
            peer.send(reply_of(&peer.number.to_string()));
        }
    });
    let mut plan = Plan::to(&[&upstream]).and("none.example", &upstream);
    plan.fleets[1].max_idle = 0;
    plan.fleets[1].idle_timeout = Duration::ZERO;
    let proxy = plan.start();
    let none = || proxy.ask(get("/", "").replace("a.example", "none.example"));

    let mut client = proxy.client();
    client.send(get("/held", ""));
    upstream.head();
    assert_eq!(none().text(), "1");
    go.send(()).unwrap();
    assert_eq!(client.reply().text(), "0");
    // The fleet that keeps none has neither said so for the other one, nor takes what that one kept.
    assert_eq!(client.ask(get("/", "")).text(), "0");
    assert_eq!(none().text(), "2");
    assert_eq!(client.ask(get("/", "")).text(), "0");
}
