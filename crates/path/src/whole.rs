//! The spellings of a whole path that a tree of routes is matched under.

use std::borrow::Cow;

use crate::forms::forms;
use crate::hygiene::PathRefused;
use crate::rewrite::{self, Slashes};
use crate::spellings::cut;
use crate::{Families, Rules};

/// The RFC 3986 normal form of `path` (6.2.2.1 to 6.2.2.3): escapes in upper case, unreserved
/// characters decoded, dot segments removed; reserved characters stay encoded, slashes are not merged.
///
/// Malformed escapes stay as they are. Linear; borrows where nothing changes.
///
/// ```
/// assert_eq!(&*fingerpost_path::normal_form(b"/a/%2e%2E/%7eb%2fc"), b"/~b%2Fc");
/// ```
#[must_use]
pub fn normal_form(path: &[u8]) -> Cow<'_, [u8]> {
    let unescaped = normalise_escapes(path);
    match rewrite::resolve_dots(&unescaped, Slashes::Keep) {
        Some(resolved) => Cow::Owned(resolved),
        None => unescaped,
    }
}

/// Escapes of unreserved characters decoded, all others in upper case.
pub(crate) fn normalise_escapes(path: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'%', path).is_none() {
        return Cow::Borrowed(path);
    }
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let [high, low, after @ ..] = tail else {
            out.push(byte);
            continue;
        };
        let Some(value) = hex(*high).zip(hex(*low)).map(|(h, l)| h << 4 | l) else {
            out.push(byte);
            continue;
        };
        rest = after;
        if value.is_ascii_alphanumeric() || b"-._~".contains(&value) {
            out.push(value);
        } else {
            out.extend([b'%', high.to_ascii_uppercase(), low.to_ascii_uppercase()]);
        }
    }
    Cow::Owned(out)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| value.try_into().ok())
}

/// The spellings that every site is matched under, the normal form first: as received, and decoded
/// or not, with slashes merged or not, with dot segments resolved or not; each once.
///
/// Linear in the length of `path`: at most nine forms.
#[must_use]
pub fn variants(path: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let mut out: Vec<Cow<'_, [u8]>> = vec![normal_form(path)];
    let mut add = |form: Cow<'_, [u8]>| {
        if !out.contains(&form) {
            out.push(Cow::Owned(form.into_owned()));
        }
    };
    let decoded = rewrite::decode(path).map_or(Cow::Borrowed(path), Cow::Owned);
    for form in [Cow::Borrowed(path), decoded] {
        let merged = rewrite::merge(&form).map_or(Cow::Borrowed(&*form), Cow::Owned);
        for spelled in [&*form, &*merged] {
            for slashes in [Slashes::Keep, Slashes::Merge] {
                if let Some(resolved) = rewrite::resolve_dots(spelled, slashes) {
                    add(Cow::Owned(resolved));
                }
            }
        }
        add(Cow::Borrowed(&*merged));
        add(Cow::Borrowed(&*form));
    }
    out
}

impl Rules {
    /// Every form of a whole path that a backend with these rules may read, for a site with guarded
    /// routes; the forms of [`variants`] are not repeated.
    ///
    /// # Errors
    /// [`PathRefused::Budget`] past the work budget.
    pub fn whole<'a>(
        &self,
        path: &'a [u8],
        query: Option<&[u8]>,
    ) -> Result<Vec<Cow<'a, [u8]>>, PathRefused> {
        Ok(forms(self, path, query)?.into_iter().map(|form| form.bytes).collect())
    }

    /// `path` as a backend reads it that cuts every segment at the first byte outside the slug and
    /// ignores case, as far as these rules have such a backend. A segment that would be cut to
    /// nothing stays whole.
    #[must_use]
    pub fn loosen(&self, path: &[u8]) -> Vec<u8> {
        let cuts = self.families().contains(Families::CUT);
        let mut out = Vec::with_capacity(path.len());
        for (at, segment) in path.split(|&byte| byte == b'/').enumerate() {
            if at > 0 {
                out.push(b'/');
            }
            let kept = if cuts { cut(segment, self.slug()) } else { segment };
            let kept = if kept.is_empty() { segment } else { kept };
            if self.case_sensitive() {
                out.extend_from_slice(kept);
            } else {
                out.extend(kept.iter().map(u8::to_ascii_lowercase));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_form_follows_rfc_3986_6_2_2() {
        for (path, want) in [
            ("/a", "/a"),
            ("/%41%7e", "/A~"),
            ("/%2fa%c3%a9", "/%2Fa%C3%A9"),
            ("/a/%2e%2e/b", "/b"),
            ("/a//b/..", "/a//"),
            ("/%zz/%4", "/%zz/%4"),
            ("/%252e", "/%252e"),
        ] {
            assert_eq!(&*normal_form(path.as_bytes()), want.as_bytes(), "{path}");
        }
    }

    #[test]
    fn variants_hold_each_combination_once() {
        let got = variants(b"/a//%2e./b%2Fc");
        let want: [&[u8]; 7] = [
            b"/a/b%2Fc",
            b"/a/%2e./b%2Fc",
            b"/a//%2e./b%2Fc",
            b"/a/b/c",
            b"/b/c",
            b"/a/../b/c",
            b"/a//../b/c",
        ];
        assert_eq!(got.len(), want.len(), "{got:?}");
        for form in want {
            assert!(got.iter().any(|g| **g == *form), "{} in {got:?}", form.escape_ascii());
        }
        assert_eq!(&*got[0], b"/a/b%2Fc");
        assert_eq!(variants(b"/a/b"), [Cow::Borrowed(b"/a/b")]);
    }

    #[test]
    fn loosening_keeps_a_segment_that_would_vanish() {
        let rules = Rules::default();
        assert_eq!(rules.loosen(b"/Admin.json/.env/x;y"), b"/admin/.env/x");
        let exact = rules.with_case_sensitive(true);
        assert_eq!(exact.loosen(b"/Admin.json"), b"/Admin");
    }
}
