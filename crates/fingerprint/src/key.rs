//! The secret that digests depend on.

use std::fmt;

/// The version of the encoding and of the way digests are put together.
///
/// It is part of every key, so that digests of two versions never agree. Golden vectors
/// (`tests/golden.rs`) hold for one version; a change of theirs needs a new one.
pub const VERSION: &str = "fingerpost-fingerprint v1";

/// The secret that makes sums of digests unforgeable: 32 random bytes, one for each registry.
///
/// Two registries with the same rows have the same fingerprint only under the same key. `Debug` does not
/// show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    secret: [u8; 32],
    pub(crate) row: [u8; 32],
    pub(crate) host: [u8; 32],
    pub(crate) whole: [u8; 32],
}

impl Key {
    /// Derives what is needed from 32 random bytes.
    #[must_use]
    pub fn new(secret: [u8; 32]) -> Self {
        let derive = |what| blake3::derive_key(&format!("{VERSION} {what}"), &secret);
        Self { secret, row: derive("row"), host: derive("host"), whole: derive("whole") }
    }

    /// The bytes it was made of, to be stored.
    #[must_use]
    pub const fn secret(&self) -> &[u8; 32] {
        &self.secret
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}
