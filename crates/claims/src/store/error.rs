//! What a store answers when it cannot answer.

use super::InvalidCommit;

/// What a store answers when it cannot answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// What was read is not what was written.
    #[error("the store is corrupt: {reason}")]
    Corrupt {
        /// What was found, in words.
        reason: String,
    },
    /// The commit is one that no store may carry out; nothing was changed.
    #[error("the commit is invalid")]
    Invalid(#[source] InvalidCommit),
    /// Nothing was read; of a commit, nothing was changed.
    #[error("the store is unavailable: {reason}")]
    Unavailable {
        /// What happened, in words.
        reason: String,
    },
    /// A commit was sent and not answered: it may or may not have happened.
    #[error("the store did not say whether it stored the change: {reason}")]
    Unknown {
        /// What happened, in words.
        reason: String,
    },
}
