//! What flips do to the requests beside them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use fingerpost_control::Role;
use tokio::time::Instant;

use super::million::{ENTRIES, HOSTS, fill, paths, routes};
use super::{busy, spread};
use crate::app;
use crate::client::Client;
use crate::process::Process;
use crate::world::{Files, ask};

const CONNECTIONS: usize = 16;
/// Of all connections together, a second: well below what the box can do.
const RATE: u32 = 3000;
const FLIPS_A_SECOND: u32 = 10;
/// They take turns, so that what else the machine does meets both alike.
const ROUNDS: usize = 12;
const ROUND: Duration = Duration::from_secs(5);

/// One request: when it was due, when it was sent, when it was answered.
#[derive(Clone, Copy)]
struct Timed {
    due: Instant,
    sent: Instant,
    answered: Instant,
}

/// Sends at a fixed rate, whatever the answers take, until `end`.
fn load(proxy: SocketAddr, end: Instant) -> Vec<Timed> {
    let start = Instant::now() + Duration::from_millis(50);
    let pause = Duration::from_secs(1) * u32::try_from(CONNECTIONS).unwrap() / RATE;
    let connections = (0..CONNECTIONS).map(|number| {
        thread::spawn(move || {
            let mut client = Client::connect(proxy);
            let mut times = Vec::with_capacity(1 << 14);
            // The connections take turns, and no two ask for the same.
            let mut due = start
                + pause * u32::try_from(number).unwrap() / u32::try_from(CONNECTIONS).unwrap();
            let mut entry = number * 7919;
            while due < end {
                thread::sleep(due.saturating_duration_since(Instant::now()));
                entry = (entry + 104_729) % (HOSTS * ENTRIES);
                let host = format!("h{}.example", entry % HOSTS);
                // Every other account was never moved.
                let (want, account) = [("new", "account"), ("old", "other")][times.len() % 2];
                let sent = Instant::now();
                let got = client.get(&host, format_args!("/{account}-{}/tickets", entry / HOSTS));
                times.push(Timed { due, sent, answered: Instant::now() });
                assert_eq!(got, Ok(want), "{host} {entry}");
                due += pause;
            }
            times
        })
    });
    let connections: Vec<_> = connections.collect();
    connections.into_iter().flat_map(|one| one.join().expect("no request fails")).collect()
}

/// Publishes maps of ten thousand entries at a fixed rate; the time that each took.
fn flip(door: SocketAddr, token: &str, first: usize, over: &AtomicBool) -> Vec<Duration> {
    let body = |flipped| format!("{{\"paths\": {}}}", paths(flipped));
    let maps = [body(Some(0)), body(None)];
    let mut times = Vec::new();
    let mut due = Instant::now();
    for turn in first.. {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if over.load(Ordering::Relaxed) {
            break;
        }
        let host = turn % HOSTS;
        let line = format!("PUT /api/cli/apps/a/old{host}/domains/h{host}.example/paths");
        let started = Instant::now();
        let reply = ask(door, token, &line, &maps[turn / HOSTS % 2]);
        assert_eq!(reply.status, 200, "{reply:?}");
        assert_eq!(reply.json()["changed"], true);
        times.push(started.elapsed());
        due += Duration::from_secs(1) / FLIPS_A_SECOND;
    }
    times
}

/// A round of requests with flips beside them; what both took. `flips` were made before.
fn beside(process: &Process, token: &str, flips: usize) -> (Vec<Timed>, Vec<Duration>) {
    let over = Arc::new(AtomicBool::new(false));
    let publisher = {
        let (over, token, door) = (Arc::clone(&over), token.to_owned(), process.door);
        thread::spawn(move || flip(door, &token, flips, &over))
    };
    let times = load(process.proxy, Instant::now() + ROUND);
    over.store(true, Ordering::Relaxed);
    (times, publisher.join().expect("no PUT fails"))
}

/// The 99th percentile beside ten flips a second of a million entries is wanted within 1.5 of that without.
///
/// Clients and applications share the processor with the box here. `chrt --all-tasks --fifo --pid 1 PID` of the test,
/// once the box has started, leaves what the box makes its own requests wait.
#[test]
#[ignore = "a measurement"]
fn requests_beside_flips() {
    let [old, new] = ["old", "new"].map(app::start);
    let fleets =
        format!("[fleets.old]\nservers = [\"{old}\"]\n[fleets.new]\nservers = [\"{new}\"]\n");
    let files = Files::new();
    let token = files.token(Role::Person, Some("a"), None);
    fill(&files);
    let routes = routes(["fleet = \"old\"", "fleet = \"new\""]);
    // Tables end where the next begins: the limits come first.
    let process = Process::start(&files, &[&routes, &*fleets].concat());
    println!("load average                 {}", busy());
    _ = load(process.proxy, Instant::now() + Duration::from_secs(2));
    let started = process.processor_time();
    let ([mut without, mut with], mut puts) = ([const { Vec::new() }; 2], Vec::new());
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let calm = load(process.proxy, Instant::now() + ROUND);
        let quick = spread("a request, without flips", since(&calm, |one| one.sent));
        without.extend(calm);
        let (times, flips) = beside(&process, &token, puts.len());
        let slow = spread("a request, beside flips", since(&times, |one| one.sent));
        with.extend(times);
        puts.extend(flips);
        ratios.push(slow.as_secs_f64() / quick.as_secs_f64());
    }
    println!("load average                 {}", busy());
    for (what, begin) in
        [("due", (|one| one.due) as fn(&Timed) -> Instant), ("sent", |one| one.sent)]
    {
        let without = spread(&format!("since {what}, without"), since(&without, begin));
        let with = spread(&format!("since {what}, beside"), since(&with, begin));
        println!("since {what}, p99 by p99: {:.2}", with.as_secs_f64() / without.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    println!("since sent, the middle of the rounds: {:.2} of {ratios:.2?}", ratios[ROUNDS / 2]);
    let flips = f64::from(u32::try_from(puts.len()).unwrap());
    for ((thread, before), (_, after)) in started.iter().zip(process.processor_time()) {
        println!(
            "processor time for a flip    {:8.3} ms  {thread}",
            (after - before) / flips * 1e3
        );
    }
    spread("a PUT of ten thousand", puts);
}

fn since(times: &[Timed], begin: fn(&Timed) -> Instant) -> impl Iterator<Item = Duration> {
    times.iter().map(move |one| one.answered - begin(one))
}
