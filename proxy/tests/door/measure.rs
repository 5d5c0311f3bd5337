//! What a flip costs among a million entries. Run by itself: `cargo test -p fingerpost --test door --release -- --ignored --nocapture`.

use std::fmt::Write as _;
use tokio::time::Instant;

use fingerpost::apply;
use fingerpost::snapshot::Snapshots;
use fingerpost_claims::{Change, ClaimSet, Collection, Commit, Reconciler, Rows};
use fingerpost_control::Role;
use fingerpost_registry::{Diff, Options, Registry};

use super::world::{Files, World, block_on};

const HOSTS: usize = 100;
const ENTRIES: usize = 10_000;
const FLIPS: usize = 50;

fn routes() -> String {
    let mut text = String::from("[limits]\nthreads = 1\nmax_paths_per_claim = 10_001\n");
    for host in 0..HOSTS {
        _ = writeln!(
            text,
            "[[routes]]\nhosts = [\"h{host}.example\"]\nrespond = {{ body = \"old\" }}\n\
             account = \"a\"\napp = \"old{host}\"\nlegacy = \"rails\""
        );
    }
    text + "[[routes]]\nhosts = [\"new.example\"]\nrespond = { body = \"new\" }\naccount = \"a\"\napp = \"new\"\n"
}

fn paths(flipped: Option<usize>) -> String {
    let mut text = String::from("{");
    for entry in 0..ENTRIES {
        let comma = if entry == 0 { "" } else { "," };
        _ = write!(text, "{comma}\"account-{entry}\":\"new.example\"");
    }
    if let Some(flipped) = flipped {
        _ = write!(text, ",\"flipped-{flipped}\":\"new.example\"");
    }
    text + "}"
}

fn claim(host: usize, flipped: Option<usize>, id: usize) -> String {
    format!(
        "{{\"host\":\"h{host}.example\",\"account\":\"a\",\"app\":\"old{host}\",\"paths\":{},\"write_id\":\"{id}\"}}",
        paths(flipped)
    )
}

fn spread(name: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!("{name:<28} p50 {:8.3} ms  p99 {:8.3} ms", at(50) * 1e3, at(99) * 1e3);
}

#[test]
#[ignore = "a measurement"]
fn a_flip_among_a_million_entries() {
    let files = Files::new();
    let config = files.config(&routes());
    let mut claims = ClaimSet::new();
    for host in 0..HOSTS {
        claims.set(&format!("h{host}.example"), Some(claim(host, None, host).as_bytes()));
    }
    let started = Instant::now();
    let (mut reconciler, pass) = Reconciler::new(config.facts(), claims, &Rows::default());
    println!("full pass                    {:8.3} s", started.elapsed().as_secs_f64());
    let (mut registry, _) = Registry::open(&files.registry(), &Options::default()).unwrap();
    let started = Instant::now();
    registry.apply(&Diff { rows: pass.diff, ..Diff::default() }).unwrap();
    println!("registry filled              {:8.3} s", started.elapsed().as_secs_f64());
    let started = Instant::now();
    let snapshots = Snapshots::new(apply::snapshot(&config, reconciler.rows(), 1, 7).unwrap());
    println!("router built                 {:8.3} s", started.elapsed().as_secs_f64());
    let [mut pass_times, mut keep, mut next_times] = [const { Vec::new() }; 3];
    for flip in 0..FLIPS {
        let host = flip * 7 % HOSTS;
        let body = claim(host, Some(flip), HOSTS + flip);
        let started = Instant::now();
        let key = format!("h{host}.example");
        let pass = reconciler.update([(key.as_str(), Some(body.as_bytes()))]);
        pass_times.push(started.elapsed().as_secs_f64());
        let started = Instant::now();
        registry.apply(&Diff { rows: pass.diff.clone(), ..Diff::default() }).unwrap();
        keep.push(started.elapsed().as_secs_f64());
        let started = Instant::now();
        let generation = u64::try_from(flip + 2).unwrap();
        let next = apply::next(&snapshots.current(), &pass.diff, generation).unwrap();
        snapshots.publish(next);
        next_times.push(started.elapsed().as_secs_f64());
    }
    spread("reconcile one host", pass_times);
    spread("registry, on disk", keep);
    spread("apply and publish", next_times);
}

#[test]
#[ignore = "a measurement"]
fn a_flip_through_the_door_among_a_million_entries() {
    let files = Files::new();
    let token = files.token(Role::Person, Some("a"), None);
    let store = files.store();
    for host in 0..HOSTS {
        let body = claim(host, None, host).into_bytes();
        let change = Change::create(Collection::Claims, &format!("h{host}.example"), body);
        block_on(store.commit(Commit::of(change).with_bump())).unwrap();
    }
    let routes = routes();
    for _ in 0..2 {
        let started = Instant::now();
        let world = World::start(&files, &routes);
        println!("box started                  {:8.3} s", started.elapsed().as_secs_f64());
        let [mut with_wait, mut without, mut live] = [const { Vec::new() }; 3];
        for flip in 0..FLIPS {
            let host = flip * 7 % HOSTS;
            let (app, name) = (format!("a/old{host}"), format!("h{host}.example"));
            let flipped = paths(Some(flip));
            let started = Instant::now();
            assert_eq!(world.put(&token, &app, &name, &flipped).status, 200);
            with_wait.push(started.elapsed().as_secs_f64());
            assert_eq!(world.served(&name, &format!("/flipped-{flip}")), "new");
            let line = format!("PUT /api/cli/apps/{app}/domains/{name}/paths");
            let started = Instant::now();
            let back = world.ask(&token, &line, &format!("{{\"paths\": {}}}", paths(None)));
            assert_eq!(back.status, 200);
            without.push(started.elapsed().as_secs_f64());
            let started = Instant::now();
            while world.served(&name, &format!("/flipped-{flip}")) == "new" {}
            live.push(started.elapsed().as_secs_f64());
        }
        spread("PUT of a map, with wait", with_wait);
        spread("PUT of a map, without", without);
        spread("its answer to the first hit", live);
    }
}
