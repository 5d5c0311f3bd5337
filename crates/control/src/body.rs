//! The content of a request, up to a limit.

use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::problem::Problem;

/// Reads a body that is no longer than `limit` bytes.
///
/// One that says that it is longer is not read at all; another not past the limit. The media type is not
/// looked at: a body is read as JSON, strictly, and no browser sends our `Authorization` by itself.
pub(crate) async fn read(headers: &HeaderMap, body: Body, limit: usize) -> Result<Bytes, Problem> {
    for coding in headers.get_all(CONTENT_ENCODING) {
        if !coding.as_bytes().eq_ignore_ascii_case(b"identity") {
            let detail = "content codings are not understood here";
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            let problem = Problem::new(status, "content_encoding", detail);
            let identity = HeaderValue::from_static("identity");
            return Err(problem.with_headers([(ACCEPT_ENCODING, identity)]));
        }
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if length.and_then(|length| length.parse::<usize>().ok()).is_some_and(|length| length > limit) {
        return Err(too_large(limit));
    }
    match Limited::new(body, limit).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(limit)),
        Err(_) => Err(Problem::bad_request("body_incomplete", "the body ended before its end")),
    }
}

fn too_large(limit: usize) -> Problem {
    let detail = format!("the body is longer than the {limit} bytes that are read here");
    let problem = Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", detail);
    // What is left of it would be read as the next request.
    problem.with("limit", limit).with_headers([(CONNECTION, HeaderValue::from_static("close"))])
}
