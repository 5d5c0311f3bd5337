//! `Max-Forwards` on OPTIONS (RFC 9110 section 7.6.2); TRACE is refused.

use http::header::MAX_FORWARDS;
use http::request::Parts;
use http::{HeaderValue, Method};

/// Whether an OPTIONS request ends here; else it has one hop less left.
///
/// A value that is no number is not ours to judge.
pub(crate) fn ends_here(parts: &mut Parts) -> bool {
    if parts.method != Method::OPTIONS {
        return false;
    }
    let Some(value) = parts.headers.get(MAX_FORWARDS) else { return false };
    match value.to_str().ok().and_then(|value| value.parse::<u32>().ok()) {
        Some(0) => true,
        Some(left) => {
            parts.headers.insert(MAX_FORWARDS, HeaderValue::from(left - 1));
            false
        }
        None => false,
    }
}
