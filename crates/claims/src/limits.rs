//! How much one claim, or all of them, may ask for.

use fingerpost_path::Prefix;

/// How much one claim, or all of them, may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "written out by whoever configures it")]
pub struct Limits {
    /// Entries of one claim's `paths`.
    pub max_paths_per_claim: usize,
    /// Rows of `wildcard_domains`, over all claims.
    pub max_wildcards: usize,
}

impl Limits {
    /// The largest body of a `PUT` of a map, in bytes, that a map within the limits needs.
    ///
    /// Each entry may be written with every character of two bytes escaped, and on an indented line of its
    /// own. A body past this is refused before it is read whole.
    #[must_use]
    pub const fn max_body(&self) -> usize {
        const ESCAPED: usize = 3;
        const HOST: usize = 253;
        const PUNCTUATION: usize = 32;
        let entry = ESCAPED * (Prefix::MAX_LEN + HOST) + PUNCTUATION;
        1024_usize.saturating_add(self.max_paths_per_claim.saturating_mul(entry))
    }
}

impl Default for Limits {
    /// 10,000 entries a claim, 1,000 wildcards.
    fn default() -> Self {
        Self { max_paths_per_claim: 10_000, max_wildcards: 1_000 }
    }
}
