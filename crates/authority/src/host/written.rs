//! Hosts as people write them.

use core::net::Ipv6Addr;

use idna::AsciiDenyList;
use thiserror::Error;

use super::{Host, HostError, name, v6};

/// Why [`Host::from_written`](crate::Host::from_written) refused its input.
///
/// Offsets count bytes from the start of the text as it was written, except that those inside of
/// [`Host`](Self::Host) count in its A-label form where the text has letters outside ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WrittenHostError {
    /// There is nothing.
    #[error("the host is empty")]
    Empty,
    /// A scheme stands before the host: `https://a.com`.
    #[error("a scheme ends at byte {offset}; a bare host is wanted")]
    Scheme {
        /// Where `://` begins.
        offset: usize,
    },
    /// A path follows the host: `a.com/`.
    #[error("a path begins at byte {offset}; a bare host is wanted")]
    Path {
        /// Where the slash or backslash stands.
        offset: usize,
    },
    /// A query follows the host: `a.com?x`.
    #[error("a query begins at byte {offset}; a bare host is wanted")]
    Query {
        /// Where the `?` stands.
        offset: usize,
    },
    /// A fragment follows the host: `a.com#x`.
    #[error("a fragment begins at byte {offset}; a bare host is wanted")]
    Fragment {
        /// Where the `#` stands.
        offset: usize,
    },
    /// User information stands before the host: `me@a.com`.
    #[error("user information ends at byte {offset}; a bare host is wanted")]
    Userinfo {
        /// Where the `@` stands.
        offset: usize,
    },
    /// A `*` where a host is wanted: it may stand in a [`HostPattern`](crate::HostPattern).
    #[error("a wildcard at byte {offset}; a single host is wanted")]
    Wildcard {
        /// Where the `*` stands.
        offset: usize,
    },
    /// An IPv6 address without its brackets.
    #[error("an IPv6 address is written in brackets")]
    Brackets,
    /// A port follows the host: `a.com:80`, `a.com:`.
    #[error("a port begins at byte {offset}; a bare host is wanted")]
    Port {
        /// Where the `:` stands.
        offset: usize,
    },
    /// The name ends in a dot. Requests may carry it; what is written has one spelling.
    #[error("a trailing dot; write the name without it")]
    TrailingDot,
    /// A label that UTS 46 refuses: a code point that is not allowed, or an A-label that is none.
    #[error("the label at byte {offset} is no internationalised label")]
    Idna {
        /// Where the label begins.
        offset: usize,
    },
    /// Bare, but no host.
    #[error("not a host")]
    Host(#[source] HostError),
}

pub(super) fn parse(text: &str) -> Result<Host, WrittenHostError> {
    check_bare(text)?;
    if text.starts_with('[') {
        return v6::parse(text.as_bytes()).map(Host).map_err(|error| match error {
            HostError::AfterBracket { offset } if byte_at(text, offset) == Some(b':') => {
                WrittenHostError::Port { offset }
            }
            other => WrittenHostError::Host(other),
        });
    }
    if let Some(offset) = text.find(':') {
        return Err(match text.parse::<Ipv6Addr>() {
            Ok(_) => WrittenHostError::Brackets,
            Err(_) => WrittenHostError::Port { offset },
        });
    }
    // The lenient flavour, because the grammar of hosts is stricter about length and bytes than UTS 46, and
    // hyphens in the third and fourth place occur in real names.
    let ascii = to_ascii(text).ok_or_else(|| WrittenHostError::Idna { offset: bad_label(text) })?;
    // After the conversion: other scripts have full stops of their own.
    if ascii.ends_with('.') {
        return Err(WrittenHostError::TrailingDot);
    }
    // As a name: what was converted into a bracket is no bracket.
    name::parse(ascii.as_bytes()).map(Host).map_err(WrittenHostError::Host)
}

/// Names the part that makes `text` more than a host, the outermost first.
fn check_bare(text: &str) -> Result<(), WrittenHostError> {
    if text.is_empty() {
        return Err(WrittenHostError::Empty);
    }
    if let Some(offset) = text.find("://") {
        return Err(WrittenHostError::Scheme { offset });
    }
    if let Some(offset) = text.find(['/', '\\']) {
        return Err(WrittenHostError::Path { offset });
    }
    if let Some(offset) = text.find('?') {
        return Err(WrittenHostError::Query { offset });
    }
    if let Some(offset) = text.find('#') {
        return Err(WrittenHostError::Fragment { offset });
    }
    if let Some(offset) = text.find('@') {
        return Err(WrittenHostError::Userinfo { offset });
    }
    if let Some(offset) = text.find('*') {
        return Err(WrittenHostError::Wildcard { offset });
    }
    Ok(())
}

fn to_ascii(text: &str) -> Option<std::borrow::Cow<'_, str>> {
    idna::domain_to_ascii_cow(text.as_bytes(), AsciiDenyList::EMPTY).ok()
}

/// Where the first label begins that fails alone; 0 where only their combination does (RFC 5893).
fn bad_label(text: &str) -> usize {
    let mut offset = 0;
    for label in text.split('.') {
        if to_ascii(label).is_none() {
            return offset;
        }
        offset += label.len() + 1;
    }
    0
}

fn byte_at(text: &str, offset: usize) -> Option<u8> {
    text.as_bytes().get(offset).copied()
}
