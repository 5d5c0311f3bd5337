//! How soon a flip is live, under as much load as the box takes.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use fingerpost_control::Role;
use tokio::time::Instant;

use super::{busy, spread};
use crate::app;
use crate::client::Client;
use crate::process::Process;
use crate::world::{Files, ask};

const HOST: &str = "tickets.example";
const CLIENTS: usize = 8;
const ENTRIES: usize = 10_000;
const FLIPS: usize = 200;

/// What clients saw of one flip, in nanoseconds since the start.
struct Seen {
    /// When the first answer of the new application was there.
    new: AtomicU64,
    /// When the last request began that the old application answered.
    old: AtomicU64,
}

struct Watched {
    started: Instant,
    flips: Vec<Seen>,
    /// The flip that clients ask about.
    at: AtomicUsize,
    answers: AtomicUsize,
    over: AtomicBool,
}

impl Watched {
    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap()
    }

    /// Asks for the flipped account again and again, as fast as answers come.
    fn ask(&self, mut client: Client) {
        while !self.over.load(Ordering::Relaxed) {
            let flip = self.at.load(Ordering::Relaxed);
            let begun = self.now();
            let Seen { new, old } = &self.flips[flip];
            match client.get(HOST, format_args!("/flip-{flip}/tickets/1")) {
                Ok("new") => _ = new.fetch_min(self.now(), Ordering::SeqCst),
                Ok("old") => _ = old.fetch_max(begun, Ordering::SeqCst),
                answer => panic!("a request failed: {answer:?}"),
            }
            self.answers.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How long the disk takes to keep a page: a flip can't be faster than two of these.
    fn sync(&self, folder: &Path) -> Vec<Duration> {
        let mut file = std::fs::File::create(folder.join("sync")).unwrap();
        let mut times = Vec::new();
        while !self.over.load(Ordering::Relaxed) {
            let started = Instant::now();
            file.write_all(&[7; 4096]).unwrap();
            file.sync_data().unwrap();
            times.push(started.elapsed());
            thread::sleep(Duration::from_millis(50));
        }
        times
    }
}

/// From the answer of a PUT to the first response of the new application: p50 < 50 ms, p99 < 250 ms is wanted.
///
/// No request fails; once the new application has answered, a request that begins later never reaches the old
/// one; with `Prefer: wait` answered 200 that holds from that answer on.
#[test]
#[ignore = "a measurement"]
fn flips_under_full_load() {
    let [old, new] = ["old", "new"].map(app::start);
    let routes = format!(
        "[fleets.old]\nservers = [\"{old}\"]\n[fleets.new]\nservers = [\"{new}\"]\n\
         [[routes]]\nhosts = [\"{HOST}\"]\nfleet = \"old\"\naccount = \"a\"\napp = \"old\"\nlegacy = \"rails\"\n\
         [[routes]]\nhosts = [\"next.{HOST}\"]\nfleet = \"new\"\naccount = \"a\"\napp = \"new\"\n\
         [[claims]]\nhost = \"{HOST}\"\naccount = \"a\"\napp = \"old\"\npaths = {{}}\n"
    );
    let files = Files::new();
    let token = files.token(Role::Publish, Some("a"), Some("old"));
    let process = Process::start(&files, &routes);
    println!("load average                 {}", busy());

    let seen = || Seen { new: AtomicU64::new(u64::MAX), old: AtomicU64::new(0) };
    let watched = Arc::new(Watched {
        started: Instant::now(),
        flips: (0..FLIPS).map(|_| seen()).collect(),
        at: AtomicUsize::new(0),
        answers: AtomicUsize::new(0),
        over: AtomicBool::new(false),
    });
    let syncs = {
        let (watched, folder) = (Arc::clone(&watched), files.folder.path().to_owned());
        thread::spawn(move || watched.sync(&folder))
    };
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (watched, client) = (Arc::clone(&watched), Client::connect(process.proxy));
            thread::spawn(move || watched.ask(client))
        })
        .collect();

    let mut map = String::from("{\"paths\":{");
    for entry in 1..ENTRIES {
        _ = write!(map, "\"account-{entry}\":\"next.{HOST}\",");
    }
    let static_part = map.len();
    let [mut waited, mut not_waited, mut puts] = [const { Vec::new() }; 3];
    for flip in 0..FLIPS {
        watched.at.store(flip, Ordering::Relaxed);
        let Seen { new, old } = &watched.flips[flip];
        until(|| old.load(Ordering::SeqCst) > 0);
        let wait = flip % 2 == 1;
        let line = format!(
            "PUT /api/cli/apps/a/old/domains/{HOST}/paths{}",
            if wait { "\nPrefer: wait=20" } else { "" }
        );
        map.truncate(static_part);
        _ = write!(map, "\"flip-{flip}\":\"next.{HOST}\"}}}}");
        let asked = watched.now();
        let reply = ask(process.door, &token, &line, &map);
        let answered = watched.now();
        assert_eq!(reply.status, 200, "{reply:?}");
        puts.push(Duration::from_nanos(answered - asked));
        until(|| new.load(Ordering::SeqCst) < u64::MAX);
        // Enough for every connection to ask again, several times.
        thread::sleep(Duration::from_millis(20));
        let (first_new, last_old) = (new.load(Ordering::SeqCst), old.load(Ordering::SeqCst));
        assert!(last_old < first_new, "flip {flip}: the old one answered again");
        assert!(!wait || last_old < answered, "flip {flip}: the old one answered after the wait");
        let times = if wait { &mut waited } else { &mut not_waited };
        times.push(Duration::from_nanos(first_new.saturating_sub(answered)));
    }
    let seconds = watched.started.elapsed().as_secs_f64();
    watched.over.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().expect("no request fails");
    }
    let answers = watched.answers.load(Ordering::Relaxed);
    println!(
        "requests a second            {:.0}",
        f64::from(u32::try_from(answers).unwrap()) / seconds
    );
    spread("a sync of the disk", syncs.join().expect("the disk has room"));
    spread("the PUT itself", puts);
    spread("live after its answer", not_waited);
    spread("the same, with wait", waited);
    println!("load average                 {}", busy());
}

fn until(done: impl Fn() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(20), "it never happens");
        thread::sleep(Duration::from_micros(200));
    }
}
