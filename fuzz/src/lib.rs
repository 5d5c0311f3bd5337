//! Oracles shared by the fuzz targets: the models of the property tests, so that there is one of each.

/// What a request must be for a model of it: bytes that a fuzzer picks from instead of finding them.
pub fn words(picks: &[u8], table: &[&[u8]]) -> Vec<u8> {
    picks.iter().flat_map(|&pick| table[usize::from(pick) % table.len()].iter().copied()).collect()
}

/// Pieces of paths that are read in more than one way.
pub const PATH: &[&[u8]] = &[
    b"/",
    b"/paulca",
    b"paulca",
    b"/bob",
    b"/..",
    b"/.",
    b".",
    b"//",
    b"%2e",
    b"%2f",
    b"%5c",
    b"\\",
    b";",
    b"..;",
    b"PAULCA",
    b"%70",
    b"%25",
    b"%2570",
    b".json",
    b".php",
    b"/index.php",
    b"/_next/data/b",
    b"%20",
    b"%c3%a9",
    b"\xc3\xa9",
    b"/admin",
    b"/Admin",
    b"/a",
    b"/x.json",
    b"a",
    b"~",
    b"#",
    b"%zz",
    b"/health",
];
