//! The memory store, the suite that it sets for the others, and stores that break their word.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use fingerpost_authority::Host;
use fingerpost_claims::{
    BoxFuture, Change, Changes, Claim, ClaimStore, Collection, Commit, Committed, Expect, Journal,
    Limits, MemoryStore, Name, Page, PageQuery, PathMap, Reach, Record, Row, SelfCheckError,
    StoreError, TailQuery, Version, Watch, conformance, self_check,
};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the memory store never waits"),
    }
}

fn ids() -> impl FnMut() -> String + Send {
    let mut n = 0;
    move || {
        n += 1;
        format!("id-{n}")
    }
}

#[test]
fn the_memory_store_passes_its_own_suite() {
    now(conformance::check(&MemoryStore::new()));
}

#[test]
fn the_memory_store_passes_the_check() {
    let store = MemoryStore::new();
    assert_eq!(now(self_check(&store, &mut ids())), Ok(()));
    let left = now(store.list(Collection::Probes, PageQuery::default())).unwrap();
    assert_eq!(left.records, []);
}

#[test]
fn a_watch_wakes_on_a_bump_and_on_nothing_else() {
    let store = MemoryStore::new();
    let mut watch = store.watch();
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(Arc::clone(&flag));
    let mut context = Context::from_waker(&waker);
    assert!(watch.changed().as_mut().poll(&mut context).is_pending());
    let change = |key| Commit::of(Change::create(Collection::Claims, key, b"{}".to_vec()));
    now(store.commit(change("a.example"))).unwrap();
    assert!(!flag.0.load(Ordering::SeqCst));
    let stored = now(store.commit(change("b.example").with_bump())).unwrap();
    assert!(matches!(stored, Committed::Stored { serial: 1, .. }));
    assert!(flag.0.load(Ordering::SeqCst));
    assert!(watch.changed().as_mut().poll(&mut context).is_ready());
    assert!(watch.changed().as_mut().poll(&mut context).is_pending());
}

/// A serial that was never given out is of another store: everything may have changed.
#[test]
fn a_serial_of_another_store_is_told_apart() {
    let store = MemoryStore::new();
    let create = Change::create(Collection::Claims, "a.example", b"{}".to_vec());
    now(store.commit(Commit::of(create).with_bump())).unwrap();
    let since = |serial| now(store.changed_since(serial)).unwrap().keys.map(|keys| keys.len());
    assert_eq!((since(0), since(1), since(2)), (Some(1), Some(0), None));
}

/// C1 over threads: read-modify-write by several writers on one host, none lost.
#[test]
fn c1_no_update_is_lost() {
    const WRITERS: usize = 8;
    const EACH: usize = 200;
    let (store, host) = (MemoryStore::new(), Host::parse("tickets.example").unwrap());
    let name = |text| Name::parse(text).unwrap();
    let fresh = Claim::attach(host.clone(), name("a"), name("web"), Reach::default());
    let create = Change::create(Collection::Claims, host.as_str(), fresh.to_json("0"));
    now(store.commit(Commit::of(create))).unwrap();
    let limits = Limits::default();
    let publish = |writer: usize, n: usize| loop {
        let read = now(store.get(Collection::Claims, host.as_str())).unwrap().unwrap();
        let mut claim = Claim::parse(&host, &read.body).unwrap();
        let mut entries: Vec<_> =
            claim.paths().iter().map(|(p, t)| (p.to_string(), Some(t.to_string()))).collect();
        entries.push((format!("w{writer}n{n}"), Some("next.example".to_owned())));
        let (map, _) = PathMap::check(&host, entries);
        let sequence = claim.sequence().map_or(1, |sequence| sequence + 1);
        claim.set_paths(map, Some(sequence), &limits).unwrap();
        let body = claim.to_json(&format!("{writer}-{n}"));
        let change = Change::replace(Collection::Claims, host.as_str(), read.version, body);
        if let Committed::Stored { .. } = now(store.commit(Commit::of(change).with_bump())).unwrap()
        {
            break;
        }
    };
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || (0..EACH).for_each(|n| publish(writer, n)));
        }
    });
    let read = now(store.get(Collection::Claims, host.as_str())).unwrap().unwrap();
    let claim = Claim::parse(&host, &read.body).unwrap();
    assert_eq!(claim.paths().len(), WRITERS * EACH);
    assert_eq!(claim.sequence(), Some((WRITERS * EACH) as u64));
    assert_eq!(now(store.serial()), Ok((WRITERS * EACH) as u64));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    #[test]
    fn c3_every_store_behaves_as_the_memory_store(script in vec(any::<u8>(), 0..120)) {
        now(conformance::same_as_memory(&MemoryStore::new(), &script));
    }

    /// Two writers on one version, in any order of any number of them: one wins.
    #[test]
    fn c1_of_two_writers_on_one_version_exactly_one_wins(turns in vec(any::<bool>(), 1..20)) {
        let store = MemoryStore::new();
        let create = Change::create(Collection::Claims, "a.example", b"0".to_vec());
        let Committed::Stored { versions, .. } = now(store.commit(Commit::of(create))).unwrap() else {
            panic!("nothing is there")
        };
        let mut current = versions[0].clone().unwrap();
        for first in turns {
            let bodies = if first { [b"1", b"2"] } else { [b"2", b"1"] };
            let write = |body: &[u8]| {
                let change = Change::replace(Collection::Claims, "a.example", current.clone(), body.to_vec());
                now(store.commit(Commit::of(change))).unwrap()
            };
            let outcomes = bodies.map(|body| write(body));
            let won = outcomes.iter().filter(|outcome| matches!(outcome, Committed::Stored { .. })).count();
            prop_assert_eq!(won, 1);
            let read = now(store.get(Collection::Claims, "a.example")).unwrap().unwrap();
            prop_assert_eq!(&*read.body, bodies[0]);
            current = read.version;
        }
    }
}

/// How a store may break its word.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// A creation overwrites.
    IgnoresAbsent,
    /// Of creations that overlap, several are stored: the condition is checked too early.
    ChecksEarly,
    /// Any version will do.
    IgnoresVersion,
    /// A version is as good as an absence.
    CreatesOnVersion,
    /// The version is a hash of the body's length, say.
    SameVersion,
    /// Reads lag behind.
    ReadsOld,
    /// It refuses what it should store.
    RefusesAll,
    /// It is not there.
    Gone,
}

/// A store of one collection with a fault.
#[derive(Debug)]
struct Faulty {
    fault: Fault,
    records: Mutex<BTreeMap<String, Record>>,
    counter: AtomicU64,
}

impl Faulty {
    fn holds(&self, expect: &Expect, current: Option<&Version>) -> bool {
        match (self.fault, expect, current) {
            (Fault::RefusesAll, ..) => false,
            (Fault::IgnoresAbsent, Expect::Absent, _) => true,
            (Fault::IgnoresVersion, Expect::Version(_), Some(_)) => true,
            (Fault::CreatesOnVersion, Expect::Version(_), None) => true,
            (_, Expect::Absent, None) | (_, Expect::Any, _) => true,
            (_, Expect::Version(wanted), Some(current)) => wanted == current,
            _ => false,
        }
    }

    fn store(&self, change: Change) -> Committed {
        let n = self.counter.fetch_add(1, Ordering::SeqCst);
        let version = Version::new(match self.fault {
            Fault::SameVersion => "same".to_owned(),
            _ => n.to_string(),
        });
        let mut records = self.records.lock().unwrap();
        match change.body {
            Some(body) => {
                records.insert(change.key, Record { body: body.into(), version: version.clone() });
            }
            None => {
                records.remove(&change.key);
            }
        }
        Committed::Stored { serial: 0, versions: vec![Some(version)] }
    }

    fn current(&self, key: &str) -> Option<Version> {
        self.records.lock().unwrap().get(key).map(|record| record.version.clone())
    }
}

impl ClaimStore for Faulty {
    fn get<'a>(
        &'a self,
        _: Collection,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<Record>, StoreError>> {
        Box::pin(async move {
            let found = self.records.lock().unwrap().get(key).cloned();
            Ok(found.map(|record| match self.fault {
                Fault::ReadsOld => Record { body: b"old"[..].into(), ..record },
                _ => record,
            }))
        })
    }

    fn commit(&self, mut commit: Commit) -> BoxFuture<'_, Result<Committed, StoreError>> {
        Box::pin(async move {
            if matches!(self.fault, Fault::Gone) {
                return Err(StoreError::Unavailable { reason: "gone".to_owned() });
            }
            let change = commit.changes.pop().unwrap();
            let holds = self.holds(&change.expect, self.current(&change.key).as_ref());
            if matches!(self.fault, Fault::ChecksEarly) {
                yield_once().await;
            }
            if !holds {
                return Ok(Committed::Conflict { current: vec![self.current(&change.key)] });
            }
            Ok(self.store(change))
        })
    }

    fn list<'a>(
        &'a self,
        _: Collection,
        _: PageQuery<'a>,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        unimplemented!("the check does not list")
    }

    fn serial(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        unimplemented!("the check asks for no serial")
    }

    fn changed_since(&self, _: u64) -> BoxFuture<'_, Result<Changes, StoreError>> {
        unimplemented!("the check asks for no changes")
    }

    fn tail<'a>(
        &'a self,
        _: Journal,
        _: TailQuery<'a>,
    ) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        unimplemented!("the check reads no journal")
    }

    fn watch(&self) -> Box<dyn Watch> {
        unimplemented!("the check does not watch")
    }
}

/// Lets the others run once.
async fn yield_once() {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Polls until it is done; nothing here waits for anything but its turn.
fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

#[test]
fn stores_that_break_their_word_are_refused() {
    let gone = StoreError::Unavailable { reason: "gone".to_owned() };
    let cases = [
        (Fault::IgnoresAbsent, SelfCheckError::CreatedTwice),
        (Fault::ChecksEarly, SelfCheckError::Race { racers: 32, winners: 32 }),
        (Fault::IgnoresVersion, SelfCheckError::StaleStored),
        (Fault::CreatesOnVersion, SelfCheckError::MissingStored),
        (Fault::SameVersion, SelfCheckError::VersionReused),
        (Fault::ReadsOld, SelfCheckError::NotReadBack),
        (Fault::RefusesAll, SelfCheckError::FreshRefused),
        (Fault::Gone, SelfCheckError::Store(gone)),
    ];
    for (fault, want) in cases {
        let store = Faulty { fault, records: Mutex::default(), counter: AtomicU64::new(0) };
        assert_eq!(run(self_check(&store, &mut ids())), Err(want), "{fault:?}");
    }
}
