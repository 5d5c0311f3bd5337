//! Who gets a host, and what deleting it leaves.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a failing test may panic")]

#[path = "support/world.rs"]
mod world;

use fingerpost_claims::{Claim, Collection, Journal};
use serde_json::json;
use world::{APP, CLAIM, PATHS, World, host};

const RIVAL: &str = "/api/cli/apps/rival/web/domains";
const GO: &str = "/api/cli/apps/tickets/go/domains";

/// Steps of method, path, body; `person` and `rival` send what is about their account.
type Step = (&'static str, &'static str, &'static str, u16, &'static str);

#[rustfmt::skip]
static FIGHTS: &[&[Step]] = &[
    // The own route of the app; of another app, another account, nobody.
    &[("POST", APP, r#"{"host":"tickets.example"}"#, 201, ""),
      ("POST", APP, r#"{"host":"tickets.example"}"#, 200, ""),
      ("POST", APP, r#"{"host":"TICKETS.example"}"#, 200, ""),
      ("POST", GO, r#"{"host":"tickets.example"}"#, 409, "host_held")],
    &[("POST", GO, r#"{"host":"tickets.example"}"#, 409, "host_held")],
    &[("POST", APP, r#"{"host":"other.example"}"#, 403, "host_not_owned"),
      ("POST", RIVAL, r#"{"host":"tickets.example"}"#, 403, "host_not_owned"),
      ("POST", APP, r#"{"host":"unknown.example"}"#, 403, "host_not_owned"),
      ("POST", APP, r#"{"host":"192.0.2.1"}"#, 403, "host_not_owned")],
    // A host that both may claim: the first gets it, and it is free again when it is deleted.
    &[("POST", APP, r#"{"host":"one.pages.example"}"#, 201, ""),
      ("POST", RIVAL, r#"{"host":"one.pages.example"}"#, 409, "host_held"),
      ("POST", GO, r#"{"host":"one.pages.example"}"#, 409, "host_held"),
      ("GET", "/api/cli/apps/rival/web/domains/one.pages.example", "", 404, "not_found"),
      ("DELETE", "/api/cli/apps/rival/web/domains/one.pages.example", "", 404, "not_found"),
      ("PUT", "/api/cli/apps/rival/web/domains/one.pages.example/paths", r#"{"paths":{}}"#, 404, "not_found"),
      ("DELETE", "/api/cli/apps/tickets/classic/domains/one.pages.example", "", 204, ""),
      ("DELETE", "/api/cli/apps/tickets/classic/domains/one.pages.example", "", 404, "not_found"),
      ("GET", "/api/cli/apps/tickets/classic/domains/one.pages.example", "", 404, "not_found"),
      ("POST", RIVAL, r#"{"host":"one.pages.example"}"#, 201, ""),
      ("POST", APP, r#"{"host":"one.pages.example"}"#, 409, "host_held")],
    // A wildcard above, that the box has not read yet; and a host under one.
    &[("POST", APP, r#"{"host":"pages.example","wildcard":true}"#, 201, ""),
      ("POST", RIVAL, r#"{"host":"one.pages.example"}"#, 403, "host_not_owned"),
      ("POST", APP, r#"{"host":"one.pages.example"}"#, 201, ""),
      ("POST", APP, r#"{"host":"pages.example"}"#, 200, ""),
      ("POST", RIVAL, r#"{"host":"two.pages.example"}"#, 201, ""),
      ("POST", APP, r#"{"host":"pages.example","catchall":true}"#, 403, "host_not_owned"),
      ("DELETE", "/api/cli/apps/rival/web/domains/two.pages.example", "", 204, ""),
      ("POST", APP, r#"{"host":"pages.example","catchall":true}"#, 200, "")],
    // A claim in the configuration: its app takes it over, nobody else does.
    &[("POST", RIVAL, r#"{"host":"config.example"}"#, 403, "host_not_owned"),
      ("POST", GO, r#"{"host":"config.example"}"#, 409, "host_held"),
      ("GET", "/api/cli/apps/tickets/classic/domains/config.example", "", 200, ""),
      ("GET", "/api/cli/apps/tickets/go/domains/config.example", "", 404, "not_found"),
      ("DELETE", "/api/cli/apps/tickets/classic/domains/config.example", "", 404, "not_found"),
      ("POST", APP, r#"{"host":"config.example"}"#, 201, "")],
    // What the operator has given is no leave to claim: a stored claim could not stand in its place.
    &[("GET", "/api/cli/apps/tickets/classic/domains/bare.example", "", 200, ""),
      ("PUT", "/api/cli/apps/tickets/classic/domains/bare.example/paths", r#"{"paths":{"a":"next.tickets.example"}}"#, 403, "host_not_owned"),
      ("POST", APP, r#"{"host":"bare.example"}"#, 403, "host_not_owned")],
    // An app of the same name in another account.
    &[("POST", APP, r#"{"host":"one.pages.example"}"#, 201, ""),
      ("GET", "/api/cli/apps/rival/classic/domains/one.pages.example", "", 404, "not_found"),
      ("PUT", "/api/cli/apps/rival/classic/domains/one.pages.example/paths", r#"{"paths":{}}"#, 404, "not_found"),
      ("DELETE", "/api/cli/apps/rival/classic/domains/one.pages.example", "", 404, "not_found"),
      ("POST", "/api/cli/apps/rival/classic/domains", r#"{"host":"one.pages.example"}"#, 409, "host_held")],
    // Bodies.
    &[("POST", APP, r#"{"host":"tickets.example","host":"tickets.example"}"#, 400, "duplicate_key"),
      ("POST", APP, r#"{"host":"tickets.example","paths":{}}"#, 400, "unknown_member"),
      ("POST", APP, r#"{"host":"tickets.example","wildcard":"yes"}"#, 400, "wrong_type"),
      ("POST", APP, r#"{"wildcard":true}"#, 400, "missing_member"),
      ("POST", APP, r#"{"host":"tickets.example."}"#, 422, "invalid_entries"),
      ("POST", APP, r#"{"host":"tickets.example:80"}"#, 422, "invalid_entries"),
      ("POST", APP, r#"{"host":"*.pages.example"}"#, 422, "invalid_entries"),
      ("POST", APP, r#"{"host":""}"#, 422, "invalid_entries"),
      ("POST", "/api/cli/apps/tickets/classic/domains?dry_run=true", r#"{"host":"tickets.example"}"#, 400, "query_invalid")],
];

#[tokio::test]
async fn fights() {
    for synced in [false, true] {
        for steps in FIGHTS {
            let world = World::new().await;
            for (method, path, body, status, code) in *steps {
                let rival = path.contains("/rival/");
                let token = if rival { &world.tokens.rival } else { &world.tokens.person };
                let before = world.everything().await;
                let got = world.call(method, path, token, &[], *body).await;
                got.check();
                let told = if *status < 400 { String::new() } else { got.code() };
                assert_eq!(
                    (got.status, &*told),
                    (*status, *code),
                    "{method} {path} {body}: {got:?}"
                );
                if *status >= 400 {
                    assert_eq!(world.everything().await, before, "{method} {path} {body}");
                }
                if synced {
                    world.view.sync().await;
                }
            }
        }
    }
}

#[tokio::test]
async fn who_asks_is_told_as_much_as_it_may_know() {
    let world = World::new().await;
    let ask =
        async |token: &str| world.post(token, APP, r#"{"host":"other.example"}"#).await.json();
    let (tenant, operator) = (ask(&world.tokens.person).await, ask(&world.tokens.operator).await);
    let nobody =
        world.post(&world.tokens.person, APP, r#"{"host":"unknown.example"}"#).await.json();
    assert_eq!(tenant, nobody, "whether somebody has it is not said");
    assert!(operator["detail"].as_str().unwrap().contains("route"), "{operator}");
    assert_ne!(operator["detail"], tenant["detail"]);
}

#[tokio::test]
async fn the_answer() {
    let world = World::new().await;
    let got = world
        .post(&world.tokens.publish, APP, r#"{"host":"one.pages.example","wildcard":true}"#)
        .await;
    assert_eq!(got.field("location"), "/api/cli/apps/tickets/classic/domains/one.pages.example");
    assert_eq!(
        got.json(),
        json!({
            "host": "one.pages.example", "account": "tickets", "app": "classic", "wildcard": true,
            "catchall": false, "paths": {}, "sequence": null, "source": "stored", "serial": 1, "code": null,
        })
    );
    let read = world.get(&world.tokens.publish, &got.field("location")).await;
    assert_eq!(read.field("etag"), got.field("etag"));
    // Two hosts of the app: neither is marked as the one that others point at.
    let got = world.post(&world.tokens.person, GO, r#"{"host":"two.pages.example"}"#).await;
    assert_eq!((got.status, &got.json()["code"]), (201, &json!("app_unroutable")));
}

/// Attaching can neither invent nor strip a map.
#[tokio::test]
async fn maps_survive_attaching() {
    let world = World::with_claim().await;
    let map = json!({ "paths": { "a": "next.tickets.example" }, "sequence": 4 });
    assert_eq!(world.put(&world.tokens.publish, PATHS, &map.to_string()).await.status, 200);
    let wide = r#"{"host":"tickets.example","wildcard":true}"#;
    let got = world.post(&world.tokens.publish, APP, wide).await;
    assert_eq!(
        (got.status, &got.json()["paths"], &got.json()["sequence"]),
        (200, &map["paths"], &json!(4))
    );

    // A claim of the configuration begins with the map that is served.
    let config = "/api/cli/apps/tickets/classic/domains/config.example";
    let served = world.get(&world.tokens.publish, config).await;
    assert_eq!((&served.json()["source"], &*served.field("etag")), (&json!("config"), ""));
    let got = world.post(&world.tokens.publish, APP, r#"{"host":"config.example"}"#).await;
    assert_eq!((got.status, &got.json()["paths"]), (201, &served.json()["paths"]));
    assert_eq!(got.json()["source"], "stored");
    // It was not changed for anybody, but is the stored one's from now on.
    let rows = world.rows(Journal::Audit).await;
    assert_eq!((&rows[0]["before"], &rows[0]["after"]), (&json!(2), &json!(2)));
}

/// Publishing over a claim of the configuration stores one in its place.
#[tokio::test]
async fn publishing_over_the_configuration() {
    let world = World::new().await;
    let config = "/api/cli/apps/tickets/classic/domains/config.example";
    let paths = &format!("{config}/paths");
    let token = &*world.tokens.publish;
    let before = world.everything().await;
    let same = r#"{"paths":{"old":"next.tickets.example","older":"next.tickets.example"}}"#;
    let got = world.put(token, paths, same).await;
    assert_eq!((got.status, &got.json()["changed"]), (200, &json!(false)));
    for (fields, status) in [(("if-match", "\"x\""), 412), (("if-match", "*"), 200)] {
        let got = world.call("PUT", paths, token, &[fields], same).await;
        assert_eq!(got.status, status);
    }
    let got = world.put(token, &format!("{paths}?max_removed=0"), r#"{"paths":{}}"#).await;
    assert_eq!((got.status, &got.json()["removed"]), (409, &json!(2)));
    assert_eq!(world.everything().await, before);
    let got =
        world.put(token, paths, r#"{"paths":{"old":"later.tickets.example"},"sequence":3}"#).await;
    let told = got.json();
    assert_eq!(
        (got.status, &told["moved"], &told["removed"]),
        (200, &json!(["old"]), &json!(["older"]))
    );
    assert_eq!((&told["before"], &told["after"]), (&json!(2), &json!(1)));
    let got = world.get(token, config).await;
    assert_eq!(got.json()["source"], "stored");
    let gone = world.call("DELETE", config, token, &[("if-match", &got.field("etag"))], "").await;
    assert_eq!(gone.status, 204);
    // The configuration is back. The sequence is not forgotten.
    assert_eq!(world.get(token, config).await.json()["source"], "config");
    let got = world.post(token, APP, r#"{"host":"config.example"}"#).await;
    assert_eq!((got.status, &*got.code()), (409, "config_map"), "the map would be lost");
    let got = world.put(token, paths, r#"{"paths":{"old":"later.tickets.example"}}"#).await;
    assert_eq!((got.status, &*got.code()), (409, "sequence_required"));
    let got =
        world.put(token, paths, r#"{"paths":{"old":"later.tickets.example"},"sequence":4}"#).await;
    assert_eq!(got.status, 200);
}

#[tokio::test]
async fn deletions_leave_a_tombstone() {
    let world = World::with_claim().await;
    let map = json!({ "paths": { "a": "next.tickets.example" }, "sequence": 4 });
    assert_eq!(world.put(&world.tokens.publish, PATHS, &map.to_string()).await.status, 200);
    let tag = world.get(&world.tokens.publish, CLAIM).await.field("etag");
    let got = world.call("DELETE", CLAIM, &world.tokens.publish, &[], "").await;
    assert_eq!(
        (got.status, got.field("etag"), &got.json()["entries"]),
        (428, tag.clone(), &json!(1))
    );
    let got = world.call("DELETE", CLAIM, &world.tokens.publish, &[("if-match", &tag)], "").await;
    assert_eq!((got.status, &*got.body), (204, &b""[..]));
    let record = world.store.get(Collection::Claims, "tickets.example").await.unwrap().unwrap();
    let claim = Claim::parse(&host("tickets.example"), &record.body).unwrap();
    assert!(claim.is_deleted());
    // The same account goes on where it was.
    assert_eq!(
        world.post(&world.tokens.publish, APP, r#"{"host":"tickets.example"}"#).await.status,
        201
    );
    let got = world.put(&world.tokens.publish, PATHS, r#"{"paths":{}}"#).await;
    assert_eq!((got.status, &*got.code()), (409, "sequence_required"));
    // The old tag is of nothing any more.
    let got = world.call("DELETE", CLAIM, &world.tokens.publish, &[("if-match", &tag)], "").await;
    assert_eq!(got.status, 412);
}

/// A record that does not parse is nobody's; only an operator can clear it away, knowing which one.
#[tokio::test]
async fn unreadable_records() {
    let world = World::new().await;
    let change =
        fingerpost_claims::Change::create(Collection::Claims, "tickets.example", b"{".to_vec());
    world.store.commit(fingerpost_claims::Commit::of(change)).await.unwrap();
    world.view.sync().await;
    for token in [&world.tokens.publish, &world.tokens.operator] {
        let got = world.post(token, APP, r#"{"host":"tickets.example"}"#).await;
        assert_eq!((got.status, &*got.code()), (409, "host_held"));
        assert_eq!(world.get(token, CLAIM).await.status, 404);
        assert_eq!(world.put(token, PATHS, r#"{"paths":{}}"#).await.status, 404);
    }
    assert_eq!(world.call("DELETE", CLAIM, &world.tokens.publish, &[], "").await.status, 404);
    let got = world.call("DELETE", CLAIM, &world.tokens.operator, &[], "").await;
    assert_eq!(got.status, 428);
    let tag = got.field("etag");
    let got = world.call("DELETE", CLAIM, &world.tokens.operator, &[("if-match", &tag)], "").await;
    assert_eq!(got.status, 204);
    assert_eq!(
        world.post(&world.tokens.publish, APP, r#"{"host":"tickets.example"}"#).await.status,
        201
    );
}
