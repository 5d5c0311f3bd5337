//! Writers at the same time, and stores that do not say what they did.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a failing test may panic")]

#[path = "support/faulty.rs"]
mod faulty;
#[path = "support/world.rs"]
mod world;

use std::sync::Arc;

use faulty::{Fault, Faulty};
use fingerpost_claims::{ClaimStore, Journal, Limits, MemoryStore};
use fingerpost_registry::{SqliteStore, StoreOptions};
use serde_json::json;
use world::{APP, CLAIM, PATHS, World};

const MAP: &str = r#"{"paths":{"a":"next.tickets.example"}}"#;

async fn stores() -> (tempfile::TempDir, [Arc<dyn ClaimStore>; 2]) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("claims.db");
    let sqlite = SqliteStore::open(&path, &StoreOptions::default()).unwrap();
    (directory, [Arc::new(MemoryStore::new()), Arc::new(sqlite)])
}

/// 8 tasks, each 200 times: read the map, add an entry, write it with `If-Match`, again where that fails.
#[tokio::test(flavor = "multi_thread")]
async fn read_modify_writes_lose_nothing() {
    let (_directory, stores) = stores().await;
    for store in stores {
        let world = Arc::new(World::over(store, Limits::default()).await);
        world.attach_tickets().await;
        let tasks = (0..8).map(|task| {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                for turn in 0..200 {
                    loop {
                        let got = world.get(&world.tokens.publish, CLAIM).await;
                        let mut paths = got.json()["paths"].clone();
                        paths[format!("{task}-{turn}")] = json!("next.tickets.example");
                        let body = json!({ "paths": paths }).to_string();
                        let fields = [("if-match", &*got.field("etag"))];
                        let got =
                            world.call("PUT", PATHS, &world.tokens.publish, &fields, body).await;
                        match got.status {
                            200 => break,
                            412 => assert_ne!(got.field("etag"), fields[0].1),
                            _ => panic!("{got:?}"),
                        }
                    }
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        let paths = world.get(&world.tokens.publish, CLAIM).await.json()["paths"].clone();
        assert_eq!(paths.as_object().unwrap().len(), 1600);
        assert_eq!(world.store.serial().await, Ok(1601));
        let query = fingerpost_claims::TailQuery {
            topic: Some("tickets.example"),
            before: None,
            limit: 9999,
        };
        assert_eq!(world.store.tail(Journal::Audit, query).await.unwrap().len(), 1601);
    }
}

/// Without `If-Match` every publish succeeds, and leaves one row; the last one is what is stored.
#[tokio::test(flavor = "multi_thread")]
async fn publishers_without_a_precondition() {
    let (_directory, stores) = stores().await;
    for store in stores {
        let world = Arc::new(World::over(store, Limits::default()).await);
        world.attach_tickets().await;
        let tasks = (0..8).map(|task| {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                for turn in 0..50 {
                    let body =
                        json!({ "paths": { format!("{task}-{turn}"): "next.tickets.example" } });
                    let got = world.put(&world.tokens.publish, PATHS, &body.to_string()).await;
                    assert_eq!(
                        (got.status, &got.json()["changed"]),
                        (200, &json!(true)),
                        "{got:?}"
                    );
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        let rows = world.rows(Journal::Audit).await;
        assert_eq!(rows.iter().filter(|row| row["action"] == "paths").count(), 400);
        assert_eq!(world.store.serial().await, Ok(401));
        let paths = world.get(&world.tokens.publish, CLAIM).await.json()["paths"].clone();
        let last = &world.rows(Journal::History).await[0];
        assert_eq!(last["added"], paths, "the history ends with what is stored");
    }
}

/// Of many accounts that attach one host at once exactly one gets it.
#[tokio::test(flavor = "multi_thread")]
async fn one_attaches() {
    for turn in 0..20 {
        let world = Arc::new(World::new().await);
        let body = format!(r#"{{"host":"{turn}.pages.example"}}"#);
        let tasks: Vec<_> = (0..8)
            .map(|task| {
                let (world, body) = (Arc::clone(&world), body.clone());
                tokio::spawn(async move {
                    let (path, token) = match task % 2 {
                        0 => (APP, &world.tokens.person),
                        _ => ("/api/cli/apps/rival/web/domains", &world.tokens.rival),
                    };
                    world.post(token, path, &body).await.status
                })
            })
            .collect();
        let mut answers = Vec::new();
        for task in tasks {
            answers.push(task.await.unwrap());
        }
        let count = |status| answers.iter().filter(|answer| **answer == status).count();
        assert_eq!((count(201), count(200), count(409)), (1, 3, 4), "{answers:?}");
    }
}

/// The faults of the first commits; the status and code; how many commits; whether it is stored.
type Row = (&'static [Fault], u16, &'static str, usize, bool);

#[rustfmt::skip]
static FAULTS: &[Row] = &[
    (&[], 200, "", 1, true),
    (&[Fault::Conflict], 200, "", 2, true),
    (&[Fault::Conflict, Fault::Conflict, Fault::Conflict], 200, "", 4, true),
    (&[Fault::Unavailable], 503, "store_unavailable", 1, false),
    (&[Fault::Conflict, Fault::Unavailable], 503, "store_unavailable", 2, false),
    // Stored, and found by reading back: not written twice.
    (&[Fault::Unsaid], 200, "", 1, true),
    (&[Fault::Conflict, Fault::Unsaid], 200, "", 2, true),
    // Not stored: tried again on the same version.
    (&[Fault::Lost], 200, "", 2, true),
    (&[Fault::Lost, Fault::Lost, Fault::Unsaid], 200, "", 3, true),
    // Stored after it was looked for: the second try meets it, and finds it to be its own.
    (&[Fault::Late], 200, "", 2, true),
    // Nobody can tell.
    (&[Fault::Overwritten], 503, "outcome_unknown", 1, true),
    (&[Fault::Lost, Fault::Unavailable], 503, "outcome_unknown", 2, false),
];

#[tokio::test]
async fn commits_that_are_not_answered() {
    for if_match in [false, true] {
        for (faults, status, code, commits, stored) in FAULTS {
            let store = Faulty::new(&[]);
            let world = World::over(Arc::<Faulty>::clone(&store), Limits::default()).await;
            world.attach_tickets().await;
            let tag = world.get(&world.tokens.publish, CLAIM).await.field("etag");
            let audit = world.rows(Journal::Audit).await.len();
            store.faults.lock().unwrap().extend(*faults);
            *store.commits.lock().unwrap() = 0;
            let fields: &[(&str, &str)] = if if_match { &[("if-match", &tag)] } else { &[] };
            let got = world.call("PUT", PATHS, &world.tokens.publish, fields, MAP).await;
            got.check();
            let told = if *status == 200 { String::new() } else { got.code() };
            assert_eq!((got.status, &*told), (*status, *code), "{faults:?}: {got:?}");
            assert!(!String::from_utf8_lossy(&got.body).contains("secret"), "{got:?}");
            assert_eq!(*store.commits.lock().unwrap(), *commits, "{faults:?}");
            let rows = world.rows(Journal::Audit).await.len() - audit;
            assert_eq!(rows, usize::from(*stored), "{faults:?}: one row for one change");
            if *status == 200 {
                let read = world.get(&world.tokens.publish, CLAIM).await;
                assert_eq!(read.field("etag"), got.field("etag"), "{faults:?}");
                assert_eq!(
                    got.json()["serial"],
                    json!(store.serial().await.unwrap()),
                    "{faults:?}"
                );
                assert_eq!(got.json()["changed"], true, "{faults:?}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn endless_conflicts_end() {
    let store = Faulty::new(&[]);
    let world = World::over(Arc::<Faulty>::clone(&store), Limits::default()).await;
    world.attach_tickets().await;
    store.faults.lock().unwrap().extend([Fault::Conflict; 1000]);
    let before = world.everything().await;
    let got = world.put(&world.tokens.publish, PATHS, MAP).await;
    assert_eq!((got.status, &*got.code()), (503, "contention"));
    assert_eq!(world.everything().await, before);
}

/// A client that goes does not stop a write halfway.
#[tokio::test(flavor = "multi_thread")]
async fn writes_end_without_their_client() {
    let (_directory, [_, store]) = stores().await;
    let world = Arc::new(World::over(store, Limits::default()).await);
    world.attach_tickets().await;
    for turn in 0..40_u32 {
        let body = json!({ "paths": { turn.to_string(): "next.tickets.example" } }).to_string();
        let request = world.call("PUT", PATHS, &world.tokens.publish, &[], body);
        // Dropped at some point between its first read and its answer.
        let patience = std::time::Duration::from_micros(u64::from(turn) * 100);
        let _ = tokio::time::timeout(patience, request).await;
    }
    // Whatever was stored has its rows, and moved the serial.
    let settle = async || loop {
        let audit = world.rows(Journal::Audit).await;
        let written = audit.iter().filter(|row| row["action"] == "paths").count();
        let history = world.rows(Journal::History).await.len();
        let serial = world.store.serial().await.unwrap();
        if history == written && serial == u64::try_from(written).unwrap() + 1 {
            return written;
        }
    };
    let settled = tokio::time::timeout(std::time::Duration::from_secs(30), settle()).await;
    assert!(settled.expect("the journals agree") > 0);
}
