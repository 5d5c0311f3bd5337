//! Paths that are likely to be read in more than one way.

#![allow(dead_code, reason = "shared: no test uses all of it")]

use proptest::prelude::*;

/// A path that failures print as text.
#[derive(Clone)]
pub(crate) struct Path(pub(crate) Vec<u8>);

impl std::fmt::Debug for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

impl std::ops::Deref for Path {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// What paths are strung together from; each token as often as it should come.
const TOKENS: &[(u32, &[u8])] = &[
    (16, b"/"),
    (12, b"/paulca"),
    (5, b"/bob"),
    (4, b"/.."),
    (2, b"/."),
    (6, b"paulca"),
    (3, b"bob"),
    (2, b"PAULCA"),
    (2, b"Paulca"),
    (1, b"paulcarson"),
    (2, b"x"),
    (2, b"."),
    (2, b".."),
    (2, b"%2e"),
    (1, b"%2E."),
    (2, b"%2f"),
    (2, b"%5c"),
    (2, b"\\"),
    (2, b";"),
    (1, b"..;"),
    (1, b";v=1"),
    (2, b"%70aulca"),
    (1, b"%2570aulca"),
    (1, b"%25252f"),
    (1, b"%252f"),
    (1, b"%3b"),
    (2, b".json"),
    (2, b".php"),
    (1, b"/index.php"),
    (2, b"/_next/data/b1"),
    (1, b"_next"),
    (1, b"%20"),
    (1, b"%c3%a9"),
    (1, b"\xc3\xa9"),
    (1, b"~"),
    (1, b"&q="),
    (1, b"%3fq="),
];

/// Tokens that make a path refused.
const UNCLEAN: &[(u32, &[u8])] = &[
    (1, b"#"),
    (1, b" "),
    (1, b"%"),
    (1, b"%zz"),
    (1, b"%00"),
    (1, b"%0a"),
    (1, b"\t"),
    (1, b"\x7f"),
];

fn tokens(table: &'static [(u32, &'static [u8])]) -> impl Strategy<Value = &'static [u8]> {
    let weighted: Vec<&'static [u8]> = table
        .iter()
        .flat_map(|&(weight, token)| std::iter::repeat_n(token, weight as usize))
        .collect();
    prop::sample::select(weighted)
}

/// Paths of up to `length` tokens, a few of them refused.
pub(crate) fn odd(length: usize) -> impl Strategy<Value = Path> {
    let clean = prop::collection::vec(tokens(TOKENS), 1..=length);
    let unclean = prop::option::weighted(0.03, (tokens(UNCLEAN), any::<prop::sample::Index>()));
    (clean, unclean).prop_map(|(mut path, unclean)| {
        if let Some((token, at)) = unclean {
            path.insert(at.index(path.len() + 1), token);
        }
        let path = path.concat();
        Path(if path.starts_with(b"/") { path } else { [b"/", path.as_slice()].concat() })
    })
}

/// Paths that look as links of an application do.
pub(crate) fn usual() -> impl Strategy<Value = Path> {
    const WORDS: &[&str] = &[
        "paulca",
        "bob",
        "paulcarson",
        "a_b",
        "x-1",
        "events",
        "a.css",
        "Big",
        "john.doe",
        "",
        "_next",
        "v1.php",
        "a+b",
    ];
    prop::collection::vec(prop::sample::select(WORDS), 1..5)
        .prop_map(|words| Path(format!("/{}", words.join("/")).into_bytes()))
}

/// Wrappers around names that only begin or end like `paulca`.
pub(crate) fn near(length: usize) -> impl Strategy<Value = Path> {
    const NAMES: &[&[u8]] = &[
        b"paulcarson",
        b"Paulcarson",
        b"paulca-2",
        b"paulca_",
        b"paulca1",
        b"xpaulca",
        b"-paulca",
        b"pauLcarson",
        b"%70aulcarson",
        b"paulc",
        b"aulca",
        b"p%61ulcarson",
    ];
    const BETWEEN: &[&[u8]] = &[
        b"/",
        b"/",
        b"/",
        b"//",
        b"/..",
        b"/../",
        b"/./",
        b"%2f",
        b"%2e%2e/",
        b";",
        b"/..;/",
        b"\\",
        b"%5c",
        b".json",
        b"index.php/",
        b"/x.php",
        b"/_next/data/b/",
        b"%20",
        b"%c3%a9",
        b"%252f",
        b"%3b",
        b"~",
        b"%2500",
    ];
    let part = || (prop::sample::select(BETWEEN), prop::sample::select(NAMES));
    prop::collection::vec(part(), 1..length).prop_map(|parts| {
        let text = parts
            .into_iter()
            .flat_map(|(between, name)| [between, name])
            .collect::<Vec<_>>()
            .concat();
        Path(if text.starts_with(b"/") { text } else { [b"/", text.as_slice()].concat() })
    })
}

/// Both kinds.
pub(crate) fn any_path(length: usize) -> impl Strategy<Value = Path> {
    prop_oneof![6 => odd(length), 1 => usual()]
}
