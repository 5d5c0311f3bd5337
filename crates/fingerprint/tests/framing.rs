//! Fields and their framing.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failing test may panic")]

use fingerpost_fingerprint::{Encoder, Section};
use proptest::prelude::*;

#[derive(Clone, Debug, PartialEq)]
enum Field {
    Absent,
    Flag(bool),
    Number(u64),
    Bytes(Vec<u8>),
    Text(String),
    List(Vec<Self>),
}

fn write(encoder: &mut Encoder, field: &Field) {
    match field {
        Field::Absent => encoder.absent(),
        Field::Flag(value) => encoder.flag(*value),
        Field::Number(value) => encoder.number(*value),
        Field::Bytes(value) => encoder.bytes(value),
        Field::Text(value) => encoder.text(value),
        Field::List(elements) => {
            encoder.list(elements.len());
            for element in elements {
                write(encoder, element);
            }
            encoder
        }
    };
}

fn encode(fields: &[Field]) -> Vec<u8> {
    let mut encoder = Encoder::new();
    for field in fields {
        write(&mut encoder, field);
    }
    encoder.into_bytes()
}

/// Reads the grammar of `Encoder`'s documentation; knows nothing of the encoder.
fn decode(mut bytes: &[u8]) -> Vec<Field> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        fields.push(decode_one(&mut bytes));
    }
    fields
}

fn decode_one(bytes: &mut &[u8]) -> Field {
    let tag = bytes[0];
    *bytes = &bytes[1..];
    match tag {
        0 => Field::Absent,
        1 => Field::Flag(false),
        2 => Field::Flag(true),
        3 => Field::Number(varint(bytes)),
        4 => Field::Bytes(framed(bytes)),
        5 => Field::Text(String::from_utf8(framed(bytes)).unwrap()),
        6 => Field::List((0..varint(bytes)).map(|_| decode_one(bytes)).collect()),
        tag => panic!("no such tag: {tag}"),
    }
}

fn framed(bytes: &mut &[u8]) -> Vec<u8> {
    let len = usize::try_from(varint(bytes)).unwrap();
    let (value, rest) = bytes.split_at(len);
    *bytes = rest;
    value.to_vec()
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            assert!(byte != 0 || shift == 7, "not the shortest form");
            return value;
        }
    }
}

/// Few values and much repetition, so that sequences that only differ in their framing are frequent; with
/// the bytes that an encoder without lengths would separate by, and those that are tags here.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ab\u{0}-\u{6}\u{1d}\u{1e},|]{0,4}",
        1 => ".{0,3}",
        1 => (120_usize..140).prop_map(|len| "a".repeat(len)),
    ]
}

fn field() -> impl Strategy<Value = Field> {
    let leaf = prop_oneof![
        Just(Field::Absent),
        any::<bool>().prop_map(Field::Flag),
        prop_oneof![0..300_u64, any::<u64>()].prop_map(Field::Number),
        text().prop_map(|text| Field::Bytes(text.into_bytes())),
        text().prop_map(Field::Text),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| prop::collection::vec(inner, 0..3).prop_map(Field::List))
}

/// The same text, cut into fields in two ways.
fn cuts() -> impl Strategy<Value = (Vec<Field>, Vec<Field>)> {
    let at = || prop::collection::vec(0..12_usize, 0..4);
    ("[ab\u{0}-\u{6}]{0,12}", at(), at())
        .prop_map(|(text, one, other)| (cut(&text, one), cut(&text, other)))
}

fn cut(text: &str, mut at: Vec<usize>) -> Vec<Field> {
    at.push(text.len());
    at.sort_unstable();
    let mut from = 0;
    at.into_iter()
        .map(|at| {
            let at = at.min(text.len());
            let piece = text[from..at].to_owned();
            from = at;
            Field::Text(piece)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200_000) })]

    /// What can be read back can't have come from anything else.
    #[test]
    fn f1_framing_is_injective(fields in prop::collection::vec(field(), 0..6)) {
        prop_assert_eq!(decode(&encode(&fields)), fields);
    }

    #[test]
    fn f1_cuts_of_one_text_differ((one, other) in cuts()) {
        prop_assert_eq!(one == other, encode(&one) == encode(&other));
    }

    /// Neither is a beginning of the other: what follows can't make up for a difference.
    #[test]
    fn f1_no_encoding_begins_another(one in field(), other in field()) {
        let (a, b) = (encode(std::slice::from_ref(&one)), encode(std::slice::from_ref(&other)));
        prop_assert_eq!(one == other, a.starts_with(&b) || b.starts_with(&a));
    }
}

/// Each pair is what somebody would have to mix up for two rows to look alike.
#[test]
fn pairs_that_a_weaker_framing_mixes_up() {
    let text = |text: &str| Field::Text(text.to_owned());
    let bytes = |bytes: &[u8]| Field::Bytes(bytes.to_vec());
    let list = |elements: &[Field]| Field::List(elements.to_vec());
    let number = Field::Number;
    let pairs = [
        ("cut", vec![text("ab"), text("c")], vec![text("a"), text("bc")]),
        ("one or two", vec![text("a"), text("b")], vec![text("ab")]),
        ("a separator within", vec![text("a\u{1e}b")], vec![text("a"), text("b")]),
        ("NUL at the end", vec![text("a\0")], vec![text("a")]),
        ("order", vec![text("a"), text("b")], vec![text("b"), text("a")]),
        ("absent or empty", vec![Field::Absent], vec![text("")]),
        ("absent or not there", vec![Field::Absent], vec![]),
        ("which one is absent", vec![Field::Absent, text("a")], vec![text("a"), Field::Absent]),
        ("false or absent", vec![Field::Flag(false)], vec![Field::Absent]),
        ("true or 1", vec![Field::Flag(true)], vec![number(1)]),
        ("text or bytes", vec![text("a")], vec![bytes(b"a")]),
        ("text or number", vec![text("7")], vec![number(7)]),
        ("absent or its word", vec![Field::Absent], vec![text("null")]),
        ("an encoding within", vec![text("a\u{5}\u{1}b")], vec![text("a"), text("b")]),
        ("list or elements", vec![list(&[text("a")])], vec![text("a")]),
        ("element within or after", vec![list(&[text("a"), text("b")])], {
            vec![list(&[text("a")]), text("b")]
        }),
        ("empty list or absent", vec![list(&[])], vec![Field::Absent]),
        ("two lists", vec![list(&[text("a")]), list(&[])], vec![list(&[]), list(&[text("a")])]),
        ("1 byte of length or 2", vec![number(127)], vec![number(128)]),
        ("shifted by 7", vec![number(1)], vec![number(128)]),
        ("the greatest", vec![number(u64::MAX)], vec![number(u64::MAX >> 1)]),
    ];
    for (what, one, other) in pairs {
        assert_ne!(encode(&one), encode(&other), "{what}");
        assert_eq!(decode(&encode(&one)), one, "{what}");
        assert_eq!(decode(&encode(&other)), other, "{what}");
    }
}

#[test]
fn rows_begin_with_section_and_host() {
    let mut reused = Encoder::new();
    reused.text("left over");
    for section in Section::ALL {
        let mut row = Encoder::row(section, "a.example");
        row.text("x");
        reused.start_row(section, "a.example").text("x");
        assert_eq!(row, reused, "{section:?}");
        let want = vec![
            Field::Number(section.marker()),
            Field::Text("a.example".to_owned()),
            Field::Text("x".to_owned()),
        ];
        assert_eq!(decode(row.as_bytes()), want, "{section:?}");
    }
}
