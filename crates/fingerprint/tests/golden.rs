//! F2: what the encoding and the digests of this version are.
//!
//! The encodings are written by hand from the grammar; the digests hold for them. None of this may change
//! without a new [`VERSION`](fingerpost_fingerprint::VERSION).

use fingerpost_fingerprint::{Digests, Encoder, Key, RowDigest, Section, VERSION};

struct Golden {
    section: Section,
    host: &'static str,
    fields: fn(&mut Encoder),
    encoding: &'static [u8],
    row: &'static str,
    /// Of all rows up to this one.
    fingerprint: &'static str,
}

const GOLDEN: &[Golden] = &[
    Golden {
        section: Section::Routes,
        host: "",
        fields: |_| {},
        encoding: b"\x03\x01\x05\x00",
        row: "528efb27ab91c8ff3f91394f05e609c90660003d93c62dad3eadb72b42ea5cb3",
        fingerprint: "a9d14d6a3d3ac7ad84a4fc9857316ab59f0e0d013fdbce25db84d8d1fb427895",
    },
    Golden {
        section: Section::RoutePaths,
        host: "tickets.example",
        fields: |row| {
            row.text("paulca").text("next.tickets.example").absent().flag(false).flag(true);
        },
        encoding:
            b"\x03\x06\x05\x0ftickets.example\x05\x06paulca\x05\x14next.tickets.example\x00\x01\x02",
        row: "a4d548de5d4dff6e752460be587c596654d43a24bd59fd5fd19f428e823a03bf",
        fingerprint: "5c450b3bdbfdfdf5b0e0b1995f926ed59a7622cf934df7e17f18a2f43fa20d5d",
    },
    Golden {
        section: Section::Sites,
        host: "*.pages.example",
        fields: |row| {
            row.number(0).number(127).number(128).number(u64::MAX);
        },
        encoding: b"\x03\x07\x05\x0f*.pages.example\
            \x03\x00\x03\x7f\x03\x80\x01\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        row: "7c4e4ddfdc70584d5f594e04651c01153dc1b690fd127bc9502b1b5ede0b44ed",
        fingerprint: "3e995b15f63f27818ae928f8c7c4568b4a58e70a5fd61a48df0654c118e3331a",
    },
    Golden {
        section: Section::FleetBoxes,
        host: "go",
        fields: |row| {
            row.list(2).text("a").bytes(b"\x00\xff").list(0);
        },
        encoding: b"\x03\x03\x05\x02go\x06\x02\x05\x01a\x04\x02\x00\xff\x06\x00",
        row: "5d01bf88335aa6decc0a43a5326ef7c894731868b38ee2fcda88bd4b5796f7c4",
        fingerprint: "abe2a3c0d1e5389f417905384255ffa8e1163939c2d6b62f5b2a08e841a9ff82",
    },
];

#[test]
fn f2_golden_vectors() {
    assert_eq!(VERSION, "fingerpost-fingerprint v1");
    let key = Key::new(std::array::from_fn(|at| u8::try_from(at).unwrap()));
    let mut digests = Digests::new(key.clone());
    assert_eq!(
        digests.fingerprint().to_string(),
        "da8d8cc92901d7bc68b21a4281772d28bed3e95d07d426fac6006555f94efbc4"
    );
    for golden in GOLDEN {
        let mut row = Encoder::row(golden.section, golden.host);
        (golden.fields)(&mut row);
        assert_eq!(row.as_bytes(), golden.encoding, "{}", golden.host);
        let digest = RowDigest::of(&key, &row);
        assert_eq!(format!("{digest:?}"), format!("RowDigest({})", golden.row), "{}", golden.host);
        digests.add(golden.section, golden.host, digest);
        assert_eq!(digests.fingerprint().to_string(), golden.fingerprint, "{}", golden.host);
    }
}

/// The same digests, put together from BLAKE3 as the crate's documentation says.
#[test]
fn f2_digests_are_as_documented() {
    let secret: [u8; 32] = std::array::from_fn(|at| u8::try_from(at).unwrap());
    let derive = |what: &str| blake3::derive_key(&format!("{VERSION} {what}"), &secret);
    let golden = &GOLDEN[1];
    let row = *blake3::keyed_hash(&derive("row"), golden.encoding).as_bytes();

    let mut leaf = b"\x03\x06\x05\x0ftickets.example\x03\x01\x04\x20".to_vec();
    leaf.extend(row);
    let leaf = *blake3::keyed_hash(&derive("host"), &leaf).as_bytes();
    let mut whole = b"\x03\x01\x04\x20".to_vec();
    whole.extend(leaf);
    let whole = blake3::keyed_hash(&derive("whole"), &whole);

    let key = Key::new(secret);
    let mut encoder = Encoder::row(golden.section, golden.host);
    (golden.fields)(&mut encoder);
    let digest = RowDigest::of(&key, &encoder);
    assert_eq!(digest.as_bytes(), &row);
    let mut digests = Digests::new(key);
    digests.add(golden.section, golden.host, digest);
    assert_eq!(digests.fingerprint().to_string(), whole.to_string());
}
