//! SQLite files of a box: what it routes by, and a claim store.
//!
//! A [`Registry`] holds every row that routing needs, so that a box can start and serve while everything
//! else is down. A [`SqliteStore`] is the embedded [`ClaimStore`](fingerpost_claims::ClaimStore), in a file of
//! its own. Neither decides anything: rows come from a configuration and from
//! [reconcile](fingerpost_claims), claims from the write door.
//!
//! # What can be relied on
//! * A change is one transaction, synced to disk before it is answered (`synchronous=FULL`, WAL).
//! * A change of one row among a million writes that row, and the digest of its host.
//! * A file that can't be read, is not ours, is of a later version or holds other rows than were written is
//!   an [`OpenError`]; it is never taken for an empty one. Nor is a file of length zero: new files are built
//!   under another name and linked into place whole.
//! * Whatever is read back was parsed again: a host in a row is a canonical host.
//!
//! ```
//! use fingerpost_registry::{Diff, FleetRow, Options, Registry};
//! use std::time::Duration;
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("registry.db");
//! let (mut registry, tables) = Registry::open(&path, &Options::default())?;
//! assert!(registry.is_new() && tables.local.fleets.is_empty());
//!
//! let second = Duration::from_secs(1);
//! let mut diff = Diff::default();
//! diff.fleets.put.push(FleetRow {
//!     name: "go".into(),
//!     connect_timeout: second,
//!     response_timeout: second,
//!     body_timeout: second,
//!     idle_timeout: second,
//!     max_idle: 256,
//! });
//! let before = registry.fingerprint();
//! let applied = registry.apply(&diff)?;
//! assert_eq!((applied.written, applied.removed), (1, 0));
//! assert_ne!(registry.fingerprint(), before);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Threads
//! A `Registry` is one connection; calls block on the disk. `SqliteStore` has a thread of its own and
//! answers by futures of no particular runtime.

mod column;
mod fault;
mod file;
mod registry;
mod rows;
mod store;

pub use fault::{Fault, FaultKind};
pub use file::{OpenError, set_aside};
pub use registry::{Applied, Changes, Diff, Local, OnAltered, Options, Registry, Tables, Usage};
pub use rows::{
    Choice, FleetBoxRow, FleetRow, OnUnresolved, RouteAction, RouteHost, RouteRow, RouteScope,
    RouteSource, Row, SiteFallback, SiteRow,
};
pub use store::{SqliteStore, StoreOptions};
