//! What a site says about the backend behind its origin.

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
    /// Whether the slug lacks a byte that ordinary segments may hold elsewhere.
    narrow: bool,
    case_sensitive: bool,
    query: Box<[Box<str>]>,
}

impl Rules {
    /// Rules with the default slug, ASCII case folded, and no query parameter.
    #[must_use]
    pub fn new(families: Families) -> Self {
        let slug = Slug::default();
        Self {
            families,
            slug,
            narrow: is_narrow(slug),
            case_sensitive: false,
            query: Box::default(),
        }
    }

    /// Sets the bytes that account names are made of.
    #[must_use]
    pub fn with_slug(mut self, slug: Slug) -> Self {
        self.slug = slug;
        self.narrow = is_narrow(slug);
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
    pub(crate) fn is_ordinary_byte(&self, byte: u8) -> bool {
        is_ordinary_byte(byte) && self.slug.contains(byte)
    }

    /// Tells whether the slug lacks some of `[a-z0-9_-]`.
    pub(crate) fn is_narrow(&self) -> bool {
        self.narrow
    }
}

fn is_narrow(slug: Slug) -> bool {
    !(0..=u8::MAX).all(|byte| !is_ordinary_byte(byte) || slug.contains(byte))
}

impl Default for Rules {
    /// The rules of a site that names no backend: [`Preset::Any`].
    fn default() -> Self {
        Self::new(Preset::Any.families())
    }
}
