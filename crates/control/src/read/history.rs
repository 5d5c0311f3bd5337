//! What the map of a host was.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::Response;
use fingerpost_authority::Host;
use fingerpost_claims::{Claim, Collection, Journal, TailQuery};
use serde::Serialize;

use super::audit::sees;
use crate::control::Control;
use crate::dispatch::{Call, json};
use crate::problem::Problem;
use crate::query::Query;
use crate::record::{Deed, HistoryRow, digest};

/// Shows how the map of a host changed, the newest change first; or, with `number`, the whole map after one.
pub(crate) async fn history(call: &Call) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Document<'a> {
        host: &'a str,
        rows: Vec<Line>,
    }
    let query = Query::parse(&call.parts.uri, &["host", "number"], &[])?;
    let needed = || Problem::bad_request("query_invalid", "the parameter \"host\" is needed");
    let host = query.host("host")?.ok_or_else(needed)?;
    let rows = rows(&call.control, &host).await?;
    if let Some(number) = query.number("number")? {
        return map_after(call, &host, &rows, number).await;
    }
    let own = rows.into_iter().filter(|(_, row)| sees(&call.caller, &row.deed));
    let rows = own.map(|(number, row)| Line::new(number, row)).collect();
    Ok(json(StatusCode::OK, &Document { host: host.as_str(), rows }))
}

/// Every row that is kept, the newest first.
async fn rows(control: &Control, host: &Host) -> Result<Vec<(u64, HistoryRow)>, Problem> {
    let topic = Some(host.as_str());
    let page = TailQuery { topic, before: None, limit: Journal::HISTORY_KEPT };
    let found = control.store.tail(Journal::History, page).await?;
    let read = found.iter().map(|row| Some((row.number, serde_json::from_slice(&row.body).ok()?)));
    // What is older than a row that can't be read can't be told from the present map.
    Ok(read.map_while(|row| row).collect())
}

/// The map after a row: the present one, with every later row taken back.
async fn map_after(
    call: &Call,
    host: &Host,
    rows: &[(u64, HistoryRow)],
    number: u64,
) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Document<'a> {
        host: &'a str,
        number: u64,
        paths: BTreeMap<String, String>,
    }
    let found = rows.iter().find(|(known, _)| *known == number);
    let Some((_, wanted)) = found.filter(|(_, row)| sees(&call.caller, &row.deed)) else {
        return Err(Problem::not_found("the host has no such row in its history"));
    };
    let mut paths = present(&call.control, host).await?;
    for (_, row) in rows.iter().take_while(|(known, _)| *known > number) {
        row.undo(&mut paths);
    }
    let entries = paths.iter().map(|(prefix, target)| (prefix.as_str(), target.as_str()));
    if digest(entries) != wanted.map {
        let detail =
            "the map was also changed past this door, or just now: what it was can't be told";
        return Err(Problem::not_found(detail).with("reason", "history_broken"));
    }
    Ok(json(StatusCode::OK, &Document { host: host.as_str(), number, paths }))
}

async fn present(control: &Control, host: &Host) -> Result<BTreeMap<String, String>, Problem> {
    let record = control.store.get(Collection::Claims, host.as_str()).await?;
    let claim = record.and_then(|record| Claim::parse(host, &record.body).ok());
    let Some(claim) = claim.filter(|claim| !claim.is_deleted()) else {
        return Ok(BTreeMap::new());
    };
    let entry = |(prefix, target): (&fingerpost_path::Prefix, &Host)| {
        (prefix.to_string(), target.to_string())
    };
    Ok(claim.paths().iter().map(entry).collect())
}

#[derive(Serialize)]
struct Line {
    number: u64,
    #[serde(flatten)]
    deed: Deed,
    sequence: Option<u64>,
    before: usize,
    after: usize,
    added: BTreeMap<String, String>,
    moved: BTreeMap<String, Moved>,
    removed: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Moved {
    from: String,
    to: String,
}

impl Line {
    fn new(number: u64, row: HistoryRow) -> Self {
        let HistoryRow { deed, sequence, before, after, added, moved, removed, .. } = row;
        let moved = moved.into_iter().map(|(prefix, (from, to))| (prefix, Moved { from, to }));
        Self { number, deed, sequence, before, after, added, moved: moved.collect(), removed }
    }
}
