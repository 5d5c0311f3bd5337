//! How many requests may be sent a second time.

use std::cell::Cell;

/// The retries that one thread allows itself for one fleet: a share of the requests of the last ten
/// seconds, and three a second on top, so that a quiet fleet has some too.
///
/// Without a bound, a fleet that can hardly cope is sent everything twice, and then can't.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    begun: Cell<u32>,
    now: Cell<Window>,
    before: Cell<Window>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    requests: u32,
    retries: u32,
}

/// Milliseconds of a window.
const WINDOW: u32 = 10_000;
/// Retries of a window that need no requests.
const LEAST: u64 = 30;

impl Budget {
    /// A request has come.
    pub(crate) fn deposit(&self) {
        let mut window = self.now.get();
        window.requests = window.requests.saturating_add(1);
        self.now.set(window);
    }

    /// Takes a retry, if there is one left at `percent` of the requests.
    pub(crate) fn withdraw(&self, percent: u32, now: u32) -> bool {
        self.roll(now);
        let mut window = self.now.get();
        let before = self.before.get();
        // Of the window before, the part that is less than ten seconds old.
        let left = u64::from(WINDOW - now.wrapping_sub(self.begun.get()).min(WINDOW));
        let both =
            |now: u32, before: u32| u64::from(now) + u64::from(before) * left / u64::from(WINDOW);
        let allowed = LEAST + both(window.requests, before.requests) * u64::from(percent) / 100;
        if percent == 0 || both(window.retries, before.retries) >= allowed {
            return false;
        }
        window.retries += 1;
        self.now.set(window);
        true
    }

    /// Whether nothing in it matters any more.
    pub(super) fn is_idle(&self) -> bool {
        self.now.get().requests == 0 && self.before.get().requests == 0
    }

    /// Begins a new window where the last one is over.
    pub(super) fn roll(&self, now: u32) {
        let age = now.wrapping_sub(self.begun.get());
        if age >= WINDOW {
            let before = if age < 2 * WINDOW { self.now.get() } else { Window::default() };
            self.before.set(before);
            self.now.set(Window::default());
            self.begun.set(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(budget: &Budget, now: u32) -> usize {
        (0..10_000).take_while(|_| budget.withdraw(20, now)).count()
    }

    #[test]
    fn is_a_share_of_the_requests_of_ten_seconds() {
        let budget = Budget::default();
        assert!(!budget.withdraw(0, 0));
        (0..1_000).for_each(|_| budget.deposit());
        assert_eq!(left(&budget, 9_999), 230);
        assert_eq!(left(&budget, 10_000), 0);
        // Half of what was asked and of what was spent has become too old.
        assert_eq!(left(&budget, 15_000), 15);
        assert_eq!(left(&budget, 60_000), 30);
    }
}
