//! Who owns a hostname, and which first path segments of it another application serves.
//!
//! A platform moves the accounts of one hostname from an old application to a new one by publishing a map:
//! `paulca` of `tickets.example` is served by `next.tickets.example`. This crate has the [`Claim`] that holds
//! such a map, the [`ClaimStore`] that keeps claims, and [`reconcile`], a pure function that says which
//! entries take effect on a box, and why the others do not.
//!
//! It does no I/O, reads no clock and no randomness, starts no tasks, and names no runtime: times, ids and
//! limits are arguments. It knows no router: what it derives are [`Rows`].
//!
//! ```
//! use fingerpost_authority::Host;
//! use fingerpost_claims::{ClaimSet, Facts, Limits, LocalRoute, Name, RowState, Rows, reconcile};
//!
//! let (old, new) = (Host::parse("tickets.example")?, Host::parse("next.tickets.example")?);
//! let route = |app| -> Result<_, fingerpost_claims::NameError> {
//!     let (account, app) = (Some(Name::parse("tickets")?), Some(Name::parse(app)?));
//!     Ok(LocalRoute { account, app, ..LocalRoute::default() })
//! };
//! let mut facts = Facts::new(Limits::default());
//! facts.add_route(old.clone(), route("classic")?);
//! facts.add_route(new.clone(), route("go")?);
//!
//! let mut claims = ClaimSet::new();
//! let body = br#"{ "host": "tickets.example", "account": "tickets", "app": "classic",
//!     "paths": { "paulca": "next.tickets.example", "bigcorp": "gone.example" } }"#;
//! claims.set("tickets.example", Some(body));
//!
//! let outcome = reconcile(&facts, &claims, &Rows::default());
//! let row = outcome.rows.path(&old, "paulca").unwrap();
//! assert_eq!((row.state, row.to.target.as_ref()), (RowState::Routed, Some(&new)));
//! let claim = outcome.report.of_host(&old).next().unwrap();
//! assert_eq!(claim.entries[0].code.as_str(), "target_missing");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rules
//!
//! | subject | rule |
//! |---|---|
//! | a claim | one JSON object for each hostname; what this version does not know survives a rewrite |
//! | its map | replaced whole, by [`Claim::set_paths`] only; `sequence` keeps an older one out |
//! | a write | compare-and-swap on an opaque version; every body has a `write_id` of its own |
//! | who may claim | the account whose route it is, else whom the operator allows: [`Facts::may_claim`] |
//! | an entry | routed if its target is a ready route of the same account that this box knows |
//! | a refusal | drops that entry only, with a stable [`Code`]; tenants learn nothing of others' routes |
//!
//! # Invariants
//!
//! C1 of two writers on one version exactly one wins. C2 limits hold after any sequence. C3 every store
//! behaves as the memory store. K1 to K5 are stated at [`reconcile`]. Each is a property test of that name;
//! rows and ownership are compared with a model that scans everything for everything.
//!
//! # Cost
//!
//! A full pass over a million entries of 100 hosts takes about 0.4 s, a changed map of 10,000 entries
//! some 2 ms, half of them to parse it ([`Reconciler`]). A path row is 32 bytes and the text of its prefix.
//!
//! # Features
//!
//! `__conformance` is private: the suite that every [`ClaimStore`] is tested with.

mod body;
mod claim;
mod claim_set;
mod code;
#[cfg(feature = "__conformance")]
pub mod conformance;
mod facts;
mod gates;
mod json;
mod limits;
mod name;
mod ownership;
mod paths;
mod reconcile;
mod report;
mod rows;
mod store;
mod warning;

pub use body::{AttachBody, BodyError, Problem, Problems, RawPaths};
pub use claim::{Claim, ClaimError, PathsChange, Reach, SetPathsError};
pub use claim_set::ClaimSet;
pub use code::Code;
pub use facts::{Facts, LocalRoute, OnUnresolved, SiteFacts};
pub use limits::Limits;
pub use name::{Name, NameError};
pub use ownership::{NotOwned, Source, Wanted};
pub use paths::{EntryFault, PathMap, RefusedEntry};
pub use reconcile::{Outcome, Pass, Reconciler, reconcile};
pub use report::{ClaimReport, EntryReport, Report, Verdict, Withdrawn};
pub use rows::{AliasRow, Destination, PathRow, PathRows, RowState, Rows, RowsDiff, WildcardRow};
pub use store::{
    Append, BoxFuture, Change, Changes, ClaimStore, Collection, Commit, Committed, Expect,
    InvalidCommit, Journal, MemoryStore, Page, PageQuery, Record, Row, SelfCheckError, StoreError,
    TailQuery, Version, Watch, self_check,
};
pub use warning::Warning;
