//! The canonical host.

mod clean;
mod error;
mod name;
mod text;
mod v6;
mod written;

use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::str::FromStr;

pub use self::error::HostError;
use self::text::Text;
pub use self::written::WrittenHostError;

/// A canonical host: what an authority names once its spelling no longer matters.
///
/// # Grammar
///
/// ```text
/// host  = name [ "." ] / quad [ "." ] / "[" IPv6 "]"
/// name  = label *( "." label )            ; at most 253 bytes, the last label not numeric
/// label = 1*63( ALPHA / DIGIT / "-" / "_" )
/// quad  = four decimal octets without leading zeros
/// ```
///
/// A subset of `uri-host` (RFC 3986 3.2.2, RFC 9110 4.2.3): `reg-name` also allows sub-delimiters and
/// percent-escapes, which no DNS name needs and which two components rarely read alike. A label is
/// *numeric* when it is all digits, or `0x` with only hexadecimal digits behind it: `127.1` and `0x7f.1`
/// are errors, because other components read them as 127.0.0.1.
///
/// # Equality
///
/// Two hosts are equal when their canonical bytes are: ASCII letters in lower case, one trailing dot
/// dropped, IPv6 in brackets and in RFC 5952 form. `Ord` puts names before IPv4 before IPv6, each in byte
/// order. The port is no part of a host: see [`Authority`](crate::Authority).
///
/// # Invariants
///
/// Each is a property test of the same name in `tests/invariants.rs`.
///
/// * H1: parsing what a host displays gives the host.
/// * H2: canonicalising is idempotent.
/// * H3: equality, hash and order are those of the canonical bytes.
/// * H4: no bytes panic; no canonical text is empty, or holds an upper-case letter or any of `@ / % *`,
///   and none but IPv6 holds a `:`.
///
/// # Cost
///
/// 64 bytes. Text of up to 62 bytes is stored inline; a longer name is one allocation.
#[derive(Clone)]
pub struct Host(Text);

/// What a [`Host`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "complete: RFC 3986 3.2.2 without IPvFuture")]
pub enum HostKind {
    /// A registered name, such as `example.com`.
    Name,
    /// An IPv4 address, such as `192.0.2.1`.
    V4,
    /// An IPv6 address in brackets, such as `[2001:db8::1]`.
    V6,
}

impl Host {
    /// Parses a host as requests carry it: `uri-host` (RFC 9110 7.2) without a port.
    ///
    /// ```
    /// use fingerpost_authority::{Host, HostError};
    ///
    /// assert_eq!(Host::parse("API.Example.com.")?.as_str(), "api.example.com");
    /// assert_eq!(Host::parse("[2001:DB8:0::1]")?.as_str(), "[2001:db8::1]");
    /// assert_eq!(Host::parse("a.com:80"), Err(HostError::Byte { offset: 5, byte: b':' }));
    /// # Ok::<(), HostError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Any [`HostError`]; its offset counts bytes from the start of `bytes`.
    ///
    /// # Complexity
    ///
    /// Linear up to the longest name there is (254 bytes with its dot), constant beyond. Allocates once for
    /// a name over 62 bytes, otherwise never.
    #[inline]
    pub fn parse(bytes: impl AsRef<[u8]>) -> Result<Self, HostError> {
        let bytes = bytes.as_ref();
        match Self::parse_clean(bytes) {
            Some(host) => Ok(host),
            None => Self::parse_any(bytes),
        }
    }

    /// The quick way in: answers for ordinary names only, and exactly as [`Host::parse`] would.
    #[inline]
    pub(crate) fn parse_clean(bytes: &[u8]) -> Option<Self> {
        clean::parse(bytes).map(Self)
    }

    /// The whole grammar.
    pub(crate) fn parse_any(bytes: &[u8]) -> Result<Self, HostError> {
        match bytes {
            [] => Err(HostError::Empty),
            [b'[', ..] => v6::parse(bytes).map(Self),
            [name @ .., b'.'] => name::parse(name).map(Self),
            name => name::parse(name).map(Self),
        }
    }

    /// Parses a host as people write it, in a configuration, a claim or an API call.
    ///
    /// Letters outside ASCII are converted to A-labels (UTS 46, non-transitional) and A-labels are checked.
    /// The text must be bare: no scheme, port, path, trailing dot or wildcard.
    ///
    /// ```
    /// use fingerpost_authority::{Host, WrittenHostError};
    ///
    /// assert_eq!(Host::from_written("Bücher.example")?.as_str(), "xn--bcher-kva.example");
    /// assert_eq!(Host::from_written("a.com:80"), Err(WrittenHostError::Port { offset: 5 }));
    /// # Ok::<(), WrittenHostError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A [`WrittenHostError`] that says which part is wrong.
    ///
    /// # Complexity
    ///
    /// Linear; may allocate. Not for the path of a request.
    pub fn from_written(text: &str) -> Result<Self, WrittenHostError> {
        written::parse(text)
    }

    /// Names the kind of this host.
    #[must_use]
    pub fn kind(&self) -> HostKind {
        self.0.kind()
    }

    /// Borrows the canonical text; an IPv6 address has its brackets.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Canonical text is ASCII: the default is never taken (H4).
        core::str::from_utf8(self.0.as_bytes()).unwrap_or_default()
    }

    /// Borrows the canonical text as bytes, which costs less than [`as_str`](Self::as_str).
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

// By hand, because deriving would compare the padding of the inline text as well. The bytes decide the kind:
// only an IPv6 host begins with a bracket, and only an IPv4 host ends in a numeric label.
impl PartialEq for Host {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Host {}

impl Hash for Host {
    #[inline]
    fn hash<S: Hasher>(&self, state: &mut S) {
        self.as_bytes().hash(state);
    }
}

impl Ord for Host {
    fn cmp(&self, other: &Self) -> Ordering {
        self.kind().cmp(&other.kind()).then_with(|| self.as_bytes().cmp(other.as_bytes()))
    }
}

impl PartialOrd for Host {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Host({})", self.as_str())
    }
}

impl FromStr for Host {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::Host;

    #[test]
    fn a_host_is_one_cache_line() {
        assert_eq!(size_of::<Host>(), 64);
        assert_eq!(size_of::<Option<Host>>(), 64);
    }

    #[test]
    fn the_quick_way_in_is_taken_by_ordinary_names() {
        for name in ["a", "api.example.com", "API.Example.COM", "a_b-c.example.com.", "xn--a.b"] {
            let quick = Host::parse_clean(name.as_bytes());
            assert_eq!(quick, Host::parse_any(name.as_bytes()).ok(), "{name}");
            assert!(quick.is_some(), "{name}");
        }
    }

    #[test]
    fn the_quick_way_in_accepts_nothing_else() {
        // Every byte at the start, inside and at the end of a name, alone and doubled.
        for byte in 0..=u8::MAX {
            for text in [
                vec![byte],
                vec![byte, b'a'],
                vec![b'a', byte],
                vec![b'a', byte, b'b'],
                vec![b'a', byte, byte, b'b'],
                vec![b'a', b'.', byte, b'b'],
                vec![b'a', b'.', byte],
                vec![b'a', byte, b'.'],
                vec![b'a', byte, b'.', b'.'],
                [vec![b'a'; 60], vec![byte, b'b']].concat(),
                [vec![b'a'; 61], vec![byte]].concat(),
                [vec![b'a'; 61], vec![byte, b'.']].concat(),
            ] {
                if let Some(host) = Host::parse_clean(&text) {
                    assert_eq!(Ok(host), Host::parse_any(&text), "{text:?}");
                }
            }
        }
    }
}
