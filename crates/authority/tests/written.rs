//! Hosts as people write them.

use fingerpost_authority::WrittenHostError::{
    Brackets, Empty, Fragment, Idna, Path, Port, Query, Scheme, TrailingDot, Userinfo, Wildcard,
};
use fingerpost_authority::{Host, HostError, HostKind, WrittenHostError};

struct Case {
    rfc: &'static str,
    input: &'static str,
    want: Result<&'static str, WrittenHostError>,
}

const fn ok(rfc: &'static str, input: &'static str, want: &'static str) -> Case {
    Case { rfc, input, want: Ok(want) }
}

const fn no(rfc: &'static str, input: &'static str, want: WrittenHostError) -> Case {
    Case { rfc, input, want: Err(want) }
}

const fn host(error: HostError) -> WrittenHostError {
    WrittenHostError::Host(error)
}

static CASES: &[Case] = &[
    ok("plain", "tickets.example", "tickets.example"),
    ok("host-uppercase-lookup", "Tickets.Example", "tickets.example"),
    ok("host-underscore", "amqp_node1.example.com", "amqp_node1.example.com"),
    ok("IPv4", "192.0.2.1", "192.0.2.1"),
    ok("IPv6", "[2001:DB8:0::1]", "[2001:db8::1]"),
    // Conversion.
    ok("host-idn-config", "b\u{fc}cher.example", "xn--bcher-kva.example"),
    ok("UTS 46: upper case", "B\u{dc}CHER.Example", "xn--bcher-kva.example"),
    ok("UTS 46: composition", "bu\u{308}cher.example", "xn--bcher-kva.example"),
    ok("UTS 46: non-transitional", "fa\u{df}.example", "xn--fa-hia.example"),
    ok("UTS 46: full width", "\u{ff27}\u{ff4f}.com", "go.com"),
    ok("UTS 46: ideographic full stop", "www.foo\u{3002}bar.com", "www.foo.bar.com"),
    ok("a valid A-label", "XN--bcher-KVA.example", "xn--bcher-kva.example"),
    no("an A-label that decodes to nothing allowed", "a.xn--a", Idna { offset: 2 }),
    no("an A-label without a body", "xn--", Idna { offset: 0 }),
    no("an A-label of ASCII only", "xn--a-.com", Idna { offset: 0 }),
    no("a code point that is not allowed", "a.\u{fffd}.com", Idna { offset: 2 }),
    no("RFC 5893: mixed directions", "a.\u{64a}a", Idna { offset: 2 }),
    no("nothing is left", "\u{ad}", host(HostError::EmptyLabel { offset: 0 })),
    no("a label of nothing", "a.\u{ad}.com", host(HostError::EmptyLabel { offset: 2 })),
    no("converted into a dot at the end", "a.com\u{3002}", TrailingDot),
    no("converted into a slash", "a\u{ff0f}b", host(HostError::Byte { offset: 1, byte: b'/' })),
    no(
        "converted into a percent",
        "\u{ff05}41.com",
        host(HostError::Byte { offset: 0, byte: b'%' }),
    ),
    no(
        "converted into a bracket",
        "\u{ff3b}\u{ff1a}\u{ff1a}1\u{ff3d}",
        host(HostError::Byte { offset: 0, byte: b'[' }),
    ),
    no("converted into a star", "\u{ff0a}.com", host(HostError::Byte { offset: 0, byte: b'*' })),
    no("converted into a number", "\u{ff10}x7f.1", host(HostError::Numeric { offset: 5 })),
    no("a space of another script", "a\u{3000}b", host(HostError::Byte { offset: 1, byte: b' ' })),
    // Bare.
    no("empty", "", Empty),
    no("scheme", "https://a.com/x", Scheme { offset: 5 }),
    no("scheme of IPv6", "http://[::1]", Scheme { offset: 4 }),
    no("path", "a.com/x?y#z", Path { offset: 5 }),
    no("a slash", "a.com/", Path { offset: 5 }),
    no("protocol-relative", "//a.com", Path { offset: 0 }),
    no("backslash", "a.com\\x", Path { offset: 5 }),
    no("query", "a.com?x#y", Query { offset: 5 }),
    no("fragment", "a.com#y", Fragment { offset: 5 }),
    no("user information", "me:pw@a.com", Userinfo { offset: 5 }),
    no("wildcard", "*.a.com", Wildcard { offset: 0 }),
    no("port", "a.com:80", Port { offset: 5 }),
    no("an empty port", "a.com:", Port { offset: 5 }),
    no("port of IPv6", "[::1]:80", Port { offset: 5 }),
    no("a port only", ":80", Port { offset: 0 }),
    no("trailing dot", "a.com.", TrailingDot),
    no("two trailing dots", "a.com..", TrailingDot),
    no("a dot", ".", TrailingDot),
    no("IPv6 without brackets", "2001:db8::1", Brackets),
    no("not IPv6 either", "2001:db8", Port { offset: 4 }),
    // The grammar of hosts.
    no("trap: 127.1", "127.1", host(HostError::Numeric { offset: 4 })),
    no("trap: 0x7f.1", "0x7f.1", host(HostError::Numeric { offset: 5 })),
    no("trap: a..b", "a..b", host(HostError::EmptyLabel { offset: 2 })),
    no("trap: ex%61mple.com", "ex%61mple.com", host(HostError::Byte { offset: 2, byte: b'%' })),
    no("leading dot", ".a.com", host(HostError::EmptyLabel { offset: 0 })),
    no("spaces around", " a.com", host(HostError::Byte { offset: 0, byte: b' ' })),
    no("line break", "a.com\n", host(HostError::Byte { offset: 5, byte: b'\n' })),
    no("trap: [v1.x]", "[v1.x]", host(HostError::V6)),
    no("zone id", "[fe80::1%eth0]", host(HostError::ZoneId { offset: 8 })),
    no("not closed", "[::1", host(HostError::OpenBracket)),
    no("behind the bracket", "[::1]x", host(HostError::AfterBracket { offset: 5 })),
];

#[test]
fn hosts_are_read_as_decided() {
    for Case { rfc, input, want } in CASES {
        let got = Host::from_written(input);
        assert_eq!(got.as_ref().map(Host::as_str), want.as_ref().copied(), "{rfc}: {input}");
    }
}

#[test]
fn a_request_for_what_was_written_names_it() {
    for Case { rfc, input, want } in CASES {
        if let Ok(want) = want {
            assert_eq!(Host::parse(want), Ok(Host::from_written(input).unwrap()), "{rfc}: {input}");
            assert_eq!(Host::from_written(want), Host::from_written(input), "{rfc}: {input}");
        }
    }
}

#[test]
fn lengths_count_in_the_converted_form() {
    // An A-label has a prefix, the ASCII letters, a hyphen and the position of the others.
    let label = |letters: usize| "a".repeat(letters) + "\u{fc}";
    let fits = Host::from_written(&label(54)).unwrap();
    assert_eq!((fits.as_bytes().len(), fits.kind()), (62, HostKind::Name));
    let long = Host::from_written(&label(59));
    assert_eq!(long, Err(host(HostError::LabelTooLong { offset: 0 })));
}
