//! Exchanges that last, on a route that a flip moves requests away from.

use std::time::Duration;

use tokio::time::Instant;

use super::client::Client;
use super::h2_client::{H2, get as get_h2};
use super::proxy::{Plan, Proxy, get};
use super::secure::{Pem, Trust};
use super::upstream::Upstream;

const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\
                      Transfer-Encoding: chunked\r\n\r\n4\r\nhi\n\n\r\n";
const DOWNLOAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhi\n\n\r\n";

/// Switches, or sends what never ends.
fn endless() -> Upstream {
    Upstream::run(|peer| {
        let Some(head) = peer.head() else { return };
        if head.contains("websocket") {
            peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n");
        } else if head.contains("/download") {
            peer.send(DOWNLOAD);
        } else {
            peer.send(EVENTS);
        }
        while let Some(line) = peer.until(b"\n") {
            peer.send(line);
        }
    })
}

fn plan(origin: &Upstream, next: &Upstream, drain: Duration) -> Plan {
    let mut plan = Plan::to(&[origin]).and("next.example", next);
    plan.flip_drain = drain;
    // Fine ticks.
    plan.settings.header_timeout = Duration::from_millis(200);
    plan
}

fn open(proxy: &Proxy, path: &str) -> Client {
    let mut client = proxy.client();
    client.send(get(path, "Connection: upgrade\r\nUpgrade: websocket\r\n"));
    assert!(client.head().starts_with("HTTP/1.1 101 "));
    client
}

fn lives(client: &mut Client) {
    client.send("x\n");
    assert_eq!(client.until(b"\n"), b"x\n");
}

#[test]
fn what_lasts_is_cut_some_time_after_its_prefix_moved() {
    let (origin, next) = (endless(), endless());
    let drain = Duration::from_millis(400);
    let proxy = plan(&origin, &next, drain).start();
    let (mut moved, mut stays) = (open(&proxy, "/moved/x"), open(&proxy, "/stays/x"));
    let mut events = proxy.client();
    events.send(get("/moved/events", ""));
    events.until(b"hi\n\n\r\n");
    let mut download = proxy.client();
    download.send(get("/moved/download", ""));
    download.until(b"hi\n\n\r\n");

    let flipped = Instant::now();
    proxy.snapshots.publish(plan(&origin, &next, drain).mapped().generation(2).snapshot());
    lives(&mut moved);
    assert!(moved.is_closed());
    assert!(flipped.elapsed() >= drain, "{:?}", flipped.elapsed());
    // Its end is no end of the content.
    assert!(!events.rest().ends_with(b"0\r\n\r\n"));
    lives(&mut stays);
    // A download has an end of its own.
    download.limit_reads(Duration::from_millis(300));
    assert!(download.is_quiet());

    // What begins now is where it belongs, also after other changes.
    let mut new = open(&proxy, "/moved/x");
    proxy.snapshots.publish(plan(&origin, &next, drain).mapped().generation(3).snapshot());
    std::thread::sleep(drain * 3);
    lives(&mut new);
    lives(&mut stays);
    // And back.
    proxy.snapshots.publish(plan(&origin, &next, drain).generation(4).snapshot());
    assert!(new.is_closed());
}

#[test]
fn what_comes_back_in_time_is_not_cut() {
    let (origin, next) = (endless(), endless());
    let drain = Duration::from_millis(1500);
    let proxy = plan(&origin, &next, drain).start();
    let mut client = open(&proxy, "/moved/x");
    for generation in [2, 4] {
        proxy
            .snapshots
            .publish(plan(&origin, &next, drain).mapped().generation(generation).snapshot());
        std::thread::sleep(drain * 2 / 3);
        lives(&mut client);
        proxy.snapshots.publish(plan(&origin, &next, drain).generation(generation + 1).snapshot());
        std::thread::sleep(Duration::from_millis(300));
    }
    std::thread::sleep(drain);
    lives(&mut client);
}

#[test]
fn a_stream_of_events_is_cut_on_its_stream() {
    let (origin, next) = (endless(), endless());
    let pem = Pem::of(&["a.example"]);
    let trust = Trust::in_these(&[&pem]);
    let drain = Duration::from_millis(200);
    let proxy = plan(&origin, &next, drain).secure(&[&pem], None).start();
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    let begun = client.begin(get_h2("https://a.example/moved/events"), true).unwrap();
    let mut events = client.head(begun).unwrap().into_body();
    assert_eq!(client.block_on(events.data()).unwrap().unwrap(), "hi\n\n");
    let next = plan(&origin, &next, drain).secure(&[&pem], None).mapped().generation(2);
    proxy.snapshots.publish(next.snapshot());
    let error = client.block_on(events.data()).unwrap().unwrap_err();
    assert!(error.is_reset(), "{error:?}");
    assert_eq!(client.get("https://a.example/healthz").status(), 200);
}
