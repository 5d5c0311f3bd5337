//! What a request says about its host.

use crate::{HostPattern, Target, TransferEncoding};

/// The version of HTTP that a request came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "HTTP/3 names its host as HTTP/2 does: RFC 9114 4.3.1")]
pub enum HttpVersion {
    /// HTTP/1.0, whose requests need no host.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2, and HTTP/3, which follows the same rules.
    Http2,
}

/// The `Host` fields of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "none, one or many is complete")]
pub enum HostFields<'a> {
    /// No `Host` field.
    None,
    /// One, with its value, which may be empty.
    One(&'a [u8]),
    /// More than one, be they equal or not: never acceptable (RFC 9112 3.2).
    Many,
}

impl<'a> HostFields<'a> {
    /// Counts the values of all `Host` fields of one request.
    ///
    /// ```
    /// use fingerpost_authority::HostFields;
    ///
    /// assert_eq!(HostFields::from_values([&b"a.com"[..]]), HostFields::One(b"a.com"));
    /// assert_eq!(HostFields::from_values([&b"a.com"[..], b"a.com"]), HostFields::Many);
    /// ```
    pub fn from_values(values: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut values = values.into_iter();
        match (values.next(), values.next()) {
            (None, _) => Self::None,
            (Some(value), None) => Self::One(value),
            (Some(_), Some(_)) => Self::Many,
        }
    }
}

/// Everything that [`select`](crate::select) looks at, as plain bytes, so that any server can call it.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The version of the request.
    pub version: HttpVersion,
    /// The method, case-sensitive (RFC 9110 9.1).
    pub method: &'a [u8],
    /// The request-target; in HTTP/2 the `:path`, or the authority-form where a CONNECT has none.
    pub target: Target<'a>,
    /// The `:authority` of HTTP/2, where there is one. Not looked at before HTTP/2.
    pub authority: Option<&'a [u8]>,
    /// The `:scheme` of HTTP/2, else that of the connection: its default port equals none. Where it is not
    /// known, 80 and 443 both equal none.
    pub scheme: Option<&'a [u8]>,
    /// Is this an extended CONNECT with the `:protocol` `websocket` (RFC 8441)? Means nothing before HTTP/2.
    pub websocket: bool,
    /// The `Host` fields.
    pub hosts: HostFields<'a>,
    /// What the `Transfer-Encoding` fields amount to.
    pub transfer_encoding: TransferEncoding,
    /// The names of the certificate that this connection was served with; `None` without TLS.
    pub tls_names: Option<&'a [HostPattern]>,
}

#[cfg(feature = "http")]
impl<'a> Head<'a> {
    /// Reads the head of a request as hyper hands it over, where an HTTP/2 `:authority` arrives in the `Uri`.
    ///
    /// `tls_names` are the names of the certificate that the connection was served with, if it was. What
    /// the `http` crate cannot tell is left to the caller: an extended CONNECT for a WebSocket must set
    /// [`websocket`](Self::websocket).
    ///
    /// ```
    /// use fingerpost_authority::{Head, Selected, select};
    ///
    /// let request = http::Request::get("/").header("host", "A.com:80").body(())?;
    /// let (parts, ()) = request.into_parts();
    /// let Selected::Host(host) = select(&Head::from_parts(&parts, None))? else { panic!() };
    /// assert_eq!(host.as_str(), "a.com");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Complexity
    ///
    /// Two look-ups in the header map; does not allocate.
    #[must_use]
    pub fn from_parts(
        parts: &'a http::request::Parts,
        tls_names: Option<&'a [HostPattern]>,
    ) -> Self {
        let version = match parts.version {
            http::Version::HTTP_09 | http::Version::HTTP_10 => HttpVersion::Http10,
            http::Version::HTTP_11 => HttpVersion::Http11,
            _ => HttpVersion::Http2,
        };
        let uri = &parts.uri;
        let authority = uri.authority().map(|authority| authority.as_str().as_bytes());
        let is_http2 = version == HttpVersion::Http2;
        let values =
            |name| parts.headers.get_all(name).into_iter().map(http::HeaderValue::as_bytes);
        Self {
            version,
            method: parts.method.as_str().as_bytes(),
            target: match authority {
                // The `:scheme` and `:authority` in the `Uri` do not make the target an absolute-form.
                Some(authority) if is_http2 && uri.path().is_empty() => {
                    Target::Authority(authority)
                }
                _ if is_http2 => Target::from_uri_path(uri),
                _ => Target::from_uri(uri),
            },
            authority: if is_http2 { authority } else { None },
            scheme: if is_http2 { uri.scheme_str().map(str::as_bytes) } else { None },
            websocket: false,
            hosts: HostFields::from_values(values(http::header::HOST)),
            transfer_encoding: TransferEncoding::from_fields(
                values(http::header::TRANSFER_ENCODING),
                version,
            ),
            tls_names,
        }
    }
}
