//! The header that a client gets of an upstream's response.

use http::header::{CONNECTION, CONTENT_LENGTH, TRAILER, TRANSFER_ENCODING, UPGRADE, VIA};
use http::response::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, Version};

use super::{ONE_ONE, ONE_ZERO, TWO, connection};
use crate::problem::Problem;

/// Edits a response's header in place.
///
/// Framing is generated anew from `length` (the content's, where it is known before its end): what
/// the upstream wrote in `Transfer-Encoding` and `Content-Length` is never relayed beside our own.
///
/// # Errors
///
/// 502 for a coding other than `chunked`, which we never asked for, and for a 101, likewise.
pub(crate) fn edit_response(
    parts: &mut Parts,
    length: Option<u64>,
    client: Version,
) -> Result<(), Problem> {
    if parts.status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(UNASKED);
    }
    let headers = &mut parts.headers;
    let survey = Survey::of(headers);
    if survey.has(Survey::CODING) {
        only_chunked(headers)?;
        headers.remove(TRANSFER_ENCODING);
        headers.remove(CONTENT_LENGTH);
    }
    if survey.has(Survey::CONNECTION) {
        connection::remove_nominated_by_upstream(headers);
    }
    if survey.has(Survey::HOP) {
        for name in ["keep-alive", "proxy-connection", "proxy-authenticate", "te"] {
            headers.remove(name);
        }
        headers.remove(UPGRADE);
    }
    if survey.has(Survey::LENGTH) {
        one_length(headers, length);
    }
    if client == Version::HTTP_10 && length.is_none() {
        // The end of the content is the end of the connection, and there is no chunk for trailers.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        headers.remove(TRAILER);
    }
    let via = match parts.version {
        Version::HTTP_10 => ONE_ZERO,
        Version::HTTP_2 => TWO,
        _ => ONE_ONE,
    };
    headers.append(VIA, via);
    parts.version = Version::HTTP_11;
    Ok(())
}

const UNASKED: Problem =
    Problem::bad_gateway("http_upgrade_failed", "the upstream switched protocols unasked");
const CODING: Problem =
    Problem::bad_gateway("http_protocol_error", "the upstream used an unknown transfer coding");

struct Survey(u8);

impl Survey {
    const CODING: u8 = 1;
    const CONNECTION: u8 = 2;
    const HOP: u8 = 4;
    const LENGTH: u8 = 8;

    fn of(headers: &HeaderMap) -> Self {
        let mut found = 0;
        for name in headers.keys() {
            found |= match name.as_str() {
                "connection" => Self::CONNECTION,
                "content-length" => Self::LENGTH,
                "transfer-encoding" => Self::CODING,
                "keep-alive" | "proxy-connection" | "proxy-authenticate" | "te" | "upgrade" => {
                    Self::HOP
                }
                _ => 0,
            }
        }
        Self(found)
    }

    const fn has(&self, what: u8) -> bool {
        self.0 & what != 0
    }
}

/// hyper decodes `gzip, chunked` and reads any other list to the end of the connection.
fn only_chunked(headers: &HeaderMap) -> Result<(), Problem> {
    let mut values = headers.get_all(TRANSFER_ENCODING).iter();
    match (values.next(), values.next()) {
        (Some(one), None) if one.as_bytes().eq_ignore_ascii_case(b"chunked") => Ok(()),
        _ => Err(CODING),
    }
}

/// `5, 5`, and two lines that agree, are legal to receive (RFC 9110 section 8.6), not to send.
fn one_length(headers: &mut HeaderMap, length: Option<u64>) {
    let mut values = headers.get_all(CONTENT_LENGTH).iter();
    let plain = match (values.next(), values.next()) {
        (Some(one), None) => one.as_bytes().iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !plain {
        match length {
            Some(length) if length > 0 => drop(headers.insert(CONTENT_LENGTH, length.into())),
            _ => drop(headers.remove(CONTENT_LENGTH)),
        }
    }
}
