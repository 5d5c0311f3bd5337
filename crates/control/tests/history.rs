//! What a map was can be seen, and published again.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a failing test may panic")]

#[path = "support/world.rs"]
mod world;

use std::collections::BTreeMap;

use fingerpost_claims::{Change, Collection, Commit, Journal};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Value, json};
use world::{APP, CLAIM, PATHS, World};

const HISTORY: &str = "/api/history?host=tickets.example";

async fn rows(world: &World) -> Vec<Value> {
    let got = world.get(&world.tokens.publish, HISTORY).await;
    assert_eq!(got.status, 200, "{got:?}");
    got.json()["rows"].as_array().unwrap().clone()
}

async fn map_after(world: &World, row: &Value) -> Value {
    let path = format!("{HISTORY}&number={}", row["number"]);
    world.get(&world.tokens.publish, &path).await.json()["paths"].clone()
}

#[tokio::test]
async fn a_past_map_is_published_again() {
    let world = World::with_claim().await;
    let good = json!({ "a": "next.tickets.example", "b": "later.tickets.example" });
    let steps = [good.clone(), json!({ "a": "later.tickets.example" }), json!({})];
    for paths in &steps {
        let body = json!({ "paths": paths }).to_string();
        assert_eq!(world.put(&world.tokens.publish, PATHS, &body).await.status, 200);
    }
    let found = rows(&world).await;
    let fields = ["action", "role", "before", "after", "added", "moved", "removed"];
    let told: Vec<_> =
        found.iter().map(|row| Value::from_iter(fields.map(|field| row[field].clone()))).collect();
    let moved = json!({ "a": { "from": "next.tickets.example", "to": "later.tickets.example" } });
    assert_eq!(
        told,
        [
            json!(["paths", "publish", 1, 0, {}, {}, { "a": "later.tickets.example" }]),
            json!(["paths", "publish", 2, 1, {}, moved, { "b": "later.tickets.example" }]),
            json!(["paths", "publish", 0, 2, good, {}, {}]),
        ]
    );
    for (row, paths) in found.iter().rev().zip(&steps) {
        assert_eq!(map_after(&world, row).await, *paths);
    }
    let body = json!({ "paths": map_after(&world, &found[2]).await }).to_string();
    assert_eq!(world.put(&world.tokens.publish, PATHS, &body).await.status, 200);
    assert_eq!(world.get(&world.tokens.publish, CLAIM).await.json()["paths"], good);
}

#[tokio::test]
async fn others_and_unknown_rows_are_not_found() {
    let world = World::with_claim().await;
    assert_eq!(
        world
            .put(&world.tokens.publish, PATHS, r#"{"paths":{"a":"next.tickets.example"}}"#)
            .await
            .status,
        200
    );
    let number = rows(&world).await[0]["number"].clone();
    for (token, number, status) in [
        (&world.tokens.publish, number.clone(), 200),
        (&world.tokens.operator, number.clone(), 200),
        (&world.tokens.rival, number.clone(), 404),
        (&world.tokens.control, number, 404),
        (&world.tokens.operator, json!(999), 404),
    ] {
        let got = world.get(token, &format!("{HISTORY}&number={number}")).await;
        assert_eq!(got.status, status, "{got:?}");
    }
    let rows = world.get(&world.tokens.rival, HISTORY).await.json()["rows"].clone();
    assert_eq!(rows, json!([]));
}

/// A map that came past the door is no row: what was before can't be told any more, and is not guessed.
#[tokio::test]
async fn a_broken_chain_is_noticed() {
    let world = World::with_claim().await;
    for paths in
        [r#"{"paths":{"a":"next.tickets.example"}}"#, r#"{"paths":{"b":"next.tickets.example"}}"#]
    {
        assert_eq!(world.put(&world.tokens.publish, PATHS, paths).await.status, 200);
    }
    let record = world.store.get(Collection::Claims, "tickets.example").await.unwrap().unwrap();
    let body =
        String::from_utf8(record.body.to_vec()).unwrap().replace("\"b\"", "\"c\"").into_bytes();
    let change = Change::replace(Collection::Claims, "tickets.example", record.version, body);
    world.store.commit(Commit::of(change).with_bump()).await.unwrap();
    for row in rows(&world).await {
        let got =
            world.get(&world.tokens.publish, &format!("{HISTORY}&number={}", row["number"])).await;
        assert_eq!((got.status, &got.json()["reason"]), (404, &json!("history_broken")));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// The map after any row is the one that was published then, deletions and new owners included.
    #[test]
    fn every_row_gives_its_map(
        steps in vec(prop::option::weighted(0.9, btree_map("[abAB]", "(next|later)[.]tickets[.]example", 0..4)), 1..70),
    ) {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
            let world = World::with_claim().await;
            let mut maps: Vec<BTreeMap<String, String>> = vec![BTreeMap::new()];
            for step in steps {
                let last = maps.last().unwrap().clone();
                match step {
                    Some(map) => {
                        let body = json!({ "paths": map }).to_string();
                        let got = world.put(&world.tokens.publish, PATHS, &body).await;
                        assert_eq!(got.status, 200);
                        if map != last {
                            maps.push(map);
                        }
                    }
                    None => {
                        let got = world.call("DELETE", CLAIM, &world.tokens.publish, &[("if-match", "*")], "").await;
                        assert_eq!(got.status, 204);
                        if !last.is_empty() {
                            maps.push(BTreeMap::new());
                        }
                        assert_eq!(world.post(&world.tokens.publish, APP, r#"{"host":"tickets.example"}"#).await.status, 201);
                    }
                }
            }
            let found = rows(&world).await;
            assert_eq!(found.len(), (maps.len() - 1).min(Journal::HISTORY_KEPT));
            for (row, map) in found.iter().zip(maps.iter().rev()) {
                assert_eq!(map_after(&world, row).await, json!(map));
            }
        });
    }
}
