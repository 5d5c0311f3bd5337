//! A claim, deleted.

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use fingerpost_authority::Host;
use fingerpost_claims::{Claim, Reach};
use serde::Serialize;

use super::commit::{Counts, Current, Step};
use super::domain::{Own, no_claim};
use crate::condition::{self, IfMatch};
use crate::dispatch::{AppCall, json, with_headers};
use crate::prefer;
use crate::problem::Problem;
use crate::query::Query;
use crate::record::Action;

/// Deletes a claim; a tombstone stays, and keeps the sequence. What the configuration says comes back.
pub(crate) async fn delete(app: AppCall, host: &str) -> Result<Response, Problem> {
    let host = AppCall::host(host)?;
    Query::parse(&app.call.parts.uri, &[], &[])?;
    let if_match = IfMatch::of(app.call.headers())?;
    super::carried_out(async move { delete_host(&app, &host, &if_match).await }).await
}

async fn delete_host(app: &AppCall, host: &Host, if_match: &IfMatch) -> Result<Response, Problem> {
    let control = &app.call.control;
    let written = control
        .write(&app.call.caller, Action::Delete, host, |current| plan(app, host, if_match, current))
        .await?;
    let waited = prefer::waited(control, app.call.headers(), written.serial).await;
    if waited.is_applied() {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        return Ok(with_headers(response, waited.headers()));
    }
    #[derive(Serialize)]
    struct Deleted<'a> {
        host: &'a str,
        serial: u64,
        lagging: &'a [String],
    }
    let lagging = waited.lagging.as_deref().unwrap_or_default();
    let document = Deleted { host: host.as_str(), serial: waited.serial, lagging };
    Ok(with_headers(json(StatusCode::ACCEPTED, &document), waited.headers()))
}

fn plan(
    app: &AppCall,
    host: &Host,
    if_match: &IfMatch,
    current: &Current,
) -> Result<Step<()>, Problem> {
    // Nobody knows whose a claim is that does not parse, or how large its map is.
    let unreadable = matches!(current, Current::Unreadable { .. }) && app.call.caller.is_operator();
    let (tombstone, entries) = match app.own(current) {
        Own::Claim(claim) => (claim.tombstone(), claim.entry_count()),
        Own::Other if unreadable => {
            let (account, name) = (app.account.clone(), app.app.clone());
            (Claim::attach(host.clone(), account, name, Reach::default()).tombstone(), 0)
        }
        Own::Free | Own::Other => return Err(no_claim()),
    };
    if_match.check(current.version())?;
    if !if_match.is_given() && (entries > 0 || unreadable) {
        let status = StatusCode::PRECONDITION_REQUIRED;
        let detail = "the claim has a map: deleting it needs If-Match with the current ETag";
        let problem = Problem::new(status, "precondition_required", detail);
        let problem = problem.with("entries", entries);
        return Err(problem.with_headers(current.version().and_then(condition::field)));
    }
    Ok(Step::Store(Box::new(tombstone), Counts { before: entries, after: 0 }, ()))
}
