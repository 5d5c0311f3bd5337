//! Which address a request's client has.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use http::header::FORWARDED;

use crate::headers::Origin;
use crate::network::Network;

/// The client's address: the peer's, or what trusted proxies say of theirs.
///
/// `X-Forwarded-For` is read from its end, where the proxy next to us wrote, up to the first address that is
/// no trusted proxy; what stands before is anybody's claim. `None` where a trusted proxy has said something
/// that is no address, or has said it in `Forwarded` only, which we don't read: then nobody knows.
pub(super) fn client(origin: &Origin, headers: &HeaderMap, trusted: &[Network]) -> Option<IpAddr> {
    let peer = origin.peer();
    if !origin.trusted() {
        return Some(peer);
    }
    let mut told = false;
    let mut client = peer;
    let lines = headers.get_all("x-forwarded-for").iter().rev();
    for element in lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b',')) {
        told = true;
        client = parse(element)?;
        if !trusted.iter().any(|network| network.contains(client)) {
            return Some(client);
        }
    }
    (told || !headers.contains_key(FORWARDED)).then_some(client)
}

/// An address, with or without a port behind it.
fn parse(element: &[u8]) -> Option<IpAddr> {
    let text = str::from_utf8(element.trim_ascii()).ok()?;
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    let address = text.parse().ok().or_else(bracketed);
    let address = address.or_else(|| text.parse().ok().map(|socket: SocketAddr| socket.ip()));
    address.map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Scheme;
    use crate::snapshot::Settings;

    #[test]
    fn the_client_is_the_last_that_is_no_trusted_proxy() {
        let trusted = ["10.0.0.0/8", "2001:db8::/32"].map(|network| network.parse().unwrap());
        let settings = Settings { trusted_proxies: trusted.to_vec(), ..Settings::default() };
        for (peer, lines, want) in [
            ("192.0.2.1", &[][..], Some("192.0.2.1")),
            ("192.0.2.1", &["127.0.0.1"], Some("192.0.2.1")),
            ("10.0.0.1", &[], Some("10.0.0.1")),
            ("10.0.0.1", &["192.0.2.7"], Some("192.0.2.7")),
            ("10.0.0.1", &["127.0.0.1, 192.0.2.7"], Some("192.0.2.7")),
            ("10.0.0.1", &["127.0.0.1", "192.0.2.7"], Some("192.0.2.7")),
            ("10.0.0.1", &["192.0.2.7", "10.0.0.2"], Some("192.0.2.7")),
            ("10.0.0.1", &["127.0.0.1,192.0.2.7 ,10.0.0.2"], Some("192.0.2.7")),
            ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], Some("10.0.0.3")),
            ("10.0.0.1", &["192.0.2.7:4711"], Some("192.0.2.7")),
            ("10.0.0.1", &["[2001:db9::1]:4711"], Some("2001:db9::1")),
            ("10.0.0.1", &["[2001:db9::1]"], Some("2001:db9::1")),
            ("2001:db8::1", &["::ffff:192.0.2.7"], Some("192.0.2.7")),
            ("::ffff:10.0.0.1", &["192.0.2.7"], Some("192.0.2.7")),
            // Nobody knows.
            ("10.0.0.1", &[""], None),
            ("10.0.0.1", &["192.0.2.7, "], None),
            ("10.0.0.1", &["127.0.0.1, unknown"], None),
            ("10.0.0.1", &["127.0.0.1, 192.0.2"], None),
            ("10.0.0.1", &["unknown, 192.0.2.7"], Some("192.0.2.7")),
        ] {
            let local = "10.0.0.9:80".parse().unwrap();
            let peer_address = SocketAddr::new(peer.parse().unwrap(), 4711);
            let origin = Origin::new(peer_address, local, Scheme::Http, &settings);
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("x-forwarded-for", line.parse().unwrap());
            }
            let want = want.map(|want| want.parse::<IpAddr>().unwrap());
            let found = client(&origin, &headers, &settings.trusted_proxies);
            assert_eq!(found, want, "{peer} {lines:?}");
            headers.insert(FORWARDED, "for=127.0.0.1".parse().unwrap());
            let want = want.filter(|_| !lines.is_empty() || !origin.trusted());
            let found = client(&origin, &headers, &settings.trusted_proxies);
            assert_eq!(found, want, "{peer} {lines:?} and Forwarded");
        }
    }
}
