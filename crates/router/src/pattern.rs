//! The path of a route.

use std::fmt;
use std::str::FromStr;

use fingerpost_path::{Prefix, Rules};

/// A path pattern such as `/x`, `/users/{id}` or `/p/{*rest}`.
///
/// Grammar: `/`, then segments separated by `/`. A segment is a literal, a whole `{param}`, or, as the
/// last one, a `{*rest}`; `{{` and `}}` are literal braces. An empty last segment is a trailing slash;
/// any other empty segment is an error, and so is a dot segment, which no normalised path holds.
///
/// Equality is equality of shape: parameter names do not take part, and a literal means the same
/// whether its characters are percent-encoded or not.
///
/// ```
/// use fingerpost_router::PathPattern;
/// let pattern = PathPattern::parse("/users/{id}")?;
/// assert_eq!(pattern, PathPattern::parse("/users/{name}")?);
/// assert!(PathPattern::parse("/users/x{id}").is_err());
/// # Ok::<(), fingerpost_router::PatternError>(())
/// ```
#[derive(Clone)]
pub struct PathPattern {
    text: Box<str>,
    segments: Box<[Segment]>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Segment {
    /// The decoded bytes, without braces doubled.
    Literal(Box<[u8]>),
    Param(Name),
    CatchAll(Name),
}

/// A parameter's name; all names are equal to each other.
#[derive(Clone, Debug)]
pub(crate) struct Name(pub(crate) Box<str>);

impl PartialEq for Name {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for Name {}
impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Name {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}
impl std::hash::Hash for Name {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl PathPattern {
    /// The most segments of one pattern.
    pub const MAX_SEGMENTS: usize = 64;

    /// Checks a written pattern.
    ///
    /// # Errors
    /// [`PatternError`] names the first segment that breaks a rule, counted from 1.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let rest = text.strip_prefix('/').ok_or(PatternError::NoSlash)?;
        let count = rest.split('/').count();
        if count > Self::MAX_SEGMENTS {
            return Err(PatternError::TooLong);
        }
        let mut segments = Vec::with_capacity(count);
        for (at, written) in rest.split('/').enumerate() {
            let (number, last) = (at + 1, at + 1 == count);
            if written.is_empty() && !last {
                return Err(PatternError::EmptySegment { segment: number });
            }
            segments.push(parse_segment(written, number, last)?);
        }
        let mut names: Vec<&str> = segments.iter().filter_map(Segment::name).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair.first() == pair.last()) {
            return Err(PatternError::RepeatedName);
        }
        Ok(Self { text: text.into(), segments: segments.into() })
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Tells whether it is one catch-all.
    pub(crate) fn is_of_every_path(&self) -> bool {
        matches!(&*self.segments, [Segment::CatchAll(_)])
    }

    /// The decoded literals.
    pub(crate) fn literals(&self) -> impl Iterator<Item = &[u8]> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Literal(bytes) => Some(&**bytes),
            Segment::Param(_) | Segment::CatchAll(_) => None,
        })
    }

    /// The first segment, where it is a literal: no account of this name can be moved away from under
    /// a guarded route.
    #[must_use]
    pub fn first_literal(&self) -> Option<&[u8]> {
        match self.segments.first()? {
            Segment::Literal(bytes) if !bytes.is_empty() => Some(bytes),
            _ => None,
        }
    }
}

impl PathPattern {
    /// Tells whether moving `prefix` away would take the paths of this pattern along: it is the first
    /// segment, or what `rules` leave of it (`/wp.login` goes with `wp`).
    #[must_use]
    pub fn reserves(&self, prefix: &Prefix, rules: &Rules) -> bool {
        self.first_literal().is_some_and(|first| {
            first.eq_ignore_ascii_case(prefix.as_bytes())
                || rules.loosen(first).eq_ignore_ascii_case(prefix.as_bytes())
        })
    }
}

impl Segment {
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Literal(_) => None,
            Self::Param(name) | Self::CatchAll(name) => Some(&name.0),
        }
    }
}

fn parse_segment(written: &str, segment: usize, last: bool) -> Result<Segment, PatternError> {
    if let Some(inner) = written.strip_prefix('{').filter(|inner| !inner.starts_with('{')) {
        let name = inner.strip_suffix('}').ok_or(PatternError::Brace { segment })?;
        let (catch_all, name) = match name.strip_prefix('*') {
            Some(name) => (true, name),
            None => (false, name),
        };
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(PatternError::Name { segment });
        }
        if catch_all && !last {
            return Err(PatternError::CatchAllNotLast { segment });
        }
        let name = Name(name.into());
        return Ok(if catch_all { Segment::CatchAll(name) } else { Segment::Param(name) });
    }
    let mut literal = Vec::with_capacity(written.len());
    let mut bytes = written.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'{' | b'}' if bytes.next() != Some(byte) => {
                return Err(PatternError::Brace { segment });
            }
            b'%' => {
                let digits = (bytes.next(), bytes.next());
                let value = |digit: Option<u8>| char::from(digit?).to_digit(16);
                let (Some(high), Some(low)) = (value(digits.0), value(digits.1)) else {
                    return Err(PatternError::Escape { segment });
                };
                literal.push(u8::try_from(high << 4 | low).unwrap_or_default());
            }
            0..=0x20 | 0x7f | b'?' | b'#' => return Err(PatternError::Byte { segment }),
            _ => literal.push(byte),
        }
    }
    if literal == b"." || literal == b".." {
        return Err(PatternError::DotSegment { segment });
    }
    Ok(Segment::Literal(literal.into()))
}

impl PartialEq for PathPattern {
    fn eq(&self, other: &Self) -> bool {
        self.segments == other.segments
    }
}
impl Eq for PathPattern {}
impl PartialOrd for PathPattern {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for PathPattern {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.segments.cmp(&other.segments)
    }
}
impl std::hash::Hash for PathPattern {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.segments.hash(state);
    }
}
impl fmt::Debug for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PathPattern({:?})", &*self.text)
    }
}
impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
impl FromStr for PathPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        Self::parse(text)
    }
}

/// Why a written path pattern is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It does not begin with a slash.
    #[error("a path begins with /")]
    NoSlash,
    /// More than [`PathPattern::MAX_SEGMENTS`] segments.
    #[error("a path has at most 64 segments")]
    TooLong,
    /// An empty segment before the last one.
    #[error("segment {segment} is empty")]
    EmptySegment {
        /// Counted from 1.
        segment: usize,
    },
    /// `.` or `..`.
    #[error("segment {segment} is a dot segment, which no normalised path holds")]
    DotSegment {
        /// Counted from 1.
        segment: usize,
    },
    /// A brace that is neither doubled nor part of a whole parameter.
    #[error(
        "segment {segment} has a brace in it: a parameter is a whole segment, a literal brace is doubled"
    )]
    Brace {
        /// Counted from 1.
        segment: usize,
    },
    /// A parameter without a name, or with other characters than ASCII letters, digits and `_`.
    #[error("segment {segment}: a parameter's name is made of ASCII letters, digits and _")]
    Name {
        /// Counted from 1.
        segment: usize,
    },
    /// Two parameters with one name.
    #[error("two parameters have the same name")]
    RepeatedName,
    /// `{*rest}` before the last segment.
    #[error("segment {segment} is a catch-all, but not the last segment")]
    CatchAllNotLast {
        /// Counted from 1.
        segment: usize,
    },
    /// A `%` without two hexadecimal digits.
    #[error("segment {segment} has a malformed percent-escape")]
    Escape {
        /// Counted from 1.
        segment: usize,
    },
    /// A control byte, a space, `?` or `#`.
    #[error("segment {segment} has a byte that no path holds; percent-encode it")]
    Byte {
        /// Counted from 1.
        segment: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_parsed_or_refused_with_their_segment() {
        use PatternError as E;
        for (text, want) in [
            ("/", Ok(1)),
            ("/a/", Ok(2)),
            ("/{id}/x/{*rest}", Ok(3)),
            ("/{{a}}", Ok(1)),
            ("/a{{", Ok(1)),
            ("", Err(E::NoSlash)),
            ("a", Err(E::NoSlash)),
            ("//a", Err(E::EmptySegment { segment: 1 })),
            ("/a//", Err(E::EmptySegment { segment: 2 })),
            ("/a/..", Err(E::DotSegment { segment: 2 })),
            ("/%2e", Err(E::DotSegment { segment: 1 })),
            ("/x{id}", Err(E::Brace { segment: 1 })),
            ("/{id}x", Err(E::Brace { segment: 1 })),
            ("/{id", Err(E::Brace { segment: 1 })),
            ("/}", Err(E::Brace { segment: 1 })),
            ("/{}", Err(E::Name { segment: 1 })),
            ("/{*}", Err(E::Name { segment: 1 })),
            ("/{a-b}", Err(E::Name { segment: 1 })),
            ("/{*rest}/x", Err(E::CatchAllNotLast { segment: 1 })),
            ("/{a}/{a}", Err(E::RepeatedName)),
            ("/%4", Err(E::Escape { segment: 1 })),
            ("/a b", Err(E::Byte { segment: 1 })),
            ("/a?b", Err(E::Byte { segment: 1 })),
        ] {
            let got = PathPattern::parse(text).map(|pattern| pattern.segments().len());
            assert_eq!(got, want, "{text}");
        }
    }

    #[test]
    fn equality_is_shape() {
        let same = |a: &str, b: &str| PathPattern::parse(a) == PathPattern::parse(b);
        assert!(same("/{a}", "/{b}"));
        assert!(same("/caf%C3%A9", "/café"));
        assert!(!same("/{a}", "/{*a}"));
        assert!(!same("/a", "/a/"));
    }

    #[test]
    fn a_guarded_literal_reserves_what_is_left_of_it() {
        let rules = Rules::default();
        for (pattern, prefix, want) in [
            ("/admin/{*rest}", "admin", true),
            ("/admin/{*rest}", "ADMIN", true),
            ("/admin/{*rest}", "administrator", false),
            ("/wp.login", "wp", true),
            ("/wp.login", "wp.login", true),
            ("/wp.login", "w", false),
            ("/{id}/admin", "admin", false),
        ] {
            let prefix = Prefix::parse(prefix).unwrap();
            let pattern = PathPattern::parse(pattern).unwrap();
            assert_eq!(pattern.reserves(&prefix, &rules), want, "{pattern} {prefix}");
        }
    }
}
