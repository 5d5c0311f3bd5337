//! The header fields that a proxy removes, sets or rewrites (RFC 9110 section 7.6).
//!
//! Maps are edited in place, and each is looked through once: every other name costs a hash, and a
//! request usually carries none of the fields that have to go.

mod connection;
mod forwarded;
mod managed;
mod max_forwards;
mod response;
mod upgrade;

use bytes::Bytes;
use http::header::{CONNECTION, COOKIE, EXPECT, HOST, TE, TRANSFER_ENCODING, UPGRADE, VIA};
use http::request::Parts;
use http::uri::{PathAndQuery, Uri};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Version};

use crate::problem::Problem;
pub(crate) use forwarded::Origin;
pub(crate) use managed::Managed;
pub(crate) use max_forwards::ends_here;
pub(crate) use response::edit_response;
pub(crate) use upgrade::{edit_switch, is_extended_connect, refuse_success};

/// What dispatch has to know about a request whose header was edited.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Edited {
    /// The client waits for a 100 before it sends the content.
    pub(crate) expects_continue: bool,
    /// The request names no host (HTTP/1.0).
    pub(crate) hostless: bool,
    /// It asks for a WebSocket.
    pub(crate) websocket: bool,
    /// It has fields that [`remove_overrides`] would remove.
    pub(crate) overrides: bool,
}

const ONE_ONE: HeaderValue = HeaderValue::from_static("1.1 fingerpost");
const ONE_ZERO: HeaderValue = HeaderValue::from_static("1.0 fingerpost");
const TWO: HeaderValue = HeaderValue::from_static("2.0 fingerpost");

/// Turns the header that a client sent into the one that an upstream gets.
///
/// Hop-by-hop fields, and those that `Connection` names, go before any field is set, so that no
/// client can nominate one of ours away. The target becomes origin-form; its bytes stay.
///
/// # Errors
///
/// 400 when `Connection` names a field that frames or routes the message.
pub(crate) fn edit_request(
    parts: &mut Parts,
    empty: bool,
    origin: &Origin,
) -> Result<Edited, Problem> {
    let survey = Survey::of(&parts.headers, origin.trusted());
    let mut edited = Edited { overrides: survey.has(Survey::OVERRIDES), ..Edited::default() };

    if survey.has(Survey::UPGRADE) || parts.method == Method::CONNECT {
        edited.websocket = upgrade::is_asked(parts, empty);
    }
    if survey.has(Survey::CONNECTION) {
        connection::remove_nominated(&mut parts.headers)?;
    }
    for name in &survey.unwanted {
        parts.headers.remove(name);
    }
    if survey.has(Survey::UPGRADE) {
        parts.headers.remove(UPGRADE);
    }
    if survey.has(Survey::TE) {
        keep_te_trailers(&mut parts.headers);
    }
    if survey.has(Survey::TRANSFER_ENCODING) {
        // `select` has let nothing else through: the coding is ours from here on.
        parts.headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    if survey.has(Survey::EXPECT) {
        edited.expects_continue = expects_continue(parts, empty);
    }

    if edited.websocket {
        upgrade::ask(parts);
    }

    target_to_origin_form(parts);
    edited.hostless = !parts.headers.contains_key(HOST);
    origin.set_fields(&mut parts.headers, survey.has(Survey::FORWARDED));
    let via = match parts.version {
        Version::HTTP_2 => {
            join_cookies(&mut parts.headers);
            TWO
        }
        Version::HTTP_10 => ONE_ZERO,
        _ => ONE_ONE,
    };
    parts.headers.append(VIA, via);
    parts.version = Version::HTTP_11;
    // Extensions hold the server side's half of an upgrade, which goes no further.
    parts.extensions.clear();
    Ok(edited)
}

/// Removes what makes some applications answer for another path than the target's.
///
/// Only sites with a prefix map need it, for what a trusted proxy sent: there the decision that was
/// taken on the path must be the one that the application takes.
pub(crate) fn remove_overrides(headers: &mut HeaderMap) {
    for name in managed::PATHS {
        headers.remove(name);
    }
}

/// What one look through a request's field names found.
#[derive(Debug, Default)]
struct Survey {
    found: u8,
    /// To be removed whatever `Connection` says.
    unwanted: Vec<HeaderName>,
}

impl Survey {
    const CONNECTION: u8 = 1;
    const TE: u8 = 2;
    const TRANSFER_ENCODING: u8 = 4;
    const UPGRADE: u8 = 8;
    const EXPECT: u8 = 16;
    const FORWARDED: u8 = 32;
    const OVERRIDES: u8 = 64;

    fn of(headers: &HeaderMap, trusted: bool) -> Self {
        let mut survey = Self::default();
        for name in headers.keys() {
            match name.as_str() {
                "connection" => survey.found |= Self::CONNECTION,
                "te" => survey.found |= Self::TE,
                "transfer-encoding" => survey.found |= Self::TRANSFER_ENCODING,
                "upgrade" => survey.found |= Self::UPGRADE,
                "expect" => survey.found |= Self::EXPECT,
                "keep-alive" | "proxy-connection" | "proxy-authorization" | "http2-settings" => {
                    survey.unwanted.push(name.clone());
                }
                // One of these means another name to a server that folds `_` into `-`.
                text if text.contains('_') => survey.unwanted.push(name.clone()),
                text => match Managed::of(text) {
                    None => (),
                    Some(_) if !trusted => survey.unwanted.push(name.clone()),
                    Some(Managed::Connection) => survey.found |= Self::FORWARDED,
                    Some(Managed::Path) => survey.found |= Self::OVERRIDES,
                },
            }
        }
        survey
    }

    const fn has(&self, what: u8) -> bool {
        self.found & what != 0
    }
}

/// `trailers` is the one member of `TE` that we understand, and it is ours to ask for again.
fn keep_te_trailers(headers: &mut HeaderMap) {
    let trailers = headers
        .get_all(TE)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .any(|member| member.trim_ascii().eq_ignore_ascii_case(b"trailers"));
    if trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
        headers.insert(CONNECTION, HeaderValue::from_static("te"));
    } else {
        headers.remove(TE);
    }
}

/// An expectation needs content to wait for, and a client that knows of 100 (RFC 9110 10.1.1).
fn expects_continue(parts: &mut Parts, empty: bool) -> bool {
    if empty || parts.version == Version::HTTP_10 {
        parts.headers.remove(EXPECT);
        return false;
    }
    let mut values = parts.headers.get_all(EXPECT).iter();
    values.all(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// HTTP/2 splits cookies for its compression, HTTP/1.1 knows one line only (RFC 9113 section 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    let mut values = headers.get_all(COOKIE).iter();
    if let (Some(_), Some(_)) = (values.next(), values.next()) {
        let crumbs: Vec<_> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
        if let Ok(joined) = HeaderValue::from_maybe_shared(Bytes::from(crumbs.join(&b"; "[..]))) {
            headers.insert(COOKIE, joined);
        }
    }
}

/// absolute-form becomes origin-form, and its authority the host (RFC 9112 section 3.2.2).
fn target_to_origin_form(parts: &mut Parts) {
    let Some(authority) = parts.uri.authority() else { return };
    if let Ok(host) = HeaderValue::from_str(authority.as_str()) {
        parts.headers.insert(HOST, host);
    }
    let target = std::mem::take(&mut parts.uri).into_parts();
    let path = target.path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
    parts.uri = Uri::from(path);
}
