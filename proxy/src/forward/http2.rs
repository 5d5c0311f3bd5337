//! A request's header for a server that speaks HTTP/2 (RFC 9113 section 8.3).

use http::header::{CONNECTION, EXPECT, HOST, TE, TRANSFER_ENCODING};
use http::request::Parts;
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{HeaderValue, Version};

/// The host becomes `:authority`, or else the server's `address`; what frames HTTP/1.1 goes.
///
/// A server that speaks HTTP/2 is never waited for to ask for content: hyper doesn't hear it do so.
pub(super) fn encode(parts: &mut Parts, scheme: &Scheme, address: &str) {
    let host = parts.headers.remove(HOST);
    let authority = host.and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let target = std::mem::take(&mut parts.uri).into_parts();
    let mut uri = http::uri::Parts::default();
    uri.scheme = Some(scheme.clone());
    uri.authority = authority.or_else(|| address.parse().ok());
    uri.path_and_query = target.path_and_query.or_else(|| Some(PathAndQuery::from_static("/")));
    parts.uri = Uri::from_parts(uri).unwrap_or_default();
    // `TE: trailers` stays, which `Connection` nominates for the next hop only.
    parts.headers.remove(CONNECTION);
    parts.headers.remove(TRANSFER_ENCODING);
    parts.headers.remove(EXPECT);
    parts.version = Version::HTTP_2;
}

/// Takes [`encode`] back, for a request that was not sent and may go to another server.
pub(super) fn decode(parts: &mut Parts) {
    if parts.version != Version::HTTP_2 {
        return;
    }
    let target = std::mem::take(&mut parts.uri).into_parts();
    if let Some(authority) = target.authority
        && let Ok(host) = HeaderValue::from_str(authority.as_str())
    {
        parts.headers.insert(HOST, host);
    }
    parts.uri = target.path_and_query.map(Uri::from).unwrap_or_default();
    if parts.headers.contains_key(TE) {
        parts.headers.insert(CONNECTION, HeaderValue::from_static("te"));
    }
    parts.version = Version::HTTP_11;
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    #[test]
    fn what_was_encoded_is_decoded() {
        for target in ["/", "/a//b?c=%2F&d", "/?", "/%00"] {
            for (name, value) in [("te", "trailers"), ("cookie", "a=b")] {
                let request = Request::get(target).header(HOST, "a.example:81").header(name, value);
                let (before, ()) = request.body(()).unwrap().into_parts();
                let mut parts = before.clone();
                encode(&mut parts, &Scheme::HTTPS, "127.0.0.1:1");
                assert_eq!(parts.uri.to_string(), format!("https://a.example:81{target}"));
                assert!(!parts.headers.contains_key(HOST));
                decode(&mut parts);
                assert_eq!((&parts.uri, parts.version), (&before.uri, before.version));
                assert_eq!(parts.headers[HOST], "a.example:81");
                assert_eq!(parts.headers[name], value);
            }
        }
    }

    #[test]
    fn a_request_without_a_host_names_the_server() {
        let (mut parts, ()) = Request::get("/x").body(()).unwrap().into_parts();
        encode(&mut parts, &Scheme::HTTP, "[::1]:80");
        assert_eq!(parts.uri, "http://[::1]:80/x");
    }
}
