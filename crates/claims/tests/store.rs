//! The memory store: commits, pages, journals and watches.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use fingerpost_claims::{
    Change, ClaimStore, Collection, Commit, Committed, MemoryStore, self_check,
};

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

#[test]
fn the_memory_store_passes_the_check() {
    let store = MemoryStore::new();
    let mut n = 0;
    let mut ids = || {
        n += 1;
        format!("id-{n}")
    };
    assert_eq!(now(self_check(&store, &mut ids)), Ok(()));
    let left = now(store.list(Collection::Probes, Default::default())).unwrap();
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
