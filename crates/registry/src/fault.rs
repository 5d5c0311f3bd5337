//! What can go wrong with a database file, whatever is done with it.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

/// A database file that failed. Nothing was read, and of a change nothing was stored, unless
/// [`kind`](Self::kind) says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    kind: FaultKind,
    path: PathBuf,
    detail: String,
}

/// What a [`Fault`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// What the file holds is not what was written: set it aside and build it anew.
    Corrupt,
    /// The file system has no space left.
    DiskFull,
    /// A mistake of this crate, or of its use; never the file's.
    Internal,
    /// Somebody else holds the lock, for longer than the busy time-out.
    Locked,
    /// The file can't be written.
    ReadOnly,
    /// The file can't be opened: no such directory, no permission.
    Unopened,
    /// The operating system failed to read or write.
    Unreadable,
    /// A commit failed half-way: it may or may not have happened. Read back.
    Unsettled,
}

impl Fault {
    /// What it is.
    #[must_use]
    pub const fn kind(&self) -> FaultKind {
        self.kind
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn new(kind: FaultKind, path: &Path, detail: impl fmt::Display) -> Self {
        Self { kind, path: path.to_owned(), detail: detail.to_string() }
    }

    pub(crate) fn at(self, path: &Path) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    pub(crate) fn corrupt(path: &Path, detail: impl fmt::Display) -> Self {
        Self::new(FaultKind::Corrupt, path, detail)
    }

    /// Classifies what SQLite answered.
    pub(crate) fn of(path: &Path, error: &rusqlite::Error) -> Self {
        Self::new(kind_of(error), path, error)
    }

    /// Classifies what SQLite answered to COMMIT.
    pub(crate) fn of_commit(path: &Path, error: &rusqlite::Error) -> Self {
        let kind = match kind_of(error) {
            // These are found before the commit record is written.
            kind @ (FaultKind::Locked | FaultKind::ReadOnly | FaultKind::DiskFull) => kind,
            _ => FaultKind::Unsettled,
        };
        Self::new(kind, path, error)
    }

    pub(crate) fn of_io(path: &Path, error: &std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::StorageFull => FaultKind::DiskFull,
            std::io::ErrorKind::ReadOnlyFilesystem => FaultKind::ReadOnly,
            std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied => {
                FaultKind::Unopened
            }
            _ => FaultKind::Unreadable,
        };
        Self::new(kind, path, error)
    }
}

fn kind_of(error: &rusqlite::Error) -> FaultKind {
    let rusqlite::Error::SqliteFailure(failure, _) = error else {
        return match error {
            // A value that no column of ours holds.
            rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::QueryReturnedNoRows
            | rusqlite::Error::Utf8Error(..) => FaultKind::Corrupt,
            _ => FaultKind::Internal,
        };
    };
    match failure.code {
        // The shared memory of the log can't grow: its extension is the first to need space.
        ErrorCode::SystemIoFailure if failure.extended_code == SQLITE_IOERR_SHMSIZE => {
            FaultKind::DiskFull
        }
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied => FaultKind::Unopened,
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed => FaultKind::Locked,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => FaultKind::Corrupt,
        ErrorCode::DiskFull => FaultKind::DiskFull,
        ErrorCode::ReadOnly => FaultKind::ReadOnly,
        ErrorCode::SystemIoFailure => FaultKind::Unreadable,
        // A table or a column that a database of this version has: "no such table".
        ErrorCode::Unknown => FaultKind::Corrupt,
        _ => FaultKind::Internal,
    }
}

impl FaultKind {
    /// What happened, in words.
    const fn words(self) -> &'static str {
        match self {
            Self::Corrupt => "is corrupt",
            Self::DiskFull => "can't grow: no space left",
            Self::Internal => "was used wrongly",
            Self::Locked => "is locked by somebody else",
            Self::ReadOnly => "can't be written",
            Self::Unopened => "can't be opened",
            Self::Unreadable => "can't be read or written",
            Self::Unsettled => "failed during a commit, which may or may not have happened",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.path.display(), self.kind.words(), self.detail)
    }
}

impl std::error::Error for Fault {}
