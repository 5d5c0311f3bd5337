//! The one scan that recognises a path which every backend reads alike.

use crate::{Families, Rules};

/// What a path holds somewhere; each is a bit, so that a block of bytes is classified without branches.
mod holds {
    /// A byte that only odd paths hold.
    pub(super) const ODD: u8 = 1;
    /// A slash followed by a slash or a dot.
    pub(super) const EMPTY_OR_DOT: u8 = 1 << 1;
    /// An escape.
    pub(super) const ESCAPE: u8 = 1 << 2;
    /// A dot: odd where front controllers are.
    pub(super) const DOT: u8 = 1 << 3;
    /// `?` or `&`: odd where a query parameter is a path.
    pub(super) const QUERY: u8 = 1 << 4;
    /// A byte of ordinary segments; of single bytes only.
    pub(super) const SEGMENT: u8 = 1 << 5;
}

/// The length of a block: one vector register.
const BLOCK: usize = 16;

/// Classifies every byte of `path` together with the one that follows it.
fn scan(path: &[u8]) -> u8 {
    let mut seen = [0; BLOCK];
    if path.len() <= BLOCK {
        let mut padded = [b'a'; BLOCK + 1];
        padded.iter_mut().zip(path).for_each(|(to, &from)| *to = from);
        if let (Some(block), Some(next)) = (padded.first_chunk(), padded.last_chunk()) {
            scan_block(&mut seen, block, next);
        }
    } else {
        let mut pairs = |start: usize| {
            let rest = path.get(start..).unwrap_or_default();
            let next = rest.get(1..).and_then(<[u8]>::first_chunk);
            if let (Some(block), Some(next)) = (rest.first_chunk(), next) {
                scan_block(&mut seen, block, next);
            }
        };
        // Whole blocks, the last of which may overlap the one before: a bit set twice is set.
        let end = path.len() - 1 - BLOCK;
        let mut at = 0;
        while at < end {
            pairs(at);
            at += BLOCK;
        }
        pairs(end);
    }
    seen.iter().fold(path.last().map_or(0, |&last| class(last)), |all, seen| all | seen)
}

#[inline]
fn scan_block(seen: &mut [u8; BLOCK], block: &[u8; BLOCK], next: &[u8; BLOCK]) {
    for ((seen, &byte), &after) in seen.iter_mut().zip(block).zip(next) {
        *seen |= classify(byte, after);
    }
}

/// The bits of a byte that nothing follows.
#[inline]
#[expect(clippy::indexing_slicing, reason = "a table of 256 entries indexed by a byte")]
fn class(byte: u8) -> u8 {
    static CLASS: [u8; 256] = {
        let mut class = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let segment = if is_ordinary_byte(byte as u8) { holds::SEGMENT } else { 0 };
            class[byte] = classify(byte as u8, b'a') | segment;
            byte += 1;
        }
        class
    };
    CLASS[usize::from(byte)]
}

/// The bits of one byte; without branches, so that a block of them is a few vector instructions.
#[inline]
const fn classify(byte: u8, after: u8) -> u8 {
    const fn bit(is: bool, bit: u8) -> u8 {
        if is { bit } else { 0 }
    }
    let odd = (byte <= 0x20) | (byte >= 0x7f) | (byte == b'\\') | (byte == b';') | (byte == b'#');
    let slash = (byte == b'/') & ((after == b'/') | (after == b'.'));
    bit(odd, holds::ODD)
        | bit(slash, holds::EMPTY_OR_DOT)
        | bit(byte == b'%', holds::ESCAPE)
        | bit(byte == b'.', holds::DOT)
        | bit((byte == b'?') | (byte == b'&'), holds::QUERY)
}

/// The bytes of ordinary segments, before a site's slug narrows them.
pub(crate) const fn is_ordinary_byte(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-')
}

impl Rules {
    /// The first segment of an ordinary path: one that has no other spelling (P2).
    ///
    /// `None` means that the path is odd, not that it is wrong. Linear, without allocation.
    #[must_use]
    pub fn ordinary<'a>(&self, path: &'a [u8], query: Option<&[u8]>) -> Option<&'a [u8]> {
        if path.first() != Some(&b'/') {
            return None;
        }
        let rest = path.get(1..)?;
        let end = rest.iter().position(|&byte| class(byte) & holds::SEGMENT == 0);
        let (segment, tail) = rest.split_at(end.unwrap_or(rest.len()));
        if !matches!(tail.first(), None | Some(b'/'))
            || segment == b"_next"
            || self.is_narrow() && !segment.iter().all(|&byte| self.is_ordinary_byte(byte))
        {
            return None;
        }
        let seen = scan(path);
        if seen & (holds::ODD | holds::EMPTY_OR_DOT | holds::ESCAPE) != 0 {
            return None;
        }
        let families = self.families();
        if families.contains(Families::QUERY) && (query.is_some() || seen & holds::QUERY != 0) {
            return None;
        }
        if seen & holds::DOT != 0 && families.contains(Families::FRONTC) && names_script(tail) {
            return None;
        }
        Some(segment)
    }

    /// Tells whether every segment of `path` is ordinary, so that no guard can be stepped around by
    /// spelling it otherwise. Linear, without allocation.
    #[must_use]
    pub fn ordinary_throughout(&self, path: &[u8], query: Option<&[u8]>) -> bool {
        self.ordinary(path, query).is_some()
            && path.iter().all(|&byte| byte == b'/' || self.is_ordinary_byte(byte))
    }
}

/// Tells whether `path` has one reading in a tree of routes: no escape, no empty segment before
/// the last, no segment that begins with a dot. Linear, without allocation.
#[must_use]
pub fn is_plain(path: &[u8]) -> bool {
    path.first() == Some(&b'/') && scan(path) & (holds::EMPTY_OR_DOT | holds::ESCAPE) == 0
}

fn names_script(path: &[u8]) -> bool {
    memchr::memchr_iter(b'.', path)
        .any(|at| path.get(at + 1..at + 4).is_some_and(|s| s.eq_ignore_ascii_case(b"php")))
}
