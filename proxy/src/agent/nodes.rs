//! What each box has applied, as the store keeps it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fingerpost_claims::{
    Change, ClaimStore, Collection, Commit, Expect, Name, PageQuery, StoreError,
};
use fingerpost_control::{Ambient as _, Node};
use serde::{Deserialize, Serialize};

use crate::random::System;

/// The body of a record.
#[derive(Deserialize, Serialize)]
struct Body {
    serial: u64,
    /// Seconds since 1970; for people.
    at: u64,
}

/// Says that a box routes by `serial`.
pub(super) async fn report(
    store: &dyn ClaimStore,
    name: &Name,
    serial: u64,
) -> Result<(), StoreError> {
    let at = System.now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let body = serde_json::to_vec(&Body { serial, at }).unwrap_or_default();
    let (collection, key) = (Collection::Nodes, name.to_string());
    let change = Change { collection, key, expect: Expect::Any, body: Some(body) };
    store.commit(Commit::of(change)).await.map(drop)
}

/// Every box that has ever said so. One whose record can't be read has applied nothing.
pub(super) async fn list(store: &dyn ClaimStore) -> Result<Vec<Node>, StoreError> {
    let (mut nodes, mut after) = (Vec::new(), None::<String>);
    loop {
        let query = PageQuery { after: after.as_deref(), ..PageQuery::default() };
        let page = store.list(Collection::Nodes, query).await?;
        nodes.extend(page.records.iter().filter_map(|(key, record)| {
            let name = Name::parse(key).ok()?;
            let body = serde_json::from_slice::<Body>(&record.body).ok();
            let seen = body.as_ref().and_then(|body| seen(body.at));
            Some(Node { name, serial: body.map_or(0, |body| body.serial), seen })
        }));
        after = page.next;
        if after.is_none() {
            return Ok(nodes);
        }
    }
}

fn seen(at: u64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_secs(at))
}
