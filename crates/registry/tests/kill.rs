//! What is left of a process that was killed.
#![expect(clippy::unwrap_used, reason = "a failing test may panic")]

#[path = "support/child.rs"]
mod child;
#[path = "support/rows.rs"]
mod rows;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Child;

use fingerpost_claims::{Change, ClaimStore, Collection, Commit, Committed, Journal, TailQuery};
use fingerpost_registry::{Diff, SqliteStore, StoreOptions};

use self::child::{block_on, spawn};
use self::rows::{host, open, path_row, prefix};

/// How often a process is killed, for each kind of file.
const KILLS: u64 = 30;

/// Every commit that was acknowledged is there, whole; so may be the one in flight.
#[test]
fn a_killed_store_has_every_acknowledged_commit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("claims.db");
    let mut acknowledged = 0;
    for round in 0..KILLS {
        acknowledged = kill(spawn("child_commits", &path), round).unwrap_or(acknowledged);
        let store = SqliteStore::open(&path, &StoreOptions::default()).unwrap();
        block_on(store.check_file()).unwrap();
        let serial = block_on(store.serial()).unwrap();
        assert!((acknowledged..=acknowledged + 1).contains(&serial), "{serial} {acknowledged}");

        // One row of the audit for each commit, the newest of each host with its record.
        let query = TailQuery { limit: usize::MAX, ..TailQuery::default() };
        let audit = block_on(store.tail(Journal::Audit, query)).unwrap();
        let numbers: Vec<_> = audit.iter().rev().map(|row| number(&row.body)).collect();
        assert_eq!(numbers, (1..=serial).collect::<Vec<_>>(), "round {round}");
        let mut newest = BTreeMap::new();
        for row in audit.iter().rev() {
            newest.insert(row.topic.clone(), number(&row.body));
        }
        let records = block_on(store.list(Collection::Claims, Default::default())).unwrap().records;
        let records = records.iter().map(|(key, record)| (key.clone(), number(&record.body)));
        assert_eq!(records.collect::<BTreeMap<_, _>>(), newest, "round {round}");
        acknowledged = serial;
    }
    assert!(acknowledged > KILLS, "killed before anything was committed");
}

/// The rows and their digests agree, and are those of the last acknowledged change or the one in flight.
#[test]
fn a_killed_registry_has_every_acknowledged_change() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("registry.db");
    let mut acknowledged = 0;
    for round in 0..KILLS {
        acknowledged = kill(spawn("child_applies", &path), round).unwrap_or(acknowledged);
        // Opening compares every row with the digests.
        let (registry, tables) = open(&path);
        registry.check_file().unwrap();
        let serial = registry.serial().unwrap_or(0);
        assert!((acknowledged..=acknowledged + 1).contains(&serial), "{serial} {acknowledged}");
        // Each change moves all rows of its host at once.
        let rows = tables.rows.path_rows();
        let targets: Vec<_> = rows.map(|(.., row)| row.to.target.clone()).collect();
        let want = (serial > 0).then(|| Some(host(&format!("v{serial}.example"))));
        assert!(
            targets.iter().all(|target| Some(target) == want.as_ref()),
            "torn in round {round}"
        );
        assert_eq!(targets.len(), if serial == 0 { 0 } else { PREFIXES });
        acknowledged = serial;
    }
    assert!(acknowledged > KILLS, "killed before anything was applied");
}

const PREFIXES: usize = 20;

/// Lets the child acknowledge some, kills it at some point in what comes next, and says which was the last.
fn kill(mut child: Child, round: u64) -> Option<u64> {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // Spread by a multiplicative hash: how many are acknowledged, and how long the next may go on.
    let chance = round.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut last = None;
    let mut wanted = chance >> 60;
    while wanted > 0 {
        last = acknowledged(&lines.next().unwrap().unwrap()).or(last);
        wanted -= u64::from(last.is_some());
    }
    (0..(chance >> 32) % (1 << 21)).for_each(|_| std::hint::spin_loop());
    child.kill().unwrap();
    child.wait().unwrap();
    // What was acknowledged before the signal arrived counts too.
    lines.map_while(Result::ok).filter_map(|line| acknowledged(&line)).last().or(last)
}

fn acknowledged(line: &str) -> Option<u64> {
    line.strip_prefix("done ")?.parse().ok()
}

fn number(body: &[u8]) -> u64 {
    std::str::from_utf8(body).unwrap().trim_end_matches('.').parse().unwrap()
}

fn acknowledge(number: u64) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "done {number}").unwrap();
    out.flush().unwrap();
}

#[test]
#[ignore = "run in a process of its own by the tests above"]
fn child_commits() {
    let Some(path) = child::file() else { return };
    let store = SqliteStore::open(&path, &StoreOptions::default()).unwrap();
    let mut serial = block_on(store.serial()).unwrap();
    loop {
        serial += 1;
        let key = format!("h{}.example", serial % 5);
        // Some of them over many pages.
        let body = format!("{serial}{}", ".".repeat((serial as usize % 7) * 5_000)).into_bytes();
        let change = match block_on(store.get(Collection::Claims, &key)).unwrap() {
            Some(record) => Change::replace(Collection::Claims, &key, record.version, body),
            None => Change::create(Collection::Claims, &key, body),
        };
        let row = serial.to_string().into_bytes();
        let commit = Commit::of(change).with_row(Journal::Audit, &key, row).with_bump();
        let done = block_on(store.commit(commit)).unwrap();
        assert!(matches!(done, Committed::Stored { serial: now, .. } if now == serial));
        acknowledge(serial);
    }
}

#[test]
#[ignore = "run in a process of its own by the tests above"]
fn child_applies() {
    let Some(path) = child::file() else { return };
    let (mut registry, _) = open(Path::new(&path));
    loop {
        let serial = registry.serial().unwrap_or(0) + 1;
        let mut diff = Diff { serial: Some(serial), ..Diff::default() };
        for at in 0..PREFIXES {
            let row = Some(path_row(&format!("v{serial}.example")));
            diff.rows.paths.push((host("h.example"), prefix(&format!("p{at}")), row));
        }
        registry.apply(&diff).unwrap();
        acknowledge(serial);
    }
}
