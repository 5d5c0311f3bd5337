//! What is counted and timed, for Prometheus.
//!
//! Each worker counts its own requests, so that no two threads write one number; whoever asks gets the
//! sums. Labels are configured hosts and routes only: what a client makes up is counted as `_other`, and no
//! account is ever a label.

mod codes;
mod durations;
mod live;
mod text;
mod thread;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use durations::Durations;
pub(crate) use live::Live;
pub(crate) use text::MEDIA_TYPE;
pub(crate) use thread::{Meter, Meters, Thread};

/// The label of a host or route that the configuration does not name.
const OTHER: &str = "_other";

/// What is counted and timed in this process.
#[derive(Debug, Default)]
pub struct Metrics {
    threads: Mutex<Vec<Arc<Thread>>>,
    reloads: Durations,
    flips: Durations,
}

impl Metrics {
    /// What a new worker counts.
    pub(crate) fn thread(&self) -> Arc<Thread> {
        let thread = Arc::<Thread>::default();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.push(Arc::clone(&thread));
        drop(threads);
        thread
    }

    /// Notes that another configuration took `time` to be in use.
    pub(crate) fn reloaded(&self, time: Duration) {
        self.reloads.observe(time);
    }

    /// Notes that changed claims took `time` from when this box heard of them to when it served by them.
    pub(crate) fn flipped(&self, time: Duration) {
        self.flips.observe(time);
    }
}
