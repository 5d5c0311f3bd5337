//! Who owns a hostname, and which first path segments of it another application serves.

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
