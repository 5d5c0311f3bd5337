//! What publishing does, and what it leaves behind.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a failing test may panic")]

#[path = "support/world.rs"]
mod world;

use std::sync::Arc;
use std::time::Duration;

use fingerpost_claims::{Journal, Limits, MemoryStore, StoreError};
use serde_json::{Value, json};
use world::{APP, CLAIM, Got, PATHS, World};

const NEXT: &str = "next.tickets.example";

/// What one of these steps does: a query, fields, a body; the status, the code, and `changed`.
struct Step(
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
    u16,
    &'static str,
    Option<bool>,
);

async fn publish(world: &World, query: &str, fields: &[(&str, &str)], body: &str) -> Got {
    let path = format!("{PATHS}{query}");
    world.call("PUT", &path, &world.tokens.publish, fields, body.to_owned()).await
}

#[rustfmt::skip]
static STEPS: &[&[Step]] = &[
    // A republish that changes nothing does nothing.
    &[
        Step("", &[], r#"{"paths":{"a":"next.tickets.example"}}"#, 200, "", Some(true)),
        Step("", &[], r#"{"paths":{"a":"next.tickets.example"}}"#, 200, "", Some(false)),
        Step("", &[], r#"{"paths":{"a":"NEXT.tickets.example"}}"#, 200, "", Some(false)),
        Step("", &[], r#"{"paths":{"A":"next.tickets.example"}}"#, 200, "", Some(true)),
        Step("", &[], r#"{"paths":{}}"#, 200, "", Some(true)),
        Step("", &[], r#"{"paths":{}}"#, 200, "", Some(false)),
    ],
    // The sequence.
    &[
        Step("", &[], r#"{"paths":{},"sequence":7}"#, 200, "", Some(true)),
        Step("", &[], r#"{"paths":{},"sequence":7}"#, 200, "", Some(false)),
        Step("", &[], r#"{"paths":{}}"#, 409, "sequence_required", None),
        Step("", &[], r#"{"paths":{},"sequence":6}"#, 409, "sequence_stale", None),
        Step("", &[], r#"{"paths":{"a":"next.tickets.example"},"sequence":7}"#, 409, "sequence_reused", None),
        Step("", &[], r#"{"paths":{"a":"next.tickets.example"},"sequence":8}"#, 200, "", Some(true)),
        Step("", &[], r#"{"paths":{"a":"next.tickets.example"},"sequence":9}"#, 200, "", Some(true)),
        Step("", &[], r#"{"paths":{"a":"next.tickets.example"},"sequence":8}"#, 409, "sequence_stale", None),
        Step("", &[], r#"{"paths":{},"sequence":18446744073709551615}"#, 200, "", Some(true)),
    ],
    // The guard.
    &[
        Step("", &[], r#"{"paths":{"a":"next.tickets.example","b":"next.tickets.example","c":"next.tickets.example"}}"#, 200, "", Some(true)),
        Step("?max_removed=1", &[], r#"{"paths":{"a":"next.tickets.example"}}"#, 409, "too_many_removed", None),
        Step("?max_removed=0", &[], r#"{"paths":{"a":"next.tickets.example","b":"later.tickets.example","c":"next.tickets.example"}}"#, 200, "", Some(true)),
        Step("?max_removed=2", &[], r#"{"paths":{"a":"next.tickets.example"}}"#, 200, "", Some(true)),
        Step("?max_removed=0", &[], r#"{"paths":{"b":"next.tickets.example"}}"#, 409, "too_many_removed", None),
        Step("?max_remove=0", &[], r#"{"paths":{}}"#, 400, "query_invalid", None),
        Step("?max_removed=0&max_removed=9", &[], r#"{"paths":{}}"#, 400, "query_invalid", None),
        Step("?max_removed=-1", &[], r#"{"paths":{}}"#, 400, "query_invalid", None),
        Step("?max_removed=%2B1", &[], r#"{"paths":{}}"#, 400, "query_invalid", None),
        Step("?max_removed=", &[], r#"{"paths":{}}"#, 400, "query_invalid", None),
        Step("?max_removed=99999999999999999999", &[], r#"{"paths":{}}"#, 400, "query_invalid", None),
    ],
    // Dry runs.
    &[
        Step("?dry_run=true", &[], r#"{"paths":{"a":"next.tickets.example"}}"#, 200, "", Some(true)),
        Step("", &[], r#"{"paths":{}}"#, 200, "", Some(false)),
        Step("?dry_run=false", &[], r#"{"paths":{"a":"next.tickets.example"},"sequence":1}"#, 200, "", Some(true)),
        Step("?dry_run=true", &[], r#"{"paths":{}}"#, 409, "sequence_required", None),
        Step("?dry_run=true&max_removed=0", &[], r#"{"paths":{},"sequence":2}"#, 409, "too_many_removed", None),
        Step("?dry_run=true", &[("if-match", "\"x\"")], r#"{"paths":{},"sequence":2}"#, 412, "precondition_failed", None),
        Step("?dry_run=1", &[], r#"{"paths":{},"sequence":2}"#, 400, "query_invalid", None),
        Step("?dry_run", &[], r#"{"paths":{},"sequence":2}"#, 400, "query_invalid", None),
        Step("?dryrun=true", &[], r#"{"paths":{},"sequence":2}"#, 400, "query_invalid", None),
    ],
    // Preconditions.
    &[
        Step("", &[("if-match", "*")], r#"{"paths":{"a":"next.tickets.example"}}"#, 200, "", Some(true)),
        Step("", &[("if-match", "\"x\", \"y\"")], r#"{"paths":{}}"#, 412, "precondition_failed", None),
        Step("", &[("if-match", "")], r#"{"paths":{}}"#, 400, "condition_invalid", None),
        Step("", &[("if-match", "\"x\""), ("if-match", "*")], r#"{"paths":{}}"#, 400, "condition_invalid", None),
        // What is wrong with the body comes first (RFC 9110 13.2.1).
        Step("", &[("if-match", "\"x\"")], r#"{"paths":7}"#, 400, "wrong_type", None),
    ],
];

#[tokio::test]
async fn steps() {
    for steps in STEPS {
        let world = World::with_claim().await;
        for Step(query, fields, body, status, code, changed) in *steps {
            let before = world.everything().await;
            let (serial, audit) =
                (world.store.serial().await, world.rows(Journal::Audit).await.len());
            let got = publish(&world, query, fields, body).await;
            got.check();
            assert_eq!(got.status, *status, "{query} {body}: {got:?}");
            if *status != 200 {
                assert_eq!(got.code(), *code, "{query} {body}");
            }
            assert_eq!(got.json()["changed"], json!(changed), "{query} {body}");
            let stored = *changed == Some(true) && !query.contains("dry_run=true");
            if !stored {
                assert_eq!(world.everything().await, before, "{query} {body}");
                continue;
            }
            assert_eq!(
                world.store.serial().await,
                serial.map(|serial| serial + 1),
                "{query} {body}"
            );
            assert_eq!(world.rows(Journal::Audit).await.len(), audit + 1, "{query} {body}");
            let tag = world.get(&world.tokens.publish, CLAIM).await.field("etag");
            assert_eq!(got.field("etag"), tag, "{query} {body}");
        }
    }
}

#[tokio::test]
async fn the_answer_says_what_happened() {
    let world = World::with_claim().await;
    let map = json!({ "paths": {
        "a": NEXT, "b": "other.example", "c": "missing.example", "d": "later.tickets.example",
        ".well-known": NEXT, "x~y": "nowhere.example",
    } });
    let got = publish(&world, "", &[], &map.to_string()).await.json();
    let refused = |code: &str, prefix: &str, target: &str| {
        let pointer = format!("/paths/{}", prefix.replace('~', "~0"));
        json!({ "pointer": pointer, "prefix": prefix, "target": target, "code": code })
    };
    let warned = |code: &str, detail: &str| json!({ "code": code, "detail": detail });
    let want = json!({
        "host": "tickets.example", "serial": 2, "dry_run": false, "changed": true,
        "before": 0, "after": 6, "added": [".well-known", "a", "b", "c", "d", "x~y"],
        "moved": [], "removed": [], "sequence": null, "code": null,
        "refused": [
            refused("reserved", ".well-known", NEXT),
            refused("target_unavailable", "b", "other.example"),
            refused("target_unavailable", "c", "missing.example"),
            refused("target_not_ready", "d", "later.tickets.example"),
            refused("target_unavailable", "x~y", "nowhere.example"),
        ],
        "warnings": [
            warned("legacy_unset", "the site has a prefix map and does not set legacy"),
            warned("prefix_outside_slug", ".well-known holds a byte outside slug"),
            warned("prefix_outside_slug", "x~y holds a byte outside slug"),
        ],
    });
    assert_eq!(got, want);
    let again = world.put(&world.tokens.operator, PATHS, &map.to_string()).await.json();
    let codes: Vec<_> =
        again["refused"].as_array().unwrap().iter().map(|one| &one["code"]).collect();
    let told = [
        "reserved",
        "target_other_account",
        "target_missing",
        "target_not_ready",
        "target_missing",
    ];
    assert_eq!(codes, told, "operators are told more");

    let map = json!({ "paths": { "a": "later.tickets.example", "z": NEXT }, "sequence": 3 });
    let dry = publish(&world, "?dry_run=true", &[("prefer", "wait=5")], &map.to_string()).await;
    assert_eq!(dry.field("preference-applied"), "");
    let got = publish(&world, "", &[], &map.to_string()).await.json();
    let want = json!({
        "host": "tickets.example", "serial": 3, "dry_run": false, "changed": true,
        "before": 6, "after": 2, "added": ["z"], "moved": ["a"],
        "removed": [".well-known", "b", "c", "d", "x~y"], "sequence": 3, "code": null,
        "refused": [refused("target_not_ready", "a", "later.tickets.example")],
        "warnings": [warned("legacy_unset", "the site has a prefix map and does not set legacy")],
    });
    assert_eq!(got, want);
    let mut dry = dry.json();
    assert_eq!((dry["dry_run"].take(), dry["serial"].take()), (json!(true), json!(2)));
    let mut same = got;
    (same["dry_run"], same["serial"]) = (Value::Null, Value::Null);
    assert_eq!(dry, same, "a dry run says what publishing does");
}

#[tokio::test]
async fn the_audit_counts_and_never_says_where() {
    let world = World::with_claim().await;
    let map = json!({ "paths": { "a": NEXT, "b": "later.tickets.example" }, "sequence": 7 });
    assert_eq!(publish(&world, "", &[], &map.to_string()).await.status, 200);
    let got = world.get(&world.tokens.publish, CLAIM).await;
    let gone = world
        .call("DELETE", CLAIM, &world.tokens.operator, &[("if-match", &got.field("etag"))], "")
        .await;
    assert_eq!(gone.status, 204);
    let audit = world.get(&world.tokens.operator, "/api/audit?host=tickets.example").await;
    let text = String::from_utf8(audit.body.clone()).unwrap();
    assert!(!text.contains("next.") && !text.contains("later"), "{text}");
    let rows = audit.json()["rows"].as_array().unwrap().clone();
    let told: Vec<_> = rows
        .iter()
        .map(|row| {
            let fields =
                ["action", "role", "account", "app", "host", "before", "after", "sequence", "at"];
            Value::from_iter(fields.map(|field| row[field].clone()))
        })
        .collect();
    let at = "2026-11-30T23:59:59.000Z";
    let host = "tickets.example";
    assert_eq!(
        told,
        [
            json!(["delete", "operator", "tickets", "classic", host, 2, 0, 7, at]),
            json!(["paths", "publish", "tickets", "classic", host, 0, 2, 7, at]),
            json!(["attach", "publish", "tickets", "classic", host, 0, 0, null, at]),
        ]
    );
    assert_eq!(rows[1]["actor"], rows[2]["actor"]);
    assert_eq!(rows[1]["actor"].as_str().unwrap().len(), 16);
}

#[tokio::test]
async fn pages_of_the_audit() {
    let world = World::with_claim().await;
    for sequence in 1..8 {
        let body = format!(r#"{{"paths":{{}},"sequence":{sequence}}}"#);
        assert_eq!(publish(&world, "", &[], &body).await.status, 200);
    }
    let (mut found, mut before) = (Vec::new(), String::new());
    loop {
        let path = format!("/api/audit?host=tickets.example&limit=3{before}");
        let page = world.get(&world.tokens.publish, &path).await.json();
        found.extend(page["rows"].as_array().unwrap().iter().map(|row| row["sequence"].as_u64()));
        let Some(next) = page["next"].as_u64() else { break };
        before = format!("&before={next}");
    }
    assert_eq!(found, [Some(7), Some(6), Some(5), Some(4), Some(3), Some(2), Some(1), None]);
}

#[tokio::test]
async fn waiting() {
    let world = World::with_claim().await;
    let map = r#"{"paths":{"a":"next.tickets.example"}}"#;
    let wait = [("prefer", "wait=7")];
    let got = publish(&world, "", &wait, map).await;
    assert_eq!((got.status, &*got.field("preference-applied")), (200, "wait=7"));
    assert_eq!(got.json()["lagging"], json!([]));
    // What is published already may still be on its way.
    *world.view.lagging.lock().unwrap() = Ok(vec!["b".to_owned(), "c".to_owned()]);
    let got = publish(&world, "", &wait, map).await;
    assert_eq!((got.status, &got.json()["changed"]), (202, &json!(false)));
    assert_eq!(got.json()["lagging"], json!(["b", "c"]));
    assert_eq!(got.json()["serial"], 2);
    let got = publish(&world, "", &[("prefer", "wait=9999")], map).await;
    assert_eq!(got.field("preference-applied"), "wait=30", "no longer than the box allows");
    let got = publish(&world, "", &[("prefer", "wait=soon")], map).await;
    assert_eq!((got.status, &*got.field("preference-applied")), (200, ""));
    assert_eq!(got.json().get("lagging"), None);
    let reason = "gone".to_owned();
    *world.view.lagging.lock().unwrap() = Err(StoreError::Unavailable { reason });
    let got = publish(&world, "", &wait, r#"{"paths":{}}"#).await;
    assert_eq!((got.status, got.json()["lagging"].clone()), (202, json!(["*"])), "it is stored");
    let waited = world.view.waited.lock().unwrap().clone();
    assert_eq!(waited, [7, 7, 30, 7].map(Duration::from_secs));
}

#[tokio::test]
async fn limits_follow_the_configuration() {
    let limits = Limits { max_paths_per_claim: 2, max_wildcards: 1 };
    let world = World::over(Arc::new(MemoryStore::new()), limits).await;
    world.attach_tickets().await;
    let entry = |n: usize| format!(r#""{n}":"next.tickets.example""#);
    for (count, status) in [(2, 200), (3, 422)] {
        let entries: Vec<_> = (0..count).map(entry).collect();
        let body = format!(r#"{{"paths":{{{}}}}}"#, entries.join(","));
        let before = world.everything().await;
        let got = publish(&world, "", &[], &body).await;
        assert_eq!(got.status, status);
        if status == 422 {
            let error = &got.json()["errors"][0];
            assert_eq!(
                (&error["pointer"], &error["code"]),
                (&json!("/paths"), &json!("over_limit"))
            );
            assert_eq!(world.everything().await, before);
        }
    }
    for (length, status) in [(limits.max_body(), 200), (limits.max_body() + 1, 413)] {
        let mut body = String::from(r#"{"paths":{}}"#);
        body += &" ".repeat(length - body.len());
        let got = publish(&world, "", &[], &body).await;
        assert_eq!(got.status, status, "{length}");
        if status == 413 {
            assert_eq!(got.json()["limit"], limits.max_body());
            assert_eq!(got.field("connection"), "close");
        }
    }
}

#[tokio::test]
async fn every_bad_entry_is_listed() {
    let world = World::with_claim().await;
    let body = json!({ "paths": {
        "ok": NEXT, "a/b": NEXT, "..": NEXT, "": NEXT, "p": "*.example", "q": "https://x.example",
        "r": 7, "s": null, "t": "tickets.example", "u~": "a b",
    } });
    let before = world.everything().await;
    let got = publish(&world, "", &[], &body.to_string()).await;
    assert_eq!(got.status, 422);
    got.check();
    let errors = got.json()["errors"].as_array().unwrap().clone();
    let told: Vec<_> = errors
        .iter()
        .map(|error| (error["pointer"].as_str().unwrap(), error["code"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("/paths/", "prefix_invalid"),
            ("/paths/..", "prefix_invalid"),
            ("/paths/a~1b", "prefix_invalid"),
            ("/paths/p", "target_invalid"),
            ("/paths/q", "target_invalid"),
            ("/paths/r", "target_invalid"),
            ("/paths/s", "target_invalid"),
            ("/paths/t", "target_is_host"),
            ("/paths/u~0", "target_invalid"),
        ]
    );
    assert!(errors.iter().all(|error| error["detail"].as_str().unwrap().len() > 10), "{errors:?}");
    assert_eq!(world.everything().await, before);
}

#[tokio::test]
async fn a_list_and_a_claim() {
    let world = World::with_claim().await;
    assert_eq!(
        publish(&world, "", &[], r#"{"paths":{"a":"next.tickets.example"}}"#).await.status,
        200
    );
    // The box has not read this yet: the list has, from the store.
    let list = world.get(&world.tokens.publish, APP).await.json();
    let line = |host: &str, entries: u64, source: &str| {
        json!({
            "host": host, "account": "tickets", "app": "classic", "wildcard": false, "catchall": false,
            "entries": entries, "sequence": null, "source": source,
        })
    };
    let want = [
        line("bare.example", 0, "config"),
        line("config.example", 2, "config"),
        line("tickets.example", 1, "stored"),
    ];
    assert_eq!(list["domains"].as_array().unwrap()[..], want);
    let claim = world.get(&world.tokens.publish, CLAIM).await;
    assert_eq!(
        claim.json(),
        json!({
            "host": "tickets.example", "account": "tickets", "app": "classic", "wildcard": false,
            "catchall": false, "paths": { "a": NEXT }, "sequence": null, "source": "stored",
        })
    );
    let spelled = "/api/cli/apps/tickets/classic/domains/TICKETS%2Eexample";
    assert_eq!(world.get(&world.tokens.publish, spelled).await.field("etag"), claim.field("etag"));
}
