//! How often each status was answered.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number for each status code; those that hardly anybody sends take memory only when one does.
#[derive(Debug, Default)]
pub(super) struct Codes {
    common: [AtomicU64; COMMON.len()],
    rare: OnceLock<Box<[AtomicU64]>>,
}

const COMMON: [u16; 24] = [
    101, 200, 201, 202, 204, 206, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 421, 422,
    429, 500, 502, 503, 504,
];

/// Status codes have three digits (RFC 9110 section 15).
const FIRST: u16 = 100;
const LAST: u16 = 999;

impl Codes {
    pub(super) fn count(&self, code: u16) {
        let slot = match COMMON.binary_search(&code) {
            Ok(at) => self.common.get(at),
            Err(_) => self
                .rare
                .get_or_init(|| (FIRST..=LAST).map(|_| AtomicU64::new(0)).collect())
                .get(usize::from(code.saturating_sub(FIRST))),
        };
        if let Some(slot) = slot {
            slot.fetch_add(1, Relaxed);
        }
    }

    /// Every code that was answered, with how often.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u16, u64)> {
        let common = COMMON.into_iter().zip(&self.common);
        let rare = self.rare.get().into_iter().flat_map(|rare| (FIRST..=LAST).zip(rare.iter()));
        common.chain(rare).map(|(code, slot)| (code, slot.load(Relaxed))).filter(|(_, n)| *n > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_counted_as_itself() {
        assert!(COMMON.is_sorted(), "it is searched");
        let codes = Codes::default();
        for code in [200, 200, 599, 999, 100, 404, 299] {
            codes.count(code);
        }
        let mut counted: Vec<_> = codes.iter().collect();
        counted.sort_unstable();
        assert_eq!(counted, [(100, 1), (200, 2), (299, 1), (404, 1), (599, 1), (999, 1)]);
    }
}
