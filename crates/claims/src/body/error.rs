//! What is wrong with a body.

use std::fmt;

use crate::EntryFault;
use crate::json::NoObject;

/// Why a body is not one of ours: 400, and nothing is changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// A map without the object around it.
    #[error("this is a bare map: send it as the member \"paths\" of an object")]
    BareMap,
    /// A key is written twice.
    #[error("the key at {pointer} is written twice")]
    DuplicateKey {
        /// JSON Pointer to it (RFC 6901).
        pointer: String,
    },
    /// A member that has to be there is not.
    #[error("there is no member at {pointer}")]
    Missing {
        /// JSON Pointer to where it would be.
        pointer: String,
    },
    /// The body is JSON, but no object.
    #[error("the body is not an object")]
    NotAnObject,
    /// The body is not JSON.
    #[error("the body is no JSON: line {line}, column {column}")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// Counted from 1; 0 is the end of the line before.
        column: usize,
    },
    /// A member that is not known, or misspelled.
    #[error("the member at {pointer} is not known here")]
    UnknownMember {
        /// JSON Pointer to it.
        pointer: String,
    },
    /// A member of the wrong type.
    #[error("the member at {pointer} is not {expected}")]
    WrongType {
        /// JSON Pointer to it.
        pointer: String,
        /// What it should be.
        expected: &'static str,
    },
}

impl BodyError {
    /// The stable text that programs compare.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BareMap => "bare_map",
            Self::DuplicateKey { .. } => "duplicate_key",
            Self::Missing { .. } => "missing_member",
            Self::NotAnObject => "not_an_object",
            Self::Syntax { .. } => "invalid_json",
            Self::UnknownMember { .. } => "unknown_member",
            Self::WrongType { .. } => "wrong_type",
        }
    }

    /// The JSON Pointer to what is wrong; the whole body is the empty one.
    #[must_use]
    pub fn pointer(&self) -> &str {
        match self {
            Self::DuplicateKey { pointer }
            | Self::Missing { pointer }
            | Self::UnknownMember { pointer }
            | Self::WrongType { pointer, .. } => pointer,
            Self::BareMap | Self::NotAnObject | Self::Syntax { .. } => "",
        }
    }
}

impl From<NoObject> for BodyError {
    fn from(fault: NoObject) -> Self {
        match fault {
            NoObject::Syntax { line, column } => Self::Syntax { line, column },
            NoObject::Other => Self::NotAnObject,
        }
    }
}

/// What is wrong with the values of a body that is well formed: 422, and nothing is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    pub(crate) const fn new(problems: Vec<Problem>) -> Self {
        Self(problems)
    }

    /// The problems, at least one, in the byte order of the keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Problem> {
        self.0.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// One value that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An entry that is none.
    #[error("{pointer}")]
    Entry {
        /// JSON Pointer to it (RFC 6901).
        pointer: String,
        /// What is wrong.
        source: EntryFault,
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

impl Problem {
    /// The stable text that programs compare.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Entry { source, .. } => source.code().as_str(),
            Self::TooMany { .. } => crate::Code::OverLimit.as_str(),
        }
    }

    /// The JSON Pointer to what is wrong.
    #[must_use]
    pub fn pointer(&self) -> &str {
        match self {
            Self::Entry { pointer, .. } => pointer,
            Self::TooMany { .. } => "/paths",
        }
    }
}
