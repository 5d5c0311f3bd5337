//! The first segment that a claim gives away.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// One first path segment, stored bare: `paulca`, without a slash.
///
/// Grammar: 1..=255 bytes of UTF-8 without control or space bytes, none of `/ \ ? # % ;`, and neither
/// `.` nor `..`. Equality is equality of bytes; folding of ASCII case is the matcher's business. Cloning copies a
/// pointer: a claim and the rows made of it share their texts.
///
/// ```
/// use fingerpost_path::Prefix;
/// assert_eq!(Prefix::parse("paulca")?.as_str(), "paulca");
/// assert!(Prefix::parse("paulca/").is_err());
/// # Ok::<(), fingerpost_path::PrefixError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix(Arc<str>);

impl Prefix {
    /// The longest prefix, in bytes.
    pub const MAX_LEN: usize = 255;

    /// Checks a written prefix.
    ///
    /// # Errors
    /// [`PrefixError`] names the first rule that `text` breaks, with the byte offset where there is one.
    pub fn parse(text: &str) -> Result<Self, PrefixError> {
        if text.is_empty() {
            return Err(PrefixError::Empty);
        }
        if text.len() > Self::MAX_LEN {
            return Err(PrefixError::TooLong { len: text.len() });
        }
        if text == "." || text == ".." {
            return Err(PrefixError::DotSegment);
        }
        for (at, c) in text.char_indices() {
            if c.is_control() || c.is_whitespace() {
                return Err(PrefixError::Invisible { at });
            }
            if matches!(c, '/' | '\\' | '?' | '#' | '%' | ';') {
                return Err(PrefixError::Delimiter { at, found: c });
            }
        }
        Ok(Self(text.into()))
    }

    /// The prefix as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The bytes that a candidate is compared with.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prefix({:?})", &*self.0)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Self, PrefixError> {
        Self::parse(text)
    }
}

impl Borrow<str> for Prefix {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Why a written prefix is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrefixError {
    /// Nothing was written.
    #[error("a prefix is at least one byte long")]
    Empty,
    /// More than [`Prefix::MAX_LEN`] bytes.
    #[error("a prefix is at most 255 bytes long, this one is {len}")]
    TooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// `.` or `..`, which no request can name as a segment.
    #[error("a dot segment names no account")]
    DotSegment,
    /// A control or white space character.
    #[error("control or space character at byte {at}")]
    Invisible {
        /// Byte offset of the character.
        at: usize,
    },
    /// A character that ends a segment somewhere.
    #[error("{found:?} at byte {at} cannot be part of a first segment")]
    Delimiter {
        /// Byte offset of the character.
        at: usize,
        /// The character.
        found: char,
    },
}
