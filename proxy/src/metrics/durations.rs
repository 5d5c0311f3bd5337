//! How long something took, as a histogram.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The upper bounds of the buckets, in microseconds: half a millisecond to ten seconds.
pub(super) const BOUNDS: [u64; 14] = [
    500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];

/// Counts of durations by [`BOUNDS`], the last one past them all, and their sum.
#[derive(Debug, Default)]
pub(super) struct Durations {
    counts: [AtomicU64; BOUNDS.len() + 1],
    microseconds: AtomicU64,
}

impl Durations {
    pub(super) fn observe(&self, time: Duration) {
        let time = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let at = BOUNDS.iter().position(|bound| time <= *bound).unwrap_or(BOUNDS.len());
        if let Some(count) = self.counts.get(at) {
            count.fetch_add(1, Relaxed);
        }
        self.microseconds.fetch_add(time, Relaxed);
    }
}

/// A histogram at one moment, or the sum of several.
#[derive(Debug, Default)]
pub(super) struct Sum {
    /// The observations in each bucket alone.
    pub(super) counts: [u64; BOUNDS.len() + 1],
    pub(super) microseconds: u64,
}

impl Sum {
    pub(super) fn add(&mut self, durations: &Durations) {
        for (sum, count) in self.counts.iter_mut().zip(&durations.counts) {
            *sum += count.load(Relaxed);
        }
        self.microseconds += durations.microseconds.load(Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_belongs_to_its_bucket() {
        assert!(BOUNDS.is_sorted());
        let durations = Durations::default();
        for microseconds in [0, 500, 501, 10_000_000, 10_000_001] {
            durations.observe(Duration::from_micros(microseconds));
        }
        let mut sum = Sum::default();
        sum.add(&durations);
        assert_eq!((sum.counts[0], sum.counts[1], sum.counts[13], sum.counts[14]), (2, 1, 1, 1));
        assert_eq!(sum.microseconds, 20_001_002);
    }
}
