//! A change of several records at once.

use super::{Collection, Journal, Version};

/// What is stored together: changes, then journal rows, then a new serial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "written out by callers")]
pub struct Commit {
    /// The changes; no two of one record.
    pub changes: Vec<Change>,
    /// Rows for the journals.
    pub append: Vec<Append>,
    /// Whether the serial moves: yes where a box has to look.
    pub bump: bool,
}

impl Commit {
    /// A commit of one change without a journal row.
    #[must_use]
    pub fn of(change: Change) -> Self {
        Self { changes: vec![change], ..Self::default() }
    }

    /// Adds a row to a journal.
    #[must_use]
    pub fn with_row(mut self, journal: Journal, topic: &str, body: Vec<u8>) -> Self {
        self.append.push(Append { journal, topic: topic.to_owned(), body });
        self
    }

    /// Moves the serial.
    #[must_use]
    pub const fn with_bump(mut self) -> Self {
        self.bump = true;
        self
    }

    /// Checks what no store may carry out; every store calls this first.
    ///
    /// # Errors
    /// [`InvalidCommit`] names the first rule that it breaks.
    pub fn check(&self) -> Result<(), InvalidCommit> {
        for (at, change) in self.changes.iter().enumerate() {
            let claim = change.collection == Collection::Claims;
            if change.key.is_empty() {
                return Err(InvalidCommit::EmptyKey);
            }
            if claim && change.body.is_none() {
                return Err(InvalidCommit::ClaimRemoved);
            }
            if change.expect == Expect::Any && change.collection != Collection::Nodes {
                return Err(InvalidCommit::Unconditional { collection: change.collection });
            }
            let same =
                |other: &Change| (other.collection, &other.key) == (change.collection, &change.key);
            if self.changes.iter().skip(at + 1).any(same) {
                return Err(InvalidCommit::ChangedTwice { key: change.key.clone() });
            }
        }
        Ok(())
    }
}

/// A change of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "read by every store")]
pub struct Change {
    /// The collection.
    pub collection: Collection,
    /// The key in it.
    pub key: String,
    /// What has to be there, else the commit is a conflict.
    pub expect: Expect,
    /// What is stored; `None` removes the record.
    pub body: Option<Vec<u8>>,
}

impl Change {
    /// Stores a record where there is none.
    #[must_use]
    pub fn create(collection: Collection, key: &str, body: Vec<u8>) -> Self {
        Self { collection, key: key.to_owned(), expect: Expect::Absent, body: Some(body) }
    }

    /// Stores a record over the one of this version.
    #[must_use]
    pub fn replace(collection: Collection, key: &str, version: Version, body: Vec<u8>) -> Self {
        let expect = Expect::Version(version);
        Self { collection, key: key.to_owned(), expect, body: Some(body) }
    }

    /// Removes the record of this version. Claims are never removed.
    #[must_use]
    pub fn remove(collection: Collection, key: &str, version: Version) -> Self {
        Self { collection, key: key.to_owned(), expect: Expect::Version(version), body: None }
    }
}

/// What has to be in the place of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete: nothing, one version, or anything")]
pub enum Expect {
    /// No record.
    Absent,
    /// Anything; for [`Collection::Nodes`] only, where each box writes its own record.
    Any,
    /// The record of this version.
    Version(Version),
}

/// A row for a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "read by every store")]
pub struct Append {
    /// The journal.
    pub journal: Journal,
    /// What the row is about: a hostname.
    pub topic: String,
    /// What is kept.
    pub body: Vec<u8>,
}

/// How a commit ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete: it was stored, or it was not")]
pub enum Committed {
    /// An expectation did not hold; nothing was stored.
    Conflict {
        /// The version of each change's record as it is, in the order of the changes.
        current: Vec<Option<Version>>,
    },
    /// Everything was stored.
    Stored {
        /// The serial, moved if the commit asked for it.
        serial: u64,
        /// The new version of each change's record, in the order of the changes; `None` where it was removed.
        versions: Vec<Option<Version>>,
    },
}

/// Why no store may carry out a commit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidCommit {
    /// One record is changed twice.
    #[error("{key} is changed twice")]
    ChangedTwice {
        /// Its key.
        key: String,
    },
    /// A claim is removed, which would lose its `sequence`.
    #[error("a claim is never removed: a deletion is a tombstone")]
    ClaimRemoved,
    /// A record without a key.
    #[error("a record has a key")]
    EmptyKey,
    /// A change that would overwrite whatever is there.
    #[error("a change of {collection} has to expect something")]
    Unconditional {
        /// The collection.
        collection: Collection,
    },
}
