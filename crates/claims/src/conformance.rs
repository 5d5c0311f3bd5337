//! What every claim store is tested with.
//!
//! Panics where a store does not behave; for tests only. A store's tests give [`check`] and [`same_as_memory`]
//! a fresh store each, and a way to run futures.

mod script;

use crate::{
    Change, ClaimStore, Collection, Commit, Committed, Expect, InvalidCommit, Journal, MemoryStore,
    PageQuery, StoreError, TailQuery, Version,
};

pub use self::script::same_as_memory;

/// Runs every check on a store that is empty.
///
/// # Panics
/// If the store does not behave as [`ClaimStore`] says.
pub async fn check(store: &dyn ClaimStore) {
    creates_once(store).await;
    swaps_only_what_was_expected(store).await;
    stores_all_or_nothing(store).await;
    refuses_invalid_commits(store).await;
    pages_in_order(store).await;
    moves_the_serial(store).await;
    keeps_journals(store).await;
    keeps_any_body(store).await;
}

const CLAIMS: Collection = Collection::Claims;

/// What a commit answered, and how it must not answer.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Stored(u64, Vec<Option<Version>>),
    Conflict(Vec<Option<Version>>),
}

async fn commit(store: &dyn ClaimStore, commit: Commit) -> Answer {
    match store.commit(commit).await.expect("the store is there") {
        Committed::Stored { serial, versions } => Answer::Stored(serial, versions),
        Committed::Conflict { current } => Answer::Conflict(current),
    }
}

async fn stored(store: &dyn ClaimStore, change: Change) -> Version {
    match commit(store, Commit::of(change)).await {
        Answer::Stored(_, mut versions) => {
            versions.pop().flatten().expect("what was stored has a version")
        }
        Answer::Conflict(current) => panic!("a conflict with {current:?}"),
    }
}

async fn version(store: &dyn ClaimStore, key: &str) -> Option<Version> {
    let record = store.get(CLAIMS, key).await.expect("the store is there");
    record.map(|record| record.version)
}

async fn creates_once(store: &dyn ClaimStore) {
    let create = |body: &[u8]| Change::create(CLAIMS, "once.example", body.to_vec());
    let first = stored(store, create(b"1")).await;
    let again = commit(store, Commit::of(create(b"2"))).await;
    assert_eq!(again, Answer::Conflict(vec![Some(first.clone())]), "a second creation");
    let read = store.get(CLAIMS, "once.example").await.expect("the store is there");
    let read = read.expect("what was stored is there");
    assert_eq!((&*read.body, &read.version), (&b"1"[..], &first), "read after write");
    let other = store.get(Collection::Routes, "once.example").await.expect("the store is there");
    assert_eq!(other, None, "collections are apart");
}

/// C1, one after the other: of two writers on one version exactly one wins.
async fn swaps_only_what_was_expected(store: &dyn ClaimStore) {
    let key = "swap.example";
    let replace = |version: &Version, body: &[u8]| {
        Commit::of(Change::replace(CLAIMS, key, version.clone(), body.to_vec()))
    };
    let first = stored(store, Change::create(CLAIMS, key, b"same".to_vec())).await;
    let Answer::Stored(_, versions) = commit(store, replace(&first, b"same")).await else {
        panic!("a change with the current version is stored")
    };
    let second = versions.into_iter().next().flatten().expect("a version");
    assert_ne!(first, second, "two bodies never share a version, equal ones included");
    let lost = commit(store, replace(&first, b"late")).await;
    assert_eq!(lost, Answer::Conflict(vec![Some(second.clone())]), "the second writer");
    let absent = Change::replace(CLAIMS, "nowhere.example", second.clone(), b"x".to_vec());
    let absent = commit(store, Commit::of(absent)).await;
    assert_eq!(absent, Answer::Conflict(vec![None]), "a version where there is no record");
    assert_eq!(version(store, key).await, Some(second));
}

async fn stores_all_or_nothing(store: &dyn ClaimStore) {
    let before = store.serial().await.expect("the store is there");
    let good = Change::create(CLAIMS, "whole.example", b"1".to_vec());
    let bad = Change::create(CLAIMS, "once.example", b"2".to_vec());
    let mut both = Commit { changes: vec![good, bad], ..Commit::default() };
    both = both.with_row(Journal::Audit, "whole.example", b"row".to_vec()).with_bump();
    assert!(matches!(commit(store, both).await, Answer::Conflict(current) if current.len() == 2));
    assert_eq!(version(store, "whole.example").await, None, "nothing of a conflict is stored");
    assert_eq!(store.serial().await, Ok(before), "nor does the serial move");
    let query = TailQuery { topic: Some("whole.example"), before: None, limit: 9 };
    let rows = store.tail(Journal::Audit, query).await.expect("the store is there");
    assert_eq!(rows, [], "nor is a row appended");
}

async fn refuses_invalid_commits(store: &dyn ClaimStore) {
    let change = |expect, body: Option<&[u8]>| {
        let (collection, key) = (CLAIMS, "invalid.example".to_owned());
        Commit::of(Change { collection, key, expect, body: body.map(<[u8]>::to_vec) })
    };
    let once = change(Expect::Absent, Some(b"x"));
    let twice =
        Commit { changes: [once.changes.clone(), once.changes.clone()].concat(), ..once.clone() };
    let key = "invalid.example".to_owned();
    let cases = [
        (change(Expect::Any, Some(b"x")), InvalidCommit::Unconditional { collection: CLAIMS }),
        (change(Expect::Absent, None), InvalidCommit::ClaimRemoved),
        (twice, InvalidCommit::ChangedTwice { key }),
    ];
    for (commit, why) in cases {
        assert_eq!(store.commit(commit).await, Err(StoreError::Invalid(why)));
    }
    assert_eq!(version(store, "invalid.example").await, None);
}

async fn pages_in_order(store: &dyn ClaimStore) {
    let keys = ["p/a", "p/aa", "p/b", "p/ä", "q/a"];
    for key in keys.iter().rev() {
        stored(store, Change::create(Collection::Tokens, key, key.as_bytes().to_vec())).await;
    }
    for limit in [0, 1, 2, 3, 4, 5, 100] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let query = PageQuery { prefix: "p/", after: after.as_deref(), limit };
            let page = store.list(Collection::Tokens, query).await.expect("the store is there");
            assert!(limit == 0 || page.records.len() <= limit, "pages of {limit}");
            found.extend(page.records.into_iter().map(|(key, _)| key));
            let Some(next) = page.next else { break };
            after = Some(next);
        }
        assert_eq!(found, keys.get(..4).unwrap_or_default(), "pages of {limit}");
    }
    let query = PageQuery { prefix: "none", ..PageQuery::default() };
    let page = store.list(Collection::Tokens, query).await.expect("the store is there");
    assert_eq!((page.records, page.next), (vec![], None));
}

async fn moves_the_serial(store: &dyn ClaimStore) {
    let before = store.serial().await.expect("the store is there");
    let create = |key| Commit::of(Change::create(CLAIMS, key, b"x".to_vec()));
    let quiet = commit(store, create("quiet.example")).await;
    assert!(
        matches!(quiet, Answer::Stored(serial, _) if serial == before),
        "no bump was asked for"
    );
    let mut watch = store.watch();
    let loud = commit(store, create("loud.example").with_bump()).await;
    assert!(matches!(loud, Answer::Stored(serial, _) if serial == before + 1), "one bump");
    watch.changed().await.expect("a watch tells of a bump before it was asked");
    assert_eq!(store.serial().await, Ok(before + 1));
    let changes = store.changed_since(before).await.expect("the store is there");
    assert_eq!(changes.serial, before + 1);
    if let Some(keys) = changes.keys {
        assert!(keys.contains(&(CLAIMS, "loud.example".to_owned())), "{keys:?}");
    }
    let none = store.changed_since(before + 1).await.expect("the store is there");
    assert!(none.keys.is_none_or(|keys| keys.is_empty()), "nothing since");
}

async fn keeps_journals(store: &dyn ClaimStore) {
    let kept = Journal::HISTORY_KEPT;
    for n in 0..kept + 2 {
        let body = n.to_string().into_bytes();
        let rows = Commit::default()
            .with_row(Journal::History, "j.example", body.clone())
            .with_row(Journal::History, "other.example", body.clone())
            .with_row(Journal::Audit, "j.example", body);
        commit(store, rows).await;
    }
    let read = async |journal, topic, before, limit| {
        let query = TailQuery { topic, before, limit };
        store.tail(journal, query).await.expect("the store is there")
    };
    let text = |row: &crate::Row| String::from_utf8_lossy(&row.body).into_owned();
    let history = read(Journal::History, Some("j.example"), None, 1000).await;
    assert_eq!(history.len(), kept, "the history keeps the last rows of each topic");
    assert_eq!(history.first().map(text), Some((kept + 1).to_string()), "the newest row first");
    assert_eq!(history.last().map(text), Some("2".to_owned()));
    assert!(history.is_sorted_by(|newer, older| newer.number > older.number));
    let audit = read(Journal::Audit, Some("j.example"), None, 1000).await;
    assert_eq!(audit.len(), kept + 2, "the audit keeps everything");
    let newest = read(Journal::Audit, None, None, 2).await;
    assert_eq!(newest.len(), 2);
    let before = newest.last().map(|row| row.number);
    let next = read(Journal::Audit, None, before, 1).await;
    assert_eq!(next.len(), 1);
    assert!(next.first().map(|row| row.number) < before, "older rows follow");
}

async fn keeps_any_body(store: &dyn ClaimStore) {
    for (at, body) in [vec![], vec![0, 255, 10], vec![b'x'; 1 << 20]].into_iter().enumerate() {
        let key = format!("body{at}.example");
        stored(store, Change::create(CLAIMS, &key, body.clone())).await;
        let read = store.get(CLAIMS, &key).await.expect("the store is there");
        assert!(read.is_some_and(|read| *read.body == *body), "body {at}");
    }
}

/// The store that [`same_as_memory`] compares with.
fn model() -> MemoryStore {
    MemoryStore::new()
}
