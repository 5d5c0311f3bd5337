//! Digests against a model that keeps all rows.

use std::collections::BTreeMap;

use fingerpost_fingerprint::{Digests, Encoder, Key, RowDigest, Section, SectionHostDigest};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A row: its section, its host, its fields.
type Row = (Section, &'static str, Vec<&'static str>);
/// How often each row is there.
type Model = BTreeMap<Row, u64>;

fn key() -> Key {
    Key::new([7; 32])
}

fn digest(key: &Key, (section, host, fields): &Row) -> RowDigest {
    let mut row = Encoder::row(*section, host);
    for field in fields {
        row.text(field);
    }
    RowDigest::of(key, &row)
}

fn add(digests: &mut Digests, row: &Row) {
    let digest = digest(digests.key(), row);
    digests.add(row.0, row.1, digest);
}

fn remove(digests: &mut Digests, row: &Row) {
    let digest = digest(digests.key(), row);
    digests.remove(row.0, row.1, digest);
}

fn from_scratch(model: &Model) -> Digests {
    let mut digests = Digests::new(key());
    for (row, &times) in model {
        for _ in 0..times {
            add(&mut digests, row);
        }
    }
    digests
}

fn model_of(rows: &[Row]) -> Model {
    let mut model = Model::new();
    for row in rows {
        *model.entry(row.clone()).or_default() += 1;
    }
    model
}

/// Few of everything, so that rows meet.
fn row() -> impl Strategy<Value = Row> {
    let section = select(&[Section::Routes, Section::RoutePaths, Section::Sites][..]);
    let host = select(&["", "a.example", "b.example"][..]);
    let field = select(&["", "a", "b", "ab"][..]);
    (section, host, prop::collection::vec(field, 0..4))
}

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec(row(), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100_000) })]

    #[test]
    fn f3_row_order_does_not_matter(rows in rows(8).prop_shuffle(), seed in any::<[u8; 8]>()) {
        let mut shuffled = rows.clone();
        for (at, swap) in seed.iter().enumerate() {
            if !rows.is_empty() {
                shuffled.swap(at % rows.len(), usize::from(*swap) % rows.len());
            }
        }
        let (mut one, mut other) = (Digests::new(key()), Digests::new(key()));
        rows.iter().for_each(|row| add(&mut one, row));
        shuffled.iter().for_each(|row| add(&mut other, row));
        prop_assert_eq!(one.fingerprint(), other.fingerprint());
        prop_assert_eq!(one.changed_hosts(&other), []);
    }

    #[test]
    fn f3_field_order_matters(row in row(), a in any::<Index>(), b in any::<Index>()) {
        let mut swapped = row.clone();
        if !row.2.is_empty() {
            swapped.2.swap(a.index(row.2.len()), b.index(row.2.len()));
        }
        prop_assert_eq!(row == swapped, digest(&key(), &row) == digest(&key(), &swapped));
    }

    /// Adding, removing (of what is there) and summing first, in any order.
    #[test]
    fn f4_incremental_equals_from_scratch(
        steps in prop::collection::vec((0..3_u8, row(), any::<Index>()), 0..12),
    ) {
        let (mut digests, mut model) = (Digests::new(key()), Model::new());
        for (step, row, which) in steps {
            if step == 0 && !model.is_empty() {
                let row = model.keys().nth(which.index(model.len())).unwrap().clone();
                remove(&mut digests, &row);
                let times = model.get_mut(&row).unwrap();
                *times -= 1;
                model.retain(|_, times| *times > 0);
            } else if step == 1 {
                // Taken out before it is put in, with another that stays.
                let mut changes = SectionHostDigest::EMPTY;
                changes.remove(digest(digests.key(), &row));
                changes.add(digest(digests.key(), &row));
                changes.add(digest(digests.key(), &row));
                digests.merge(row.0, row.1, changes);
                *model.entry(row).or_default() += 1;
            } else {
                add(&mut digests, &row);
                *model.entry(row).or_default() += 1;
            }
        }
        let want = from_scratch(&model);
        prop_assert_eq!(digests.fingerprint(), want.fingerprint());
        prop_assert_eq!(digests.iter().collect::<Vec<_>>(), want.iter().collect::<Vec<_>>());
        for section in Section::ALL {
            let rows = model.iter().filter(|(row, _)| row.0 == section).map(|(_, times)| times);
            prop_assert_eq!(digests.rows(section), rows.sum::<u64>());
        }
    }

    /// Whatever differs, the fingerprint does; and the hosts named are those where it differs.
    #[test]
    fn f5_any_change_moves_the_fingerprint(one in rows(5), other in rows(5)) {
        check_f5(&model_of(&one), &model_of(&other))?;
    }

    /// As above for sets of rows that have all but one row in common.
    #[test]
    fn f5_one_row_moves_the_fingerprint(rows in rows(5), from in row(), to in row()) {
        let with = |extra: Option<&Row>| model_of(&rows.iter().chain(extra).cloned().collect::<Vec<_>>());
        check_f5(&with(Some(&from)), &with(Some(&to)))?;
        check_f5(&with(Some(&from)), &with(None))?;
    }

    #[test]
    fn parts_restore_a_digest(rows in rows(5)) {
        for (_, _, digest) in from_scratch(&model_of(&rows)).iter() {
            prop_assert_eq!(SectionHostDigest::from_parts(digest.count(), digest.sum()), digest);
        }
    }
}

fn check_f5(one: &Model, other: &Model) -> Result<(), TestCaseError> {
    let (digests, others) = (from_scratch(one), from_scratch(other));
    prop_assert_eq!(one == other, digests.fingerprint() == others.fingerprint());
    let of = |model: &Model, at: (Section, &str)| -> Model {
        let rows = model.iter().filter(|(row, _)| (row.0, row.1) == at);
        rows.map(|(row, times)| (row.clone(), *times)).collect()
    };
    let mut hosts: Vec<_> = one.keys().chain(other.keys()).map(|row| (row.0, row.1)).collect();
    hosts.sort_unstable();
    hosts.dedup();
    hosts.retain(|&at| of(one, at) != of(other, at));
    prop_assert_eq!(digests.changed_hosts(&others), hosts.clone());
    prop_assert_eq!(others.changed_hosts(&digests), hosts);
    Ok(())
}

#[test]
fn sums_carry_and_wrap() {
    let digest = |byte: u8| SectionHostDigest::from_parts(0, [byte; 32]);
    let mut one = [0; 32];
    one[0] = 1;
    let one = SectionHostDigest::from_parts(0, one);
    let low = |bytes: std::ops::Range<usize>| {
        let mut sum = [0; 32];
        sum[bytes].fill(0xff);
        SectionHostDigest::from_parts(0, sum)
    };
    let bit = |byte: usize| {
        let mut sum = [0; 32];
        sum[byte] = 1;
        sum
    };
    // The lowest byte is first, a carry goes on past 128 bits and is dropped after 256.
    let rows = [
        ("no carry", digest(1), digest(2), [3; 32]),
        ("within the low half", low(0..8), one, bit(8)),
        ("into the high half", low(0..16), one, bit(16)),
        ("within the high half", low(0..31), one, bit(31)),
        ("dropped", low(0..32), one, [0; 32]),
    ];
    for (what, mut sum, add, want) in rows {
        sum.merge(add);
        assert_eq!(sum.sum(), want, "{what}");
    }
}

/// Removing the only row leaves nothing behind; removing a row that was never there does not pass unseen.
#[test]
fn counts_show_what_sums_hide() {
    let row: Row = (Section::RoutePaths, "a.example", vec!["x", "y"]);
    let empty = Digests::new(key());
    let mut digests = empty.clone();
    add(&mut digests, &row);
    assert_eq!(digests.get(row.0, row.1).count(), 1);
    remove(&mut digests, &row);
    assert_eq!(digests.get(row.0, row.1), SectionHostDigest::EMPTY);
    assert_eq!((digests.iter().count(), digests.fingerprint()), (0, empty.fingerprint()));

    remove(&mut digests, &row);
    assert_ne!(digests.fingerprint(), empty.fingerprint());
    add(&mut digests, &row);
    assert_eq!(digests.fingerprint(), empty.fingerprint());
}

/// Under other keys nothing is alike, and a key is not shown.
#[test]
fn keys_separate_registries() {
    let row: Row = (Section::Sites, "a.example", vec!["x"]);
    let (one, other) = (key(), Key::new([8; 32]));
    assert_ne!(digest(&one, &row), digest(&other, &row));
    assert_ne!(Digests::new(one.clone()).fingerprint(), Digests::new(other).fingerprint());
    assert_eq!(one.secret(), &[7; 32]);
    assert_eq!(format!("{one:?}"), "Key { .. }");
}

/// A row of one section or host never digests like one of another, whatever its fields.
#[test]
fn sections_and_hosts_separate_rows() {
    let mut seen = BTreeMap::new();
    for section in Section::ALL {
        for host in ["", "a", "a.example"] {
            for fields in [vec![], vec![""], vec!["a"], vec!["a", ""], vec!["", "a"]] {
                let row = (section, host, fields);
                let before = seen.insert(*digest(&key(), &row).as_bytes(), row.clone());
                assert_eq!(before, None, "{row:?}");
            }
        }
        assert_eq!(Section::from_name(section.name()), Some(section));
    }
}
