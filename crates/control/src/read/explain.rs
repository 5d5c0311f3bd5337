//! Which route a request takes.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use serde_json::{Map, Value};

use crate::dispatch::Call;
use crate::problem::Problem;
use crate::query::Query;

/// Says which route a request takes, and why, in the snapshot in use.
///
/// The parameters are the members of a line of `explain --jsonl`; `host`, `host_hex` and `tls_names` may be
/// repeated, and the version is 1.1 unless it is given.
pub(crate) fn explain(call: &Call) -> Result<Response, Problem> {
    let query = Query::parse(&call.parts.uri, &SINGLE, &REPEATED)?;
    let mut line = Map::new();
    line.insert("version".to_owned(), "1.1".into());
    for key in SINGLE {
        if let Some(value) = query.one(key) {
            line.insert(key.to_owned(), value.into());
        }
    }
    for key in REPEATED {
        let values: Vec<_> = query.all(key).map(Value::from).collect();
        if !values.is_empty() {
            line.insert(key.to_owned(), values.into());
        }
    }
    let line = Value::from(line).to_string();
    let explained = call.control.view.explain(line.as_bytes());
    let explained = explained.map_err(|detail| Problem::bad_request("query_invalid", detail))?;
    if !call.caller.sees(explained.account.as_ref(), explained.app.as_ref()) {
        return Err(Problem::forbidden());
    }
    let mut response = Response::new(Body::from(explained.line));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

const SINGLE: [&str; 6] = ["authority", "id", "method", "target", "target_hex", "version"];
const REPEATED: [&str; 3] = ["host", "host_hex", "tls_names"];
