//! The OpenAPI document says what is served, no more and no less.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a failing test may panic")]

#[path = "support/faulty.rs"]
mod faulty;
#[path = "support/world.rs"]
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Body;
use faulty::{Fault, Faulty};
use fingerpost_claims::Limits;
use serde_json::Value;
use world::{APP, CLAIM, Got, PATHS, World};

/// What is done before a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    Nothing,
    Claim,
    Flipped,
    Lagging,
    NotReady,
    Down,
}

use Given::{Claim, Down, Flipped, Lagging, NotReady, Nothing};

/// Given, status, method, path, token, fields, body. `$E` is the ETag of the claim.
type Case = (
    Given,
    u16,
    &'static str,
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);

const NEW: &str = "/api/cli/apps/tickets/classic/domains/new.pages.example";
const ATTACH: &str = r#"{"host":"tickets.example"}"#;
const MAP: &str = r#"{"paths":{"paulca":"next.tickets.example"}}"#;
const GZIP: &[(&str, &str)] = &[("content-encoding", "gzip")];
const LARGE: &[(&str, &str)] = &[("content-length", "99999999")];
const STALE: &[(&str, &str)] = &[("if-match", "\"stale\"")];
const CURRENT: &[(&str, &str)] = &[("if-match", "$E")];
const WAIT: &[(&str, &str)] = &[("prefer", "wait=1")];

#[rustfmt::skip]
static CASES: &[Case] = &[
    (Claim, 200, "GET", APP, "publish", &[], ""),
    (Nothing, 400, "GET", "/api/cli/apps/tickets/classic/domains?x=1", "publish", &[], ""),
    (Nothing, 401, "GET", APP, "", &[], ""),
    (Nothing, 403, "GET", APP, "rival", &[], ""),
    (Down, 503, "GET", APP, "publish", &[], ""),

    (Claim, 200, "POST", APP, "publish", &[], ATTACH),
    (Nothing, 201, "POST", APP, "publish", &[], ATTACH),
    (Nothing, 400, "POST", APP, "publish", &[], "{}"),
    (Nothing, 401, "POST", APP, "", &[], ATTACH),
    (Nothing, 403, "POST", APP, "rival", &[], ATTACH),
    (Claim, 409, "POST", "/api/cli/apps/tickets/go/domains", "person", &[], ATTACH),
    (Nothing, 413, "POST", APP, "publish", LARGE, ATTACH),
    (Nothing, 415, "POST", APP, "publish", GZIP, ATTACH),
    (Nothing, 422, "POST", APP, "publish", &[], r#"{"host":"*.example"}"#),
    (Down, 503, "POST", APP, "publish", &[], ATTACH),

    (Claim, 200, "GET", CLAIM, "publish", &[], ""),
    (Claim, 304, "GET", CLAIM, "publish", &[("if-none-match", "$E")], ""),
    (Claim, 400, "GET", CLAIM, "publish", &[("if-none-match", "x")], ""),
    (Claim, 401, "GET", CLAIM, "", &[], ""),
    (Claim, 403, "GET", CLAIM, "rival", &[], ""),
    (Nothing, 404, "GET", CLAIM, "publish", &[], ""),
    (Down, 503, "GET", CLAIM, "publish", &[], ""),

    (Lagging, 202, "DELETE", CLAIM, "publish", WAIT, ""),
    (Claim, 204, "DELETE", CLAIM, "publish", &[], ""),
    (Flipped, 204, "DELETE", CLAIM, "publish", CURRENT, ""),
    (Claim, 400, "DELETE", CLAIM, "publish", &[("if-match", "x")], ""),
    (Claim, 401, "DELETE", CLAIM, "", &[], ""),
    (Claim, 403, "DELETE", CLAIM, "rival", &[], ""),
    (Claim, 404, "DELETE", NEW, "publish", &[], ""),
    (Claim, 412, "DELETE", CLAIM, "publish", STALE, ""),
    (Flipped, 428, "DELETE", CLAIM, "publish", &[], ""),
    (Down, 503, "DELETE", CLAIM, "publish", &[], ""),

    (Claim, 200, "PUT", PATHS, "publish", &[], MAP),
    (Lagging, 202, "PUT", PATHS, "publish", WAIT, MAP),
    (Claim, 400, "PUT", PATHS, "publish", &[], "{}"),
    (Claim, 401, "PUT", PATHS, "", &[], MAP),
    (Claim, 403, "PUT", PATHS, "rival", &[], MAP),
    (Nothing, 404, "PUT", PATHS, "publish", &[], MAP),
    (Flipped, 409, "PUT", "/api/cli/apps/tickets/classic/domains/tickets.example/paths?max_removed=0", "publish", &[], r#"{"paths":{}}"#),
    (Claim, 412, "PUT", PATHS, "publish", STALE, MAP),
    (Claim, 413, "PUT", PATHS, "publish", LARGE, MAP),
    (Claim, 415, "PUT", PATHS, "publish", GZIP, MAP),
    (Claim, 422, "PUT", PATHS, "publish", &[], r#"{"paths":{"a/b":"next.tickets.example"}}"#),
    (Down, 503, "PUT", PATHS, "publish", &[], MAP),

    (Nothing, 200, "GET", "/api/snapshot", "operator", &[], ""),
    (Nothing, 400, "GET", "/api/snapshot?x", "operator", &[], ""),
    (Nothing, 401, "GET", "/api/snapshot", "", &[], ""),
    (Nothing, 403, "GET", "/api/snapshot", "person", &[], ""),
    (NotReady, 503, "GET", "/api/snapshot", "operator", &[], ""),

    (Flipped, 200, "GET", "/api/report", "operator", &[], ""),
    (Flipped, 200, "GET", "/api/report?host=tickets.example", "publish", &[], ""),
    (Nothing, 400, "GET", "/api/report?host=*", "publish", &[], ""),
    (Nothing, 401, "GET", "/api/report", "", &[], ""),
    (Down, 503, "GET", "/api/report", "publish", &[], ""),

    (Flipped, 200, "GET", "/api/audit", "operator", &[], ""),
    (Nothing, 400, "GET", "/api/audit?limit=x", "operator", &[], ""),
    (Nothing, 401, "GET", "/api/audit", "", &[], ""),
    (Down, 503, "GET", "/api/audit", "operator", &[], ""),

    (Flipped, 200, "GET", "/api/history?host=tickets.example", "publish", &[], ""),
    (Nothing, 400, "GET", "/api/history", "publish", &[], ""),
    (Nothing, 401, "GET", "/api/history?host=tickets.example", "", &[], ""),
    (Nothing, 404, "GET", "/api/history?host=tickets.example&number=9", "publish", &[], ""),
    (Down, 503, "GET", "/api/history?host=tickets.example", "publish", &[], ""),

    (Nothing, 200, "GET", "/api/explain?host=tickets.example&target=/paulca", "publish", &[], ""),
    (Nothing, 400, "GET", "/api/explain?host=tickets.example", "publish", &[], ""),
    (Nothing, 401, "GET", "/api/explain?host=tickets.example&target=/", "", &[], ""),
    (Nothing, 403, "GET", "/api/explain?host=other.example&target=/", "person", &[], ""),
    (Down, 503, "GET", "/api/explain?host=tickets.example&target=/", "publish", &[], ""),

    (Nothing, 200, "GET", "/api/nodes", "operator", &[], ""),
    (Nothing, 400, "GET", "/api/nodes?x", "operator", &[], ""),
    (Nothing, 401, "GET", "/api/nodes", "", &[], ""),
    (Nothing, 403, "GET", "/api/nodes", "person", &[], ""),
    (Down, 503, "GET", "/api/nodes", "operator", &[], ""),
    (Nothing, 200, "GET", "/api/routes", "operator", &[], ""),
    (Nothing, 400, "GET", "/api/routes?x", "operator", &[], ""),
    (Nothing, 401, "GET", "/api/routes", "", &[], ""),
    (Nothing, 403, "GET", "/api/routes", "person", &[], ""),
    (Down, 503, "GET", "/api/routes", "operator", &[], ""),

    (Nothing, 200, "GET", "/api/openapi.json", "", &[], ""),
    (Nothing, 400, "GET", "/api/openapi.json?token=x", "", &[], ""),
    (Nothing, 200, "GET", "/healthz", "", &[], ""),
    (Nothing, 200, "GET", "/healthz?probe=1", "", &[], ""),
    (Nothing, 400, "GET", "/healthz?access_token=x", "", &[], ""),
    (Down, 200, "GET", "/healthz", "", &[], ""),
    (Nothing, 200, "GET", "/readyz", "", &[], ""),
    (Nothing, 400, "GET", "/readyz?bearer=x", "", &[], ""),
    (NotReady, 503, "GET", "/readyz", "", &[], ""),
];

async fn produce(case: &Case) -> Got {
    let (given, _, method, path, token, fields, body) = *case;
    let store = Faulty::new(&[]);
    let world = World::over(Arc::<Faulty>::clone(&store), Limits::default()).await;
    let mut tag = String::new();
    if matches!(given, Claim | Flipped | Lagging | Down) {
        world.attach_tickets().await;
        if given == Flipped {
            assert_eq!(world.put(&world.tokens.publish, PATHS, MAP).await.status, 200);
            world.view.sync().await;
        }
        tag = world.get(&world.tokens.publish, CLAIM).await.field("etag");
    }
    match given {
        Lagging => *world.view.lagging.lock().unwrap() = Ok(vec!["b".to_owned()]),
        NotReady => world.view.ready.store(false, Ordering::Relaxed),
        Down => *store.down.lock().unwrap() = true,
        Nothing | Claim | Flipped => {}
    }
    let token = match token {
        "publish" => &world.tokens.publish,
        "person" => &world.tokens.person,
        "operator" => &world.tokens.operator,
        "rival" => &world.tokens.rival,
        _ => "",
    };
    let fields: Vec<_> =
        fields.iter().map(|(key, value)| (*key, value.replace("$E", &tag))).collect();
    let fields: Vec<_> = fields.iter().map(|(key, value)| (*key, &**value)).collect();
    let body = if body.is_empty() { Body::empty() } else { Body::from(body) };
    let before = world.store.serial().await;
    let got = world.call(method, path, token, &fields, body).await;
    got.check();
    if got.status >= 400 {
        assert_eq!(world.store.serial().await, before, "{case:?}: a refusal changes nothing");
        assert!(!String::from_utf8_lossy(&got.body).contains("secret"), "{got:?}");
    }
    got
}

/// The path of the document that a request is of.
fn template(document: &Value, path: &str) -> String {
    let segments = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
    let given = segments(path.split('?').next().unwrap());
    let fits = |template: &&String| {
        let parts = segments(template);
        let same = |(part, given): (&String, &String)| part.starts_with('{') || part == given;
        parts.len() == given.len() && parts.iter().zip(&given).all(same)
    };
    document["paths"].as_object().unwrap().keys().find(fits).unwrap().clone()
}

#[tokio::test]
async fn every_status_is_documented_and_every_documented_status_happens() {
    let document: Value = serde_json::from_str(fingerpost_control::openapi()).unwrap();
    let mut documented = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let Some(responses) = operation["responses"].as_object() else { continue };
            for status in responses.keys() {
                documented.insert((path.clone(), method.to_uppercase(), status.clone()));
            }
        }
    }
    let mut produced = BTreeSet::new();
    let mut shapes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for case in CASES {
        let got = produce(case).await;
        assert_eq!(got.status, case.1, "{case:?}: {got:?}");
        let (path, status) = (template(&document, case.3), got.status.to_string());
        let operation = &document["paths"][&path][case.2.to_ascii_lowercase()];
        let content = &operation["responses"][&status]["content"];
        if let Some((media, content)) =
            content.as_object().and_then(|content| content.iter().next())
        {
            assert_eq!(got.field("content-type"), *media, "{case:?}");
            let name = content["schema"]["$ref"].as_str().unwrap();
            conforms(&document, content.get("schema").unwrap(), &got.json(), case);
            shapes.entry(name.to_owned()).or_default().insert(path.clone());
        } else {
            assert_eq!(got.body, b"", "{case:?}");
        }
        produced.insert((path, case.2.to_owned(), status));
    }
    assert_eq!(produced, documented);
    let schemas = document["components"]["schemas"].as_object().unwrap().len();
    // Two are of requests, one of maps inside others.
    assert_eq!(shapes.len() + 3, schemas, "every schema is produced: {shapes:?}");
}

/// As much of JSON Schema as the document uses.
fn conforms(document: &Value, schema: &Value, value: &Value, case: &Case) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap();
        let schema = &document["components"]["schemas"][name];
        assert!(schema.is_object(), "{name}");
        return conforms(document, schema, value, case);
    }
    let types: Vec<_> = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(all) => all.iter().map(|one| one.as_str().unwrap()).collect(),
        _ => vec![],
    };
    let of = |name: &&str| match *name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    assert!(types.is_empty() || types.iter().any(of), "{case:?}: {value} is {schema}");
    if let Some(all) = schema["enum"].as_array() {
        assert!(all.contains(value), "{case:?}: {value} is {schema}");
    }
    for key in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(key.as_str().unwrap()).is_some(), "{case:?}: {key} is in {value}");
    }
    for one in value.as_array().into_iter().flatten() {
        conforms(document, &schema["items"], one, case);
    }
    let properties = schema["properties"].as_object();
    for (key, member) in value.as_object().into_iter().flatten() {
        match (properties.and_then(|known| known.get(key)), &schema["additionalProperties"]) {
            (Some(known), _) => conforms(document, known, member, case),
            (None, additional @ Value::Object(_)) => conforms(document, additional, member, case),
            (None, _) => assert!(properties.is_none(), "{case:?}: {key} is not in {schema}"),
        }
    }
}

#[tokio::test]
async fn other_methods_and_paths() {
    let document: Value = serde_json::from_str(fingerpost_control::openapi()).unwrap();
    let world = World::with_claim().await;
    let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"];
    for (path, item) in document["paths"].as_object().unwrap() {
        let path = path.replace("{account}", "tickets").replace("{app}", "classic");
        let path = path.replace("{host}", "tickets.example");
        let mut allowed: BTreeSet<String> = item.as_object().unwrap().keys().cloned().collect();
        allowed.remove("parameters");
        let mut allowed: BTreeSet<_> = allowed.iter().map(|one| one.to_uppercase()).collect();
        if allowed.contains("GET") {
            allowed.insert("HEAD".to_owned());
        }
        for method in methods {
            let got = world.call(method, &path, "", &[], Body::empty()).await;
            if allowed.contains(method) {
                assert_ne!(got.status, 405, "{method} {path}");
                continue;
            }
            assert_eq!(got.status, 405, "{method} {path}");
            if method != "HEAD" {
                got.check();
            }
            let field = got.field("allow");
            let told: BTreeSet<_> = field.split(',').map(|one| one.trim().to_owned()).collect();
            assert_eq!(told, allowed, "{method} {path}");
        }
    }
    let missing = [
        "/",
        "/api",
        "/api/",
        "/api/snapshot/",
        "/api//snapshot",
        "/API/snapshot",
        "/api/cli/apps/tickets/classic",
        "/api/cli/apps/tickets/classic/domains/tickets.example/paths/",
        "/api/cli/apps/tickets/classic/domains/",
        "/metrics",
    ];
    for path in missing {
        let got = world.get(&world.tokens.operator, path).await;
        assert_eq!((got.status, &*got.code()), (404, "not_found"), "{path}");
        got.check();
    }
}

#[tokio::test]
async fn head_is_get_without_its_body() {
    let world = World::with_claim().await;
    let paths = [
        CLAIM,
        APP,
        "/api/report",
        "/api/snapshot",
        "/healthz",
        "/readyz",
        "/api/openapi.json",
        "/no",
    ];
    for path in paths {
        for token in ["", &world.tokens.operator] {
            let get = world.get(token, path).await;
            let head = world.call("HEAD", path, token, &[], Body::empty()).await;
            assert_eq!((head.status, head.body.len()), (get.status, 0), "{path}");
            for field in ["etag", "content-type", "www-authenticate", "cache-control"] {
                assert_eq!(head.field(field), get.field(field), "{path}");
            }
        }
    }
}

#[tokio::test]
async fn faults_of_a_commit_are_503() {
    let store = Faulty::new(&[]);
    let world = World::over(Arc::<Faulty>::clone(&store), Limits::default()).await;
    store.faults.lock().unwrap().push_back(Fault::Unavailable);
    let got = world.post(&world.tokens.publish, APP, ATTACH).await;
    assert_eq!((got.status, &*got.code()), (503, "store_unavailable"));
    got.check();
}
