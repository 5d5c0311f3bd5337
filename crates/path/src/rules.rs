//! What a site says about the backend behind its origin.

use std::fmt;

use crate::ordinary::is_ordinary_byte;
use crate::{Families, Preset, Slug};

/// How the paths of one site may be read: families, slug, case, query parameters.
///
/// ```
/// use fingerpost_path::{Preset, Rules};
/// let rules = Rules::new(Preset::Rails.families());
/// let read = rules.spellings(b"/bob/../paulca.json", None)?;
/// assert!(read.iter().any(|reading| reading.segment() == b"paulca"));
/// # Ok::<(), fingerpost_path::PathRefused>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    families: Families,
    slug: Slug,
    /// The bytes of ordinary segments.
    ordinary: OrdinaryBytes,
    case_sensitive: bool,
    query: Box<[Box<str>]>,
}

/// One bit a byte; derived from the slug.
#[derive(Clone, PartialEq, Eq)]
struct OrdinaryBytes([u32; 8]);

impl Rules {
    /// Rules with the default slug, ASCII case folded, and no query parameter.
    #[must_use]
    pub fn new(families: Families) -> Self {
        let slug = Slug::default();
        let ordinary = OrdinaryBytes::of(slug);
        Self { families, slug, ordinary, case_sensitive: false, query: Box::default() }
    }

    /// Sets the bytes that account names are made of.
    #[must_use]
    pub fn with_slug(mut self, slug: Slug) -> Self {
        self.slug = slug;
        self.ordinary = OrdinaryBytes::of(slug);
        self
    }

    /// Says whether names that differ by ASCII case are different accounts.
    #[must_use]
    pub fn with_case_sensitive(mut self, case_sensitive: bool) -> Self {
        self.case_sensitive = case_sensitive;
        self
    }

    /// Names the query parameters that the backend routes on; turns the query family on or off.
    #[must_use]
    pub fn with_query<I: IntoIterator<Item: Into<Box<str>>>>(mut self, names: I) -> Self {
        self.query = names.into_iter().map(Into::into).collect();
        self
    }

    /// The families in force.
    #[must_use]
    pub fn families(&self) -> Families {
        if self.query.is_empty() { self.families } else { self.families | Families::QUERY }
    }

    /// The bytes that account names are made of.
    #[must_use]
    pub fn slug(&self) -> Slug {
        self.slug
    }

    /// Tells whether names that differ by ASCII case are different accounts.
    #[must_use]
    pub fn case_sensitive(&self) -> bool {
        self.case_sensitive
    }

    /// The query parameters that the backend routes on.
    #[must_use]
    pub fn query(&self) -> &[Box<str>] {
        &self.query
    }

    /// Tells whether `byte` is in `[a-z0-9_-]` and in the slug.
    #[expect(clippy::indexing_slicing, reason = "a byte has eight bits: three for the word")]
    pub(crate) fn is_ordinary_byte(&self, byte: u8) -> bool {
        self.ordinary.0[usize::from(byte >> 5)] >> (byte & 31) & 1 == 1
    }
}

impl OrdinaryBytes {
    fn of(slug: Slug) -> Self {
        let bits = |word: usize| {
            (0..32).fold(0, |bits, bit| {
                let byte = u8::try_from(word * 32 + bit).unwrap_or(u8::MAX);
                let is = is_ordinary_byte(byte) && slug.contains(byte);
                bits | u32::from(is) << bit
            })
        };
        Self(std::array::from_fn(bits))
    }
}

impl fmt::Debug for OrdinaryBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OrdinaryBytes")
    }
}

impl Default for Rules {
    /// The rules of a site that names no backend: [`Preset::Any`].
    fn default() -> Self {
        Self::new(Preset::Any.families())
    }
}
