//! Claims.

mod claim;
mod code;
mod json;
mod limits;
mod name;
mod paths;
mod rows;
mod store;

pub use claim::{Claim, ClaimError, PathsChange, Reach, SetPathsError};
pub use code::Code;
pub use limits::Limits;
pub use name::{Name, NameError};
pub use paths::{EntryFault, PathMap, RefusedEntry};
pub use rows::{AliasRow, Destination, PathRow, PathRows, RowState, Rows, RowsDiff, WildcardRow};
pub use store::{
    Append, BoxFuture, Change, Changes, ClaimStore, Collection, Commit, Committed, Expect,
    InvalidCommit, Journal, MemoryStore, Page, PageQuery, Record, Row, SelfCheckError, StoreError,
    TailQuery, Version, Watch, self_check,
};
