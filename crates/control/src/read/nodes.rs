//! What every box has applied.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::dispatch::{Call, json};
use crate::problem::Problem;
use crate::query::Query;
use crate::timestamp::timestamp;

/// Shows every registered box, with the serial by which it routes new requests.
pub(crate) async fn nodes(call: &Call) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Document {
        /// The store's own.
        serial: u64,
        nodes: Vec<Line>,
    }
    #[derive(Serialize)]
    struct Line {
        r#box: String,
        serial: u64,
        seen: Option<String>,
    }
    call.caller.require_operator()?;
    Query::parse(&call.parts.uri, &[], &[])?;
    let nodes = call.control.view.nodes().await?;
    let serial = call.control.store.serial().await?;
    let line = |node: crate::Node| Line {
        r#box: node.name.to_string(),
        serial: node.serial,
        seen: node.seen.map(timestamp),
    };
    let mut nodes: Vec<_> = nodes.into_iter().map(line).collect();
    nodes.sort_by(|a, b| a.r#box.cmp(&b.r#box));
    Ok(json(StatusCode::OK, &Document { serial, nodes }))
}
