//! What the snapshot in use holds.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::dispatch::{Call, json};
use crate::problem::Problem;
use crate::query::Query;

/// Shows the snapshot in use.
pub(crate) fn snapshot(call: &Call) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Document {
        serial: u64,
        generation: u64,
        fingerprint: String,
        counts: BTreeMap<&'static str, u64>,
    }
    call.caller.require_operator()?;
    Query::parse(&call.parts.uri, &[], &[])?;
    let none = || Problem::unavailable("not_ready", "no snapshot is loaded yet");
    let snapshot = call.control.view.snapshot().ok_or_else(none)?;
    let counts = snapshot.counts.into_iter().collect();
    let (serial, generation) = (snapshot.serial, snapshot.generation);
    let fingerprint = snapshot.fingerprint;
    Ok(json(StatusCode::OK, &Document { serial, generation, fingerprint, counts }))
}
