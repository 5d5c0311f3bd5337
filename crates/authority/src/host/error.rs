//! Why bytes are no host.

use thiserror::Error;

/// Why [`Host::parse`](crate::Host::parse) refused its input.
///
/// Offsets count bytes from the start of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HostError {
    /// There is nothing.
    #[error("the host is empty")]
    Empty,
    /// The name has more than 253 bytes (RFC 1035 2.3.4), a trailing dot not counted.
    #[error("the name has {len} bytes, more than 253")]
    TooLong {
        /// The number of bytes.
        len: usize,
    },
    /// A label is empty: `a..b`, `.a`, `a..`, `.`.
    #[error("empty label at byte {offset}")]
    EmptyLabel {
        /// Where the label would begin.
        offset: usize,
    },
    /// A label has more than 63 bytes (RFC 1035 2.3.4).
    #[error("label of more than 63 bytes at byte {offset}")]
    LabelTooLong {
        /// Where the label begins.
        offset: usize,
    },
    /// A byte that no name holds.
    #[error("byte 0x{byte:02x} at byte {offset} is not of [A-Za-z0-9_-]")]
    Byte {
        /// Where the byte stands.
        offset: usize,
        /// The byte.
        byte: u8,
    },
    /// The last label is numeric, but the name is not four decimal octets without leading zeros.
    #[error("numeric last label at byte {offset}, but not a dotted quad")]
    Numeric {
        /// Where the last label begins.
        offset: usize,
    },
    /// A bracket is opened but not closed.
    #[error("the bracket is not closed")]
    OpenBracket,
    /// An IPv6 zone id (`%25eth0`): it means nothing on another machine.
    #[error("IPv6 zone id at byte {offset}")]
    ZoneId {
        /// Where the `%` stands.
        offset: usize,
    },
    /// The brackets do not hold an IPv6 address (RFC 4291 2.2).
    #[error("the brackets hold no IPv6 address")]
    V6,
    /// Something follows the closing bracket.
    #[error("something at byte {offset} follows the closing bracket")]
    AfterBracket {
        /// Where it begins.
        offset: usize,
    },
}
