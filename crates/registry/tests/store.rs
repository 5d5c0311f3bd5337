//! The claim store: as the memory store, and what a file adds.
#![expect(clippy::unwrap_used, reason = "a failing test may panic")]

#[path = "support/child.rs"]
mod child;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use fingerpost_claims::{
    Change, ClaimStore, Collection, Commit, Committed, Journal, PageQuery, StoreError, TailQuery,
    conformance, self_check,
};
use fingerpost_registry::{FaultKind, OpenError, SqliteStore, StoreOptions};
use proptest::prelude::*;
use rusqlite::Connection;

use self::child::block_on;

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, &StoreOptions::default()).unwrap()
}

fn create(key: &str, body: &[u8]) -> Commit {
    Commit::of(Change::create(Collection::Claims, key, body.to_vec()))
}

#[test]
fn c3_the_suite_of_all_stores() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory.path().join("claims.db"));
    block_on(conformance::check(&store));
    block_on(store.check_file()).unwrap();
}

#[test]
fn the_check_at_start_finds_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory.path().join("claims.db"));
    let mut n = 0;
    let mut ids = || {
        n += 1;
        format!("id-{n}")
    };
    block_on(self_check(&store, &mut ids)).unwrap();
    let left = block_on(store.list(Collection::Probes, PageQuery::default())).unwrap();
    assert_eq!(left.records, []);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn c3_every_store_behaves_as_the_memory_store(script in prop::collection::vec(any::<u8>(), 0..120)) {
        let directory = tempfile::tempdir()?;
        let store = open(&directory.path().join("claims.db"));
        block_on(conformance::same_as_memory(&store, &script));
    }
}

/// Opened again, it holds what it held: records, journals, serial, what has changed.
#[test]
fn a_file_keeps_everything() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("claims.db");
    let all = |store: &SqliteStore| {
        let rows = |journal| {
            let query = TailQuery { limit: 100, ..TailQuery::default() };
            block_on(store.tail(journal, query)).unwrap()
        };
        let list = |collection| block_on(store.list(collection, PageQuery::default())).unwrap();
        let changes = block_on(store.changed_since(0)).unwrap();
        let serial = block_on(store.serial()).unwrap();
        (rows(Journal::Audit), rows(Journal::History), Collection::ALL.map(list), changes, serial)
    };
    let store = open(&path);
    for at in 0..60_u8 {
        let key = format!("h{}.example", at % 2);
        let body = vec![at];
        let change = match block_on(store.get(Collection::Claims, &key)).unwrap() {
            Some(record) => Change::replace(Collection::Claims, &key, record.version, body.clone()),
            None => Change::create(Collection::Claims, &key, body.clone()),
        };
        let commit = Commit::of(change).with_row(Journal::Audit, &key, body.clone());
        let commit = commit.with_row(Journal::History, "one.example", body).with_bump();
        assert!(matches!(block_on(store.commit(commit)).unwrap(), Committed::Stored { .. }));
    }
    let before = all(&store);
    assert_eq!((before.0.len(), before.1.len(), before.4), (60, Journal::HISTORY_KEPT, 60));
    // A serial that was never given out is of another store: nothing is known of what changed since.
    let since = |serial| block_on(store.changed_since(serial)).unwrap().keys.map(|keys| keys.len());
    assert_eq!([0, 58, 59, 60, 61].map(since), [Some(2), Some(2), Some(1), Some(0), None]);
    drop(store);
    assert_eq!(all(&open(&path)), before);
}

/// An older copy of the file gives the same numbers again, but never the same versions.
#[test]
fn versions_differ_after_a_backup_was_put_back() {
    let directory = tempfile::tempdir().unwrap();
    let (path, backup) = (directory.path().join("claims.db"), directory.path().join("backup.db"));
    drop(open(&path));
    fs::copy(&path, &backup).unwrap();
    let stored = |path: &Path, body: &[u8]| {
        let Committed::Stored { versions, .. } =
            block_on(open(path).commit(create("a.example", body))).unwrap()
        else {
            panic!("nothing is there");
        };
        versions[0].clone().unwrap()
    };
    let lost = stored(&path, b"{\"write_id\":\"1\"}");
    assert_ne!(stored(&backup, b"{\"write_id\":\"2\"}"), lost);
}

struct Told(Sender<()>);

impl Wake for Told {
    fn wake(self: Arc<Self>) {
        self.0.send(()).unwrap();
    }
}

/// A commit of this process wakes a watch; one of another store on the same file does once it is read.
#[test]
fn a_watch_is_woken() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("claims.db");
    let (store, other) = (open(&path), open(&path));
    let mut watch = store.watch();
    let (told, woken) = channel();
    let waker = Waker::from(Arc::new(Told(told)));
    let mut context = Context::from_waker(&waker);
    assert!(watch.changed().as_mut().poll(&mut context).is_pending());

    block_on(store.commit(create("a.example", b"1").with_bump())).unwrap();
    woken.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(watch.changed().as_mut().poll(&mut context).is_ready());
    assert!(watch.changed().as_mut().poll(&mut context).is_pending());

    block_on(store.commit(create("b.example", b"1"))).unwrap();
    block_on(other.commit(create("c.example", b"1").with_bump())).unwrap();
    assert!(watch.changed().as_mut().poll(&mut context).is_pending());
    assert_eq!(block_on(store.serial()).unwrap(), 2);
    woken.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(watch.changed().as_mut().poll(&mut context).is_ready());
}

/// Nobody waits for the answer, and it is done all the same, in order.
#[test]
fn a_dropped_future_does_not_undo() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory.path().join("claims.db"));
    drop(store.commit(create("a.example", b"1").with_bump()));
    assert!(block_on(store.get(Collection::Claims, "a.example")).unwrap().is_some());
}

/// Pages end where they get large, and go on.
#[test]
fn pages_are_bounded_in_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory.path().join("claims.db"));
    let body = vec![b'x'; 1 << 20];
    for at in 0..20 {
        block_on(store.commit(create(&format!("h{at:02}.example"), &body))).unwrap();
    }
    let (mut sizes, mut after) = (Vec::new(), None);
    loop {
        let query = PageQuery { after: after.as_deref(), ..PageQuery::default() };
        let page = block_on(store.list(Collection::Claims, query)).unwrap();
        sizes.push(page.records.len());
        let Some(next) = page.next else { break };
        after = Some(next);
    }
    assert_eq!(sizes, [8, 8, 4]);
}

/// A lock that stays is an error, and nothing is stored; reading goes on.
#[test]
fn a_locked_file_is_unavailable() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("claims.db");
    let options = StoreOptions { busy_timeout: Duration::from_millis(20) };
    let store = SqliteStore::open(&path, &options).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let locked = block_on(store.commit(create("a.example", b"1"))).unwrap_err();
    let StoreError::Unavailable { reason } = locked else { panic!("{locked:?}") };
    assert!(reason.contains("claims.db is locked by somebody else"), "{reason}");
    assert_eq!(block_on(store.get(Collection::Claims, "a.example")).unwrap(), None);
    other.execute_batch("ROLLBACK").unwrap();
    assert!(block_on(store.commit(create("a.example", b"1"))).is_ok());
}

/// What is done to the file, and what opening it or reading from it says.
#[test]
fn a_bad_file_is_never_an_empty_one() {
    let sql = |path: &Path, sql| Connection::open(path).unwrap().execute_batch(sql).unwrap();
    type Row<'a> = (&'a str, &'a dyn Fn(&Path), &'a dyn Fn(&OpenError) -> bool);
    let rows: [Row<'_>; 4] = [
        ("emptied", &|path| fs::write(path, b"").unwrap(), &|error| {
            error.fault() == Some(FaultKind::Corrupt)
        }),
        ("overwritten", &|path| fs::write(path, [b'x'; 9000]).unwrap(), &|error| {
            error.fault() == Some(FaultKind::Corrupt)
        }),
        ("later", &|path| sql(path, "PRAGMA user_version = 9"), &|error| {
            matches!(error, OpenError::Newer { found: 9, supported: 1, .. })
        }),
        ("state lost", &|path| sql(path, "DELETE FROM state"), &|error| {
            error.fault() == Some(FaultKind::Corrupt)
        }),
    ];
    for (what, damage, want) in rows {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("claims.db");
        block_on(open(&path).commit(create("a.example", b"1"))).unwrap();
        // The thread may still be closing it.
        while path.with_extension("db-wal").exists() {
            std::thread::yield_now();
        }
        damage(&path);
        let error = SqliteStore::open(&path, &StoreOptions::default()).map(|_| ()).unwrap_err();
        assert!(want(&error), "{what}: {error:?}");
    }

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("claims.db");
    let store = open(&path);
    block_on(store.commit(create("a.example", b"1"))).unwrap();
    sql(&path, "DROP TABLE records");
    let read = block_on(store.get(Collection::Claims, "a.example")).unwrap_err();
    assert!(matches!(read, StoreError::Corrupt { .. }), "{read:?}");
    let list = block_on(store.list(Collection::Claims, PageQuery::default())).unwrap_err();
    assert!(matches!(list, StoreError::Corrupt { .. }), "{list:?}");
    let commit = block_on(store.commit(create("b.example", b"1"))).unwrap_err();
    assert!(matches!(commit, StoreError::Corrupt { .. }), "{commit:?}");
}

/// Whoever polled last is woken, whoever polled first.
#[test]
fn answers_reach_whoever_polls_last() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory.path().join("claims.db"));
    for _ in 0..100 {
        let mut serial = store.serial();
        // Ready, if the thread was faster.
        if serial.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            assert_eq!(block_on(serial), Ok(0));
        }
    }
}
