//! Host patterns: reading, matching, order.

use fingerpost_authority::HostPattern::{Any, DeepWildcard, Exact, Wildcard};
use fingerpost_authority::HostPatternError::{Address, MisplacedWildcard, NoSuffix};
use fingerpost_authority::{Host, HostError, HostPattern, HostPatternError, WrittenHostError};

fn host(text: &str) -> Host {
    Host::parse(text).expect("a host")
}

fn pattern(text: &str) -> HostPattern {
    HostPattern::from_written(text).expect("a pattern")
}

#[test]
fn patterns_are_read() {
    for (input, want, shown) in [
        ("a.com", Exact(host("a.com")), "a.com"),
        ("A.Com", Exact(host("a.com")), "a.com"),
        ("192.0.2.1", Exact(host("192.0.2.1")), "192.0.2.1"),
        ("[2001:DB8::1]", Exact(host("[2001:db8::1]")), "[2001:db8::1]"),
        ("*.A.com", Wildcard(host("a.com")), "*.a.com"),
        ("*.com", Wildcard(host("com")), "*.com"),
        ("**.a.com", DeepWildcard(host("a.com")), "**.a.com"),
        (
            "*.b\u{fc}cher.example",
            Wildcard(host("xn--bcher-kva.example")),
            "*.xn--bcher-kva.example",
        ),
        ("*", Any, "*"),
    ] {
        assert_eq!(HostPattern::from_written(input).as_ref(), Ok(&want), "{input}");
        assert_eq!(want.to_string(), shown, "{input}");
        assert_eq!(shown.parse(), Ok(want), "{input}");
    }
}

#[test]
fn what_is_no_pattern_says_why() {
    let no_host = |offset, source| HostPatternError::Host { offset, source };
    for (input, want) in [
        ("", no_host(0, WrittenHostError::Empty)),
        ("*.", NoSuffix { offset: 2 }),
        ("**.", NoSuffix { offset: 3 }),
        ("**", MisplacedWildcard { offset: 0 }),
        ("***.a.com", MisplacedWildcard { offset: 0 }),
        ("*a.com", MisplacedWildcard { offset: 0 }),
        ("a*.com", MisplacedWildcard { offset: 1 }),
        ("a.*.com", MisplacedWildcard { offset: 2 }),
        ("a.com.*", MisplacedWildcard { offset: 6 }),
        ("*.*.com", MisplacedWildcard { offset: 2 }),
        ("**.*.com", MisplacedWildcard { offset: 3 }),
        ("*.192.0.2.1", Address { offset: 2 }),
        ("**.192.0.2.1", Address { offset: 3 }),
        ("*.[::1]", Address { offset: 2 }),
        ("*..com", no_host(2, WrittenHostError::Host(HostError::EmptyLabel { offset: 0 }))),
        ("*.a.com.", no_host(2, WrittenHostError::TrailingDot)),
        ("**.a.com:80", no_host(3, WrittenHostError::Port { offset: 5 })),
        ("*.127.1", no_host(2, WrittenHostError::Host(HostError::Numeric { offset: 4 }))),
        ("*\u{3002}a.com", MisplacedWildcard { offset: 0 }),
        ("https://*.a.com", MisplacedWildcard { offset: 8 }),
        ("https://a.com", no_host(0, WrittenHostError::Scheme { offset: 5 })),
    ] {
        assert_eq!(HostPattern::from_written(input), Err(want), "{input}");
    }
}

/// Rule, pattern, host, whether it matches.
static MATCHES: &[(&str, &str, &str, bool)] = &[
    ("exact", "a.com", "a.com", true),
    ("exact", "a.com", "b.com", false),
    ("exact is not a suffix", "a.com", "x.a.com", false),
    ("exact is not a prefix", "a.com", "a.com.x", false),
    ("exact address", "192.0.2.1", "192.0.2.1", true),
    ("exact address", "[2001:db8::1]", "[2001:db8:0::1]", true),
    ("host-uppercase-lookup", "api.example.com", "API.Example.COM", true),
    ("host-trailing-dot", "api.example.com", "api.example.com.", true),
    ("host-idn-config", "b\u{fc}cher.example", "xn--bcher-kva.example", true),
    ("host-underscore", "amqp_node1.example.com", "amqp_node1.example.com", true),
    ("wildcard-depth", "*.example.com", "a.example.com", true),
    ("wildcard-depth", "*.example.com", "a.b.example.com", false),
    ("wildcard-apex", "*.example.com", "example.com", false),
    ("whole labels", "*.example.com", "aexample.com", false),
    ("whole labels", "*.example.com", "a.bexample.com", false),
    ("another suffix", "*.example.com", "a.example.org", false),
    ("underscore in the label", "*.example.com", "_a.example.com", true),
    ("upper case", "*.EXAMPLE.com", "A.example.COM", true),
    ("top-level", "*.com", "a.com", true),
    ("top-level", "*.com", "a.b.com", false),
    ("deep", "**.example.com", "a.example.com", true),
    ("deep", "**.example.com", "a.b.c.example.com", true),
    ("deep, not the apex", "**.example.com", "example.com", false),
    ("deep, whole labels", "**.example.com", "aexample.com", false),
    ("any name", "*", "a.b.c.example.com", true),
    ("any address", "*", "192.0.2.1", true),
    ("any address", "*", "[::1]", true),
];

#[test]
fn patterns_match_as_decided() {
    for (rfc, written, requested, want) in MATCHES {
        assert_eq!(
            pattern(written).matches(&host(requested)),
            *want,
            "{rfc}: {written} {requested}"
        );
    }
}

#[test]
fn wildcards_over_addresses_match_nothing_even_when_built_by_hand() {
    for address in ["192.0.2.1", "[::1]", "4.4.4.4"] {
        for requested in [address, "a.com", "[::1]", "192.0.2.1"] {
            assert!(!Wildcard(host(address)).matches(&host(requested)), "{address} {requested}");
            assert!(
                !DeepWildcard(host(address)).matches(&host(requested)),
                "{address} {requested}"
            );
        }
    }
}

#[test]
fn the_order_is_that_of_matching() {
    let sorted = [
        "a.com",
        "b.example.com",
        "x.a.com",
        "192.0.2.1",
        "[::1]",
        "*.a.com",
        "*.b.a.com",
        "*.example.com",
        "**.bb.example.com",
        "**.b.example.com",
        "**.c.example.com",
        "**.example.com",
        "**.com",
        "*",
    ];
    let mut shuffled: Vec<_> = sorted.iter().rev().map(|text| pattern(text)).collect();
    shuffled.sort();
    let shown: Vec<_> = shuffled.iter().map(ToString::to_string).collect();
    assert_eq!(shown, sorted);
}

#[test]
fn ties_do_not_depend_on_the_order_of_building() {
    // wildcard-tie-determinism: two wildcards and 500 hosts, in a hundred orders.
    let mut patterns =
        vec![pattern("*.a.example.com"), pattern("*.example.com"), pattern("**.example.com")];
    patterns.extend((0..500).map(|n| pattern(&format!("h{n}.example.org"))));
    let requested = host("x.a.example.com");
    for round in 0..100 {
        patterns.rotate_left(37);
        patterns.swap(round, 500 - round);
        let mut built = patterns.clone();
        built.sort_unstable();
        let winner = built.iter().find(|pattern| pattern.matches(&requested)).unwrap();
        assert_eq!(winner.to_string(), "*.a.example.com");
    }
}
