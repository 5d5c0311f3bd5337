//! What each host serves.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;

use crate::dispatch::Call;
use crate::problem::Problem;
use crate::query::Query;

/// Shows the routes of every host with its prefixes, in the snapshot in use.
pub(crate) fn routes(call: &Call) -> Result<Response, Problem> {
    call.caller.require_operator()?;
    Query::parse(&call.parts.uri, &[], &[])?;
    let mut response = Response::new(Body::from(call.control.view.routes()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
