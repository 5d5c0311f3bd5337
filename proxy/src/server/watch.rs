//! The one deadline of a client connection.

use std::cell::{Cell, RefCell};
use std::task::Waker;
use std::time::Duration;

/// What a connection is waiting for, which says whose fault a long wait is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Nothing that has a limit.
    Free,
    /// The client's next request, up to the end of its header.
    Head,
    /// The client's next piece of a request's content.
    Upload,
    /// The header of an upstream's response.
    Response,
    /// The upstream's next piece of a response's content.
    Download,
    /// The client to take what we have for it.
    Client,
    /// Either side of a tunnel to say something.
    Tunnel,
}

/// A worker's coarse clock: milliseconds that wrap around, set once a tick.
///
/// One timer per worker looks at every connection's [`Watch`]. A timer per request costs more than
/// everything else that a proxy decides about it; here a wait begins and ends with a store.
#[derive(Debug, Default)]
pub(crate) struct Clock(Cell<u32>);

impl Clock {
    pub(crate) fn now(&self) -> u32 {
        self.0.get()
    }

    pub(crate) fn set(&self, since_start: Duration) {
        self.0.set(millis(since_start));
    }
}

/// The wait that a connection is in.
#[derive(Debug)]
pub(crate) struct Watch {
    stage: Cell<Stage>,
    since: Cell<u32>,
    limit: Cell<u32>,
    expired: Cell<bool>,
    task: RefCell<Option<Waker>>,
}

impl Watch {
    pub(crate) const fn new() -> Self {
        Self {
            stage: Cell::new(Stage::Free),
            since: Cell::new(0),
            limit: Cell::new(0),
            expired: Cell::new(false),
            task: RefCell::new(None),
        }
    }

    /// Begins to wait.
    pub(crate) fn begin(&self, stage: Stage, now: u32, limit: Duration) {
        self.stage.set(stage);
        self.since.set(now);
        self.limit.set(millis(limit));
        self.expired.set(false);
    }

    /// Ends the wait, whatever it was for.
    pub(crate) fn end(&self) {
        self.stage.set(Stage::Free);
        self.expired.set(false);
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage.get()
    }

    /// The stage whose limit has passed.
    pub(crate) fn expired(&self) -> Option<Stage> {
        self.expired.get().then(|| self.stage.get())
    }

    /// Remembers the task to wake; it is the same one for a connection's whole life.
    pub(crate) fn register(&self, waker: &Waker) {
        let mut task = self.task.borrow_mut();
        if !task.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *task = Some(waker.clone());
        }
    }

    pub(crate) fn wake(&self) {
        if let Some(task) = &*self.task.borrow() {
            task.wake_by_ref();
        }
    }

    /// Wakes the connection if its limit has passed. A wait that begins between two ticks is dated
    /// to the first of them, so `tick` is added to the limit: never early, at most two ticks late.
    pub(crate) fn check(&self, now: u32, tick: u32) {
        if self.stage.get() == Stage::Free || self.expired.get() {
            return;
        }
        if now.wrapping_sub(self.since.get()) >= self.limit.get().saturating_add(tick) {
            self.expired.set(true);
            self.wake();
        }
    }
}

/// Whole milliseconds, as many as fit.
fn millis(duration: Duration) -> u32 {
    // A clock wraps around after 49 days; limits are far below.
    (duration.as_millis() & u128::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expires_late_never_early() {
        let watch = Watch::new();
        watch.begin(Stage::Head, u32::MAX - 10, Duration::from_millis(100));
        for (now, want) in [(u32::MAX, None), (95, None), (98, None), (99, Some(Stage::Head))] {
            watch.check(now, 10);
            assert_eq!(watch.expired(), want, "{now}");
        }
        watch.begin(Stage::Upload, 99, Duration::from_millis(100));
        assert_eq!(watch.expired(), None);
        watch.end();
        watch.check(5_000, 10);
        assert_eq!(watch.expired(), None);
    }
}
