//! The redirect from HTTP to HTTPS.

use std::sync::Arc;

use fingerpost_authority::Host;
use fingerpost_router::{Match, Tier};
use http::{HeaderValue, Uri};

use crate::entry::Entry;
use crate::snapshot::Snapshot;

/// Where a request that came by HTTP is sent instead of being answered.
///
/// A host stands in a `Location` only if it is served here by HTTPS: a certificate names it, and the router
/// knows it or has a route that serves it. Routes of every host answer by HTTP too, and so does the host's
/// own application when an issuer of certificates asks it for a token (RFC 8555 section 8.3).
pub(super) fn location(
    snapshot: &Snapshot,
    host: &Host,
    port: u16,
    matched: Option<&Match<'_, '_, Arc<Entry>>>,
    target: &Uri,
) -> Option<HeaderValue> {
    if matched.is_some_and(|matched| matched.tier() == Tier::EveryHost) || is_challenge(target) {
        return None;
    }
    let served = matched.is_some() || snapshot.router.resolve_host(host).is_some();
    if !served || !snapshot.settings.certificates.as_ref()?.names(host) {
        return None;
    }
    let (path, query) = (target.path(), target.query());
    let mut location = format!("https://{host}");
    if port != 443 {
        location.push_str(&format!(":{port}"));
    }
    location.push_str(path);
    if let Some(query) = query {
        location.push('?');
        location.push_str(query);
    }
    HeaderValue::try_from(location).ok()
}

/// Whether a path is that of an HTTP-01 challenge, spelled as issuers spell it.
fn is_challenge(target: &Uri) -> bool {
    let token = target.path().strip_prefix("/.well-known/acme-challenge/");
    token.is_some_and(|token| {
        let url_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        !token.is_empty() && token.bytes().all(url_safe)
    })
}
