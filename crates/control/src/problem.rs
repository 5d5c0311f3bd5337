//! An error as a client reads it (RFC 9457).

use std::error::Error;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use fingerpost_claims::{BodyError, Problems, SetPathsError, StoreError};
use serde::Serialize;
use serde_json::{Map, Value};

/// An error as a client reads it: a status, a stable code, and words.
#[derive(Debug)]
pub(crate) struct Problem(Box<Parts>);

#[derive(Debug)]
struct Parts {
    status: StatusCode,
    code: &'static str,
    detail: String,
    errors: Vec<Fault>,
    members: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// One part of a body that is wrong.
#[derive(Debug, Serialize)]
pub(crate) struct Fault {
    /// JSON Pointer to it (RFC 6901).
    pub(crate) pointer: String,
    pub(crate) code: &'static str,
    pub(crate) detail: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            status,
            code,
            detail: detail.into(),
            errors: Vec::new(),
            members: Map::new(),
            headers: Vec::new(),
        }))
    }

    pub(crate) fn bad_request(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    pub(crate) fn conflict(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, detail)
    }

    /// What a credential may not do, whatever is there: who asks learns nothing from it.
    pub(crate) fn forbidden() -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "this credential may not do that")
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", detail)
    }

    /// A moment later it may work.
    pub(crate) fn unavailable(code: &'static str, detail: impl Into<String>) -> Self {
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail);
        problem.with_headers([(RETRY_AFTER, HeaderValue::from_static("1"))])
    }

    pub(crate) fn unprocessable(detail: impl Into<String>, errors: Vec<Fault>) -> Self {
        let mut problem = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_entries", detail);
        problem.0.errors = errors;
        problem
    }

    pub(crate) fn with_headers(
        mut self,
        headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
    ) -> Self {
        self.0.headers.extend(headers);
        self
    }

    /// Adds a member of our own (RFC 9457 3.2).
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.members.insert(key.to_owned(), value.into());
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        #[derive(Serialize)]
        struct Document<'a> {
            r#type: &'static str,
            title: &'a str,
            status: u16,
            code: &'static str,
            detail: &'a str,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            errors: &'a [Fault],
            #[serde(flatten)]
            members: &'a Map<String, Value>,
        }
        let Parts { status, code, detail, errors, members, headers } = &*self.0;
        let document = Document {
            r#type: "about:blank",
            title: status.canonical_reason().unwrap_or_default(),
            status: status.as_u16(),
            code,
            detail,
            errors,
            members,
        };
        let body = serde_json::to_vec(&document).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = *status;
        let json = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        response.headers_mut().extend(headers.iter().cloned());
        response
    }
}

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        let problem = Self::bad_request(error.code(), error.to_string());
        problem.with("pointer", error.pointer())
    }
}

impl From<Problems> for Problem {
    fn from(problems: Problems) -> Self {
        let fault = |problem: &fingerpost_claims::Problem| Fault {
            pointer: problem.pointer().to_owned(),
            code: problem.code(),
            // The text of an entry is its pointer; what is wrong with it are its causes.
            detail: problem.source().map_or_else(|| problem.to_string(), words),
        };
        let errors: Vec<_> = problems.iter().map(fault).collect();
        let detail = format!("{} of the values are wrong; nothing was changed", errors.len());
        Self::unprocessable(detail, errors)
    }
}

impl From<SetPathsError> for Problem {
    fn from(error: SetPathsError) -> Self {
        let problem = Self::conflict(error.code(), error.to_string());
        match error {
            SetPathsError::SequenceRequired { stored }
            | SetPathsError::SequenceReused { stored }
            | SetPathsError::SequenceStale { stored, .. } => problem.with("stored", stored),
            _ => problem,
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        // The reason may name files of the box: it is for the log.
        tracing::warn!(error = words(&error), "the claim store did not answer");
        Self::unavailable(
            "store_unavailable",
            "the claim store did not answer; nothing was changed",
        )
    }
}

/// An error with its causes.
pub(crate) fn words(error: &dyn Error) -> String {
    let (mut words, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}
