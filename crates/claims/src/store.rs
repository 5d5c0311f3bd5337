//! Where claims are kept, seen from those who read and write them.

mod commit;
mod error;
mod memory;
mod records;
mod self_check;

use std::fmt;
use std::pin::Pin;

pub use self::commit::{Append, Change, Commit, Committed, Expect, InvalidCommit};
pub use self::error::StoreError;
pub use self::memory::MemoryStore;
pub use self::records::{
    Changes, Collection, Journal, Page, PageQuery, Record, Row, TailQuery, Version,
};
pub use self::self_check::{SelfCheckError, self_check};

/// A future that some store answers with; no runtime is named.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Small typed collections of records, two journals, and a serial.
///
/// [`MemoryStore`] is the specification: every other store answers as it does (C3), up to the text of
/// versions. What a caller can rely on:
///
/// * [`commit`](Self::commit) compares and swaps: of two writers on one version exactly one wins (C1).
///   Where an expectation fails, nothing of the commit is stored.
/// * Changes, journal rows and the bump of the serial are one transaction where the engine has them. Where
///   not, they happen in that order, so that a crash leaves a claim ahead of the serial and never behind it;
///   a slow full list heals that.
/// * A read sees every commit that was answered before it began.
/// * An error is never an empty answer, and an empty answer never an error.
///
/// Futures are dropped by callers that lose patience; a commit whose future was dropped may still happen.
pub trait ClaimStore: fmt::Debug + Send + Sync {
    /// Reads one record.
    fn get<'a>(
        &'a self,
        collection: Collection,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<Record>, StoreError>>;

    /// Lists records in the byte order of their keys, one page at a time.
    fn list<'a>(
        &'a self,
        collection: Collection,
        query: PageQuery<'a>,
    ) -> BoxFuture<'a, Result<Page, StoreError>>;

    /// Stores changes, journal rows and a new serial, or nothing.
    ///
    /// [`StoreError::Unknown`] means that it may or may not have happened: read back, and compare the
    /// `write_id` of the body.
    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Committed, StoreError>>;

    /// The serial: how many commits asked for a bump.
    fn serial(&self) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// What commits that bumped the serial past `serial` have changed.
    ///
    /// A store that does not know (any more) says so in [`Changes::keys`]; then everything may have.
    fn changed_since(&self, serial: u64) -> BoxFuture<'_, Result<Changes, StoreError>>;

    /// Reads a journal, the newest row first.
    fn tail<'a>(
        &'a self,
        journal: Journal,
        query: TailQuery<'a>,
    ) -> BoxFuture<'a, Result<Vec<Row>, StoreError>>;

    /// Begins to watch the serial.
    fn watch(&self) -> Box<dyn Watch>;
}

/// A hint that the serial has moved. Polling the serial is the truth.
pub trait Watch: fmt::Debug + Send {
    /// Resolves when the serial may have moved since this was last called, or since the watch began.
    ///
    /// It compares levels and not edges: a bump between two calls is not lost.
    fn changed(&mut self) -> BoxFuture<'_, Result<(), StoreError>>;
}
