//! Who did what.

use axum::http::StatusCode;
use axum::response::Response;
use fingerpost_claims::{Journal, Name, Row, TailQuery};
use serde::Serialize;

use crate::auth::Caller;
use crate::dispatch::{Call, json};
use crate::problem::Problem;
use crate::query::Query;
use crate::record::{AuditRow, Deed};

/// Shows the audit, the newest row first: all of it, or that of one host.
pub(crate) async fn audit(call: &Call) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Document {
        rows: Vec<Line>,
        /// What to give as `before` for older rows.
        next: Option<u64>,
    }
    let query = Query::parse(&call.parts.uri, &["before", "host", "limit"], &[])?;
    let (host, mut before) = (query.host("host")?, query.number("before")?);
    let limit = query.number("limit")?.unwrap_or(100).clamp(1, MOST);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let topic = host.as_ref().map(|host| host.as_str());
    let mut rows = Vec::new();
    // Rows of others are skipped: an answer may be short, or empty, and still say where to go on.
    for _ in 0..PAGES {
        let page = TailQuery { topic, before, limit: PAGE };
        let found = call.control.store.tail(Journal::Audit, page).await?;
        let full = found.len() == PAGE;
        for row in found {
            before = Some(row.number);
            rows.extend(Line::new(&row, &call.caller));
            if rows.len() == limit {
                return Ok(json(StatusCode::OK, &Document { rows, next: before }));
            }
        }
        if !full {
            return Ok(json(StatusCode::OK, &Document { rows, next: None }));
        }
    }
    Ok(json(StatusCode::OK, &Document { rows, next: before }))
}

#[derive(Serialize)]
struct Line {
    number: u64,
    #[serde(flatten)]
    row: AuditRow,
}

impl Line {
    /// A row, if the caller may see it. One that can't be read is nobody's.
    fn new(row: &Row, caller: &Caller) -> Option<Self> {
        let read: AuditRow = serde_json::from_slice(&row.body).ok()?;
        sees(caller, &read.deed).then_some(Self { number: row.number, row: read })
    }
}

/// Whether a row is about the caller's account, and app.
pub(super) fn sees(caller: &Caller, deed: &Deed) -> bool {
    let name = |text: &Option<String>| text.as_deref().and_then(|text| Name::parse(text).ok());
    caller.sees(name(&deed.account).as_ref(), name(&deed.app).as_ref())
}

/// The most rows of an answer.
const MOST: u64 = 1000;
/// How many rows are read at once, and how often for one answer.
const PAGE: usize = 1000;
const PAGES: usize = 10;
