//! The bytes that account names are made of.

use std::fmt;
use std::str::FromStr;

/// A set of ASCII bytes, written like a character class: `A-Za-z0-9_-`.
///
/// The `cut` family ends a segment at the first byte outside this set. A `-` that is first, last or
/// right after a range stands for itself.
///
/// ```
/// use fingerpost_path::Slug;
/// let slug: Slug = "A-Za-z0-9_.-".parse()?;
/// assert!(slug.contains(b'.'));
/// assert!(!slug.contains(b';'));
/// # Ok::<(), fingerpost_path::SlugError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slug(u128);

impl Slug {
    /// Tells whether `byte` can be part of an account name.
    #[must_use]
    pub const fn contains(self, byte: u8) -> bool {
        byte < 128 && self.0 >> byte & 1 == 1
    }

    const fn with(self, first: u8, last: u8) -> Self {
        let mut set = self.0;
        let mut byte = first;
        while byte <= last {
            set |= 1 << byte;
            byte += 1;
        }
        Self(set)
    }
}

impl Default for Slug {
    /// `A-Za-z0-9_-`
    fn default() -> Self {
        Self(0).with(b'A', b'Z').with(b'a', b'z').with(b'0', b'9').with(b'_', b'_').with(b'-', b'-')
    }
}

impl FromStr for Slug {
    type Err = SlugError;

    /// Reads a character class.
    ///
    /// # Errors
    /// [`SlugError`]: empty, a byte that no prefix can hold, or a range that runs backwards.
    fn from_str(text: &str) -> Result<Self, SlugError> {
        let bytes = text.as_bytes();
        if bytes.is_empty() {
            return Err(SlugError::Empty);
        }
        for (at, &byte) in bytes.iter().enumerate() {
            if !byte.is_ascii_graphic() || b"/\\?#%;".contains(&byte) {
                return Err(SlugError::Byte { at });
            }
        }
        let mut set = Self(0);
        let mut rest = bytes;
        loop {
            match *rest {
                [] => return Ok(set),
                [first, b'-', last, ref tail @ ..] => {
                    if first > last {
                        return Err(SlugError::Backwards { at: bytes.len() - rest.len() });
                    }
                    set = set.with(first, last);
                    rest = tail;
                }
                [byte, ref tail @ ..] => {
                    set = set.with(byte, byte);
                    rest = tail;
                }
            }
        }
    }
}

impl fmt::Display for Slug {
    /// Writes the shortest class: ranges in order, a hyphen last.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut byte = 0;
        while byte < 128 {
            let first = byte;
            while byte < 128 && byte != b'-' && self.contains(byte) {
                byte += 1;
            }
            match byte - first {
                0 => {}
                1 | 2 => (first..byte).try_for_each(|byte| write!(f, "{}", char::from(byte)))?,
                _ => write!(f, "{}-{}", char::from(first), char::from(byte - 1))?,
            }
            byte += 1;
        }
        if self.contains(b'-') { f.write_str("-") } else { Ok(()) }
    }
}

impl fmt::Debug for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes: String = (0..128).filter(|&b| self.contains(b)).map(char::from).collect();
        write!(f, "Slug({bytes:?})")
    }
}

/// Why a written character class is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SlugError {
    /// Nothing was written.
    #[error("a slug holds at least one byte")]
    Empty,
    /// A byte that no prefix can hold.
    #[error("byte {at} cannot be part of an account name; write ASCII such as A-Za-z0-9_-")]
    Byte {
        /// Its offset.
        at: usize,
    },
    /// A range such as `z-a`.
    #[error("the range at byte {at} runs backwards")]
    Backwards {
        /// Offset of its first byte.
        at: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hyphen_stands_for_itself_at_the_ends_and_after_a_range() {
        for text in ["-a", "a-", "a-c-"] {
            let slug: Slug = text.parse().unwrap();
            assert!(slug.contains(b'-') && slug.contains(b'a'), "{text}");
            assert!(!slug.contains(b'd'), "{text}");
        }
        assert_eq!("A-Za-z0-9_-".parse::<Slug>(), Ok(Slug::default()));
    }

    #[test]
    fn what_is_written_reads_as_the_same_set() {
        for text in ["A-Za-z0-9_-", "a", "ab", "a-c", "+--.", "-", "a-z_.~-", "!-."] {
            let slug: Slug = text.parse().unwrap();
            assert_eq!(slug.to_string().parse(), Ok(slug), "{text} {slug}");
        }
        assert_eq!(Slug::default().to_string(), "0-9A-Z_a-z-");
    }

    #[test]
    fn bad_classes_say_where() {
        assert_eq!("".parse::<Slug>(), Err(SlugError::Empty));
        assert_eq!("ab/".parse::<Slug>(), Err(SlugError::Byte { at: 2 }));
        assert_eq!("aé".parse::<Slug>(), Err(SlugError::Byte { at: 1 }));
        assert_eq!("a-zz-a".parse::<Slug>(), Err(SlugError::Backwards { at: 3 }));
    }
}
