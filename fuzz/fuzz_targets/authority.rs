//! H1 to H4, and what a port may be.

#![no_main]

use fingerpost_authority::{Authority, Host, HostKind};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(host) = Host::parse(bytes) {
        check(&host);
        // the text is the request's, folded, without its one trailing dot; addresses may be shortened
        if host.kind() == HostKind::Name {
            let text = bytes.strip_suffix(b".").unwrap_or(bytes).to_ascii_lowercase();
            assert_eq!(host.as_bytes(), text);
        }
        // a host with a default port is an authority with the same host, and the other way round
        let authority = Authority::parse(&[bytes, b":80"].concat()).expect("a host and a port");
        assert_eq!((authority.host(), authority.port()), (&host, Some(80)));
    }
    if let Ok(authority) = Authority::parse(bytes) {
        check(authority.host());
        let port = match bytes.iter().rposition(|&byte| byte == b':') {
            Some(at) if bytes.last() != Some(&b']') => {
                let digits = &bytes[at + 1..];
                assert!(digits.iter().all(u8::is_ascii_digit));
                (!digits.is_empty())
                    .then(|| std::str::from_utf8(digits).unwrap().parse::<u16>().expect("a port"))
            }
            _ => None,
        };
        assert_eq!(authority.port(), port);
    }
});

fn check(host: &Host) {
    let text = host.to_string();
    let again = Host::parse(&text).expect("H1: what is displayed is a host");
    assert_eq!(&again, host, "H1");
    assert_eq!(again.to_string(), text, "H2");
    assert_eq!(host.as_bytes(), text.as_bytes(), "H3");
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    assert_eq!(bare.is_some(), host.kind() == HostKind::V6, "H4");
    let forbidden = |byte: u8| match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'.' => false,
        b'-' | b'_' => host.kind() != HostKind::Name,
        b':' => host.kind() != HostKind::V6,
        _ => true,
    };
    assert!(!text.is_empty() && !bare.unwrap_or(&text).bytes().any(forbidden), "H4: {text}");
    match host.kind() {
        HostKind::Name => {
            assert!(text.len() <= 253);
            assert!(text.split('.').all(|label| (1..=63).contains(&label.len())), "{text}");
            let last = text.rsplit('.').next().unwrap_or_default();
            assert!(!last.bytes().all(|byte| byte.is_ascii_digit()), "{text}");
        }
        HostKind::V4 => {
            assert_eq!(text.parse::<std::net::Ipv4Addr>().expect("IPv4").to_string(), text)
        }
        HostKind::V6 => {
            assert!(bare.unwrap_or_default().parse::<std::net::Ipv6Addr>().is_ok(), "{text}")
        }
    }
}
