//! The first segments that a request may mean.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use crate::forms::{Form, forms};
use crate::hygiene::{PathRefused, check_path};
use crate::{Families, Rules, Slug};

/// By which reading a segment, or a route, was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Spelling {
    /// The cleaned form of the decoded path; the only reading of an ordinary path.
    Normalised,
    /// Empty segments skipped.
    Merge,
    /// Dot segments removed.
    Dots,
    /// The segment up to the first byte outside the slug.
    Cut,
    /// Path parameters dropped.
    Params,
    /// A backslash read as a slash.
    Bslash,
    /// A leading authority dropped.
    Auth,
    /// Decoded more than once.
    Double,
    /// A front controller dropped.
    Frontc,
    /// A query parameter.
    Query,
    /// The data route of Next.js dropped.
    Nextdata,
    /// The decoded path, not cleaned.
    Decoded,
    /// The path as received.
    Received,
}

impl Spelling {
    /// The name that `explain` prints.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normalised => "normalised",
            Self::Merge => "merge",
            Self::Dots => "dots",
            Self::Cut => "cut",
            Self::Params => "params",
            Self::Bslash => "bslash",
            Self::Auth => "auth",
            Self::Double => "double",
            Self::Frontc => "frontc",
            Self::Query => "query",
            Self::Nextdata => "nextdata",
            Self::Decoded => "decoded",
            Self::Received => "received",
        }
    }
}

impl fmt::Display for Spelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One first segment that a backend may read out of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading<'a> {
    segment: Cow<'a, [u8]>,
    spelling: Spelling,
}

impl Reading<'_> {
    /// The segment's bytes, which need not be UTF-8; empty where a reading has no segment.
    #[must_use]
    pub fn segment(&self) -> &[u8] {
        &self.segment
    }

    /// The step that led to it.
    #[must_use]
    pub fn spelling(&self) -> Spelling {
        self.spelling
    }
}

/// Every first segment that a request may mean, each once, the most normalised reading first.
///
/// Segments are as the path spells them; where [`Rules::case_sensitive`] is off, each also stands
/// for its ASCII-folded form.
#[derive(Clone, Debug)]
pub struct Spellings<'a>(Inner<'a>);

#[derive(Clone, Debug)]
enum Inner<'a> {
    Ordinary(Reading<'a>),
    Odd(Vec<Reading<'a>>),
}

impl<'a> Spellings<'a> {
    /// Tells whether the path was ordinary: one reading, borrowed (P2).
    #[must_use]
    pub fn is_ordinary(&self) -> bool {
        matches!(self.0, Inner::Ordinary(_))
    }

    /// The readings, most normalised first.
    pub fn iter(&self) -> impl Iterator<Item = &Reading<'a>> {
        match &self.0 {
            Inner::Ordinary(reading) => std::slice::from_ref(reading).iter(),
            Inner::Odd(readings) => readings.iter(),
        }
    }
}

impl Rules {
    /// The first segments that a request may mean on a site with these rules.
    ///
    /// `path` is the raw path of the request-target, `query` what follows `?` in it.
    ///
    /// # Errors
    /// [`PathRefused`] where the path breaks a rule of [`check_path`] or exceeds the work budget.
    ///
    /// # Complexity
    /// An ordinary path: one scan, no allocation. Any other: at most 64 rewritten forms that hold at
    /// most 16 KiB together.
    pub fn spellings<'a>(
        &self,
        path: &'a [u8],
        query: Option<&[u8]>,
    ) -> Result<Spellings<'a>, PathRefused> {
        if let Some(segment) = self.ordinary(path, query) {
            let reading =
                Reading { segment: Cow::Borrowed(segment), spelling: Spelling::Normalised };
            return Ok(Spellings(Inner::Ordinary(reading)));
        }
        check_path(path)?;
        let mut views = Views { seen: BTreeSet::new(), readings: Vec::new() };
        for form in forms(self, path, query)? {
            views.read(self, &form);
        }
        Ok(Spellings(Inner::Odd(views.readings)))
    }
}

struct Views {
    seen: BTreeSet<Vec<u8>>,
    readings: Vec<Reading<'static>>,
}

impl Views {
    /// Adds every first segment of one form.
    fn read(&mut self, rules: &Rules, form: &Form<'_>) {
        // A form begins with a slash: nothing stands in front of it.
        let mut segments = form.bytes.split(|&byte| byte == b'/').skip(1);
        let first = segments.next().unwrap_or_default();
        self.views(rules, form, first);
        if first.is_empty()
            && rules.families().contains(Families::MERGE)
            && let Some(segment) = segments.find(|segment| !segment.is_empty())
        {
            self.views(rules, form, segment);
        }
    }

    fn views(&mut self, rules: &Rules, form: &Form<'_>, segment: &[u8]) {
        if !form.is_pending(segment) {
            self.push(segment, form.by);
        }
        if rules.families().contains(Families::CUT) {
            let slug = rules.slug();
            self.push(cut(segment, slug), Spelling::Cut);
            if !segment.iter().all(u8::is_ascii_graphic) {
                let visible: Vec<u8> =
                    segment.iter().copied().filter(u8::is_ascii_graphic).collect();
                self.push(&visible, Spelling::Cut);
                self.push(cut(&visible, slug), Spelling::Cut);
            }
        }
    }

    fn push(&mut self, segment: &[u8], spelling: Spelling) {
        if !self.seen.contains(segment) {
            self.seen.insert(segment.to_vec());
            self.readings.push(Reading { segment: Cow::Owned(segment.to_vec()), spelling });
        }
    }
}

/// The part of `segment` before its first byte outside `slug`.
pub(crate) fn cut(segment: &[u8], slug: Slug) -> &[u8] {
    let end = segment.iter().position(|&byte| !slug.contains(byte)).unwrap_or(segment.len());
    segment.get(..end).unwrap_or(segment)
}
