//! The single steps by which a backend turns one spelling of a path into another.
//!
//! Every step takes a path that begins with `/`, is linear in its length and answers `None` where it
//! changes nothing, so that a step that does not apply costs one scan.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memmem};
use percent_encoding::percent_decode;

/// Decodes every well-formed escape once.
pub(crate) fn decode(path: &[u8]) -> Option<Vec<u8>> {
    memchr(b'%', path)?;
    match percent_decode(path).into() {
        Cow::Owned(decoded) => Some(decoded),
        Cow::Borrowed(_) => None,
    }
}

/// Merges runs of slashes.
pub(crate) fn merge(path: &[u8]) -> Option<Vec<u8>> {
    memmem::find(path, b"//")?;
    let mut out = Vec::with_capacity(path.len());
    for &byte in path {
        if byte != b'/' || out.last() != Some(&b'/') {
            out.push(byte);
        }
    }
    Some(out)
}

/// How [`resolve_dots`] treats empty segments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slashes {
    Keep,
    Merge,
}

/// Removes dot segments (RFC 3986 5.2.4); a trailing slash stays.
pub(crate) fn resolve_dots(path: &[u8], slashes: Slashes) -> Option<Vec<u8>> {
    let merging = slashes == Slashes::Merge && memmem::find(path, b"//").is_some();
    if !merging && memmem::find(path, b"/.").is_none() {
        return None;
    }
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path.strip_prefix(b"/").unwrap_or(path);
    loop {
        let end = memchr(b'/', rest);
        let (segment, tail) = match end {
            Some(at) => rest.split_at(at),
            None => (rest, &[][..]),
        };
        match segment {
            b"." | b".." => {
                if segment == b".." {
                    out.truncate(out.iter().rposition(|&b| b == b'/').unwrap_or(0));
                }
                if end.is_none() {
                    out.push(b'/');
                }
            }
            b"" if slashes == Slashes::Merge && end.is_some() => {}
            _ => {
                out.push(b'/');
                out.extend_from_slice(segment);
            }
        }
        match tail.split_first() {
            Some((_, next)) => rest = next,
            None => break,
        }
    }
    if out.is_empty() {
        out.push(b'/');
    }
    (out != path).then_some(out)
}

/// Reads `%2e` as `.` and leaves every other escape alone.
pub(crate) fn decode_dots(path: &[u8]) -> Option<Vec<u8>> {
    replace_escape(path, b'e', b'.', |out, byte| out.push(byte))
}

/// Reads `\` and `%5c` as `/`.
pub(crate) fn backslashes(path: &[u8]) -> Option<Vec<u8>> {
    memchr2(b'\\', b'%', path)?;
    let mut out = replace_escape(path, b'c', b'/', |out, byte| {
        out.push(if byte == b'\\' { b'/' } else { byte });
    });
    if out.is_none() && memchr(b'\\', path).is_some() {
        out = Some(path.iter().map(|&b| if b == b'\\' { b'/' } else { b }).collect());
    }
    out
}

/// Replaces `%2<low>` (for `e`) or `%5<low>` (for `c`) by `with`.
fn replace_escape(
    path: &[u8],
    low: u8,
    with: u8,
    mut keep: impl FnMut(&mut Vec<u8>, u8),
) -> Option<Vec<u8>> {
    let high = if low == b'e' { b'2' } else { b'5' };
    let hit = |window: &[u8]| matches!(window, [b'%', h, l, ..] if *h == high && l.eq_ignore_ascii_case(&low));
    if !path.windows(3).any(hit) {
        return None;
    }
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((&byte, tail)) = rest.split_first() {
        if hit(rest) {
            out.push(with);
            rest = rest.get(3..).unwrap_or_default();
        } else {
            keep(&mut out, byte);
            rest = tail;
        }
    }
    Some(out)
}

/// Drops `;...` from every segment.
pub(crate) fn params(path: &[u8]) -> Option<Vec<u8>> {
    memchr(b';', path)?;
    let mut out = Vec::with_capacity(path.len());
    let mut skipping = false;
    for &byte in path {
        match byte {
            b'/' => skipping = false,
            b';' => skipping = true,
            _ => {}
        }
        if !skipping {
            out.push(byte);
        }
    }
    Some(out)
}

/// Drops a leading `//x`, however many slashes lead it.
pub(crate) fn authority(path: &[u8]) -> Option<Vec<u8>> {
    if !path.starts_with(b"//") {
        return None;
    }
    let name = path.iter().position(|&b| b != b'/')?;
    let after = path.get(name..)?;
    Some(memchr(b'/', after).and_then(|at| after.get(at..)).unwrap_or(b"/").to_vec())
}

/// Drops a first segment that ends in `.php`.
pub(crate) fn leading_script(path: &[u8]) -> Option<Vec<u8>> {
    let rest = path.get(1..)?;
    let end = memchr(b'/', rest).unwrap_or(rest.len());
    let (segment, tail) = rest.split_at(end);
    let suffix = segment.len().checked_sub(4).and_then(|at| segment.get(at..))?;
    suffix.eq_ignore_ascii_case(b".php").then(|| if tail.is_empty() { b"/" } else { tail }.to_vec())
}

/// Drops everything up to the first `.php`: what follows is the script's path info.
pub(crate) fn path_info(path: &[u8]) -> Option<Vec<u8>> {
    let at = memchr::memchr_iter(b'.', path)
        .find(|&at| path.get(at + 1..at + 4).is_some_and(|s| s.eq_ignore_ascii_case(b"php")))?;
    Some(rooted(path.get(at + 4..)?))
}

/// Drops `/_next/data/<build>`.
pub(crate) fn next_data(path: &[u8]) -> Option<Vec<u8>> {
    let rest = path.strip_prefix(b"/_next/data/")?;
    memchr(b'/', rest).and_then(|at| rest.get(at..)).map(<[u8]>::to_vec)
}

/// Reads `+` as a space, as form decoding does.
pub(crate) fn plus(path: &[u8]) -> Option<Vec<u8>> {
    memchr(b'+', path)?;
    Some(path.iter().map(|&b| if b == b'+' { b' ' } else { b }).collect())
}

/// The values of parameter `name` in `pairs`, each as a path; the key may be escaped.
pub(crate) fn parameter(pairs: &[u8], name: &[u8], mut found: impl FnMut(Vec<u8>)) {
    for pair in pairs.split(|&b| matches!(b, b'&' | b'?')) {
        let Some(equals) = memchr(b'=', pair) else { continue };
        let (key, value) = pair.split_at(equals);
        if percent_decode(key).eq(name.iter().copied()) {
            found(rooted(value.get(1..).unwrap_or_default()));
        }
    }
}

/// `tail` as a path: with a slash in front.
pub(crate) fn rooted(tail: &[u8]) -> Vec<u8> {
    if tail.starts_with(b"/") {
        return tail.to_vec();
    }
    let mut path = Vec::with_capacity(tail.len() + 1);
    path.push(b'/');
    path.extend_from_slice(tail);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_resolved_as_in_rfc_3986_5_2_4() {
        for (path, kept, merged) in [
            ("/a/b/c/./../../g", "/a/g", "/a/g"),
            ("/..", "/", "/"),
            ("/a/.", "/a/", "/a/"),
            ("/a/..", "/", "/"),
            ("/a//../b", "/a/b", "/b"),
            ("//a/..", "//", "/"),
            ("/...", "/...", "/..."),
            ("/a//", "/a//", "/a/"),
        ] {
            let kept_got = resolve_dots(path.as_bytes(), Slashes::Keep);
            assert_eq!(kept_got.as_deref().unwrap_or(path.as_bytes()), kept.as_bytes(), "{path}");
            let merged_got = resolve_dots(path.as_bytes(), Slashes::Merge);
            assert_eq!(
                merged_got.as_deref().unwrap_or(path.as_bytes()),
                merged.as_bytes(),
                "{path}"
            );
        }
    }

    #[test]
    fn each_step_rewrites_its_own_kind_only() {
        type Step = fn(&[u8]) -> Option<Vec<u8>>;
        for (step, path, want) in [
            (decode as Step, "/%70a%2fb", Some("/pa/b")),
            (decode, "/pa%zz", None),
            (merge, "//a///b", Some("/a/b")),
            (decode_dots, "/%2E%2e/%2f", Some("/../%2f")),
            (decode_dots, "/%5c", None),
            (backslashes, "/\\a%5Cb%5d", Some("//a/b%5d")),
            (backslashes, "/a%2e", None),
            (params, "/a;x/b;y=1;z", Some("/a/b")),
            (authority, "//x/a", Some("/a")),
            (authority, "///x/a", Some("/a")),
            (authority, "//x", Some("/")),
            (authority, "/x//a", None),
            (leading_script, "/a.PHP/b", Some("/b")),
            (leading_script, "/a.php", Some("/")),
            (leading_script, "/a.phpx/b", None),
            (path_info, "/x/a.php/b", Some("/b")),
            (path_info, "/a.phpb", Some("/b")),
            (path_info, "/a.ph", None),
            (next_data, "/_next/data/b1/a.json", Some("/a.json")),
            (next_data, "/_next/data/b1", None),
            (plus, "/a+b", Some("/a b")),
        ] {
            assert_eq!(step(path.as_bytes()).as_deref(), want.map(str::as_bytes), "{path}");
        }
    }
}
