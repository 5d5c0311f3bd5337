//! From a stored body to a claim and back.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use fingerpost_authority::Host;
use fingerpost_claims::{Claim, Code, Limits, Name, PathMap, Reach};
use proptest::collection::vec;
use proptest::prelude::*;

fn host() -> Host {
    Host::parse("tickets.example").unwrap()
}

fn parse(members: &str) -> Result<Claim, String> {
    let body = format!(r#"{{"host":"tickets.example","account":"a","app":"web"{members}}}"#);
    Claim::parse(&host(), body.as_bytes()).map_err(|error| error.to_string())
}

fn text(claim: &Claim, write_id: &str) -> String {
    String::from_utf8(claim.to_json(write_id)).unwrap()
}

#[rustfmt::skip]
static BODIES: &[(&str, &str)] = &[
    // The body, and what the error says; "" is a claim.
    (r#"{"host":"tickets.example","account":"a","app":"web"}"#, ""),
    (r#" { "app" : "web" , "account" : "a" , "host" : "Tickets.Example" } "#, ""),
    (r#"{"h\u006fst":"tickets.example","account":"\u0061","app":"web"}"#, ""),
    (r#"{"host":"tickets.example","account":"a","app":"web","paths":{}}"#, ""),
    (r#"{"host":"tickets.example","account":"a","app":"web","sequence":18446744073709551615}"#, ""),
    ("", "the body is no JSON: line 1, column 0"),
    ("{", "the body is no JSON: line 1, column 1"),
    ("[]", "the body is not an object"),
    ("null", "the body is not an object"),
    ("{} {}", "the body is no JSON: line 1, column 4"),
    ("{}", "there is no member \"host\""),
    (r#"{"host":"other.example","account":"a","app":"web"}"#, "the body names the host other.example, which is not what it is stored under"),
    (r#"{"host":"https://tickets.example","account":"a","app":"web"}"#, "the member \"host\" is no host"),
    (r#"{"host":7,"account":"a","app":"web"}"#, "the member \"host\" is not a string"),
    (r#"{"host":"tickets.example","app":"web"}"#, "there is no member \"account\""),
    (r#"{"host":"tickets.example","account":"","app":"web"}"#, "the member \"account\" is no name"),
    (r#"{"host":"tickets.example","account":null,"app":"web"}"#, "the member \"account\" is not a string"),
    (r#"{"host":"tickets.example","account":"a"}"#, "there is no member \"app\""),
    (r#"{"host":"tickets.example","account":"a","app":"web","wildcard":"yes"}"#, "the member \"wildcard\" is not true or false"),
    (r#"{"host":"tickets.example","account":"a","app":"web","catchall":1}"#, "the member \"catchall\" is not true or false"),
    (r#"{"host":"tickets.example","account":"a","app":"web","paths":[]}"#, "the member \"paths\" is not an object"),
    (r#"{"host":"tickets.example","account":"a","app":"web","sequence":-1}"#, "the member \"sequence\" is not a whole number"),
    (r#"{"host":"tickets.example","account":"a","app":"web","sequence":1.0}"#, "the member \"sequence\" is not a whole number"),
    (r#"{"host":"tickets.example","account":"a","app":"web","sequence":18446744073709551616}"#, "the member \"sequence\" is not a whole number"),
    (r#"{"host":"tickets.example","account":"a","app":"web","deleted":0}"#, "the member \"deleted\" is not true or false"),
    (r#"{"host":"tickets.example","account":"a","app":"web","\u0061pp":"go"}"#, "the member \"app\" is written twice"),
    (r#"{"host":"tickets.example","account":"a","app":"web","paths":{},"paths":{}}"#, "the member \"paths\" is written twice"),
    ("{\"host\":\"tickets.example\",\"account\":\"\u{7}\",\"app\":\"web\"}", "the body is no JSON: line 1, column 37"),
];

#[test]
fn bodies() {
    for (body, error) in BODIES {
        let parsed = Claim::parse(&host(), body.as_bytes());
        let got = parsed.err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(got, *error, "{body}");
    }
    let broken = Claim::parse(&host(), b"{\"host\":\"\xff\"}");
    assert!(broken.is_err(), "no UTF-8");
    let deep = format!(r#","x":{}{}"#, "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert!(parse(&deep).is_ok(), "an unknown member is never entered");
    let deep = format!(r#","paths":{}"#, r#"{"a":"#.repeat(1_000_000));
    assert!(parse(&deep).is_err(), "nor is a known one");
}

/// Prefixes that are not valid entries, with their codes.
type Refused = &'static [(&'static str, Code)];

#[rustfmt::skip]
static ENTRIES: &[(&str, &str, Refused)] = &[
    // The map, the valid prefixes, and the others.
    (r#"{"paulca":"next.example"}"#, "paulca", &[]),
    (r#"{"b":"next.example","a":"next.example"}"#, "a b", &[]),
    (r#"{"paulca":"Bücher.example"}"#, "paulca", &[]),
    (r#"{"PAULCA":"next.example","paulca":"other.example"}"#, "PAULCA paulca", &[]),
    (r#"{"a/b":"next.example","ok":"next.example"}"#, "ok", &[("a/b", Code::PrefixInvalid)]),
    (r#"{"/paulca":"next.example"}"#, "", &[("/paulca", Code::PrefixInvalid)]),
    (r#"{"..":"next.example"}"#, "", &[("..", Code::PrefixInvalid)]),
    (r#"{"":"next.example"}"#, "", &[("", Code::PrefixInvalid)]),
    (r#"{"ok":"next.example","x":"https://next.example"}"#, "ok", &[("x", Code::TargetInvalid)]),
    (r#"{"ok":"next.example","x":7}"#, "ok", &[("x", Code::TargetInvalid)]),
    (r#"{"ok":"next.example","x":{"a":"next.example"}}"#, "ok", &[("x", Code::TargetInvalid)]),
    (r#"{"ok":"next.example","x":"tickets.example"}"#, "ok", &[("x", Code::TargetIsHost)]),
    (r#"{"ok":"next.example","x":"TICKETS.example"}"#, "ok", &[("x", Code::TargetIsHost)]),
    (r#"{"ok":"next.example","x":"a.example","x":"b.example"}"#, "ok", &[("x", Code::PrefixDuplicate)]),
    (r#"{"x":"a.example","\u0078":"a.example","x":"a.example"}"#, "", &[("x", Code::PrefixDuplicate)]),
];

/// One bad entry costs itself and no other, and stays what it is until the map is replaced.
#[test]
fn entries() {
    for (paths, valid, refused) in ENTRIES {
        let mut claim = parse(&format!(r#","paths":{paths}"#)).unwrap();
        let prefixes: Vec<_> = claim.paths().iter().map(|(prefix, _)| prefix.as_str()).collect();
        assert_eq!(prefixes.join(" "), *valid, "{paths}");
        let others: Vec<_> =
            claim.refused().iter().map(|entry| (&*entry.prefix, entry.fault.code())).collect();
        assert_eq!(others, *refused, "{paths}");
        assert_eq!(claim.entry_count(), prefixes.len() + others.len(), "{paths}");
        claim.set_reach(Reach { wildcard: true, catchall: false });
        let kept = format!(r#""paths":{paths}"#);
        assert!(refused.is_empty() || text(&claim, "id").contains(&kept), "{paths}");
        let same = claim.paths().clone();
        let change = claim.set_paths(same, None, &Limits::default()).unwrap();
        assert_eq!((change.cleared, change.is_noop()), (refused.len(), refused.is_empty()));
        assert!(refused.is_empty() || !text(&claim, "id").contains(&kept), "{paths}");
    }
}

#[test]
fn what_a_deletion_leaves() {
    let claim =
        parse(r#","wildcard":true,"paths":{"a":"b.example","a b":"c"},"sequence":7,"x":1.50"#);
    let tomb = claim.unwrap().tombstone();
    assert_eq!(
        text(&tomb, "id"),
        r#"{"host":"tickets.example","account":"a","app":"web","wildcard":false,"catchall":false,"paths":{},"sequence":7,"deleted":true,"write_id":"id","x":1.50}"#
    );
    let read = Claim::parse(&host(), &tomb.to_json("id")).unwrap();
    assert!(read.is_deleted() && read.entry_count() == 0);
    let name = |text| Name::parse(text).unwrap();
    let same = tomb.reattach(name("a"), name("go"), Reach::default());
    assert_eq!((same.sequence(), same.is_deleted()), (Some(7), false));
    assert!(text(&same, "id").ends_with(r#""x":1.50}"#));
    let other = tomb.reattach(name("b"), name("web"), Reach::default());
    assert_eq!(other, Claim::attach(host(), name("b"), name("web"), Reach::default()));
}

/// JSON values, some of which no parser would write back as they are.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1.50".to_owned()),
        Just("-0.0e-0".to_owned()),
        Just("123456789012345678901234567890".to_owned()),
        Just(r#""\u00e9\/\ud83d\ude00""#.to_owned()),
        Just(r#""\ud800""#.to_owned()),
        Just("null".to_owned()),
        "[a-z ]{0,4}".prop_map(|text| format!("\"{text}\"")),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|items| format!("[ {} ]", items.join(" ,"))),
            vec(inner, 0..4).prop_map(|items| {
                let members = items.into_iter().map(|item| format!("\"k\" :{item}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn unknown_members_survive_byte_for_byte(
        unknown in vec((r#"(x|\\u0078|é|\\/|sequences|Host|path)"#, json()), 0..5),
        sequence in any::<u64>(),
    ) {
        let members: Vec<_> = unknown.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        let tail: String = members.iter().map(|member| format!(",{member}")).collect();
        let mut claim = parse(&tail).unwrap();
        let (map, _) = PathMap::check(&host(), [("a\"b", Some("next.example"))]);
        claim.set_paths(map, Some(sequence), &Limits::default()).unwrap();
        let written = text(&claim, "id\n");
        prop_assert!(written.ends_with(&format!(r#""write_id":"id\n"{tail}}}"#)), "{}", written);
        let read = Claim::parse(&host(), written.as_bytes()).unwrap();
        prop_assert_eq!(read.write_id(), Some("id\n"));
        prop_assert_eq!(read.paths(), claim.paths());
        prop_assert_eq!(text(&read, "id\n"), written);
    }

    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..64), at in any::<usize>(), byte in any::<u8>()) {
        let _ = Claim::parse(&host(), &bytes);
        let mut body = BODIES[3].0.as_bytes().to_vec();
        let at = at % body.len();
        body[at] = byte;
        // The oracle: what parses, parses again once it is written.
        if let Ok(claim) = Claim::parse(&host(), &body) {
            let again = Claim::parse(&host(), &claim.to_json("id")).unwrap();
            prop_assert_eq!(again.to_json("id"), claim.to_json("id"));
        }
    }
}
