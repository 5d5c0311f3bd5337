//! What an upstream is told about the connection that a request came on.

use std::net::{IpAddr, SocketAddr};

use http::header::{FORWARDED, HOST};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::server::Scheme;
use crate::snapshot::Settings;

static X_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
static X_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
static X_PORT: HeaderName = HeaderName::from_static("x-forwarded-port");
static X_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The ends of one client connection, made into field values once.
///
/// Values come from the connection. A trusted proxy in front of us knows the client better: what it
/// says of host, scheme and port is kept, and lists get its address at their end.
#[derive(Debug)]
pub(crate) struct Origin {
    trusted: bool,
    peer: IpAddr,
    address: HeaderValue,
    port: HeaderValue,
    scheme: HeaderValue,
    /// `for=...;proto=...` where `Forwarded` is sent.
    forwarded: Option<Box<str>>,
}

impl Origin {
    pub(crate) fn new(
        peer: SocketAddr,
        local: SocketAddr,
        scheme: Scheme,
        settings: &Settings,
    ) -> Self {
        let peer = peer.ip().to_canonical();
        let scheme = match scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        let node = match peer {
            IpAddr::V4(_) => peer.to_string(),
            IpAddr::V6(_) => format!("\"[{peer}]\""),
        };
        let value = |text: String| {
            HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("unknown"))
        };
        Self {
            trusted: settings.trusted_proxies.iter().any(|network| network.contains(peer)),
            peer,
            address: value(peer.to_string()),
            port: HeaderValue::from(local.port()),
            scheme: HeaderValue::from_static(scheme),
            forwarded: settings.forwarded.then(|| format!("for={node};proto={scheme}").into()),
        }
    }

    /// Whether the peer's own forwarded fields are believed.
    pub(crate) const fn trusted(&self) -> bool {
        self.trusted
    }

    pub(crate) const fn peer(&self) -> IpAddr {
        self.peer
    }

    pub(crate) const fn address(&self) -> &HeaderValue {
        &self.address
    }

    /// Whether the client asked by HTTPS, as far as we or a trusted proxy know.
    pub(crate) fn is_secure(&self, headers: &HeaderMap) -> bool {
        let told = || headers.get(&X_PROTO).map_or(&b""[..], HeaderValue::as_bytes);
        self.scheme == "https" || self.trusted && told().eq_ignore_ascii_case(b"https")
    }

    /// Sets every field, always: one that is absent is one that a client can supply.
    ///
    /// `sent` says whether the client sent any of them.
    pub(super) fn set_fields(&self, headers: &mut HeaderMap, sent: bool) {
        let host = headers.get(HOST).cloned().unwrap_or_else(|| HeaderValue::from_static(""));
        if let Some(ours) = &self.forwarded {
            let element = match host.to_str() {
                Ok(host) if !host.is_empty() => format!("{ours};host=\"{host}\""),
                _ => String::from(&**ours),
            };
            set_list(headers, &FORWARDED, element.as_bytes());
        }
        if self.trusted && sent {
            set_list(headers, &X_FOR, self.address.as_bytes());
            for (name, value) in [(&X_HOST, &host), (&X_PORT, &self.port), (&X_PROTO, &self.scheme)]
            {
                headers.entry(name).or_insert_with(|| value.clone());
            }
        } else {
            headers.insert(&X_FOR, self.address.clone());
            headers.insert(&X_HOST, host);
            headers.insert(&X_PORT, self.port.clone());
            headers.insert(&X_PROTO, self.scheme.clone());
        }
    }
}

/// Joins the lines of a list field and puts `element` at its end.
fn set_list(headers: &mut HeaderMap, name: &HeaderName, element: &[u8]) {
    let mut list = Vec::new();
    for value in headers.get_all(name) {
        if !value.is_empty() {
            list.extend_from_slice(value.as_bytes());
            list.extend_from_slice(b", ");
        }
    }
    list.extend_from_slice(element);
    if let Ok(value) = HeaderValue::from_maybe_shared(bytes::Bytes::from(list)) {
        headers.insert(name, value);
    }
}
