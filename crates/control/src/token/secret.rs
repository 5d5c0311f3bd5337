//! A bearer token in the clear.

use std::fmt;

use crate::hex;

/// A bearer token in the clear: `fpt_` before 64 lower-case hexadecimal digits, 256 random bits.
///
/// `Debug` shows nothing of it; `Display` shows it, once.
pub struct Secret(String);

impl Secret {
    pub(super) fn new(random: [u8; 32]) -> Self {
        Self(format!("{MARK}{}", hex::encode(&random)))
    }

    /// A text that a client has sent, if it has the form of a token.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(MARK)?;
        (digits.len() == DIGITS && digits.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    /// The hash under which it is stored. So many random bits need no slow hash, and no salt.
    pub(super) fn key(&self) -> String {
        hex::encode(&blake3::derive_key(CONTEXT, self.0.as_bytes()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a token stands anywhere in a text. No host, prefix or id has its form.
pub(crate) fn is_in(text: &str) -> bool {
    text.match_indices(MARK).any(|(at, _)| {
        let digits = text.as_bytes().iter().skip(at + MARK.len());
        digits.take_while(|byte| byte.is_ascii_hexdigit()).count() >= DIGITS
    })
}

const fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

const MARK: &str = "fpt_";
const DIGITS: usize = 64;
const CONTEXT: &str = "fingerpost 2026-11-30 bearer token v1";
