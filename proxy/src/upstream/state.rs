//! What all threads know of a server.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::snapshot::Fleet;

/// One server of one fleet. It outlives snapshots.
///
/// Each value stands for itself, so that no order of them has to be relied on: a thread that sees one
/// late asks a server that has just gone down, which costs a retry.
#[derive(Debug)]
pub(crate) struct ServerState {
    /// Exchanges under way, where somebody counts them.
    in_flight: AtomicU32,
    /// Failures in a row.
    fails: AtomicU32,
    /// When a request may try it again, in milliseconds of the process; 0 while it is up.
    down_until: AtomicU64,
    /// What checks say.
    healthy: AtomicBool,
    /// They have said something.
    known: AtomicBool,
    /// When it came back, while its share still grows; 0 otherwise.
    returned: AtomicU64,
}

/// Whether a server can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Up,
    /// It was down long enough: this one request tries it.
    Trial,
    Down,
}

impl Default for ServerState {
    fn default() -> Self {
        Self {
            in_flight: AtomicU32::new(0),
            fails: AtomicU32::new(0),
            down_until: AtomicU64::new(0),
            healthy: AtomicBool::new(true),
            known: AtomicBool::new(false),
            returned: AtomicU64::new(0),
        }
    }
}

impl ServerState {
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight.load(Relaxed)
    }

    /// Counts one more exchange, of `most`.
    pub(super) fn enter(&self, most: u32) -> bool {
        let entered = self.in_flight.fetch_add(1, Relaxed) < most;
        if !entered {
            self.leave();
        }
        entered
    }

    pub(super) fn leave(&self) {
        self.in_flight.fetch_sub(1, Relaxed);
    }

    /// Whether it can be asked; of those who ask when its time is over only one hears so.
    pub(super) fn standing(&self, fleet: &Fleet) -> Standing {
        if !self.healthy.load(Relaxed) {
            return Standing::Down;
        }
        let until = self.down_until.load(Relaxed);
        if until == 0 {
            return Standing::Up;
        }
        let now = now();
        let next = now + millis(fleet.fail_timeout);
        let tries =
            now >= until && self.down_until.compare_exchange(until, next, Relaxed, Relaxed).is_ok();
        if tries { Standing::Trial } else { Standing::Down }
    }

    /// The part of its share that it gets, of 256.
    pub(super) fn ramp(&self, fleet: &Fleet) -> u8 {
        let returned = self.returned.load(Relaxed);
        if returned == 0 {
            return u8::MAX;
        }
        let (since, whole) = (now().saturating_sub(returned), millis(fleet.slow_start));
        if since >= whole {
            self.returned.store(0, Relaxed);
            return u8::MAX;
        }
        u8::try_from(since * 255 / whole).unwrap_or(u8::MAX).max(LEAST_SHARE)
    }

    /// It gave no connection, or a response that says that it can't.
    pub(crate) fn failed(&self, fleet: &Fleet) {
        if fleet.max_fails == 0 {
            return;
        }
        if self.fails.fetch_add(1, Relaxed).saturating_add(1) >= fleet.max_fails {
            self.down_until.store(now() + millis(fleet.fail_timeout), Relaxed);
        }
    }

    /// It answered.
    pub(crate) fn worked(&self, fleet: &Fleet) {
        if self.fails.load(Relaxed) != 0 {
            self.fails.store(0, Relaxed);
        }
        if self.down_until.load(Relaxed) != 0 {
            self.down_until.store(0, Relaxed);
            self.came_back(fleet);
        }
    }

    /// What a series of checks found; whether that is news.
    pub(super) fn checked(&self, healthy: bool, fleet: &Fleet) -> bool {
        self.known.store(true, Relaxed);
        let news = self.healthy.swap(healthy, Relaxed) != healthy;
        if news && healthy {
            self.fails.store(0, Relaxed);
            self.down_until.store(0, Relaxed);
            self.came_back(fleet);
        }
        news
    }

    pub(super) fn is_healthy(&self) -> bool {
        self.healthy.load(Relaxed)
    }

    pub(super) fn is_known(&self) -> bool {
        self.known.load(Relaxed)
    }

    /// Forgets what nobody finds out any more, under a new configuration.
    pub(crate) fn keep(&self, health: bool, fails: bool) {
        if !health {
            self.healthy.store(true, Relaxed);
            self.known.store(false, Relaxed);
        }
        if !fails {
            self.fails.store(0, Relaxed);
            self.down_until.store(0, Relaxed);
        }
    }

    fn came_back(&self, fleet: &Fleet) {
        if !fleet.slow_start.is_zero() {
            self.returned.store(now(), Relaxed);
        }
    }
}

/// A tenth, as soon as it is back: what gets nothing is not known to work.
const LEAST_SHARE: u8 = 25;

/// One fleet: who waits for a server of it.
#[derive(Debug, Default)]
pub(crate) struct FleetState {
    waiting: AtomicU32,
    room: Notify,
}

impl FleetState {
    pub(super) fn waiting(&self) -> u32 {
        self.waiting.load(Relaxed)
    }

    /// One more waits, unless `most` do.
    pub(super) fn wait(&self, most: u32) -> bool {
        let waits = self.waiting.fetch_add(1, Relaxed) < most;
        if !waits {
            self.waiting.fetch_sub(1, Relaxed);
        }
        waits
    }

    pub(super) fn waited(&self) {
        self.waiting.fetch_sub(1, Relaxed);
    }

    pub(super) const fn room(&self) -> &Notify {
        &self.room
    }

    /// An exchange is over: the one who has waited longest is told.
    pub(super) fn left(&self) {
        if self.waiting() > 0 {
            self.room.notify_one();
        }
    }
}

/// Milliseconds since the process began to look, never 0.
fn now() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet() -> Fleet {
        let mut fleet = Fleet::new("f", Vec::new());
        fleet.fail_timeout = Duration::ZERO;
        fleet
    }

    #[test]
    fn goes_down_after_failures_in_a_row() {
        let (mut fleet, state) = (fleet(), ServerState::default());
        (fleet.max_fails, fleet.fail_timeout) = (2, Duration::from_secs(60));
        state.failed(&fleet);
        state.worked(&fleet);
        state.failed(&fleet);
        assert_eq!(state.standing(&fleet), Standing::Up);
        state.failed(&fleet);
        assert_eq!(state.standing(&fleet), Standing::Down);
        state.worked(&fleet);
        assert_eq!(state.standing(&fleet), Standing::Up);
    }

    #[test]
    fn one_request_tries_it_again() {
        let (mut fleet, state) = (fleet(), ServerState::default());
        state.failed(&fleet);
        fleet.fail_timeout = Duration::from_secs(60);
        assert_eq!(state.standing(&fleet), Standing::Trial);
        assert_eq!(state.standing(&fleet), Standing::Down);
    }

    #[test]
    fn never_goes_down_where_failures_do_not_count() {
        let (mut fleet, state) = (fleet(), ServerState::default());
        fleet.max_fails = 0;
        state.failed(&fleet);
        assert_eq!(state.standing(&fleet), Standing::Up);
    }

    #[test]
    fn starts_slowly_when_it_comes_back() {
        let (mut fleet, state) = (fleet(), ServerState::default());
        assert_eq!(state.ramp(&fleet), u8::MAX);
        fleet.slow_start = Duration::from_secs(3600);
        state.failed(&fleet);
        state.worked(&fleet);
        assert_eq!(state.ramp(&fleet), LEAST_SHARE);
        fleet.slow_start = Duration::ZERO;
        assert_eq!(state.ramp(&fleet), u8::MAX);
    }
}
