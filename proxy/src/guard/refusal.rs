//! What a client gets that a guard turns away.

use std::time::Duration;

use bytes::Bytes;
use http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::problem::Problem;

/// An answer in a route's place.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Refusal {
    /// A client from a network that the route doesn't answer.
    pub(super) fn outsider() -> Box<Self> {
        denied(StatusCode::FORBIDDEN, "this is not open to your network").into()
    }

    /// A client that asks too often.
    pub(super) fn too_many(wait: Duration) -> Box<Self> {
        let problem = denied(StatusCode::TOO_MANY_REQUESTS, "too many requests");
        Box::<Self>::from(problem).retry_after(wait)
    }

    /// A client that has not proved who it is.
    pub(super) fn unknown(challenge: HeaderValue) -> Box<Self> {
        let mut refusal =
            Box::<Self>::from(denied(StatusCode::UNAUTHORIZED, "this needs a user and a password"));
        refusal.headers.insert(WWW_AUTHENTICATE, challenge);
        refusal
    }

    /// Nobody can say whether the client may pass: it may not.
    pub(super) fn undecided(detail: &'static str) -> Box<Self> {
        let problem = Problem { detail, error: "proxy_internal_error", ..Problem::UNAVAILABLE };
        Box::<Self>::from(problem).retry_after(Duration::from_secs(1))
    }

    /// Says after how many whole seconds another try may do better.
    fn retry_after(mut self: Box<Self>, wait: Duration) -> Box<Self> {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        self.headers.insert(RETRY_AFTER, seconds.max(1).into());
        self
    }
}

impl From<Problem> for Box<Refusal> {
    fn from(problem: Problem) -> Self {
        let (headers, body) = problem.render();
        Self::new(Refusal { status: problem.status, headers, body })
    }
}

const fn denied(status: StatusCode, detail: &'static str) -> Problem {
    Problem { status, detail, error: "http_request_denied", close: false, retry: false }
}
