//! What a store holds.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// A set of records, each with a key of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Collection {
    /// Claims by hostname. They are never removed: a deletion is a tombstone.
    Claims,
    /// What each box has applied, by the name of the box.
    Nodes,
    /// Scratch space of [`self_check`](crate::self_check).
    Probes,
    /// Routes that were pushed at run time, by hostname.
    Routes,
    /// Credentials, by id.
    Tokens,
}

impl Collection {
    /// Every collection, in order.
    pub const ALL: [Self; 5] =
        [Self::Claims, Self::Nodes, Self::Probes, Self::Routes, Self::Tokens];

    /// The name that a store keeps it under: `domains` for claims, else the word itself.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claims => "domains",
            Self::Nodes => "nodes",
            Self::Probes => "probes",
            Self::Routes => "routes",
            Self::Tokens => "tokens",
        }
    }
}

impl fmt::Display for Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A list that only grows at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Journal {
    /// Who did what. Nothing is dropped.
    Audit,
    /// Past maps of each hostname. The last [`HISTORY_KEPT`](Self::HISTORY_KEPT) of each topic are kept.
    History,
}

impl Journal {
    /// How many rows of one topic the history keeps.
    pub const HISTORY_KEPT: usize = 50;

    /// How many rows of one topic are kept; `None` is all of them.
    #[must_use]
    pub const fn kept(self) -> Option<usize> {
        match self {
            Self::Audit => None,
            Self::History => Some(Self::HISTORY_KEPT),
        }
    }

    /// The name that a store keeps it under.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::History => "history",
        }
    }
}

/// Which body a record has: opaque, strong, compared for equality only.
///
/// Two bodies of one key never share a version, equal bodies included: every body carries a random
/// `write_id`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Version(Box<str>);

impl Version {
    /// Wraps what an engine calls the version of a record.
    #[must_use]
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// The text, for an `ETag`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({})", self.0)
    }
}

/// A body that was read, with its version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a body and its version, and nothing else")]
pub struct Record {
    /// What was stored.
    pub body: Arc<[u8]>,
    /// What a change of it has to expect.
    pub version: Version,
}

/// Which records to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "written out by callers")]
pub struct PageQuery<'a> {
    /// Only keys that begin so.
    pub prefix: &'a str,
    /// Only keys past this one: [`Page::next`] of the page before.
    pub after: Option<&'a str>,
    /// The most records of a page; 0 leaves it to the store.
    pub limit: usize,
}

/// Some records in the byte order of their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "built by every store")]
pub struct Page {
    /// The records, each after its key.
    pub records: Vec<(String, Record)>,
    /// Where the next page begins; `None` where there is none. A short page alone is no end.
    pub next: Option<String>,
}

/// Which rows of a journal to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "written out by callers")]
pub struct TailQuery<'a> {
    /// Only rows of this topic.
    pub topic: Option<&'a str>,
    /// Only rows older than the one of this number.
    pub before: Option<u64>,
    /// The most rows of an answer.
    pub limit: usize,
}

/// A row of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "built by every store")]
pub struct Row {
    /// Its number in the journal; a later row has a greater one.
    pub number: u64,
    /// What it is about: a hostname.
    pub topic: String,
    /// What was appended.
    pub body: Arc<[u8]>,
}

/// What has changed since some serial.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "built by every store")]
pub struct Changes {
    /// The serial that this answer is of.
    pub serial: u64,
    /// The keys of changed records; `None` where the store does not know.
    pub keys: Option<BTreeSet<(Collection, String)>>,
}
