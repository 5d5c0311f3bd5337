//! The one function that says which host a request names.

use crate::rejected::{Reason, Rejected};
use crate::{Authority, Head, Host, HostFields, HttpVersion, Target, TransferEncoding};

/// What a request names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every answer needs its own handling")]
pub enum Selected {
    /// This host.
    Host(Host),
    /// None: only HTTP/1.0 may, and only the routes that every host shares may answer.
    NoHost,
    /// The server itself, by `OPTIONS *`: to be answered without an upstream.
    Asterisk,
}

/// Says which host a request names, or how the request is refused.
///
/// The rules are applied in this order; the first that refuses decides:
///
/// 1. `Host` fields: two, or an invalid or empty one, are 400 in every version; none is 400 in HTTP/1.1,
///    whatever the form of the target (RFC 9112 3.2). HTTP/1 connections close.
/// 2. `Transfer-Encoding`: anything but exactly one `chunked` is 400, an unknown coding 501 (RFC 9112 6.1).
///    HTTP/1 connections close, which is why this comes before the rules that let them live.
/// 3. The form of the target (RFC 9112 3.2): an invalid target, an absolute-form with another scheme than
///    `http` and `https`, with user information or an invalid authority, an authority-form without CONNECT,
///    and `*` without OPTIONS are 400.
/// 4. HTTP/2 (RFC 9113 8.3.1): an invalid `:authority`, neither `:authority` nor `Host`, and both with
///    different hosts or ports are 400.
/// 5. The method: CONNECT and TRACE are 405, except CONNECT for a WebSocket in HTTP/2 (RFC 8441). So a
///    broken head is 400 before its method matters; where a CONNECT leads to is not looked at.
/// 6. TLS: a host that is not among the names of the certificate is 421 (RFC 9110 7.4), for `OPTIONS *` too.
///
/// What is left is a host, by the first that names one: the absolute-form, whose `Host` is not compared
/// (RFC 9112 3.2.2); the `:authority`; the `Host` field. No other component may read the header again.
///
/// ```
/// use fingerpost_authority::{Head, HostFields, HttpVersion, Selected, Target, TransferEncoding, select};
///
/// let head = Head {
///     version: HttpVersion::Http11,
///     method: b"GET",
///     target: Target::parse(b"http://a.com/x"),
///     authority: None,
///     scheme: None,
///     websocket: false,
///     hosts: HostFields::One(b"b.com"),
///     transfer_encoding: TransferEncoding::None,
///     tls_names: None,
/// };
/// assert_eq!(select(&head), Ok(Selected::Host("a.com".parse()?)));
///
/// let rejected = select(&Head { hosts: HostFields::None, ..head }).unwrap_err();
/// assert_eq!((rejected.status(), rejected.close()), (400, true));
/// # Ok::<(), fingerpost_authority::HostError>(())
/// ```
///
/// H5: `select` never prefers `Host` when the target names an authority (a property test in
/// `tests/invariants.rs`).
///
/// # Errors
///
/// [`Rejected`], with status, reason, and whether the connection must close.
///
/// # Complexity
///
/// Linear in the text of the hosts, plus one comparison for each name of the certificate. Allocates only for
/// a host of over 62 bytes.
pub fn select(head: &Head<'_>) -> Result<Selected, Rejected> {
    let is_http2 = head.version == HttpVersion::Http2;
    let field = host_field(head).map_err(|rejected| rejected.closing(!is_http2))?;
    check_framing(head).map_err(|rejected| rejected.closing(!is_http2))?;
    let target = target_authority(head)?;
    let authority = if is_http2 { pseudo_authority(head, field)? } else { target.or(field) };
    if matches!(head.method, b"CONNECT" | b"TRACE") && !is_websocket(head) {
        return Err(Rejected::new(Reason::Method));
    }
    let host = authority.map(Authority::into_host);
    if let (Some(names), Some(host)) = (head.tls_names, &host)
        && !names.iter().any(|name| name.matches(host))
    {
        return Err(Rejected::new(Reason::Misdirected));
    }
    Ok(match (head.target, host) {
        (Target::Asterisk, _) => Selected::Asterisk,
        (_, Some(host)) => Selected::Host(host),
        (_, None) => Selected::NoHost,
    })
}

/// Rule 1.
fn host_field(head: &Head<'_>) -> Result<Option<Authority>, Rejected> {
    match head.hosts {
        HostFields::Many => Err(Rejected::new(Reason::ManyHosts)),
        HostFields::None if head.version == HttpVersion::Http11 => {
            Err(Rejected::new(Reason::NoHost))
        }
        HostFields::None => Ok(None),
        HostFields::One(value) => Authority::parse(value)
            .map(Some)
            .map_err(|cause| Rejected::new(Reason::InvalidHost).because(cause)),
    }
}

/// Rule 2.
fn check_framing(head: &Head<'_>) -> Result<(), Rejected> {
    match head.transfer_encoding {
        TransferEncoding::None | TransferEncoding::Chunked => Ok(()),
        TransferEncoding::NotChunked => Err(Rejected::new(Reason::NotChunked)),
        TransferEncoding::Unknown => Err(Rejected::new(Reason::UnknownCoding)),
    }
}

/// Rule 3; gives the authority that an absolute-form names.
fn target_authority(head: &Head<'_>) -> Result<Option<Authority>, Rejected> {
    match head.target {
        Target::Origin { .. } => Ok(None),
        Target::Absolute { .. } if head.version == HttpVersion::Http2 => {
            Err(Rejected::new(Reason::AbsoluteInHttp2))
        }
        Target::Absolute { scheme, authority, .. } => {
            absolute_authority(scheme, authority).map(Some)
        }
        Target::Authority(_) if head.method == b"CONNECT" && !is_websocket(head) => Ok(None),
        Target::Authority(_) => Err(Rejected::new(Reason::AuthorityForm)),
        Target::Asterisk if head.method == b"OPTIONS" => Ok(None),
        Target::Asterisk => Err(Rejected::new(Reason::AsteriskForm)),
        Target::Invalid => Err(Rejected::new(Reason::InvalidTarget)),
    }
}

fn absolute_authority(scheme: &[u8], authority: &[u8]) -> Result<Authority, Rejected> {
    if !scheme.eq_ignore_ascii_case(b"http") && !scheme.eq_ignore_ascii_case(b"https") {
        return Err(Rejected::new(Reason::Scheme));
    }
    if authority.contains(&b'@') {
        return Err(Rejected::new(Reason::Userinfo));
    }
    Authority::parse(authority)
        .map_err(|cause| Rejected::new(Reason::TargetAuthority).because(cause))
}

/// Rule 4; gives the authority of an HTTP/2 request.
fn pseudo_authority(
    head: &Head<'_>,
    field: Option<Authority>,
) -> Result<Option<Authority>, Rejected> {
    let pseudo = head
        .authority
        .map(Authority::parse)
        .transpose()
        .map_err(|cause| Rejected::new(Reason::InvalidAuthority).because(cause))?;
    match (pseudo, field) {
        (None, None) => Err(Rejected::new(Reason::NoAuthority)),
        (Some(pseudo), Some(field)) if !is_same(&pseudo, &field, head.scheme) => {
            Err(Rejected::new(Reason::AuthorityAndHost))
        }
        (pseudo, field) => Ok(pseudo.or(field)),
    }
}

fn is_same(left: &Authority, right: &Authority, scheme: Option<&[u8]>) -> bool {
    left.host() == right.host()
        && match (left.port(), right.port()) {
            (None, Some(port)) | (Some(port), None) => is_default(port, scheme),
            (left, right) => left == right,
        }
}

fn is_default(port: u16, scheme: Option<&[u8]>) -> bool {
    match scheme {
        None => matches!(port, 80 | 443),
        Some(scheme) if scheme.eq_ignore_ascii_case(b"http") => port == 80,
        Some(scheme) if scheme.eq_ignore_ascii_case(b"https") => port == 443,
        Some(_) => false,
    }
}

fn is_websocket(head: &Head<'_>) -> bool {
    head.version == HttpVersion::Http2 && head.method == b"CONNECT" && head.websocket
}
