//! What guards remember from one request to the next, whichever thread serves it.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::rate::Rates;
use crate::random;

/// The memory of a process's guards. It outlives every snapshot, so that a reload forgives nothing.
#[derive(Debug)]
pub(crate) struct Gate {
    started: Instant,
    pub(super) rates: Rates,
    pub(super) accepted: Accepted,
    /// Those that are checking a password or wait to.
    queue: Semaphore,
    /// Those that are checking one.
    checking: Semaphore,
}

impl Gate {
    pub(crate) fn new() -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self {
            started: Instant::now(),
            rates: Rates::default(),
            accepted: Accepted::default(),
            queue: Semaphore::new(QUEUE),
            checking: Semaphore::new(cores.div_ceil(2)),
        }
    }

    /// The time since the process started.
    pub(super) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Waits for a turn to check a password, which takes a core for a while; `None` if too many wait already.
    pub(super) async fn turn(&self) -> Option<[SemaphorePermit<'_>; 2]> {
        let queued = self.queue.try_acquire().ok()?;
        Some([queued, self.checking.acquire().await.ok()?])
    }
}

/// At about 20 ms each and two at once: a wait of a second.
const QUEUE: usize = 100;

/// The credentials that were found good lately, as digests under a key that nobody else knows.
///
/// A digest covers the stored hash, so that a changed password makes the old one worthless at once.
#[derive(Debug)]
pub(super) struct Accepted {
    /// Without it nothing is remembered.
    key: Option<[u8; 32]>,
    generations: Mutex<[HashSet<[u8; 32]>; 2]>,
}

impl Default for Accepted {
    fn default() -> Self {
        Self { key: random::bytes().ok(), generations: Mutex::default() }
    }
}

/// How many are in a generation; the one before the last is forgotten.
const GENERATION: usize = 1024;

impl Accepted {
    /// Digests the parts, each with its length.
    pub(super) fn digest(&self, parts: [&[u8]; 3]) -> Option<[u8; 32]> {
        let mut hasher = blake3::Hasher::new_keyed(self.key.as_ref()?);
        for part in parts {
            hasher.update(&part.len().to_le_bytes());
            hasher.update(part);
        }
        Some(*hasher.finalize().as_bytes())
    }

    pub(super) fn knows(&self, digest: Option<[u8; 32]>) -> bool {
        let Some(digest) = digest else { return false };
        let mut all = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let [young, old] = &mut *all;
        if young.contains(&digest) {
            return true;
        }
        let known = old.contains(&digest);
        if known {
            insert(&mut all, digest);
        }
        known
    }

    pub(super) fn remember(&self, digest: Option<[u8; 32]>) {
        if let Some(digest) = digest {
            insert(&mut self.generations.lock().unwrap_or_else(PoisonError::into_inner), digest);
        }
    }
}

fn insert([young, old]: &mut [HashSet<[u8; 32]>; 2], digest: [u8; 32]) {
    if young.len() >= GENERATION {
        *old = std::mem::take(young);
    }
    young.insert(digest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_remembered_than_two_generations() {
        let accepted = Accepted::default();
        let digest = |number: usize| accepted.digest([&number.to_le_bytes(), b"hash", b"word"]);
        for number in 0..10 * GENERATION {
            accepted.remember(digest(number));
            // One that is in use stays.
            accepted.remember(digest(0).filter(|_| number == 0));
            assert!(accepted.knows(digest(0)), "{number}");
        }
        let held: usize = accepted.generations.lock().unwrap().iter().map(HashSet::len).sum();
        assert!(held <= 2 * GENERATION, "{held}");
        assert!(!accepted.knows(digest(1)));
        assert!(!accepted.knows(accepted.digest([b"a", b"bc", b""])));
        assert_ne!(accepted.digest([b"ab", b"c", b""]), accepted.digest([b"a", b"bc", b""]));
    }
}
