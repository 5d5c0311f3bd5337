//! What the steps of a flip cost among a million entries.

use tokio::time::Instant;

use fingerpost::apply;
use fingerpost::snapshot::Snapshots;
use fingerpost_claims::{ClaimSet, Reconciler, Rows};
use fingerpost_control::Role;
use fingerpost_registry::{Diff, Options, Registry};

use super::million::{HOSTS, claim, fill, paths, routes};
use super::spread;
use crate::world::{Files, World};

const FLIPS: usize = 50;
const ANSWERS: [&str; 2] = ["respond = { body = \"old\" }", "respond = { body = \"new\" }"];

#[test]
#[ignore = "a measurement"]
fn a_flip_among_a_million_entries() {
    let files = Files::new();
    let config = files.config(&routes(ANSWERS));
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
        pass_times.push(started.elapsed());
        let started = Instant::now();
        registry.apply(&Diff { rows: pass.diff.clone(), ..Diff::default() }).unwrap();
        keep.push(started.elapsed());
        let started = Instant::now();
        let generation = u64::try_from(flip + 2).unwrap();
        let next = apply::next(&snapshots.current(), &pass.diff, generation).unwrap();
        snapshots.publish(next);
        next_times.push(started.elapsed());
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
    fill(&files);
    let routes = routes(ANSWERS);
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
            with_wait.push(started.elapsed());
            assert_eq!(world.served(&name, &format!("/flipped-{flip}")), "new");
            let line = format!("PUT /api/cli/apps/{app}/domains/{name}/paths");
            let started = Instant::now();
            let back = world.ask(&token, &line, &format!("{{\"paths\": {}}}", paths(None)));
            assert_eq!(back.status, 200);
            without.push(started.elapsed());
            let started = Instant::now();
            while world.served(&name, &format!("/flipped-{flip}")) == "new" {}
            live.push(started.elapsed());
        }
        spread("PUT of a map, with wait", with_wait);
        spread("PUT of a map, without", without);
        spread("its answer to the first hit", live);
    }
}
