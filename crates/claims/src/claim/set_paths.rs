//! The only writer of a claim's map.

use fingerpost_path::Prefix;

use super::Claim;
use crate::{Limits, PathMap};

impl Claim {
    /// Replaces the map, whole.
    ///
    /// `sequence` keeps a delayed publisher from undoing a newer map: once a host has one it is required. A
    /// change that [changes nothing](PathsChange::is_noop) need not be stored.
    ///
    /// | stored | given | map | |
    /// |---|---|---|---|
    /// | none | none | any | replaced |
    /// | none | n | any | replaced, n is stored |
    /// | s | none | any | [`SequenceRequired`](SetPathsError::SequenceRequired) |
    /// | s | n < s | any | [`SequenceStale`](SetPathsError::SequenceStale) |
    /// | s | n = s | the same | nothing changes |
    /// | s | n = s | another | [`SequenceReused`](SetPathsError::SequenceReused) |
    /// | s | n > s | any | replaced, n is stored even where the map is the same |
    ///
    /// # Errors
    /// Any [`SetPathsError`]; nothing is changed then.
    ///
    /// # Complexity
    /// Linear in both maps.
    pub fn set_paths(
        &mut self,
        paths: PathMap,
        sequence: Option<u64>,
        limits: &Limits,
    ) -> Result<PathsChange, SetPathsError> {
        if self.deleted {
            return Err(SetPathsError::Deleted);
        }
        let (count, limit) = (paths.len(), limits.max_paths_per_claim);
        if count > limit {
            return Err(SetPathsError::TooMany { count, limit });
        }
        if let Some((prefix, _)) = paths.iter().find(|(_, target)| **target == self.host) {
            return Err(SetPathsError::TargetIsHost { prefix: prefix.clone() });
        }
        let mut change = PathsChange::between(&self.paths, &paths);
        // Entries that were none are gone as well, though no request was served by them.
        change.cleared = self.refused.len();
        change.advanced = self.check_sequence(sequence, change.is_noop())?;
        self.paths = paths;
        self.refused.clear();
        self.raw_paths = None;
        self.sequence = sequence;
        Ok(change)
    }

    /// Whether the sequence moves.
    fn check_sequence(&self, given: Option<u64>, same: bool) -> Result<bool, SetPathsError> {
        match (self.sequence, given) {
            (None, given) => Ok(given.is_some()),
            (Some(stored), None) => Err(SetPathsError::SequenceRequired { stored }),
            (Some(stored), Some(given)) if given < stored => {
                Err(SetPathsError::SequenceStale { stored, given })
            }
            (Some(stored), Some(given)) if given == stored => {
                if same {
                    Ok(false)
                } else {
                    Err(SetPathsError::SequenceReused { stored })
                }
            }
            (Some(_), Some(_)) => Ok(true),
        }
    }
}

/// What a new map changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathsChange {
    /// Prefixes that were not in the map before, in order.
    pub added: Vec<Prefix>,
    /// Prefixes with another target than before, in order.
    pub moved: Vec<Prefix>,
    /// Prefixes that are no longer in the map, in order.
    pub removed: Vec<Prefix>,
    /// How many entries were there before that were none.
    pub cleared: usize,
    /// Whether the sequence moved.
    pub advanced: bool,
    /// How many entries there were.
    pub before: usize,
    /// How many entries there are.
    pub after: usize,
}

impl PathsChange {
    /// Compares two maps.
    #[must_use]
    pub fn between(old: &PathMap, new: &PathMap) -> Self {
        let mut change = Self { before: old.len(), after: new.len(), ..Self::default() };
        let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return change,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some((old, _)), Some((new, _))) => old.cmp(new),
            };
            let was = if order.is_le() { old.next() } else { None };
            let is = if order.is_ge() { new.next() } else { None };
            match (was, is) {
                (Some((prefix, _)), None) => change.removed.push(prefix.clone()),
                (None, Some((prefix, _))) => change.added.push(prefix.clone()),
                (Some((_, was)), Some((prefix, is))) if was != is => {
                    change.moved.push(prefix.clone());
                }
                _ => {}
            }
        }
    }

    /// Whether there is nothing to store.
    #[must_use]
    pub const fn is_noop(&self) -> bool {
        self.added.is_empty()
            && self.moved.is_empty()
            && self.removed.is_empty()
            && self.cleared == 0
            && !self.advanced
    }
}

/// Why a map is not replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetPathsError {
    /// The claim is a tombstone.
    #[error("the claim is deleted")]
    Deleted,
    /// The host has a sequence, and none was given.
    #[error("the map has the sequence {stored}: a newer map needs a greater one")]
    SequenceRequired {
        /// What is stored.
        stored: u64,
    },
    /// Another map has this sequence.
    #[error("another map has the sequence {stored} already")]
    SequenceReused {
        /// What is stored.
        stored: u64,
    },
    /// A newer map was published.
    #[error("the sequence {given} is older than {stored}, which is stored")]
    SequenceStale {
        /// What is stored.
        stored: u64,
        /// What was given.
        given: u64,
    },
    /// A target is the host that the map is of.
    #[error("{prefix} has the claim's own host as its target")]
    TargetIsHost {
        /// The prefix of the entry.
        prefix: Prefix,
    },
    /// More entries than the limit.
    #[error("{count} entries, where {limit} are allowed")]
    TooMany {
        /// How many were given.
        count: usize,
        /// How many are allowed.
        limit: usize,
    },
}

impl SetPathsError {
    /// The stable text that programs compare.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Deleted => "claim_deleted",
            Self::SequenceRequired { .. } => "sequence_required",
            Self::SequenceReused { .. } => "sequence_reused",
            Self::SequenceStale { .. } => "sequence_stale",
            Self::TargetIsHost { .. } => "target_is_host",
            Self::TooMany { .. } => "over_limit",
        }
    }
}
