//! What publishers send, and what it does to a claim.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use fingerpost_authority::Host;
use fingerpost_claims::{
    AttachBody, Claim, ClaimSet, Limits, Name, PathMap, PathsChange, RawPaths, Reach, SetPathsError,
};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

fn host() -> Host {
    Host::parse("tickets.example").unwrap()
}

fn map(entries: &[(&str, &str)]) -> PathMap {
    let (map, refused) = PathMap::check(&host(), entries.iter().map(|(p, t)| (*p, Some(*t))));
    assert_eq!(refused, []);
    map
}

fn claim() -> Claim {
    let name = |text| Name::parse(text).unwrap();
    Claim::attach(host(), name("a"), name("web"), Reach::default())
}

const LIMITS: Limits = Limits { max_paths_per_claim: 3, max_wildcards: 1 };

#[rustfmt::skip]
static FORMS: &[(&str, &str, &str)] = &[
    // The body, the code, and the pointer; "" is a body of ours.
    (r#"{"paths":{}}"#, "", ""),
    (r#"{"paths":{"paulca":"next.example"}}"#, "", ""),
    (r#"{"sequence":7,"paths":{"paulca":"next.example"}}"#, "", ""),
    (r#"{"sequence":18446744073709551615,"paths":{}}"#, "", ""),
    (r#"{"paulca":"next.example"}"#, "bare_map", ""),
    (r#"{"a":"next.example","b":"next.example","c":"next.example","d":"next.example"}"#, "bare_map", ""),
    (r#"{}"#, "missing_member", "/paths"),
    (r#"{"sequence":7}"#, "missing_member", "/paths"),
    (r#"{"path":{"paulca":"next.example"}}"#, "unknown_member", "/path"),
    (r#"{"Paths":{}}"#, "unknown_member", "/Paths"),
    (r#"{"paths":{},"note":"x"}"#, "unknown_member", "/note"),
    (r#"{"paths":{},"a/b~c":1}"#, "unknown_member", "/a~1b~0c"),
    (r#"{"paths":{},"paths":{"paulca":"next.example"}}"#, "duplicate_key", "/paths"),
    (r#"{"paths":{},"p\u0061ths":{}}"#, "duplicate_key", "/paths"),
    (r#"{"paths":{},"sequence":1,"sequence":1}"#, "duplicate_key", "/sequence"),
    (r#"{"paths":{"a":"b.example","a":"b.example"}}"#, "duplicate_key", "/paths/a"),
    (r#"{"paths":{"a/b":"b.example","a\/b":"c.example"}}"#, "duplicate_key", "/paths/a~1b"),
    (r#"{"paths":null}"#, "wrong_type", "/paths"),
    (r#"{"paths":[]}"#, "wrong_type", "/paths"),
    (r#"{"paths":"{}"}"#, "wrong_type", "/paths"),
    (r#"{"paths":{},"sequence":null}"#, "wrong_type", "/sequence"),
    (r#"{"paths":{},"sequence":"7"}"#, "wrong_type", "/sequence"),
    (r#"{"paths":{},"sequence":-7}"#, "wrong_type", "/sequence"),
    (r#"{"paths":{},"sequence":7.5}"#, "wrong_type", "/sequence"),
    (r#"{"paths":{},"sequence":18446744073709551616}"#, "wrong_type", "/sequence"),
    ("[]", "not_an_object", ""),
    ("null", "not_an_object", ""),
    ("", "invalid_json", ""),
    (r#"{"paths":{}"#, "invalid_json", ""),
    (r#"{"paths":{},}"#, "invalid_json", ""),
    (r#"{"paths":{}}{}"#, "invalid_json", ""),
    ("\u{feff}{\"paths\":{}}", "invalid_json", ""),
    (r#"{"paths":{"a":"\q"}}"#, "invalid_json", ""),
];

#[test]
fn forms() {
    for (body, code, pointer) in FORMS {
        let (got, at) = match RawPaths::parse(body.as_bytes(), &LIMITS) {
            Ok(_) => ("", String::new()),
            Err(error) => (error.code(), error.pointer().to_owned()),
        };
        assert_eq!((got, &*at), (*code, *pointer), "{body}");
    }
    for broken in
        [&b"{\"paths\":{\"\xff\":\"a.example\"}}"[..], b"{\"paths\":{\"a\":\"\xc3\x28\"}}"]
    {
        assert_eq!(RawPaths::parse(broken, &LIMITS).unwrap_err().code(), "invalid_json");
    }
    let deep = format!(r#"{{"paths":{}"#, r#"{"a":"#.repeat(1_000_000));
    assert!(RawPaths::parse(deep.as_bytes(), &LIMITS).is_err());
}

#[rustfmt::skip]
static VALUES: &[(&str, &[(&str, &str)])] = &[
    // The map, and the pointers and codes of what is wrong.
    (r#"{"a":"next.example","b":"next.example","c":"next.example"}"#, &[]),
    (r#"{"a":"next.example","b":"next.example","c":"next.example","d":"next.example"}"#, &[("/paths", "over_limit")]),
    (r#"{"a":"next.example","b":"next.example","c":"next.example","d":"next.example","d":"x"}"#, &[("/paths", "over_limit")]),
    (r#"{"a/b":"next.example","x":"no host","~":"next.example"}"#, &[("/paths/a~1b", "prefix_invalid"), ("/paths/x", "target_invalid")]),
    (r#"{"x":["next.example"]}"#, &[("/paths/x", "target_invalid")]),
    (r#"{"x":"tickets.example"}"#, &[("/paths/x", "target_is_host")]),
    (r#"{"x":"next.example:443"}"#, &[("/paths/x", "target_invalid")]),
    (r#"{"":"next.example"}"#, &[("/paths/", "prefix_invalid")]),
];

#[test]
fn values() {
    for (paths, want) in VALUES {
        let body = format!(r#"{{"paths":{paths}}}"#);
        let raw = RawPaths::parse(body.as_bytes(), &LIMITS).unwrap();
        let got: Vec<_> = match raw.check(&host(), &LIMITS) {
            Ok(_) => Vec::new(),
            Err(problems) => problems
                .iter()
                .map(|problem| (problem.pointer().to_owned(), problem.code()))
                .collect(),
        };
        let got: Vec<_> = got.iter().map(|(pointer, code)| (pointer.as_str(), *code)).collect();
        assert_eq!(got, *want, "{paths}");
    }
}

#[test]
fn a_map_within_the_limit_fits_the_largest_body() {
    let limits = Limits { max_paths_per_claim: 50, max_wildcards: 0 };
    let label = |n: usize| "a".repeat(n);
    let target = [label(63), label(63), label(63), label(61)].join(".");
    let lines: Vec<_> = (0..50)
        .map(|n| format!("        \"{}{n:03}\": \"{target}\"", "\\u00e9".repeat(126)))
        .collect();
    let body = format!("{{\r\n    \"paths\": {{\r\n{}\r\n    }}\r\n}}", lines.join(",\r\n"));
    assert!(body.len() <= limits.max_body(), "{} over {}", body.len(), limits.max_body());
    let raw = RawPaths::parse(body.as_bytes(), &limits).unwrap();
    assert_eq!(raw.check(&host(), &limits).unwrap().len(), 50);
}

#[rustfmt::skip]
static ATTACH: &[(&str, &str, &str)] = &[
    (r#"{"host":"a.example"}"#, "", ""),
    (r#"{"host":"a.example","wildcard":true,"catchall":false}"#, "", ""),
    (r#"{"wildcard":true}"#, "missing_member", "/host"),
    (r#"{"host":7}"#, "wrong_type", "/host"),
    (r#"{"host":"a.example","wildcard":"true"}"#, "wrong_type", "/wildcard"),
    (r#"{"host":"a.example","catchall":null}"#, "wrong_type", "/catchall"),
    (r#"{"host":"a.example","paths":{}}"#, "unknown_member", "/paths"),
    (r#"{"host":"a.example","account":"b"}"#, "unknown_member", "/account"),
    (r#"{"host":"a.example","host":"b.example"}"#, "duplicate_key", "/host"),
    (r#""a.example""#, "not_an_object", ""),
];

#[test]
fn attaching() {
    for (body, code, pointer) in ATTACH {
        let (got, at) = match AttachBody::parse(body.as_bytes()) {
            Ok(_) => ("", String::new()),
            Err(error) => (error.code(), error.pointer().to_owned()),
        };
        assert_eq!((got, &*at), (*code, *pointer), "{body}");
    }
    let body = AttachBody::parse(br#"{"host":"a.example","catchall":true}"#).unwrap();
    assert_eq!(body.host(), Ok(Host::parse("a.example").unwrap()));
    assert_eq!(body.reach(), Reach { wildcard: false, catchall: true });
    let body = AttachBody::parse(br#"{"host":"*.a.example"}"#).unwrap();
    assert!(body.host().is_err(), "a bare exact host only");
}

#[test]
fn sequences() {
    let (old, new) = (map(&[("a", "x.example")]), map(&[("b", "x.example")]));
    // What is stored, what is given, whether the map is the same, and the code; "" is an advance or none.
    #[rustfmt::skip]
    let cases = [
        (None, None, true, "noop"), (None, None, false, "changed"),
        (None, Some(0), true, "advanced"), (None, Some(7), false, "advanced"),
        (Some(7), None, true, "sequence_required"), (Some(7), None, false, "sequence_required"),
        (Some(7), Some(6), true, "sequence_stale"), (Some(7), Some(6), false, "sequence_stale"),
        (Some(7), Some(7), true, "noop"), (Some(7), Some(7), false, "sequence_reused"),
        (Some(7), Some(8), true, "advanced"), (Some(7), Some(8), false, "advanced"),
        (Some(u64::MAX), Some(0), false, "sequence_stale"),
    ];
    for (stored, given, same, want) in cases {
        let mut claim = claim();
        claim.set_paths(old.clone(), stored, &LIMITS).unwrap();
        let before = claim.clone();
        let next = if same { &old } else { &new };
        let got = match claim.set_paths(next.clone(), given, &LIMITS) {
            Err(error) => {
                assert_eq!(claim, before, "an error changes nothing");
                error.code()
            }
            Ok(change) => {
                assert_eq!((claim.paths(), claim.sequence()), (next, given));
                assert_eq!(change.is_noop(), claim == before);
                match change {
                    change if change.is_noop() => "noop",
                    change if change.advanced => "advanced",
                    _ => "changed",
                }
            }
        };
        assert_eq!(got, want, "{stored:?}, {given:?}, the same: {same}");
    }
}

#[test]
fn what_is_no_map_for_a_claim() {
    let four =
        map(&[("a", "x.example"), ("b", "x.example"), ("c", "x.example"), ("d", "x.example")]);
    let too_many = SetPathsError::TooMany { count: 4, limit: 3 };
    assert_eq!(claim().set_paths(four, None, &LIMITS), Err(too_many));
    let three = map(&[("a", "x.example"), ("b", "x.example"), ("c", "x.example")]);
    assert!(claim().set_paths(three, None, &LIMITS).is_ok(), "as many as the limit says");
    let other = Host::parse("other.example").unwrap();
    let (own, _) = PathMap::check(&other, [("a", Some("tickets.example"))]);
    let error = claim().set_paths(own, None, &LIMITS).unwrap_err();
    assert_eq!(error.code(), "target_is_host");
    let error = claim().tombstone().set_paths(map(&[]), None, &LIMITS).unwrap_err();
    assert_eq!(error, SetPathsError::Deleted);
}

#[test]
fn a_change_says_what_changed() {
    let old = map(&[("a", "x.example"), ("b", "x.example"), ("c", "x.example")]);
    let new = map(&[("b", "y.example"), ("c", "x.example"), ("d", "x.example")]);
    let change = PathsChange::between(&old, &new);
    let text = |prefixes: &[fingerpost_path::Prefix]| {
        prefixes.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        [text(&change.added), text(&change.moved), text(&change.removed)],
        [["d"], ["b"], ["a"]]
    );
    assert_eq!((change.before, change.after), (3, 3));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100_000) })]

    /// C2: whatever is published in whatever order, no claim is over its limit, and its sequence never falls.
    #[test]
    fn c2_limits_hold_after_any_sequence(
        maps in vec((btree_map("[a-e]", "[x-z]", 0..6), proptest::option::of(0_u64..4)), 0..8),
    ) {
        let mut claim = claim();
        for (written, sequence) in maps {
            let before = claim.clone();
            let (map, _) = PathMap::check(&host(), written.into_iter().map(|(p, t)| (p, Some(t + ".example"))));
            let set = claim.set_paths(map.clone(), sequence, &LIMITS);
            prop_assert!(claim.paths().len() <= LIMITS.max_paths_per_claim);
            prop_assert!(claim.sequence() >= before.sequence());
            prop_assert_eq!(set.is_ok(), claim.paths() == &map && claim.sequence() == sequence);
            if claim.paths() != before.paths() && before.sequence().is_some() {
                prop_assert!(claim.sequence() > before.sequence());
            }
        }
    }

    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..48), at in any::<usize>(), byte in any::<u8>()) {
        let _ = RawPaths::parse(&bytes, &LIMITS);
        let mut body = FORMS[2].0.as_bytes().to_vec();
        let at = at % body.len();
        body[at] = byte;
        // The oracle: what the door takes, a claim with it as its map takes too.
        let Ok(raw) = RawPaths::parse(&body, &LIMITS) else { return Ok(()) };
        let Ok(map) = raw.check(&host(), &LIMITS) else { return Ok(()) };
        let mut claim = claim();
        claim.set_paths(map, raw.sequence(), &LIMITS).unwrap();
        let mut claims = ClaimSet::new();
        claims.set("tickets.example", Some(&claim.to_json("id")));
        let read = claims.live(&host()).unwrap();
        prop_assert_eq!((read.paths(), read.sequence()), (claim.paths(), claim.sequence()));
        prop_assert_eq!(read.refused(), &[]);
    }
}
