//! P3 and P6 against what 137 real backend set-ups served for odd paths.
//!
//! Each row of `data/backends_*.tsv` is a request-target, the account that a backend served for it, and the
//! preset of that backend. The rows were measured over raw sockets.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a row that cannot be read fails the test"
)]

use std::collections::BTreeSet;

use fingerpost_path::{Preset, Rules, check_path};

const EXPLICIT: &str = include_str!("data/backends_explicit.tsv");
const RANDOM: &str = include_str!("data/backends_random.tsv");

struct Row {
    preset: Preset,
    target: Vec<u8>,
    account: &'static str,
    line: &'static str,
}

fn rows(text: &'static str) -> impl Iterator<Item = Row> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut columns = line.split('\t');
        let preset = columns.next().unwrap().parse().expect(line);
        let target = unescape(columns.next().unwrap());
        Row { preset, target, account: columns.next().unwrap(), line }
    })
}

/// `\xNN` stands for one byte.
fn unescape(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut out = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        out.push(u8::from_str_radix(&part[..2], 16).unwrap());
        out.extend_from_slice(&part.as_bytes()[2..]);
    }
    out
}

/// The path and query of an origin-form or `http(s)://` target; other forms are refused before paths
/// are read.
fn path_and_query(target: &[u8]) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let text = if target.starts_with(b"/") {
        target.to_vec()
    } else {
        let rest = ["http://", "https://"].iter().find_map(|scheme| {
            let (head, rest) = target.split_at_checked(scheme.len())?;
            head.eq_ignore_ascii_case(scheme.as_bytes()).then_some(rest)
        })?;
        let end = rest.iter().position(|b| b"/?#".contains(b)).unwrap_or(rest.len());
        let tail = &rest[end..];
        if tail.starts_with(b"/") { tail.to_vec() } else { [b"/", tail].concat() }
    };
    match text.iter().position(|&b| b == b'?') {
        Some(at) => Some((text[..at].to_vec(), Some(text[at + 1..].to_vec()))),
        None => Some((text, None)),
    }
}

/// The readings of a row, case folded too; `None` where the request is refused.
fn readings(rules: &Rules, target: &[u8]) -> Option<BTreeSet<Vec<u8>>> {
    let (path, query) = path_and_query(target)?;
    let spellings = rules.spellings(&path, query.as_deref()).ok()?;
    let mut out = BTreeSet::new();
    for reading in spellings.iter() {
        out.insert(reading.segment().to_vec());
        out.insert(reading.segment().to_ascii_lowercase());
    }
    Some(out)
}

fn rules_of(preset: Preset) -> Rules {
    let rules = Rules::new(preset.families());
    if preset == Preset::Php { rules.with_query(["q"]) } else { rules }
}

fn violations(rules_of: impl Fn(&Row) -> Option<Rules>) -> Vec<&'static str> {
    [EXPLICIT, RANDOM]
        .into_iter()
        .flat_map(rows)
        .filter(|row| {
            rules_of(row)
                .and_then(|rules| readings(&rules, &row.target))
                .is_some_and(|read| !read.contains(row.account.as_bytes()))
        })
        .map(|row| row.line)
        .collect()
}

#[test]
fn p3_what_a_backend_served_is_a_reading_under_its_own_preset() {
    assert_eq!(violations(|row| Some(rules_of(row.preset))), [""; 0]);
}

#[test]
fn p3_what_a_backend_served_is_a_reading_under_any() {
    let any = |row: &Row| (row.preset != Preset::Php).then(Rules::default);
    assert_eq!(violations(any), [""; 0]);
    let any_with_query = |_: &Row| Some(Rules::default().with_query(["q"]));
    assert_eq!(violations(any_with_query), [""; 0]);
}

#[test]
fn p6_an_ordinary_path_yields_what_the_backend_served() {
    let mut ordinary = 0;
    for row in [EXPLICIT, RANDOM].into_iter().flat_map(rows) {
        let Some((path, query)) = path_and_query(&row.target) else { continue };
        let rules = rules_of(row.preset);
        if rules.ordinary(&path, query.as_deref()).is_some() {
            ordinary += 1;
            let read = readings(&rules, &row.target).unwrap();
            assert_eq!(read, BTreeSet::from([row.account.as_bytes().to_vec()]), "{}", row.line);
        }
    }
    assert!(ordinary >= 20, "only {ordinary} ordinary rows");
}

/// The counts of the reference model, and what we may exceed them by: a tenth.
#[test]
fn p6_readings_are_no_net_cast_over_everything() {
    for (name, text, refused_bound, wrong_bound) in
        [("explicit", EXPLICIT, 183, 430), ("random", RANDOM, 148, 29)]
    {
        let (mut all, mut refused, mut wrong) = (0, 0, 0);
        for row in rows(text) {
            if let Some((path, _)) = path_and_query(&row.target)
                && path.contains(&b'#')
            {
                continue;
            }
            all += 1;
            match readings(&rules_of(row.preset), &row.target) {
                None => refused += 1,
                Some(read) => {
                    wrong += usize::from(row.account != "paulca" && read.contains(&b"paulca"[..]));
                }
            }
        }
        println!("{name}: {all} rows, {refused} refused, {wrong} mis-selected");
        assert!(refused * 10 <= refused_bound * 11, "{name}: {refused} refused");
        assert!(wrong * 10 <= wrong_bound * 11, "{name}: {wrong} mis-selected");
    }
}

/// Refusals come from hygiene alone: no measured row exceeds the work budget.
#[test]
fn no_measured_row_exceeds_the_budget() {
    for row in [EXPLICIT, RANDOM].into_iter().flat_map(rows) {
        let Some((path, _)) = path_and_query(&row.target) else { continue };
        if check_path(&path).is_ok() {
            for rules in [rules_of(row.preset), Rules::default().with_query(["q"])] {
                assert!(readings(&rules, &row.target).is_some(), "{}", row.line);
            }
        }
    }
}
