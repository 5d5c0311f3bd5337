//! The closure of a path under the rewriting steps of a site's families.

use std::borrow::Cow;

use crate::hygiene::PathRefused;
use crate::rewrite::{self, Slashes};
use crate::{Families, Rules, Spelling};

/// One rewritten path.
#[derive(Clone, Debug)]
pub(crate) struct Form<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// How often it was decoded; 0 where there is nothing to decode.
    pub(crate) decoded: u8,
    /// The last step that made it.
    pub(crate) by: Spelling,
}

impl Form<'_> {
    /// An escape that a backend decodes before it looks at segments is still in `segment`.
    pub(crate) fn is_pending(&self, segment: &[u8]) -> bool {
        self.decoded == 0 && memchr::memchr(b'%', segment).is_some()
    }
}

/// The most rewritten forms of one path.
const MAX_FORMS: usize = 64;
/// The most bytes that the forms of one path may hold together, counted at the length of the path.
const MAX_BYTES: usize = 16 * 1024;

/// Every form of `path`, most normalised first: the cleaned form, those in between in the order of
/// their discovery, the decoded path, the path as received.
///
/// Work is bounded by the budget: at most 64 forms, and forms x bytes at most 16 KiB.
pub(crate) fn forms<'a>(
    rules: &Rules,
    path: &'a [u8],
    query: Option<&[u8]>,
) -> Result<Vec<Form<'a>>, PathRefused> {
    let query = query.filter(|_| rules.families().contains(Families::QUERY));
    let mut closure = Closure::new(rules, path.len() + query.map_or(0, <[u8]>::len));
    closure.add(Cow::Borrowed(path), 0, Spelling::Received)?;
    let base = closure.base(path)?;
    if let Some(pairs) = query {
        closure.parameters(pairs)?;
    }
    let mut next = 0;
    while let Some(form) = closure.found.get(next) {
        let form = form.clone();
        closure.expand(&form)?;
        next += 1;
    }
    Ok(closure.ordered(base))
}

struct Closure<'a, 'r> {
    rules: &'r Rules,
    families: Families,
    decodings: u8,
    weight: usize,
    found: Vec<Form<'a>>,
}

impl<'a, 'r> Closure<'a, 'r> {
    fn new(rules: &'r Rules, weight: usize) -> Self {
        let families = rules.families();
        let decodings = if families.contains(Families::DOUBLE) { 3 } else { 1 };
        Self { rules, families, decodings, weight, found: Vec::new() }
    }

    /// Adds a form unless it is known.
    fn add(&mut self, bytes: Cow<'a, [u8]>, decoded: u8, by: Spelling) -> Result<(), PathRefused> {
        let decoded = if memchr::memchr(b'%', &bytes).is_some() { decoded } else { 0 };
        if self.found.iter().any(|form| form.decoded == decoded && form.bytes == bytes) {
            return Ok(());
        }
        let count = self.found.len() + 1;
        if count > MAX_FORMS || count.saturating_mul(self.weight) > MAX_BYTES {
            return Err(PathRefused::Budget);
        }
        self.found.push(Form { bytes, decoded, by });
        Ok(())
    }

    fn step(
        &mut self,
        rewritten: Option<Vec<u8>>,
        decoded: u8,
        by: Spelling,
    ) -> Result<(), PathRefused> {
        rewritten.map_or(Ok(()), |bytes| self.add(Cow::Owned(bytes), decoded, by))
    }

    /// Adds the two base forms; answers where the cleaned form is.
    fn base(&mut self, path: &[u8]) -> Result<usize, PathRefused> {
        let decoded = rewrite::decode(path);
        let clean = rewrite::resolve_dots(decoded.as_deref().unwrap_or(path), Slashes::Merge);
        self.step(decoded, 1, Spelling::Decoded)?;
        let at = self.found.len() - 1;
        match clean {
            // A path that is clean already is its own cleaned form.
            None => Ok(at),
            Some(_) => {
                self.step(clean, 1, Spelling::Normalised)?;
                Ok(self.found.len() - 1)
            }
        }
    }

    fn parameters(&mut self, pairs: &[u8]) -> Result<(), PathRefused> {
        let mut values = Vec::new();
        for name in self.rules.query() {
            rewrite::parameter(pairs, name.as_bytes(), |value| values.push(value));
        }
        for value in values {
            let spaced = rewrite::plus(&value);
            self.add(Cow::Owned(value), 0, Spelling::Query)?;
            self.step(spaced, 0, Spelling::Query)?;
        }
        Ok(())
    }

    /// Applies every step that the families allow to one form.
    fn expand(&mut self, form: &Form<'a>) -> Result<(), PathRefused> {
        let (path, n) = (&*form.bytes, form.decoded);
        let has = |family| self.families.contains(family);
        let (dots, merge, bslash) =
            (has(Families::DOTS), has(Families::MERGE), has(Families::BSLASH));
        let (params, auth) = (has(Families::PARAMS), has(Families::AUTH));
        let (frontc, nextdata) = (has(Families::FRONTC), has(Families::NEXTDATA));
        if n < self.decodings {
            let by = if n == 0 { form.by } else { Spelling::Double };
            self.step(rewrite::decode(path), n + 1, by)?;
        }
        // The base's cleaning is part of every backend, whatever was rewritten before it.
        if dots || !form.is_pending(path) {
            self.step(rewrite::resolve_dots(path, Slashes::Merge), n, Spelling::Dots)?;
        }
        if dots {
            self.step(rewrite::resolve_dots(path, Slashes::Keep), n, Spelling::Dots)?;
            if n == 0 {
                self.step(rewrite::decode_dots(path), n, Spelling::Dots)?;
            }
        }
        if merge {
            self.step(rewrite::merge(path), n, Spelling::Merge)?;
        }
        if bslash {
            self.step(rewrite::backslashes(path), n, Spelling::Bslash)?;
        }
        if params {
            self.step(rewrite::params(path), n, Spelling::Params)?;
        }
        if auth {
            self.step(rewrite::authority(path), n, Spelling::Auth)?;
        }
        if frontc {
            self.step(rewrite::leading_script(path), n, Spelling::Frontc)?;
            self.step(rewrite::path_info(path), n, Spelling::Frontc)?;
        }
        if nextdata {
            self.step(rewrite::next_data(path), n, Spelling::Nextdata)?;
        }
        if self.families.contains(Families::QUERY) {
            self.parameters(path)?;
        }
        Ok(())
    }

    /// Moves the cleaned form, which is at `clean`, to the front, and what it was made of to the end.
    fn ordered(mut self, clean: usize) -> Vec<Form<'a>> {
        self.found.rotate_left(clean);
        if clean == 2 {
            // received, decoded -> decoded, received
            if let [.., received, decoded] = self.found.as_mut_slice() {
                std::mem::swap(received, decoded);
            }
        }
        if let Some(first) = self.found.first_mut() {
            first.by = Spelling::Normalised;
        }
        self.found
    }
}
