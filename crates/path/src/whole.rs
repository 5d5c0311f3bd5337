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

/// One spelling of a whole path, to be split at its slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathForm<'a> {
    bytes: Cow<'a, [u8]>,
    encoded: bool,
}

impl<'a> PathForm<'a> {
    /// The path; begins with a slash.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Tells whether segments still hold escapes: they are decoded after the path is split.
    #[must_use]
    pub fn is_encoded(&self) -> bool {
        self.encoded
    }

    /// A path that came encoded; where it holds no escape, that makes no difference.
    #[must_use]
    pub fn encoded(bytes: Cow<'a, [u8]>) -> Self {
        let encoded = memchr::memchr(b'%', &bytes).is_some();
        Self { bytes, encoded }
    }

    /// A path that is decoded already: a `%` in it is a percent sign.
    #[must_use]
    pub fn decoded(bytes: Cow<'a, [u8]>) -> Self {
        Self { bytes, encoded: false }
    }

    /// The path itself.
    #[must_use]
    pub fn into_bytes(self) -> Cow<'a, [u8]> {
        self.bytes
    }
}

/// The spellings that every site is matched under, the normal form first: as received, and decoded
/// or not, with slashes merged or not, with dot segments resolved or not; each once.
///
/// Linear in the length of `path`: at most nine forms.
#[must_use]
pub fn variants(path: &[u8]) -> Vec<PathForm<'_>> {
    let mut out = vec![PathForm::encoded(normal_form(path))];
    let mut add = |bytes: Cow<'_, [u8]>, encoded: bool| {
        let encoded = encoded && memchr::memchr(b'%', &bytes).is_some();
        if !out.iter().any(|known| known.encoded == encoded && known.bytes == bytes) {
            out.push(PathForm { bytes: Cow::Owned(bytes.into_owned()), encoded });
        }
    };
    let decoded = rewrite::decode(path);
    for (form, encoded) in [(Some(path), true), (decoded.as_deref(), false)] {
        let Some(form) = form else { continue };
        let merged = rewrite::merge(form);
        for spelled in [Some(form), merged.as_deref()].into_iter().flatten() {
            // Merging while dots are resolved is resolving what was merged.
            if let Some(resolved) = rewrite::resolve_dots(spelled, Slashes::Keep) {
                add(resolved.into(), encoded);
            }
            add(spelled.into(), encoded);
        }
    }
    out
}

impl Rules {
    /// Every form of a whole path that a backend with these rules may read, for a site with guarded
    /// routes: those of [`variants`], then those of the families. The normal form is first.
    ///
    /// # Errors
    /// [`PathRefused::Budget`] past the work budget.
    pub fn whole<'a>(
        &self,
        path: &'a [u8],
        query: Option<&[u8]>,
    ) -> Result<Vec<PathForm<'a>>, PathRefused> {
        let closure = forms(self, path, query)?;
        let mut out = variants(path);
        for form in closure {
            let encoded = form.decoded == 0;
            let form =
                if encoded { PathForm::encoded(form.bytes) } else { PathForm::decoded(form.bytes) };
            if !out.contains(&form) {
                out.push(form);
            }
        }
        Ok(out)
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
        let want: [(&[u8], bool); 8] = [
            (b"/a/b%2Fc", true),
            (b"/a/%2e./b%2Fc", true),
            (b"/a//%2e./b%2Fc", true),
            (b"/a//../b/c", false),
            (b"/a/../b/c", false),
            (b"/a/b/c", false),
            (b"/b/c", false),
            (b"/a/%2e./b%2Fc", true),
        ];
        for (form, encoded) in want {
            let found = got.iter().any(|g| g.bytes() == form && g.is_encoded() == encoded);
            assert!(found, "{} in {got:?}", form.escape_ascii());
        }
        assert_eq!(got.len(), 7, "{got:?}");
        assert_eq!(got[0].bytes(), b"/a/b%2Fc");
        assert_eq!(variants(b"/a/b").len(), 1);
    }

    #[test]
    fn loosening_keeps_a_segment_that_would_vanish() {
        let rules = Rules::default();
        assert_eq!(rules.loosen(b"/Admin.json/.env/x;y"), b"/admin/.env/x");
        let exact = rules.with_case_sensitive(true);
        assert_eq!(exact.loosen(b"/Admin.json"), b"/Admin");
    }
}
