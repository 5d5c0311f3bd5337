//! Servers that are asked whether they are well.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use fingerpost::server::Listeners;
use fingerpost::snapshot::Health;

use super::forwarding::reply_of;
use super::proxy::{Plan, Proxy, get};
use super::upstream::Upstream;

/// A server with a switch: what its checks answer; and how many there were.
struct Patient {
    upstream: Upstream,
    well: Arc<AtomicBool>,
    checks: Arc<AtomicUsize>,
}

fn patient(name: &'static str) -> Patient {
    let (well, checks) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let (answer, count) = (Arc::clone(&well), Arc::clone(&checks));
    let upstream = Upstream::run(move |peer| {
        while let Some((head, _)) = peer.request() {
            if !head.starts_with("GET /health?deep ") {
                peer.send(reply_of(name));
                continue;
            }
            assert!(head.to_ascii_lowercase().contains("\r\nhost: app.example\r\n"), "{head}");
            count.fetch_add(1, Ordering::SeqCst);
            let status = if answer.load(Ordering::SeqCst) { "204 Fine" } else { "500 Ill" };
            peer.send(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n"));
        }
    });
    Patient { upstream, well, checks }
}

fn plan(patients: &[&Patient]) -> Plan {
    let upstreams: Vec<_> = patients.iter().map(|patient| &patient.upstream).collect();
    let mut plan = Plan::to(&upstreams);
    let mut health = Health::new("/health?deep");
    health.host = Some("app.example".into());
    health.interval = Duration::from_millis(10);
    plan.fleets[0].health = Some(health);
    plan
}

/// Asks until `done` says so of ten answers.
fn until(proxy: &Proxy, done: impl Fn(&str) -> bool) {
    let mut client = proxy.client();
    let mut ask =
        || (0..10).map(|_| client.ask(get("/", "")).text().to_owned()).collect::<String>();
    while !done(&ask()) {}
}

#[test]
fn passes_over_a_server_that_is_not_well() {
    let (one, two) = (patient("1"), patient("2"));
    one.well.store(false, Ordering::SeqCst);
    let proxy = plan(&[&one, &two]).start();
    until(&proxy, |answers| answers == "2222222222");
    one.well.store(true, Ordering::SeqCst);
    until(&proxy, |answers| answers == "1212121212" || answers == "2121212121");
    two.well.store(false, Ordering::SeqCst);
    until(&proxy, |answers| answers == "1111111111");
    // What is known stays known over a reload, and is forgotten with the checks.
    proxy.snapshots.publish(plan(&[&one, &two]).generation(2).snapshot());
    until(&proxy, |answers| {
        assert_eq!(answers, "1111111111");
        true
    });
    let unchecked = Plan::to(&[&one.upstream, &two.upstream]);
    proxy.snapshots.publish(unchecked.generation(3).snapshot());
    until(&proxy, |answers| answers.contains('2'));
}

/// If none is well, all are asked: a check may be wrong, and a refusal certainly helps nobody.
#[test]
fn asks_servers_that_are_all_unwell() {
    let (one, two) = (patient("1"), patient("2"));
    one.well.store(false, Ordering::SeqCst);
    two.well.store(false, Ordering::SeqCst);
    let proxy = plan(&[&one, &two]).start();
    while one.checks.load(Ordering::SeqCst) < 5 || two.checks.load(Ordering::SeqCst) < 5 {
        std::thread::yield_now();
    }
    until(&proxy, |answers| answers.contains('1') && answers.contains('2'));
}

/// An account that was moved to a server that is down gets an error, and never its old application.
#[test]
fn a_target_that_is_not_well_gives_nothing_back() {
    let old = Upstream::fixed(reply_of("old"));
    let next = Upstream::run(|_| ());
    let mut plan = Plan::to(&[&old]).and("next.example", &next).mapped();
    let mut health = Health::new("/");
    health.interval = Duration::from_millis(10);
    plan.fleets[1].health = Some(health);
    let proxy = plan.start();
    let mut client = proxy.client();
    for _ in 0..20 {
        assert_eq!(client.ask(get("/moved/x", "")).status, 502);
    }
    assert!(old.is_silent());
}

/// Checks are the box's, not each thread's.
#[test]
fn checks_once_for_all_threads() {
    let one = patient("1");
    let mut plan = plan(&[&one]);
    plan.fleets[0].health.as_mut().unwrap().interval = Duration::from_secs(600);
    let listeners = Listeners::bind(&["127.0.0.1:0".parse().unwrap()], 4).unwrap();
    let proxy = plan.start_on(listeners, Duration::ZERO);
    while one.checks.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    (0..20).for_each(|_| assert_eq!(proxy.ask(get("/", "")).text(), "1"));
    assert_eq!(one.checks.load(Ordering::SeqCst), 1);
}
