//! The one upgrade that is passed on: to the WebSocket protocol (RFC 6455, RFC 8441).

use http::header::{
    CONNECTION, CONTENT_LENGTH, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, TRANSFER_ENCODING, UPGRADE,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version};
use hyper::ext::Protocol;

use crate::problem::Problem;
use crate::random;

/// Whether a request is an extended CONNECT for a WebSocket (RFC 8441 section 4).
pub(crate) fn is_extended_connect(parts: &Parts) -> bool {
    parts.method == Method::CONNECT
        && parts
            .extensions
            .get::<Protocol>()
            .is_some_and(|protocol| protocol.as_str() == "websocket")
}

/// Whether a request asks for a WebSocket in either way, before `Connection` is removed.
pub(super) fn is_asked(parts: &Parts, empty: bool) -> bool {
    is_extended_connect(parts)
        || parts.method == Method::GET
            && parts.version == Version::HTTP_11
            && empty
            && has_token(&parts.headers, &CONNECTION, "upgrade")
            && has_token(&parts.headers, &UPGRADE, "websocket")
}

/// Asks for a WebSocket as HTTP/1.1 does, whatever the client speaks.
pub(super) fn ask(parts: &mut Parts) {
    parts.headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    parts.headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    if parts.method == Method::CONNECT {
        parts.method = Method::GET;
        // A client of HTTP/2 sends none (RFC 8441 section 5).
        parts.headers.insert(SEC_WEBSOCKET_KEY, key());
    }
}

/// Edits the header of a 101 that was asked for; HTTP/2 says the same with 200.
///
/// # Errors
///
/// 502 when the upstream switched to another protocol.
pub(crate) fn edit_switch(
    parts: &mut http::response::Parts,
    client: Version,
) -> Result<(), Problem> {
    let headers = &mut parts.headers;
    if !has_token(headers, &UPGRADE, "websocket") {
        return Err(OTHER);
    }
    super::connection::remove_nominated_by_upstream(headers);
    for name in [CONTENT_LENGTH, TRANSFER_ENCODING, UPGRADE] {
        headers.remove(name);
    }
    if client == Version::HTTP_2 {
        parts.status = StatusCode::OK;
        headers.remove(SEC_WEBSOCKET_ACCEPT);
    } else {
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    }
    Ok(())
}

/// What a client that spoke CONNECT would take for a tunnel.
///
/// # Errors
///
/// 502 for a success other than a 101.
pub(crate) fn refuse_success(status: StatusCode) -> Result<(), Problem> {
    if status.is_success() { Err(OTHER) } else { Ok(()) }
}

const OTHER: Problem =
    Problem::bad_gateway("http_upgrade_failed", "the upstream did not switch to a WebSocket");

fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter();
    let mut members = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    members.any(|member| member.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

/// Sixteen random bytes in base64 (RFC 6455 section 4.1).
fn key() -> HeaderValue {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    // The key proves nothing to anybody: one that can be guessed is as good.
    let number = u128::from_be_bytes(random::bytes().unwrap_or_default());
    let digits = (0..22).map(|digit| {
        // 22 digits of six bits are four bits more than there are.
        let bits = if digit < 21 { number >> (122 - 6 * digit) } else { number << 4 };
        DIGITS.get((bits & 63) as usize).copied().unwrap_or(b'A')
    });
    let text: Vec<u8> = digits.chain(*b"==").collect();
    HeaderValue::from_bytes(&text).unwrap_or_else(|_| HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_sixteen_bytes_in_base64() {
        let key = key();
        let text = key.to_str().unwrap();
        assert_eq!(text.len(), 24);
        assert!(text.ends_with("=="));
        // The last digit before the padding has four bits that mean nothing.
        assert!("AQgw".contains(text.get(21..22).unwrap()), "{text}");
    }
}
