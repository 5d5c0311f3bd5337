//! The name of an account, an app or a box.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The name of an account, an app or a box.
///
/// Grammar: one or more characters, no control character among them, and no white space at either end.
/// Equality is equality of bytes. There is no empty name: what has no account has `None`, and
/// `None` matches nothing, not even another `None`. Cloning copies a pointer.
///
/// ```
/// use fingerpost_claims::Name;
/// assert_eq!(Name::parse("tickets")?.as_str(), "tickets");
/// assert!(Name::parse("").is_err());
/// # Ok::<(), fingerpost_claims::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

impl Name {
    /// Checks a written name.
    ///
    /// # Errors
    /// [`NameError`] names the first rule that `text` breaks.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if let Some((at, _)) = text.char_indices().find(|(_, c)| c.is_control()) {
            return Err(NameError::Control { at });
        }
        if text.trim() != text {
            return Err(NameError::Space);
        }
        Ok(Self(text.into()))
    }

    /// The name as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({:?})", &*self.0)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::parse(text)
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<Name> for Arc<str> {
    fn from(name: Name) -> Self {
        name.0
    }
}

/// Why a text is no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// Nothing was written.
    #[error("a name is at least one character long")]
    Empty,
    /// A control character.
    #[error("control character at byte {at}")]
    Control {
        /// Byte offset of the character.
        at: usize,
    },
    /// White space at an end.
    #[error("a name neither begins nor ends with white space")]
    Space,
}
