//! Answers that the proxy itself gives when it can't pass a request on (RFC 9457, RFC 9209).

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

/// One such answer: small, static, and copied freely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// What is wrong, for people.
    pub(crate) detail: &'static str,
    /// The proxy error type (RFC 9209 section 2.3).
    pub(crate) error: &'static str,
    /// Whether the connection can't be used after it.
    pub(crate) close: bool,
    /// Whether it is worth asking again in a moment.
    pub(crate) retry: bool,
}

/// The methods that the proxy lets through to a route.
pub(crate) const ALLOWED: HeaderValue =
    HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");

static PROXY_STATUS: HeaderName = HeaderName::from_static("proxy-status");

impl Problem {
    /// A request that can't be understood in one way only.
    pub(crate) const fn request(status: StatusCode, detail: &'static str, close: bool) -> Self {
        Self { status, detail, error: "http_request_error", close, retry: false }
    }

    /// An upstream that gave no usable answer.
    pub(crate) const fn bad_gateway(error: &'static str, detail: &'static str) -> Self {
        Self { status: StatusCode::BAD_GATEWAY, detail, error, close: false, retry: false }
    }

    /// An upstream that took too long.
    pub(crate) const fn timeout(error: &'static str, detail: &'static str) -> Self {
        Self { status: StatusCode::GATEWAY_TIMEOUT, detail, error, close: false, retry: false }
    }

    /// An upstream that has too much to do.
    pub(crate) const fn busy(detail: &'static str) -> Self {
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            detail,
            error: "connection_limit_reached",
            close: false,
            retry: true,
        }
    }

    pub(crate) const NO_ROUTE: Self = Self {
        status: StatusCode::NOT_FOUND,
        detail: "no route serves this host and path",
        error: "destination_not_found",
        close: false,
        retry: false,
    };

    pub(crate) const MISDIRECTED: Self = Self {
        status: StatusCode::MISDIRECTED_REQUEST,
        detail: "this host is not served here",
        error: "destination_not_found",
        close: false,
        retry: false,
    };

    pub(crate) const UNAVAILABLE: Self = Self {
        status: StatusCode::SERVICE_UNAVAILABLE,
        detail: "the application that serves this is not available",
        error: "destination_unavailable",
        close: false,
        retry: false,
    };

    pub(crate) const CLIENT_BODY: Self =
        Self::request(StatusCode::BAD_REQUEST, "the request's content is malformed", true);

    pub(crate) const TOO_LARGE: Self =
        Self::request(StatusCode::PAYLOAD_TOO_LARGE, "the request's content is too large", true);

    pub(crate) const TOO_MANY_FIELDS: Self = Self::request(
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        "the request's header has too many fields",
        true,
    );

    pub(crate) const CLIENT_STALLED: Self =
        Self::request(StatusCode::REQUEST_TIMEOUT, "the request's content stopped coming", true);

    /// The header and content of the answer.
    pub(crate) fn render(&self) -> (HeaderMap, Bytes) {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let proxy_status = format!("fingerpost; error={}", self.error);
        if let Ok(value) = HeaderValue::try_from(proxy_status) {
            headers.insert(&PROXY_STATUS, value);
        }
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            headers.insert(ALLOW, ALLOWED);
        }
        if self.retry {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.close {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        // Title and detail are ours: nothing in them needs escaping.
        let body = format!(
            r#"{{"type":"about:blank","title":"{}","status":{},"detail":"{}"}}"#,
            self.status.canonical_reason().unwrap_or_default(),
            self.status.as_u16(),
            self.detail,
        );
        (headers, Bytes::from(body))
    }
}
