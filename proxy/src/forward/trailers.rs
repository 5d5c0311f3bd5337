//! Fields that must not come behind the content.

use http::HeaderMap;
use http_body::Frame;

use crate::headers::Managed;

/// Drops the trailer fields that frame, route or authenticate a message, or that only proxies set.
///
/// hyper keeps framing fields out of what it sends itself (RFC 9110 section 6.5.1), and sends no
/// trailer that the `Trailer` field doesn't name.
pub(super) fn filtered<D>(frame: Frame<D>) -> Frame<D> {
    match frame.into_trailers() {
        Ok(mut trailers) => {
            remove(&mut trailers);
            Frame::trailers(trailers)
        }
        Err(frame) => frame,
    }
}

fn remove(trailers: &mut HeaderMap) {
    let unwanted: Vec<_> = trailers.keys().filter(|name| refused(name.as_str())).cloned().collect();
    for name in unwanted {
        trailers.remove(name);
    }
}

fn refused(name: &str) -> bool {
    const PREFIXES: [&str; 3] = ["content-", "if-", "proxy-"];
    if matches!(name, "content-digest" | "content-md5") {
        return false;
    }
    name.contains('_')
        || Managed::of(name).is_some()
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || matches!(
            name,
            "authorization"
                | "cache-control"
                | "connection"
                | "cookie"
                | "date"
                | "expect"
                | "host"
                | "keep-alive"
                | "location"
                | "max-forwards"
                | "range"
                | "set-cookie"
                | "te"
                | "trailer"
                | "transfer-encoding"
                | "upgrade"
                | "vary"
                | "via"
                | "www-authenticate"
        )
}
