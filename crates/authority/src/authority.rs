//! The authority of a request.

use core::fmt;
use core::str::FromStr;

use thiserror::Error;

use crate::{Host, HostError};

/// `uri-host [ ":" port ]`, as it stands in a `Host` field or in `:authority` (RFC 9110 7.2).
///
/// The port never takes part in matching. It is kept because HTTP/2 requests may name their authority twice,
/// and must name the same one. An empty port equals none (RFC 3986 3.2.3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Authority {
    host: Host,
    port: Option<u16>,
}

/// Why [`Authority::parse`] refused its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AuthorityError {
    /// The host is none. Offsets in it count from the start of the authority.
    #[error("the host is invalid")]
    Host(#[source] HostError),
    /// The port holds something else than digits.
    #[error("byte {offset} of the port is not a digit")]
    Port {
        /// Where it stands, from the start of the authority.
        offset: usize,
    },
    /// The port is over 65535.
    #[error("the port at byte {offset} is over 65535")]
    PortTooLarge {
        /// Where the port begins, from the start of the authority.
        offset: usize,
    },
}

impl Authority {
    /// Parses an authority. There is no user information in one: an `@` is an error (RFC 9110 4.2.4).
    ///
    /// ```
    /// use fingerpost_authority::Authority;
    ///
    /// let authority = Authority::parse(b"A.com.:0443")?;
    /// assert_eq!((authority.host().as_str(), authority.port()), ("a.com", Some(443)));
    /// assert!(Authority::parse(b"a.com:65536").is_err());
    /// # Ok::<(), fingerpost_authority::AuthorityError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Any [`AuthorityError`].
    ///
    /// # Complexity
    ///
    /// Linear. Allocates only for a name of over 62 bytes.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<Self, AuthorityError> {
        // An ordinary name without a port, by far the most frequent authority: no search for the colon.
        match Host::parse_clean(bytes) {
            Some(host) => Ok(Self { host, port: None }),
            None => Self::parse_any(bytes),
        }
    }

    fn parse_any(bytes: &[u8]) -> Result<Self, AuthorityError> {
        let end = host_end(bytes);
        let (host, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
        let (host, port) = match rest {
            // The quick way in has just refused it.
            [] => (Host::parse_any(host), None),
            [b':', port @ ..] => (Host::parse(host), parse_port(port, end + 1)?),
            _ => (Err(HostError::AfterBracket { offset: end }), None),
        };
        Ok(Self { host: host.map_err(AuthorityError::Host)?, port })
    }

    /// Borrows the host.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Takes the host out.
    #[must_use]
    pub fn into_host(self) -> Host {
        self.host
    }

    /// Tells the port, if there is one.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.port
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => write!(f, "{}", self.host),
        }
    }
}

impl FromStr for Authority {
    type Err = AuthorityError;

    fn from_str(text: &str) -> Result<Self, AuthorityError> {
        Self::parse(text.as_bytes())
    }
}

/// Where the host ends: behind its bracket, else before the first colon.
fn host_end(bytes: &[u8]) -> usize {
    let end = match bytes {
        [b'[', ..] => bytes.iter().position(|byte| *byte == b']').map(|close| close + 1),
        _ => bytes.iter().position(|byte| *byte == b':'),
    };
    end.unwrap_or(bytes.len())
}

/// `*DIGIT`: any number of leading zeros, at most 65535; empty is no port. `offset` is where it begins.
fn parse_port(digits: &[u8], offset: usize) -> Result<Option<u16>, AuthorityError> {
    let mut port = None;
    for (position, digit) in digits.iter().enumerate() {
        if !digit.is_ascii_digit() {
            return Err(AuthorityError::Port { offset: offset + position });
        }
        let value = port.unwrap_or(0u16).checked_mul(10);
        let value = value.and_then(|value| value.checked_add(u16::from(digit - b'0')));
        port = Some(value.ok_or(AuthorityError::PortTooLarge { offset })?);
    }
    Ok(port)
}
