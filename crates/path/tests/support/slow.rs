//! A slow reading of the family table, in sets of byte strings.
//!
//! The table names rewrites; it does not name an order in which a backend applies them. So this model gives two
//! bounds. [`must`] is what one pass in a backend's own order can name: every reading in it has to be among the
//! candidates. [`may`] is the closure: every rewrite in any order, as often as it changes something. A candidate
//! outside of it was made up.

#![allow(dead_code, reason = "shared: no test uses all of it")]

use std::collections::BTreeSet;

/// The families, as the table lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    Merge,
    Dots,
    Cut,
    Params,
    Bslash,
    Auth,
    Double,
    Frontc,
    Nextdata,
}

/// Every family.
pub(crate) const FAMILIES: [Family; 9] = [
    Family::Merge,
    Family::Dots,
    Family::Cut,
    Family::Params,
    Family::Bslash,
    Family::Auth,
    Family::Double,
    Family::Frontc,
    Family::Nextdata,
];

/// Presets, written out again from the preset table.
pub(crate) const PRESETS: [(&str, &[Family]); 12] = {
    use Family::{Auth, Bslash, Cut, Dots, Double, Frontc, Merge, Nextdata, Params};
    [
        ("generic", &[Merge, Dots]),
        ("rails", &[Merge, Dots, Cut]),
        ("sinatra", &[Merge, Dots, Cut, Bslash]),
        ("servlet", &[Merge, Dots, Cut, Params]),
        ("php", &[Merge, Dots, Cut, Bslash, Auth, Double, Frontc]),
        ("whatwg", &[Merge, Dots, Bslash, Auth]),
        ("nextjs", &[Merge, Dots, Cut, Nextdata]),
        ("nocase", &[Merge, Dots, Cut]),
        ("restify", &[Merge, Dots, Cut, Params, Bslash, Auth]),
        ("dotnet", &[Merge, Dots, Cut, Bslash, Double]),
        ("python", &[Merge, Dots, Cut, Auth]),
        ("any", &FAMILIES),
    ]
};

/// Families and the bytes of a slug.
#[derive(Clone)]
pub(crate) struct Slow {
    pub(crate) families: BTreeSet<Family>,
    pub(crate) slug: Vec<u8>,
}

pub(crate) type Bytes = Vec<u8>;
pub(crate) type Set = BTreeSet<Bytes>;

impl std::fmt::Debug for Slow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.families)
    }
}

impl Slow {
    pub(crate) fn new(families: &[Family]) -> Self {
        Self {
            families: families.iter().copied().collect(),
            slug: (b'0'..=b'9').chain(b'a'..=b'z').chain(b'A'..=b'Z').chain(*b"_-").collect(),
        }
    }

    pub(crate) fn on(&self, family: Family) -> bool {
        self.families.contains(&family)
    }

    fn decodes(&self) -> usize {
        if self.on(Family::Double) { 3 } else { 1 }
    }

    /// The whole paths that one pass in a backend's own order makes: before decoding, and after.
    pub(crate) fn must_forms(&self, path: &[u8]) -> (Set, Set) {
        // before decoding: what a server in front of the application does to the text it received
        let mut raws = BTreeSet::from([path.to_vec()]);
        if self.on(Family::Auth) {
            also(&mut raws, drop_named_authority);
        }
        if self.on(Family::Bslash) {
            also(&mut raws, backslashes);
        }
        if self.on(Family::Params) {
            also(&mut raws, strip_params);
        }
        if self.on(Family::Dots) {
            let before = raws.clone();
            for raw in before {
                raws.insert(remove_dots(&raw, false));
                raws.insert(remove_dots(&raw, true));
            }
        }
        // decode; then what the application does to the decoded text
        let mut decoded = Set::new();
        for raw in &raws {
            let mut text = raw.clone();
            for _ in 0..self.decodes() {
                text = decode(&text);
                decoded.insert(text.clone());
            }
        }
        if self.on(Family::Bslash) {
            also(&mut decoded, backslashes);
        }
        if self.on(Family::Auth) {
            also(&mut decoded, drop_named_authority);
        }
        if self.on(Family::Frontc) {
            also_all(&mut decoded, drop_front);
        }
        if self.on(Family::Nextdata) {
            also(&mut decoded, drop_next_data);
        }
        if self.on(Family::Params) {
            also(&mut decoded, strip_params);
        }
        (raws, decoded)
    }

    /// What one pass in a backend's own order can name.
    pub(crate) fn must(&self, path: &[u8]) -> Set {
        let (raws, decoded) = self.must_forms(path);
        let mut out = Set::new();
        for text in &decoded {
            out.insert(first(text));
            out.insert(first(&clean(text)));
            if self.on(Family::Merge) {
                out.insert(first(&merge(text)));
            }
            if self.on(Family::Dots) {
                let resolved = remove_dots(text, false);
                out.insert(first(&resolved));
                out.insert(first(&merge(&resolved)));
                out.insert(first(&remove_dots(&merge(text), false)));
            }
        }
        if self.on(Family::Params) {
            also(&mut out, |segment| until(segment, |byte| byte == b';'));
        }
        if self.on(Family::Cut) {
            let undecoded: Vec<_> = raws.iter().map(|raw| first(raw)).collect();
            out.extend(undecoded.iter().map(|segment| self.cut(segment)));
            also(&mut out, without_invisible);
            also(&mut out, |segment| self.cut(segment));
        }
        out.retain(|segment| !segment.is_empty());
        out
    }

    /// Every whole path that the families' rewrites reach in any order, with how often it was decoded.
    pub(crate) fn may_forms(&self, path: &[u8]) -> BTreeSet<(usize, Bytes)> {
        let mut seen = BTreeSet::from([(0, path.to_vec())]);
        let mut todo: Vec<_> = seen.iter().cloned().collect();
        while let Some((decoded, text)) = todo.pop() {
            let mut next = Set::new();
            next.insert(clean(&text));
            next.insert(remove_dots(&merge(&text), false)); // the same with its trailing slash
            if self.on(Family::Merge) || self.on(Family::Dots) {
                next.insert(merge(&text));
            }
            if self.on(Family::Dots) {
                next.insert(remove_dots(&text, false));
                next.insert(remove_dots(&text, true));
                next.insert(replace(&text, b"%2e", b'.'));
            }
            if self.on(Family::Params) {
                next.insert(strip_params(&text));
            }
            if self.on(Family::Bslash) {
                next.insert(backslashes(&text));
            }
            if self.on(Family::Auth) {
                next.insert(drop_authority(&text));
                next.insert(drop_authority(&one_empty(&text)));
            }
            if self.on(Family::Frontc) {
                next.extend(drop_front(&text));
                next.extend(drop_script(&text));
            }
            if self.on(Family::Nextdata) {
                next.insert(drop_next_data(&text));
            }
            let mut add = |entry: (usize, Bytes)| {
                if seen.insert(entry.clone()) {
                    todo.push(entry);
                }
            };
            for text in next {
                add((decoded, text));
            }
            if decoded < self.decodes() {
                add((decoded + 1, decode(&text)));
            }
        }
        seen
    }

    /// Every reading that the families' rewrites reach in any order.
    pub(crate) fn may(&self, path: &[u8]) -> Set {
        let seen = self.may_forms(path);
        let mut out: Set = seen.iter().map(|(_, text)| first(text)).collect();
        if self.on(Family::Params) {
            also(&mut out, |segment| until(segment, |byte| byte == b';'));
        }
        if self.on(Family::Cut) {
            also(&mut out, without_invisible);
            also(&mut out, |segment| self.cut(segment));
        }
        out.retain(|segment| !segment.is_empty());
        out
    }

    pub(crate) fn cut(&self, segment: &[u8]) -> Bytes {
        until(segment, |byte| !self.slug.contains(&byte))
    }

    /// Whether the path has nothing in it that any rewrite could change, as section 4 words it, but for a
    /// `.php` that needs no slash behind it (`drop_script`).
    pub(crate) fn ordinary(&self, path: &[u8]) -> bool {
        let small =
            |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(byte);
        let segment = first(path);
        let text = String::from_utf8_lossy(path).to_ascii_lowercase();
        segment.iter().all(|byte| small(byte) && self.slug.contains(byte))
            && segment != b"_next"
            && !["//", "/.", "%", "\\", ";", "#", " "].iter().any(|odd| text.contains(odd))
            && path.iter().all(|&byte| (0x21..0x7f).contains(&byte))
            && !(self.on(Family::Frontc) && text.contains(".php"))
    }
}

/// The path is refused before anything is read from it.
pub(crate) fn unclean(path: &[u8]) -> bool {
    let hex = |at: usize| path.get(at).is_some_and(u8::is_ascii_hexdigit);
    (0..path.len()).any(|at| match path[at] {
        0..=0x20 | 0x7f | b'#' => true,
        b'%' if !hex(at + 1) || !hex(at + 2) => true,
        b'%' => {
            matches!(path[at + 1..at + 3].to_ascii_lowercase().as_slice(), b"00" | b"0a" | b"0d")
        }
        _ => false,
    })
}

fn also(set: &mut Set, rewrite: impl Fn(&[u8]) -> Bytes) {
    let more: Vec<_> = set.iter().map(|text| rewrite(text)).collect();
    set.extend(more);
}

fn also_all(set: &mut Set, rewrite: impl Fn(&[u8]) -> Vec<Bytes>) {
    let more: Vec<_> = set.iter().flat_map(|text| rewrite(text)).collect();
    set.extend(more);
}

/// Bytes up to the first that `stop` names.
fn until(text: &[u8], stop: impl Fn(u8) -> bool) -> Bytes {
    text.iter().copied().take_while(|&byte| !stop(byte)).collect()
}

pub(crate) fn segments(path: &[u8]) -> Vec<Bytes> {
    path.strip_prefix(b"/")
        .unwrap_or(path)
        .split(|&byte| byte == b'/')
        .map(<[u8]>::to_vec)
        .collect()
}

pub(crate) fn rooted(segments: &[Bytes]) -> Bytes {
    let mut out = vec![b'/'];
    out.extend(segments.join(&b'/'));
    out
}

pub(crate) fn first(path: &[u8]) -> Bytes {
    segments(path).remove(0)
}

pub(crate) fn decode(text: &[u8]) -> Bytes {
    let mut out = Bytes::new();
    let mut at = 0;
    while at < text.len() {
        let value = text.get(at + 1..at + 3).filter(|_| text[at] == b'%').and_then(|hex| {
            let hex = std::str::from_utf8(hex)
                .ok()
                .filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
            u8::from_str_radix(hex, 16).ok()
        });
        out.push(value.unwrap_or(text[at]));
        at += if value.is_some() { 3 } else { 1 };
    }
    out
}

/// `path.Clean` of a rooted path.
pub(crate) fn clean(path: &[u8]) -> Bytes {
    let mut out: Vec<Bytes> = Vec::new();
    for segment in segments(path) {
        match segment.as_slice() {
            b"" | b"." => {}
            b".." => drop(out.pop()),
            _ => out.push(segment),
        }
    }
    rooted(&out)
}

pub(crate) fn merge(path: &[u8]) -> Bytes {
    let mut out = Bytes::new();
    for &byte in path {
        if byte != b'/' || out.last() != Some(&b'/') {
            out.push(byte);
        }
    }
    out
}

/// RFC 3986 5.2.4, empty segments kept; with `encoded`, `%2e` counts as a dot.
pub(crate) fn remove_dots(path: &[u8], encoded: bool) -> Bytes {
    let mut out: Vec<Bytes> = Vec::new();
    let all = segments(path);
    for (index, segment) in all.iter().enumerate() {
        let last = index + 1 == all.len();
        let mut plain = String::from_utf8_lossy(segment).into_owned();
        if encoded {
            plain = plain.replace("%2e", ".").replace("%2E", ".");
        }
        match plain.as_str() {
            "." => {}
            ".." => drop(out.pop()),
            _ => {
                out.push(segment.clone());
                continue;
            }
        }
        if last {
            out.push(Bytes::new());
        }
    }
    rooted(&out)
}

fn strip_params(path: &[u8]) -> Bytes {
    rooted(
        &segments(path)
            .iter()
            .map(|segment| until(segment, |byte| byte == b';'))
            .collect::<Vec<_>>(),
    )
}

fn backslashes(path: &[u8]) -> Bytes {
    let slashed: Bytes = path.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect();
    replace(&slashed, b"%5c", b'/')
}

fn replace(path: &[u8], escape: &[u8; 3], with: u8) -> Bytes {
    let mut out = Bytes::new();
    let mut at = 0;
    while at < path.len() {
        let hit = path[at..].len() >= 3 && path[at..at + 3].eq_ignore_ascii_case(escape);
        out.push(if hit { with } else { path[at] });
        at += if hit { 3 } else { 1 };
    }
    out
}

fn drop_authority(path: &[u8]) -> Bytes {
    match path.strip_prefix(b"//") {
        Some(rest) => {
            let rest: Bytes = rest.iter().copied().skip_while(|&byte| byte != b'/').collect();
            if rest.is_empty() { b"/".to_vec() } else { rest }
        }
        None => path.to_vec(),
    }
}

/// `//x` with an `x` in it.
fn drop_named_authority(path: &[u8]) -> Bytes {
    if path.starts_with(b"///") { path.to_vec() } else { drop_authority(path) }
}

fn drop_front(path: &[u8]) -> Vec<Bytes> {
    let mut out = Vec::new();
    let all = segments(path);
    if all[0].to_ascii_lowercase().ends_with(b".php") {
        out.push(rooted(&all[1..]));
    }
    if let Some(at) = path.to_ascii_lowercase().windows(5).position(|window| window == b".php/") {
        out.push(path[at + 4..].to_vec());
    }
    out
}

/// Wider than the table's `.php/`: measured servers run `/index.phpx` as `index.php` with the path info `x`.
fn drop_script(path: &[u8]) -> Option<Bytes> {
    let at = path.to_ascii_lowercase().windows(4).position(|window| window == b".php")?;
    let rest = &path[at + 4..];
    Some(if rest.starts_with(b"/") { rest.to_vec() } else { [b"/", rest].concat() })
}

/// `///x` as `//x`: more than two slashes lead an authority too.
fn one_empty(path: &[u8]) -> Bytes {
    let slashes = path.iter().take_while(|&&byte| byte == b'/').count();
    path[slashes.saturating_sub(2)..].to_vec()
}

fn drop_next_data(path: &[u8]) -> Bytes {
    let all = segments(path);
    match all.as_slice() {
        [next, data, _build, rest @ ..]
            if next == b"_next" && data == b"data" && !rest.is_empty() =>
        {
            rooted(rest)
        }
        _ => path.to_vec(),
    }
}

fn without_invisible(segment: &[u8]) -> Bytes {
    segment.iter().copied().filter(|byte| (0x21..0x7f).contains(byte)).collect()
}
