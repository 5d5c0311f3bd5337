//! The one scan that recognises a path which every backend reads alike.

use crate::{Families, Rules};

/// A byte that only odd paths hold, wherever it stands.
const ODD: u8 = 1;
/// A byte that makes a path odd right after a slash.
const ODD_AFTER_SLASH: u8 = 1 << 1;
/// A dot: odd where front controllers are.
const DOT: u8 = 1 << 2;
/// `?` and `&`, which no decoded path holds: odd where a query parameter is a path.
const QUERY: u8 = 1 << 3;
/// Outside `[a-z0-9_-]`: odd in a first segment.
const NOT_SLUG: u8 = 1 << 4;

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time")]
static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        let mut bits = match byte {
            0..=0x20 | 0x7f..=0xff | b'%' | b'\\' | b';' | b'#' => ODD,
            b'/' => ODD_AFTER_SLASH,
            b'.' => ODD_AFTER_SLASH | DOT,
            b'?' | b'&' => QUERY,
            _ => 0,
        };
        if !matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-') {
            bits |= NOT_SLUG;
        }
        class[at] = bits;
        at += 1;
    }
    class
};

#[expect(clippy::indexing_slicing, reason = "a table of 256 entries indexed by a byte")]
fn class(byte: u8) -> u8 {
    CLASS[usize::from(byte)]
}

/// Splits a path that begins with a slash into its first segment and what follows.
pub(crate) fn first_segment(path: &[u8]) -> (&[u8], &[u8]) {
    let rest = path.get(1..).unwrap_or_default();
    rest.split_at(memchr::memchr(b'/', rest).unwrap_or(rest.len()))
}

impl Rules {
    /// The first segment of an ordinary path: one that has no other spelling (P2).
    ///
    /// `None` means that the path is odd, not that it is wrong. Linear, without allocation.
    #[must_use]
    pub fn ordinary<'a>(&self, path: &'a [u8], query: Option<&[u8]>) -> Option<&'a [u8]> {
        let (b'/', rest) = path.split_first()? else { return None };
        let slug = self.slug();
        let end = rest
            .iter()
            .position(|&byte| class(byte) & NOT_SLUG != 0 || !slug.contains(byte))
            .unwrap_or(rest.len());
        let (segment, tail) = rest.split_at(end);
        if !matches!(tail.first(), None | Some(b'/')) || segment == b"_next" {
            return None;
        }
        let mut seen = 0;
        let mut after_slash = 0;
        for &byte in if end == 0 { path } else { tail } {
            let bits = class(byte);
            seen |= bits & (ODD | DOT | QUERY) | (bits & after_slash);
            after_slash = if byte == b'/' { ODD_AFTER_SLASH } else { 0 };
        }
        if seen & (ODD | ODD_AFTER_SLASH) != 0 {
            return None;
        }
        let families = self.families();
        if families.contains(Families::QUERY) && (query.is_some() || seen & QUERY != 0) {
            return None;
        }
        if seen & DOT != 0 && families.contains(Families::FRONTC) && names_script(tail) {
            return None;
        }
        Some(segment)
    }

    /// Tells whether every segment of `path` is ordinary, so that no guard can be stepped around by
    /// spelling it otherwise. Linear, without allocation.
    #[must_use]
    pub fn ordinary_throughout(&self, path: &[u8], query: Option<&[u8]>) -> bool {
        let slug = self.slug();
        self.ordinary(path, query).is_some()
            && path
                .iter()
                .all(|&byte| byte == b'/' || class(byte) & NOT_SLUG == 0 && slug.contains(byte))
    }
}

/// Tells whether `path` has one reading in a tree of routes: no escape, no empty segment before
/// the last, no segment that begins with a dot. Linear, without allocation.
#[must_use]
pub fn is_plain(path: &[u8]) -> bool {
    let mut seen = 0;
    let mut after_slash = 0;
    for &byte in path {
        let bits = class(byte);
        seen |= u8::from(byte == b'%') | (bits & after_slash);
        after_slash = if byte == b'/' { ODD_AFTER_SLASH } else { 0 };
    }
    seen == 0 && path.first() == Some(&b'/')
}

fn names_script(path: &[u8]) -> bool {
    memchr::memchr_iter(b'.', path)
        .any(|at| path.get(at + 1..at + 4).is_some_and(|s| s.eq_ignore_ascii_case(b"php")))
}
