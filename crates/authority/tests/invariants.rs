//! The invariants, by their names.

use core::hash::{BuildHasher, BuildHasherDefault};
use std::hash::DefaultHasher;

use fingerpost_authority::{
    Authority, Head, Host, HostFields, HostKind, HostPattern, HttpVersion, Selected, Target,
    TransferEncoding, select,
};
use proptest::prelude::*;

/// Names of few labels and few letters, so that they often share suffixes.
fn name() -> impl Strategy<Value = String> {
    "[abA_-]{1,3}(\\.[abA-]{1,2}){0,4}(\\.com)?"
}

/// Names of any length up to and over the room that is inline.
fn long_name() -> impl Strategy<Value = String> {
    "([a-zA-Z0-9_-]{1,30}\\.){0,7}[a-zA-Z_-]{1,12}"
}

fn v4() -> impl Strategy<Value = String> {
    any::<[u8; 4]>().prop_map(|[a, b, c, d]| format!("{a}.{b}.{c}.{d}"))
}

/// Addresses with many zero groups, as they are usually written and in full.
fn v6() -> impl Strategy<Value = String> {
    let group = prop_oneof![Just(0), Just(1), Just(0xffff), any::<u16>()];
    (prop::array::uniform8(group), any::<bool>()).prop_map(|(groups, full)| {
        if full {
            let groups: Vec<String> = groups.iter().map(|group| format!("{group:04X}")).collect();
            return format!("[{}]", groups.join(":"));
        }
        format!("[{}]", std::net::Ipv6Addr::from(groups))
    })
}

/// Mostly hosts.
fn host_text() -> impl Strategy<Value = String> {
    prop_oneof![4 => name(), 2 => long_name(), 1 => v4(), 1 => v6()]
}

/// Mostly not hosts: every byte, but dots, colons, brackets and digits more often.
fn near_host() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        6 => prop::sample::select(&b"ab.A1"[..]),
        2 => prop::sample::select(&b":[]xXfF0@/%*-_"[..]),
        1 => any::<u8>(),
    ];
    prop::collection::vec(byte, 0..40)
}

fn host() -> impl Strategy<Value = Host> {
    host_text().prop_filter_map("not a host", |text| Host::parse(text).ok())
}

fn pattern() -> impl Strategy<Value = HostPattern> {
    let suffix = || name().prop_filter_map("not a host", |name| Host::parse(name).ok());
    prop_oneof![
        4 => host().prop_map(HostPattern::Exact),
        4 => suffix().prop_map(HostPattern::Wildcard),
        4 => suffix().prop_map(HostPattern::DeepWildcard),
        1 => Just(HostPattern::Any),
    ]
}

/// A name as a list of labels, for models that know nothing of text.
fn labels(host: &Host) -> Vec<&str> {
    host.as_str().split('.').collect()
}

fn head<'a>(version: HttpVersion, target: Target<'a>, hosts: HostFields<'a>) -> Head<'a> {
    Head {
        version,
        method: b"GET",
        target,
        authority: None,
        scheme: None,
        websocket: false,
        hosts,
        transfer_encoding: TransferEncoding::None,
        tls_names: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100_000))]

    #[test]
    fn h1_parsing_what_a_host_displays_gives_the_host(host in host()) {
        prop_assert_eq!(Host::parse(host.to_string()), Ok(host.clone()));
        prop_assert_eq!(host.as_str().as_bytes(), host.as_bytes());
        let authority = Authority::parse(host.as_bytes()).unwrap();
        prop_assert_eq!((authority.host(), authority.port()), (&host, None));
    }

    #[test]
    fn h2_canonicalising_is_idempotent(text in near_host()) {
        if let Ok(once) = Host::parse(&text) {
            let twice = Host::parse(once.as_bytes()).unwrap();
            prop_assert_eq!(twice.as_bytes(), once.as_bytes());
            prop_assert_eq!(twice.kind(), once.kind());
        }
    }

    #[test]
    fn h3_equality_is_that_of_canonical_bytes(left in host(), right in host()) {
        let hash = BuildHasherDefault::<DefaultHasher>::new();
        let same = left.as_bytes() == right.as_bytes();
        prop_assert_eq!(left == right, same);
        prop_assert_eq!(left.cmp(&right).is_eq(), same);
        prop_assert_eq!(hash.hash_one(&left) == hash.hash_one(&right), same);
        prop_assert!(!same || left.kind() == right.kind());
        let key = |host: &Host| (host.kind(), host.as_bytes().to_vec());
        prop_assert_eq!(left.cmp(&right), key(&left).cmp(&key(&right)));
        // Another spelling of the same host is the same host.
        let dot = if left.kind() == HostKind::V6 { "" } else { "." };
        let spelled = left.as_str().to_ascii_uppercase() + dot;
        prop_assert_eq!(Host::parse(spelled), Ok(left));
    }

    #[test]
    fn h4_no_bytes_panic_and_no_canonical_text_is_dangerous(text in near_host()) {
        let accepted = [
            Host::parse(&text).ok(),
            Authority::parse(&text).ok().map(Authority::into_host),
            Host::from_written(&String::from_utf8_lossy(&text)).ok(),
        ];
        for host in accepted.into_iter().flatten() {
            let bytes = host.as_bytes();
            prop_assert!(!bytes.is_empty());
            prop_assert!(bytes.is_ascii());
            let colons = host.kind() == HostKind::V6;
            let dangerous = |byte: &u8| {
                byte.is_ascii_uppercase() || b"@/%*".contains(byte) || (*byte == b':' && !colons)
            };
            prop_assert!(!bytes.iter().any(dangerous), "{}", host);
        }
    }

    #[test]
    fn h5_select_never_prefers_host_when_the_target_names_an_authority(
        named in host(),
        field in host(),
        port in prop::option::of(any::<u16>()),
    ) {
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let target = format!("http://{named}{port}/x");
        let hosts = HostFields::One(field.as_bytes());
        for version in [HttpVersion::Http10, HttpVersion::Http11] {
            let got = select(&head(version, Target::parse(target.as_bytes()), hosts));
            prop_assert_eq!(got, Ok(Selected::Host(named.clone())));
        }
        let authority = format!("{named}{port}");
        let http2 = Head {
            authority: Some(authority.as_bytes()),
            ..head(HttpVersion::Http2, Target::parse(b"/x"), hosts)
        };
        match select(&http2) {
            Ok(got) => prop_assert_eq!(got, Selected::Host(named)),
            Err(rejected) => prop_assert!(
                rejected.status() == 400 && (named != field || !port.is_empty())
            ),
        }
    }

    #[test]
    fn h6_patterns_order_totally(left in pattern(), middle in pattern(), right in pattern()) {
        prop_assert_eq!(left.cmp(&right), right.cmp(&left).reverse());
        prop_assert_eq!(left.cmp(&right).is_eq(), left == right);
        if left <= middle && middle <= right {
            prop_assert!(left <= right);
        }
    }
}

proptest! {
    // Whole sets of patterns and texts made from expressions cost more to make.
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn h6_the_first_of_sorted_patterns_decides(
        mut patterns in prop::collection::vec(pattern(), 1..8),
        host in host(),
    ) {
        patterns.sort();
        let first = patterns.iter().find(|pattern| pattern.matches(&host));
        // The model: the tiers in turn, and of suffixes the one with the most labels.
        let mut best = None;
        for pattern in &patterns {
            let covers = |suffix: &Host| {
                let (suffix, host) = (labels(suffix), labels(&host));
                host.len().checked_sub(suffix.len()).filter(|_| host.ends_with(&suffix))
            };
            let is_name = host.kind() == HostKind::Name;
            let rank = match pattern {
                HostPattern::Exact(exact) => (exact == &host).then_some((0, 0)),
                HostPattern::Wildcard(suffix) => {
                    (is_name && covers(suffix) == Some(1)).then_some((1, 0))
                }
                HostPattern::DeepWildcard(suffix) => covers(suffix)
                    .filter(|labels| is_name && *labels > 0)
                    .map(|labels| (2, labels)),
                HostPattern::Any => Some((3, 0)),
            };
            if let Some(rank) = rank && best.as_ref().is_none_or(|(best, _)| rank < *best) {
                best = Some((rank, pattern));
            }
        }
        prop_assert_eq!(first, best.map(|(_, pattern)| pattern));
    }

    #[test]
    fn patterns_survive_being_written(text in "(\\*\\.|\\*\\*\\.)?[ab_-]{1,3}(\\.[ab]{1,3}){0,3}") {
        let pattern = HostPattern::from_written(&text).unwrap();
        prop_assert_eq!(pattern.to_string().parse(), Ok(pattern.clone()));
        prop_assert_eq!(pattern.to_string(), text);
    }

    #[test]
    fn targets_are_put_together_again(raw in "(/|\\*|http://|ht:|a)[a./?#*:@ \\x00é]{0,8}") {
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let query = |query: Option<&[u8]>| query.map(|q| format!("?{}", shown(q))).unwrap_or_default();
        let again = match Target::parse(raw.as_bytes()) {
            Target::Origin { path, query: q } => shown(path) + &query(q),
            Target::Absolute { scheme, authority, path, query: q } => {
                let start = format!("{}://{}", shown(scheme), shown(authority));
                let whole = format!("{start}{}{}", shown(path), query(q));
                // An empty path is reported as a slash.
                if raw == whole { whole } else { start + &query(q) }
            }
            Target::Authority(authority) => shown(authority),
            Target::Asterisk => "*".to_owned(),
            Target::Invalid => raw.clone(),
        };
        prop_assert_eq!(again, raw);
    }
}
