//! Who may do what: every cell of the table of roles.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a failing test may panic")]

#[path = "support/world.rs"]
mod world;

use axum::body::Body;
use fingerpost_claims::{Change, Collection, Commit};
use fingerpost_control::{Grant, GrantError, RevokeError, Role, create, list, revoke};
use world::{CLAIM, PATHS, World, name};

const ATTACH: &str = r#"{"host":"one.pages.example"}"#;
const MAP: &str = r#"{"paths":{}}"#;

/// The seven credentials, in the order of the columns below.
fn tokens(world: &World) -> [(&'static str, &str); 7] {
    let tokens = &world.tokens;
    [
        ("publish", &tokens.publish),
        ("instance", &tokens.instance),
        ("account-wide service", &tokens.account),
        ("service of control", &tokens.control),
        ("person", &tokens.person),
        ("operator", &tokens.operator),
        ("person of rival", &tokens.rival),
    ]
}

/// Method, path, body, and the status for each credential.
type Row = (&'static str, &'static str, &'static str, [u16; 7]);

#[rustfmt::skip]
static TABLE: &[Row] = &[
    //                                                                             pub  inst acct ctrl pers oper rival
    ("GET", "/api/cli/apps/tickets/classic/domains", "",                          [200, 200, 200, 403, 200, 200, 403]),
    ("GET", CLAIM, "",                                                            [200, 200, 200, 403, 200, 200, 403]),
    ("GET", "/api/cli/apps/tickets/go/domains", "",                               [403, 403, 200, 403, 200, 200, 403]),
    ("GET", "/api/cli/apps/tickets/control/domains", "",                          [403, 403, 200, 200, 200, 200, 403]),
    ("GET", "/api/cli/apps/rival/web/domains", "",                                [403, 403, 403, 403, 403, 200, 200]),
    ("GET", "/api/cli/apps/nobody/web/domains", "",                               [403, 403, 403, 403, 403, 200, 403]),
    ("PUT", PATHS, MAP,                                                           [200, 200, 200, 403, 200, 200, 403]),
    ("POST", "/api/cli/apps/tickets/classic/domains", ATTACH,                     [201, 201, 201, 403, 201, 201, 403]),
    ("DELETE", CLAIM, "",                                                         [204, 204, 204, 403, 204, 204, 403]),
    // An app that is marked control_plane: a person may, a service may not, whatever it sends.
    ("POST", "/api/cli/apps/tickets/control/domains", r#"{"host":"cp.example"}"#, [403, 403, 403, 403, 201, 201, 403]),
    ("POST", "/api/cli/apps/tickets/control/domains", "{",                        [403, 403, 403, 403, 400, 400, 403]),
    ("PUT", "/api/cli/apps/tickets/control/domains/cp.example/paths", MAP,        [403, 403, 403, 403, 404, 404, 403]),
    ("PUT", "/api/cli/apps/tickets/control/domains/*/paths?x=1", "{",             [403, 403, 403, 403, 400, 400, 403]),
    ("DELETE", "/api/cli/apps/tickets/control/domains/cp.example", "",            [403, 403, 403, 403, 404, 404, 403]),
    ("DELETE", "/api/cli/apps/tickets/control/domains/a..b", "",                  [403, 403, 403, 403, 400, 400, 403]),
    // No name at all.
    ("GET", "/api/cli/apps/%20/classic/domains", "",                              [403, 403, 403, 403, 403, 400, 403]),
    ("GET", "/api/cli/apps/tickets/%0a/domains", "",                              [403, 403, 403, 403, 403, 400, 403]),
    ("GET", "/api/snapshot", "",                                                  [403, 403, 403, 403, 403, 200, 403]),
    ("GET", "/api/nodes", "",                                                     [403, 403, 403, 403, 403, 200, 403]),
    ("GET", "/api/routes","",                                                     [403, 403, 403, 403, 403, 200, 403]),
    ("GET", "/api/report", "",                                                    [200, 200, 200, 200, 200, 200, 200]),
    ("GET", "/api/audit", "",                                                     [200, 200, 200, 200, 200, 200, 200]),
    ("GET", "/api/history?host=tickets.example", "",                              [200, 200, 200, 200, 200, 200, 200]),
    ("GET", "/api/explain?host=tickets.example&target=/", "",                     [200, 200, 200, 403, 200, 200, 403]),
    ("GET", "/api/explain?host=next.tickets.example&target=/", "",                [403, 403, 200, 403, 200, 200, 403]),
    ("GET", "/api/explain?host=other.example&target=/", "",                       [403, 403, 403, 403, 403, 200, 200]),
    ("GET", "/api/explain?host=unknown.example&target=/", "",                     [403, 403, 403, 403, 403, 200, 403]),
];

#[tokio::test]
async fn table_of_roles() {
    for (method, path, body, want) in TABLE {
        for (column, want) in want.iter().enumerate() {
            let world = World::with_claim().await;
            let (who, token) = tokens(&world)[column];
            let before = world.everything().await;
            let got = world.call(method, path, token, &[], *body).await;
            assert_eq!(got.status, *want, "{who}: {method} {path}: {got:?}");
            got.check();
            if got.status == 403 {
                assert_eq!(got.code(), "forbidden", "{who}: {method} {path}");
                let same = world.get(&world.tokens.rival, CLAIM).await;
                assert_eq!(got.body, same.body, "every refusal reads the same");
            }
            if got.status >= 400 {
                assert_eq!(world.everything().await, before, "{who}: {method} {path}");
            }
        }
    }
}

#[tokio::test]
async fn answers_hold_nothing_of_others() {
    let world = World::with_claim().await;
    let rival = "/api/cli/apps/rival/web/domains";
    assert_eq!(
        world.post(&world.tokens.rival, rival, r#"{"host":"other.example"}"#).await.status,
        201
    );
    let map = r#"{"paths":{"x":"next.tickets.example"}}"#;
    let path = "/api/cli/apps/rival/web/domains/other.example/paths";
    assert_eq!(world.put(&world.tokens.rival, path, map).await.status, 200);
    let map =
        r#"{"paths":{"a":"other.example","b":"nowhere.example","c":"later.tickets.example"}}"#;
    assert_eq!(world.put(&world.tokens.publish, PATHS, map).await.status, 200);
    world.view.sync().await;

    let report = world.get(&world.tokens.publish, "/api/report").await.json();
    let hosts: Vec<_> =
        report["claims"].as_array().unwrap().iter().map(|one| &one["host"]).collect();
    assert_eq!(hosts, ["bare.example", "config.example", "tickets.example"]);
    let warnings = report["claims"][2]["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "other hosts are not named");
    assert_eq!(warnings[0]["code"], "legacy_unset");
    let code = |report: &serde_json::Value, at: usize| {
        let claims = report["claims"].as_array().unwrap();
        let claim = claims.iter().find(|one| one["host"] == "tickets.example").unwrap();
        claim["refused"][at]["code"].as_str().unwrap().to_owned()
    };
    assert_eq!(code(&report, 0), "target_unavailable", "somebody else's");
    assert_eq!(code(&report, 1), "target_unavailable", "nobody's: the same answer");
    assert_eq!(code(&report, 2), "target_not_ready", "its own");
    let report = world.get(&world.tokens.operator, "/api/report").await.json();
    assert_eq!(
        (&*code(&report, 0), &*code(&report, 1)),
        ("target_other_account", "target_missing")
    );
    let claims = report["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 4);
    let warnings = claims.iter().map(|claim| claim["warnings"].as_array().unwrap());
    let around: Vec<_> = warnings
        .flatten()
        .filter(|warning| warning["code"] == "fleet_reachable")
        .map(|warning| warning["detail"].as_str().unwrap())
        .collect();
    let way = "what is moved away still reaches its old application through old.example and 1 more";
    assert_eq!(around, [way], "of the one claim with a map and a fleet, for operators");

    for who in [&world.tokens.publish, &world.tokens.person, &world.tokens.rival] {
        let other = if *who == world.tokens.rival { "tickets" } else { "rival" };
        for path in
            ["/api/audit", "/api/audit?host=other.example", "/api/history?host=other.example"]
        {
            let rows = world.get(who, path).await.json()["rows"].clone();
            let rows = rows.as_array().unwrap().clone();
            assert!(rows.iter().all(|row| row["account"] != other), "{path}: {rows:?}");
        }
    }
    let rows = world.get(&world.tokens.rival, "/api/audit?host=tickets.example").await.json();
    assert_eq!(rows["rows"], serde_json::json!([]));
    // The claims of another app of the account are there for those who are not confined to one.
    let rows = world.get(&world.tokens.control, "/api/audit?host=tickets.example").await.json();
    assert_eq!(rows["rows"], serde_json::json!([]));
    let rows = world.get(&world.tokens.person, "/api/audit?host=tickets.example").await.json();
    assert_eq!(rows["rows"].as_array().unwrap().len(), 2);
}

/// Fields, and the `WWW-Authenticate` of the answer.
#[tokio::test]
async fn credentials() {
    let world = World::with_claim().await;
    let token = &*world.tokens.publish;
    let unknown = format!("fpt_{}", "0".repeat(64));
    let cases: [(Vec<String>, u16, &str); 14] = [
        (vec![format!("Bearer {token}")], 200, ""),
        (vec![format!("bearer {token}")], 200, ""),
        (vec![format!("BEARER   {token}")], 200, ""),
        (vec![], 401, "Bearer realm=\"fingerpost\""),
        (vec![token.to_owned()], 401, "Bearer realm=\"fingerpost\""),
        (vec![format!("Basic {token}")], 401, "Bearer realm=\"fingerpost\""),
        (vec!["Bearer".to_owned()], 401, "Bearer realm=\"fingerpost\""),
        (vec!["Bearer ".to_owned()], 401, "Bearer realm=\"fingerpost\""),
        (vec![format!("Bearer {token} x")], 401, "Bearer realm=\"fingerpost\""),
        (
            vec![format!("Bearer {unknown}")],
            401,
            "Bearer realm=\"fingerpost\", error=\"invalid_token\"",
        ),
        (
            vec![format!("Bearer {}", token.to_uppercase())],
            401,
            "Bearer realm=\"fingerpost\", error=\"invalid_token\"",
        ),
        (
            vec![format!("Bearer {}", &token[..67])],
            401,
            "Bearer realm=\"fingerpost\", error=\"invalid_token\"",
        ),
        (
            vec![format!("Bearer {token}0")],
            401,
            "Bearer realm=\"fingerpost\", error=\"invalid_token\"",
        ),
        (
            vec![format!("Bearer {token}"); 2],
            400,
            "Bearer realm=\"fingerpost\", error=\"invalid_request\"",
        ),
    ];
    for (fields, status, challenge) in cases {
        let fields: Vec<_> = fields.iter().map(|value| ("authorization", &**value)).collect();
        let got = world.call("GET", CLAIM, "", &fields, Body::empty()).await;
        assert_eq!(
            (got.status, &*got.field("www-authenticate")),
            (status, challenge),
            "{fields:?}"
        );
        got.check();
    }
}

#[tokio::test]
async fn tokens_in_urls() {
    let world = World::with_claim().await;
    let token = &*world.tokens.operator;
    let escaped = token.replace('f', "%66");
    let mut refused = vec![
        format!("/api/snapshot?x={token}"),
        format!("/api/snapshot?{token}"),
        format!("/{token}"),
        format!("/healthz?q={escaped}"),
        format!("/api/cli/apps/tickets/classic/domains/{escaped}"),
        format!("/nowhere/{token}/x"),
        format!("http://user:{token}@localhost/healthz"),
        "http://user@localhost/healthz".to_owned(),
        format!("/healthz?q={}", token.to_uppercase().replace("FPT", "fpt")),
    ];
    for key in ["access_token", "token", "TOKEN", "api_key", "%74oken", "authorization"] {
        refused.push(format!("/healthz?{key}=x"));
        refused.push(format!("/api/snapshot?a=b&{key}"));
    }
    for path in &refused {
        for bearer in ["", token] {
            let got = world.get(bearer, path).await;
            assert_eq!((got.status, &*got.code()), (400, "token_in_url"), "{path}");
            got.check();
            assert!(!String::from_utf8_lossy(&got.body).contains(&token[4..]), "{path}");
        }
    }
    for path in ["/healthz?tokens=x", "/healthz?q=fpt_0123", "/healthz?q=token"] {
        assert_eq!(world.get("", path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn grants() {
    let account = || Some(name("a"));
    for role in [Role::Publish, Role::Instance, Role::Person] {
        assert!(Grant::new(role, account(), None, None).is_ok());
        assert!(Grant::new(role, account(), account(), None).is_ok());
        let missing = Err(GrantError::AccountMissing { role });
        assert_eq!(Grant::new(role, None, None, None), missing);
        assert_eq!(Grant::new(role, None, account(), None), missing);
    }
    assert!(Grant::new(Role::Operator, None, None, account()).is_ok());
    for (account, app) in [(account(), None), (None, account()), (account(), account())] {
        let confined = Err(GrantError::OperatorConfined);
        assert_eq!(Grant::new(Role::Operator, account, app, None), confined);
    }
    for role in Role::ALL {
        assert_eq!(role.to_string().parse(), Ok(role));
        assert!(role.to_string().to_uppercase().parse::<Role>().is_err());
    }
}

#[tokio::test]
async fn tokens_are_made_listed_and_revoked() {
    let world = World::with_claim().await;
    let (store, ambient) = (&*world.store, &*world.ambient);
    let grant = Grant::new(Role::Person, Some(name("tickets")), None, Some(name("Ann"))).unwrap();
    let created = create(store, ambient, &grant).await.unwrap();
    let token = created.secret.to_string();
    assert_eq!(token.len(), 68);
    assert!(!format!("{created:?}").contains(&token[4..]), "debug shows no token");
    let all = world.everything().await;
    assert!(!all.contains(&token[4..]), "a token is stored as a hash only");

    let listed = list(store).await.unwrap();
    assert!(listed.is_sorted_by(|a, b| a.id < b.id));
    let found = listed.iter().find(|one| one.id == created.id).unwrap();
    assert_eq!(found.grant.as_ref(), Some(&grant));
    assert_eq!(found.created.as_deref(), Some("2026-11-30T23:59:59.000Z"));

    assert_eq!(world.get(&token, CLAIM).await.status, 200);
    for (id, why) in [
        ("", RevokeError::TooShort { least: 4 }),
        ("000", RevokeError::TooShort { least: 4 }),
        ("zzzz", RevokeError::NotFound),
        (&*format!("{}z", created.id), RevokeError::NotFound),
    ] {
        assert_eq!(revoke(store, ambient, id).await, Err(why), "{id:?}");
    }
    let revoked = revoke(store, ambient, &created.id).await.unwrap();
    assert_eq!((&revoked.id, revoked.grant.as_ref()), (&created.id, Some(&grant)));
    assert_eq!(world.get(&token, CLAIM).await.status, 401, "at once");
    assert_eq!(revoke(store, ambient, &created.id).await, Err(RevokeError::NotFound));
    let rows = world.rows(fingerpost_claims::Journal::Audit).await;
    assert_eq!(
        (&rows[0]["action"], &rows[0]["actor"]),
        (&"token.revoke".into(), &created.id.into())
    );
    assert_eq!(
        (&rows[1]["action"], &rows[1]["actor_name"]),
        (&"token.create".into(), &"Ann".into())
    );
}

/// What can't be read grants nothing; nor does what a later version may have meant as a restriction.
#[tokio::test]
async fn records_of_tokens_that_grant_nothing() {
    let bodies = [
        r#"{}"#,
        r#"{"role":"operator","account":null,"app":null,"name":null,"created":null,"write_id":"1","until":"2020"}"#,
        r#"{"role":"owner","account":"tickets","app":null,"name":null,"created":null,"write_id":"1"}"#,
        r#"{"role":"person","account":null,"app":null,"name":null,"created":null,"write_id":"1"}"#,
        r#"{"role":"person","account":"","app":null,"name":null,"created":null,"write_id":"1"}"#,
        "nothing",
    ];
    for body in bodies {
        let world = World::with_claim().await;
        let before = list(&*world.store).await.unwrap();
        let page = world.store.list(Collection::Tokens, Default::default()).await.unwrap();
        for (key, record) in page.records {
            let body = body.as_bytes().to_vec();
            let change = Change::replace(Collection::Tokens, &key, record.version, body);
            world.store.commit(Commit::of(change)).await.unwrap();
        }
        for (who, token) in tokens(&world) {
            assert_eq!(world.get(token, "/api/report").await.status, 401, "{who}: {body}");
        }
        let listed = list(&*world.store).await.unwrap();
        assert_eq!(listed.len(), before.len());
        assert!(listed.iter().all(|one| one.grant.is_none()), "{body}");
        for one in listed {
            revoke(&*world.store, &*world.ambient, &one.id).await.unwrap();
        }
    }
}
