//! Patterns that hosts match.

use core::cmp::{Ordering, Reverse};
use core::fmt;
use core::str::FromStr;

use thiserror::Error;

use crate::{Host, HostKind, WrittenHostError};

/// Which hosts something is for: one host, the names under a suffix, or all of them.
///
/// ```
/// use fingerpost_authority::{Host, HostPattern};
///
/// let one_label = HostPattern::from_written("*.example.com")?;
/// assert!(one_label.matches(&Host::parse("a.example.com")?));
/// assert!(!one_label.matches(&Host::parse("a.b.example.com")?));
/// assert!(!one_label.matches(&Host::parse("example.com")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Order
///
/// `Ord` is total, and it is the order of matching: of sorted patterns, the first that matches a host is
/// the one that decides (H6). Exact hosts come first, then `*.suffix`, then `**.suffix` with the longer
/// suffix first, then `*`; what is left is decided by the order of [`Host`], never by chance.
///
/// The variants can be built by hand; a wildcard over an address then matches nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the four tiers of matching are complete")]
pub enum HostPattern {
    /// `example.com`: that host only.
    Exact(Host),
    /// `*.example.com`: exactly one label before the suffix, as in certificates (RFC 9525 6.3).
    Wildcard(Host),
    /// `**.example.com`: one or more labels before the suffix.
    DeepWildcard(Host),
    /// `*`: every host that a request names, addresses too.
    Any,
}

/// Why [`HostPattern::from_written`] refused its input.
///
/// Offsets count bytes from the start of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HostPatternError {
    /// A `*` that is neither the whole pattern nor its first label: `a.*.com`, `*a.com`, `*.*.com`, `**`.
    #[error("the wildcard at byte {offset} is neither the whole pattern nor its first label")]
    MisplacedWildcard {
        /// Where the `*` stands.
        offset: usize,
    },
    /// Nothing follows the wildcard: `*.`, `**.`.
    #[error("no name at byte {offset}, after the wildcard")]
    NoSuffix {
        /// Where the name would begin.
        offset: usize,
    },
    /// A wildcard over an address, which has no names under it: `*.192.0.2.1`.
    #[error("the wildcard is over an address, at byte {offset}")]
    Address {
        /// Where the address begins.
        offset: usize,
    },
    /// What is left without the wildcard is no host.
    #[error("no host at byte {offset}")]
    Host {
        /// Where it begins; offsets in the source count from there.
        offset: usize,
        /// What is wrong with it.
        source: WrittenHostError,
    },
}

impl HostPattern {
    /// Parses a pattern as people write it: `host`, `*.name`, `**.name` or `*`.
    ///
    /// The host or name follows the rules of [`Host::from_written`].
    ///
    /// # Errors
    ///
    /// Any [`HostPatternError`].
    pub fn from_written(text: &str) -> Result<Self, HostPatternError> {
        if text == "*" {
            return Ok(Self::Any);
        }
        let (wrap, host): (fn(Host) -> Self, _) = if let Some(name) = text.strip_prefix("**.") {
            (Self::DeepWildcard, name)
        } else if let Some(name) = text.strip_prefix("*.") {
            (Self::Wildcard, name)
        } else {
            (Self::Exact, text)
        };
        let offset = text.len() - host.len();
        if let Some(position) = host.find('*') {
            return Err(HostPatternError::MisplacedWildcard { offset: offset + position });
        }
        if offset > 0 && host.is_empty() {
            return Err(HostPatternError::NoSuffix { offset });
        }
        let host =
            Host::from_written(host).map_err(|source| HostPatternError::Host { offset, source })?;
        if offset > 0 && host.kind() != HostKind::Name {
            return Err(HostPatternError::Address { offset });
        }
        Ok(wrap(host))
    }

    /// Does this pattern cover `host`?
    ///
    /// Wildcards cover names only; `*` also covers addresses.
    ///
    /// # Complexity
    ///
    /// Linear in the text of the host; does not allocate.
    #[must_use]
    pub fn matches(&self, host: &Host) -> bool {
        match self {
            Self::Exact(exact) => exact == host,
            Self::Wildcard(suffix) => {
                labels_before(suffix, host).is_some_and(|labels| !labels.contains(&b'.'))
            }
            Self::DeepWildcard(suffix) => labels_before(suffix, host).is_some(),
            Self::Any => true,
        }
    }

    /// The tier, which decides before the host does.
    fn tier(&self) -> u8 {
        match self {
            Self::Exact(_) => 0,
            Self::Wildcard(_) => 1,
            Self::DeepWildcard(_) => 2,
            Self::Any => 3,
        }
    }

    fn host(&self) -> Option<&Host> {
        match self {
            Self::Exact(host) | Self::Wildcard(host) | Self::DeepWildcard(host) => Some(host),
            Self::Any => None,
        }
    }
}

impl Ord for HostPattern {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_suffix = match (self, other) {
            (Self::DeepWildcard(left), Self::DeepWildcard(right)) => {
                Reverse(left.as_bytes().len()).cmp(&Reverse(right.as_bytes().len()))
            }
            _ => Ordering::Equal,
        };
        let by_tier = self.tier().cmp(&other.tier());
        by_tier.then(by_suffix).then_with(|| self.host().cmp(&other.host()))
    }
}

impl PartialOrd for HostPattern {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(host) => write!(f, "{host}"),
            Self::Wildcard(suffix) => write!(f, "*.{suffix}"),
            Self::DeepWildcard(suffix) => write!(f, "**.{suffix}"),
            Self::Any => f.write_str("*"),
        }
    }
}

impl FromStr for HostPattern {
    type Err = HostPatternError;

    fn from_str(text: &str) -> Result<Self, HostPatternError> {
        Self::from_written(text)
    }
}

impl From<Host> for HostPattern {
    fn from(host: Host) -> Self {
        Self::Exact(host)
    }
}

/// What stands before `.suffix` in `host`: one or more labels, since no label is empty.
///
/// The kinds need no look: no address ends in a dot and another host, and no name in a dot and an address.
fn labels_before<'h>(suffix: &Host, host: &'h Host) -> Option<&'h [u8]> {
    host.as_bytes().strip_suffix(suffix.as_bytes())?.strip_suffix(b".")
}
