//! Several processes on one store.

#[path = "support/child.rs"]
mod child;

use std::io::Read;

use fingerpost_claims::{Change, ClaimStore, Collection, Commit, Committed};
use fingerpost_registry::{SqliteStore, StoreOptions};

use self::child::{block_on, spawn};

const PROCESSES: usize = 8;
const UPDATES: u64 = 200;
const KEY: &str = "tickets.example";

/// Each reads, adds one and writes on the condition that nobody else has: every one counts.
#[test]
#[expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]
fn c1_no_update_of_eight_processes_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("claims.db");
    let clock = std::time::Instant::now();
    // They also race for who creates the file.
    let children: Vec<_> = (0..PROCESSES).map(|_| spawn("child_adds", &path)).collect();
    for mut child in children {
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success(), "{said}");
    }
    let total = UPDATES * u64::try_from(PROCESSES).unwrap();
    println!("{total} updates in {:?}", clock.elapsed());
    let store = SqliteStore::open(&path, &StoreOptions::default()).unwrap();
    let record = block_on(store.get(Collection::Claims, KEY)).unwrap().unwrap();
    assert_eq!(std::str::from_utf8(&record.body).unwrap(), total.to_string());
    assert_eq!(block_on(store.serial()).unwrap(), total);
    block_on(store.check_file()).unwrap();
}

#[test]
#[ignore = "run in processes of its own by the test above"]
fn child_adds() {
    let Some(path) = child::file() else { return };
    let store = SqliteStore::open(&path, &StoreOptions::default()).unwrap();
    let mut left = UPDATES;
    while left > 0 {
        let change = match block_on(store.get(Collection::Claims, KEY)).unwrap() {
            Some(record) => {
                let next = std::str::from_utf8(&record.body).unwrap().parse::<u64>().unwrap() + 1;
                let body = next.to_string().into_bytes();
                Change::replace(Collection::Claims, KEY, record.version, body)
            }
            None => Change::create(Collection::Claims, KEY, b"1".to_vec()),
        };
        match block_on(store.commit(Commit::of(change).with_bump())).unwrap() {
            Committed::Stored { .. } => left -= 1,
            Committed::Conflict { .. } => {}
        }
    }
}
