//! Whatever is sent, nothing panics, and a refusal changes nothing.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a failing test may panic")]

#[path = "support/world.rs"]
mod world;

use axum::body::Body;
use axum::http::{Request, Uri};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use world::{APP, CLAIM, PATHS, World};

#[rustfmt::skip]
static BODIES: &[(&[u8], u16, &str)] = &[
    (b"", 400, "invalid_json"),
    (b"{", 400, "invalid_json"),
    (b"null", 400, "not_an_object"),
    (b"[]", 400, "not_an_object"),
    (br#"{}"#, 400, "missing_member"),
    (br#"{"paulca":"next.tickets.example"}"#, 400, "bare_map"),
    (br#"{"path":{"paulca":"next.tickets.example"}}"#, 400, "unknown_member"),
    (br#"{"paths":{},"extra":1}"#, 400, "unknown_member"),
    (br#"{"paths":{},"paths":{}}"#, 400, "duplicate_key"),
    (br#"{"paths":{"a":"next.tickets.example","\u0061":"next.tickets.example"}}"#, 400, "duplicate_key"),
    (br#"{"paths":null}"#, 400, "wrong_type"),
    (br#"{"paths":{},"sequence":-1}"#, 400, "wrong_type"),
    (b"{\"paths\":{\"\xff\":\"next.tickets.example\"}}", 400, "invalid_json"),
    (b"\xef\xbb\xbf{\"paths\":{}}", 400, "invalid_json"),
    (b"{\"paths\":{}}\0", 400, "invalid_json"),
    (br#"{"paths":{"a":"tickets.example"}}"#, 422, "invalid_entries"),
];

#[tokio::test]
async fn bodies() {
    let world = World::with_claim().await;
    let before = world.everything().await;
    for (body, status, code) in BODIES {
        let got = world.call("PUT", PATHS, &world.tokens.publish, &[], *body).await;
        assert_eq!(
            (got.status, &*got.code()),
            (*status, *code),
            "{}",
            String::from_utf8_lossy(body)
        );
        got.check();
    }
    for (open, close) in [("{\"a\":", "}"), ("[", "]")] {
        let deep = format!("{{\"paths\":{}1{}}}", open.repeat(200_000), close.repeat(200_000));
        let got = world.put(&world.tokens.publish, PATHS, &deep).await;
        assert_eq!(got.status, if open == "[" { 400 } else { 422 }, "{open}: {got:?}");
    }
    assert_eq!(world.everything().await, before);
}

#[tokio::test]
async fn hosts_in_the_path() {
    let world = World::with_claim().await;
    let before = world.everything().await;
    let hosts = [
        "*",
        "*.example",
        "a..b",
        "tickets.example.",
        "tickets.example:80",
        "%20",
        "a%2Fb",
        "1.2.3",
        "[::1]:80",
    ];
    for text in hosts {
        let text = text.replace('[', "%5B").replace(']', "%5D");
        for (method, path) in [("GET", ""), ("DELETE", ""), ("PUT", "/paths")] {
            let path = format!("{APP}/{text}{path}");
            let got = world.call(method, &path, &world.tokens.publish, &[], "{}").await;
            assert_eq!((got.status, &*got.code()), (400, "host_invalid"), "{method} {path}");
            got.check();
        }
    }
    let got = world.get(&world.tokens.publish, &format!("{APP}/%ff")).await;
    assert_eq!((got.status, &*got.code()), (400, "path_invalid"));
    // One that is written for people is the same host.
    let got = world.get(&world.tokens.publish, &format!("{APP}/b%C3%BCcher.example")).await;
    assert_eq!((got.status, &*got.code()), (404, "not_found"));
    assert_eq!(world.everything().await, before);
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let known: Vec<&'static [u8]> = BODIES.iter().map(|(body, _, _)| *body).collect();
    let parts = select(vec![
        "{",
        "}",
        "\"paths\"",
        ":",
        ",",
        "\"a\"",
        "\"next.tickets.example\"",
        "\"tickets.example\"",
        "7",
        "\"sequence\"",
        "\"host\"",
        "\"one.pages.example\"",
        "\"wildcard\"",
        "true",
        "null",
        "[",
        "]",
        "\\u0000",
        "\"x/y\"",
        " ",
        "\u{e9}",
        "\"A\"",
        "1e9",
        "\"\\ud800\"",
    ]);
    let entry = (
        "[a-cA-C./%]{0,3}",
        select(vec!["next.tickets.example", "tickets.example", "x", "*", "other.example"]),
    );
    let map = vec(entry, 0..4).prop_map(|entries| {
        let entries: Vec<_> =
            entries.iter().map(|(key, value)| format!("\"{key}\":\"{value}\"")).collect();
        format!("{{\"paths\":{{{}}}}}", entries.join(",")).into_bytes()
    });
    prop_oneof![
        vec(any::<u8>(), 0..64),
        select(known).prop_map(<[u8]>::to_vec),
        vec(parts, 0..16).prop_map(|parts| parts.concat().into_bytes()),
        map,
        Just(br#"{"host":"one.pages.example"}"#.to_vec()),
    ]
}

fn path() -> impl Strategy<Value = String> {
    let known = select(vec![
        APP,
        CLAIM,
        PATHS,
        "/api/report",
        "/api/audit",
        "/api/history",
        "/api/explain",
        "/api/nodes",
        "/api/snapshot",
        "/healthz",
        "/api/cli/apps/tickets/control/domains/cp.example/paths",
        "/x",
    ]);
    let segment = "[a-z%0-9.*:;~é-]{0,6}";
    let query = prop::option::of(select(vec![
        "dry_run=true",
        "dry_run=x",
        "max_removed=0",
        "host=tickets.example",
        "host=%ff",
        "number=1",
        "limit=0",
        "limit=99999999999",
        "before=1",
        "target=/",
        "host=tickets.example&target=/",
        "a=b&&=",
        "token=1",
        "%",
    ]));
    (known, prop::option::weighted(0.2, segment), query).prop_map(|(path, segment, query)| {
        let mut path = path.to_owned();
        for (mark, part) in [('/', segment), ('?', query.map(str::to_owned))] {
            if let Some(part) = part {
                path.push(mark);
                path += &part;
            }
        }
        path
    })
}

fn fields() -> impl Strategy<Value = Vec<(&'static str, Vec<u8>)>> {
    let keys = select(vec![
        "if-match",
        "if-none-match",
        "prefer",
        "content-length",
        "content-encoding",
        "authorization",
        "content-type",
    ]);
    let values = prop_oneof![
        select(vec![
            "*",
            "\"x\"",
            "W/\"x\"",
            "wait=1",
            "wait=\"",
            "gzip",
            "identity",
            "99999999999999999999",
            "Bearer x",
            "\"",
            ""
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        vec(any::<u8>(), 0..12),
    ];
    vec((keys, values), 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn refusals_change_nothing(
        requests in vec((select(vec!["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH"]), path(), fields(), body(), 0_usize..4), 1..6),
    ) {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
            let world = World::with_claim().await;
            for (method, path, fields, body, who) in requests {
                let Ok(uri) = path.parse::<Uri>() else { continue };
                let mut request = Request::builder().method(method).uri(uri);
                let tokens = &world.tokens;
                let token = [&tokens.operator, &tokens.publish, &tokens.person, &tokens.rival][who];
                request = request.header("authorization", format!("Bearer {token}"));
                for (key, value) in &fields {
                    if let Ok(value) = axum::http::HeaderValue::from_bytes(value) {
                        request = request.header(*key, value);
                    }
                }
                let before = world.everything().await;
                let sent = String::from_utf8_lossy(&body).into_owned();
                let got = world.send(request.body(Body::from(body)).unwrap()).await;
                assert!(got.status != 500, "{method} {path} {fields:?} {sent}: {got:?}");
                if got.status >= 400 || path.contains("dry_run=true") || method == "GET" || method == "HEAD" {
                    assert_eq!(world.everything().await, before, "{method} {path} {fields:?} {sent}: {got:?}");
                }
                if got.status >= 400 && method != "HEAD" {
                    got.check();
                }
            }
        });
    }
}
