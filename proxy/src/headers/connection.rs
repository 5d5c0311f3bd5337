//! The fields that `Connection` names.

use http::header::CONNECTION;
use http::{HeaderMap, HeaderName, StatusCode};

use crate::problem::Problem;

/// Removes `Connection` and what a client nominated in it.
///
/// # Errors
///
/// 400, and the connection closes, when a field that frames or routes the message is nominated: no
/// honest client does that, and a hop that obeys would read another message than we do.
pub(super) fn remove_nominated(headers: &mut HeaderMap) -> Result<(), Problem> {
    for name in nominated(headers) {
        match name.as_str() {
            "host" | "content-length" | "transfer-encoding" => return Err(FRAMING),
            name if end_to_end(name) => (),
            _ => drop(headers.remove(name)),
        }
    }
    headers.remove(CONNECTION);
    Ok(())
}

/// Removes `Connection` and what an upstream nominated in it; framing fields are ours anyway.
pub(super) fn remove_nominated_by_upstream(headers: &mut HeaderMap) {
    for name in nominated(headers) {
        match name.as_str() {
            "content-length" | "transfer-encoding" | "date" | "set-cookie" => (),
            name if end_to_end(name) => (),
            _ => drop(headers.remove(name)),
        }
    }
    headers.remove(CONNECTION);
}

const FRAMING: Problem = Problem::request(
    StatusCode::BAD_REQUEST,
    "the Connection field names a field that is not hop-by-hop",
    true,
);

/// Fields that are meant for the application, whatever a client says of them.
fn end_to_end(name: &str) -> bool {
    name.starts_with("content-")
        || name.starts_with("if-")
        || matches!(
            name,
            "authorization"
                | "cache-control"
                | "cookie"
                | "expect"
                | "max-forwards"
                | "origin"
                | "range"
                | "referer"
                | "te"
                | "trailer"
                | "via"
        )
}

/// The nominated names; nothing is allocated for a lone `close` or `keep-alive`.
fn nominated(headers: &HeaderMap) -> Vec<HeaderName> {
    headers
        .get_all(CONNECTION)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|token| {
            !token.eq_ignore_ascii_case(b"keep-alive") && !token.eq_ignore_ascii_case(b"close")
        })
        .filter_map(|token| HeaderName::from_bytes(token).ok())
        .collect()
}
