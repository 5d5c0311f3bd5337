//! The place where the current snapshot stands.

use std::sync::Arc;

use arc_swap::{ArcSwap, Cache};

/// A snapshot that can be swapped whole while others read it.
///
/// A request takes one snapshot and keeps it (R5): [`Reader::current`] once, then everything from that.
///
/// ```
/// use fingerpost_router::Handle;
/// let handle = Handle::new(1);
/// let mut reader = handle.reader();
/// let before = reader.current().clone();
/// handle.swap(2);
/// assert_eq!((*before, **reader.current()), (1, 2));
/// ```
#[derive(Debug)]
pub struct Handle<S>(Arc<ArcSwap<S>>);

impl<S> Handle<S> {
    /// A handle on a first snapshot.
    #[must_use]
    pub fn new(snapshot: S) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(snapshot)))
    }

    /// The current snapshot; about 20 ns. Threads that ask often keep a [`Reader`].
    #[must_use]
    pub fn load_full(&self) -> Arc<S> {
        self.0.load_full()
    }

    /// Makes `next` the current snapshot, and hands back the one before: drop it where time does not
    /// matter. Every look-up that begins after this returns sees `next`.
    pub fn swap(&self, next: S) -> Arc<S> {
        self.0.swap(Arc::new(next))
    }

    /// A reader for one thread.
    #[must_use]
    pub fn reader(&self) -> Reader<S> {
        Reader(Cache::new(Arc::clone(&self.0)))
    }
}

impl<S> Clone for Handle<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// One thread's view of a [`Handle`]: a load costs about half a nanosecond.
///
/// It keeps the snapshot that it saw last alive until it looks again.
#[derive(Clone, Debug)]
pub struct Reader<S>(Cache<Arc<ArcSwap<S>>, Arc<S>>);

impl<S> Reader<S> {
    /// The current snapshot.
    pub fn current(&mut self) -> &Arc<S> {
        self.0.load()
    }
}
