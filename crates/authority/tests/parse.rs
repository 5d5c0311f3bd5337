//! Hosts and authorities as requests carry them.

use fingerpost_authority::HostError::{
    AfterBracket, Byte, Empty, EmptyLabel, LabelTooLong, Numeric, OpenBracket, TooLong, V6, ZoneId,
};
use fingerpost_authority::{Authority, AuthorityError, Host, HostError, HostKind};

struct Case {
    /// The rule: an RFC section, a trap of another parser, or the id of a bug that others had.
    rfc: &'static str,
    input: &'static [u8],
    want: Result<&'static str, HostError>,
}

const fn ok(rfc: &'static str, input: &'static [u8], want: &'static str) -> Case {
    Case { rfc, input, want: Ok(want) }
}

const fn no(rfc: &'static str, input: &'static [u8], want: HostError) -> Case {
    Case { rfc, input, want: Err(want) }
}

static CASES: &[Case] = &[
    // Letters.
    ok("RFC 9110 4.2.3", b"example.com", "example.com"),
    ok("RFC 9110 4.2.3", b"EXAMPLE.Com", "example.com"),
    ok("host-uppercase-lookup", b"API.Example.COM", "api.example.com"),
    no("host-idn-config: UTF-8", "b\u{fc}cher.example".as_bytes(), Byte { offset: 1, byte: 0xc3 }),
    no(
        "ASCII folding only: Kelvin sign",
        "\u{212a}.com".as_bytes(),
        Byte { offset: 0, byte: 0xe2 },
    ),
    no("Latin-1", b"b\xfccher.example", Byte { offset: 1, byte: 0xfc }),
    ok("host-idn-config: A-label", b"xn--bcher-kva.example", "xn--bcher-kva.example"),
    // Bytes of a name.
    ok("host-underscore", b"amqp_node1.example.com", "amqp_node1.example.com"),
    ok("underscore first", b"_dmarc.example.com", "_dmarc.example.com"),
    ok("trap: -a.com", b"-a.com", "-a.com"),
    ok("hyphens in the third and fourth place", b"r3---sn-a.example.com", "r3---sn-a.example.com"),
    ok("one letter", b"l", "l"),
    ok("a digit, but not last", b"1.a", "1.a"),
    no("trap: a@b", b"a@b", Byte { offset: 1, byte: b'@' }),
    no("trap: *.example.com", b"*.example.com", Byte { offset: 0, byte: b'*' }),
    no("a lone star", b"*", Byte { offset: 0, byte: b'*' }),
    no("trap: ex%61mple.com", b"ex%61mple.com", Byte { offset: 2, byte: b'%' }),
    no("host-duplicate-headers: comma", b"a.com, b.com", Byte { offset: 5, byte: b',' }),
    no("space before", b" a.com", Byte { offset: 0, byte: b' ' }),
    no("space behind", b"a.com ", Byte { offset: 5, byte: b' ' }),
    no("tab", b"a.com\t", Byte { offset: 5, byte: b'\t' }),
    no("path", b"a.com/x", Byte { offset: 5, byte: b'/' }),
    no("backslash", b"a.com\\x", Byte { offset: 5, byte: b'\\' }),
    no("query", b"a.com?x", Byte { offset: 5, byte: b'?' }),
    no("fragment", b"a.com#x", Byte { offset: 5, byte: b'#' }),
    no("semicolon", b"a.com;x", Byte { offset: 5, byte: b';' }),
    no("double quote", b"\"a.com\"", Byte { offset: 0, byte: b'"' }),
    no("single quote", b"'a.com'", Byte { offset: 0, byte: b'\'' }),
    no("NUL", b"a.com\0.evil.com", Byte { offset: 5, byte: 0 }),
    no("line break", b"a.com\r\nX: y", Byte { offset: 5, byte: b'\r' }),
    no("DEL", b"a\x7f.com", Byte { offset: 1, byte: 0x7f }),
    no("port", b"a.com:80", Byte { offset: 5, byte: b':' }),
    no("closing bracket", b"a]", Byte { offset: 1, byte: b']' }),
    no("opening bracket inside", b"a[::1]", Byte { offset: 1, byte: b'[' }),
    no("trap: every sub-delim: !", b"a!b", Byte { offset: 1, byte: b'!' }),
    no("trap: every sub-delim: $", b"a$b", Byte { offset: 1, byte: b'$' }),
    no("trap: every sub-delim: &", b"a&b", Byte { offset: 1, byte: b'&' }),
    no("trap: every sub-delim: '", b"a'b", Byte { offset: 1, byte: b'\'' }),
    no("trap: every sub-delim: (", b"a(b", Byte { offset: 1, byte: b'(' }),
    no("trap: every sub-delim: )", b"a)b", Byte { offset: 1, byte: b')' }),
    no("trap: every sub-delim: *", b"a*b", Byte { offset: 1, byte: b'*' }),
    no("trap: every sub-delim: +", b"a+b", Byte { offset: 1, byte: b'+' }),
    no("trap: every sub-delim: ,", b"a,b", Byte { offset: 1, byte: b',' }),
    no("trap: every sub-delim: ;", b"a;b", Byte { offset: 1, byte: b';' }),
    no("trap: every sub-delim: =", b"a=b", Byte { offset: 1, byte: b'=' }),
    no("tilde", b"~a.com", Byte { offset: 0, byte: b'~' }),
    // Dots.
    ok("host-trailing-dot", b"api.example.com.", "api.example.com"),
    ok("host-trailing-dot-gate-vs-router", b"Admin.example.com.", "admin.example.com"),
    no("host-trailing-dot", b"api.example.com..", EmptyLabel { offset: 16 }),
    no("host-trailing-dot", b".", EmptyLabel { offset: 0 }),
    no("two dots only", b"..", EmptyLabel { offset: 0 }),
    no("trap: a..b", b"a..b", EmptyLabel { offset: 2 }),
    no("wildcard-apex: leading dot", b".example.com", EmptyLabel { offset: 0 }),
    no("RFC 9110 4.2.1", b"", Empty),
    // Numbers.
    ok("RFC 3986 3.2.2", b"127.0.0.1", "127.0.0.1"),
    ok("RFC 3986 3.2.2", b"255.255.255.255", "255.255.255.255"),
    ok("a quad with a trailing dot", b"1.2.3.4.", "1.2.3.4"),
    no("trap: 127.1", b"127.1", Numeric { offset: 4 }),
    no("trap: 0x7f.1", b"0x7f.1", Numeric { offset: 5 }),
    no("octet over 255", b"256.0.0.1", Numeric { offset: 8 }),
    no("leading zero", b"127.0.0.01", Numeric { offset: 8 }),
    no("three octets", b"1.2.3", Numeric { offset: 4 }),
    no("five octets", b"1.2.3.4.5", Numeric { offset: 8 }),
    no("one number", b"2130706433", Numeric { offset: 0 }),
    no("hexadecimal number", b"0x7f000001", Numeric { offset: 0 }),
    no("hexadecimal last label", b"a.0X4", Numeric { offset: 2 }),
    no("hexadecimal without digits", b"a.0x", Numeric { offset: 2 }),
    no("numeric last label", b"foo.1.2.3.4", Numeric { offset: 10 }),
    no("numeric last label and trailing dot", b"127.1.", Numeric { offset: 4 }),
    ok("not numeric: a letter", b"127.0.0.1a", "127.0.0.1a"),
    ok("not numeric: not hexadecimal", b"0x7f.0.0.0x7g", "0x7f.0.0.0x7g"),
    ok("not numeric: a letter first", b"a.b12", "a.b12"),
    ok("not numeric: 00x", b"a.00x1", "a.00x1"),
    ok("numeric, but not last", b"192.168.257.com", "192.168.257.com"),
    // IPv6.
    ok("host-ipv6-brackets-lost", b"[2001:db8::1]", "[2001:db8::1]"),
    ok("RFC 5952 4.1", b"[2001:0db8::0001]", "[2001:db8::1]"),
    ok("RFC 5952 4.2.1", b"[2001:db8:0:0:0:0:2:1]", "[2001:db8::2:1]"),
    ok("RFC 5952 4.2.2", b"[2001:db8::1:1:1:1:1]", "[2001:db8:0:1:1:1:1:1]"),
    ok("RFC 5952 4.2.3", b"[2001:db8:0:0:1:0:0:1]", "[2001:db8::1:0:0:1]"),
    ok("RFC 5952 4.3", b"[2001:DB8::ABCD]", "[2001:db8::abcd]"),
    ok("RFC 5952 5", b"[::ffff:c000:0201]", "[::ffff:192.0.2.1]"),
    ok("mapped is not IPv4", b"[::FFFF:192.0.2.1]", "[::ffff:192.0.2.1]"),
    ok(
        "the longest",
        b"[1111:2222:3333:4444:5555:6666:7777:8888]",
        "[1111:2222:3333:4444:5555:6666:7777:8888]",
    ),
    ok("unspecified", b"[::]", "[::]"),
    no("trap: [:::::]", b"[:::::]", V6),
    no("trap: [v1.x]", b"[v1.x]", V6),
    no("empty brackets", b"[]", V6),
    no("a name in brackets", b"[a.com]", V6),
    no("IPv4 in brackets", b"[1.2.3.4]", V6),
    no("nine groups", b"[0:1:2:3:4:5:6:7:8]", V6),
    no("two compressions", b"[0::0::0]", V6),
    no("leading zero in the quad", b"[::1.2.3.04]", V6),
    no("not UTF-8", b"[\xff::1]", V6),
    no("percent-escape", b"[::%31]", ZoneId { offset: 3 }),
    no("RFC 6874", b"[fe80::1%25eth0]", ZoneId { offset: 8 }),
    no("RFC 4007 11", b"[fe80::1%eth0]", ZoneId { offset: 8 }),
    no("no closing bracket", b"[::1", OpenBracket),
    no("bracket and dot", b"[::1].", AfterBracket { offset: 5 }),
    no("bracket and port", b"[::1]:80", AfterBracket { offset: 5 }),
    no("without brackets", b"2001:db8::1", Byte { offset: 4, byte: b':' }),
];

#[test]
fn hosts_parse_as_decided() {
    for Case { rfc, input, want } in CASES {
        let got = Host::parse(input);
        let shown = String::from_utf8_lossy(input);
        assert_eq!(got.as_ref().map(Host::as_str), want.as_ref().copied(), "{rfc}: {shown}");
    }
}

#[test]
fn what_is_accepted_is_accepted_in_any_case_and_with_any_port() {
    for Case { rfc, input, want } in CASES {
        let upper = input.to_ascii_uppercase();
        assert_eq!(Host::parse(&upper).ok().as_ref().map(Host::as_str), want.ok(), "{rfc}");
        // A port would be read out of an input that holds a colon of its own, or that ends in none.
        if want.is_ok() {
            for port in [":", ":0", ":443", ":65535", ":000080"] {
                let authority = [input, port.as_bytes()].concat();
                let got = Authority::parse(&authority).unwrap();
                assert_eq!(Ok(got.host().as_str()), *want, "{rfc} {port}");
            }
        }
    }
}

#[test]
fn kinds_are_told_apart() {
    for (input, want) in [
        ("example.com", HostKind::Name),
        ("127.0.0.1a", HostKind::Name),
        ("127.0.0.1", HostKind::V4),
        ("[::1]", HostKind::V6),
        ("[::ffff:127.0.0.1]", HostKind::V6),
    ] {
        assert_eq!(Host::parse(input).unwrap().kind(), want, "{input}");
    }
}

#[test]
fn lengths_are_bounded() {
    let label = |len: usize| "a".repeat(len);
    let name = |last: usize| format!("{0}.{0}.{0}.{1}", label(63), label(last));

    for len in [1, 61, 62, 63] {
        assert_eq!(Host::parse(label(len)).unwrap().as_str(), label(len));
        assert_eq!(Host::parse(label(len) + ".").unwrap().as_str(), label(len));
        assert_eq!(Host::parse(label(len).to_uppercase()).unwrap().as_str(), label(len));
    }
    assert_eq!(Host::parse(label(64)), Err(LabelTooLong { offset: 0 }));
    assert_eq!(Host::parse(format!("a.{}.b", label(64))), Err(LabelTooLong { offset: 2 }));

    assert_eq!(name(61).len(), 253);
    assert_eq!(Host::parse(name(61)).unwrap().as_str(), name(61));
    assert_eq!(Host::parse(name(61) + ".").unwrap().as_str(), name(61));
    assert_eq!(Host::parse(name(62)), Err(TooLong { len: 254 }));
    assert_eq!(Host::parse(name(62) + "."), Err(TooLong { len: 254 }));
}

#[test]
fn long_names_follow_the_same_rules() {
    let long = format!("{0}.{0}.Example", "a".repeat(40));
    assert_eq!(Host::parse(&long).unwrap().as_str(), long.to_ascii_lowercase());
    assert_eq!(Host::parse(&long).unwrap().kind(), HostKind::Name);
    assert_eq!(Host::parse(format!("{long}.1")), Err(Numeric { offset: 90 }));
    assert_eq!(Host::parse(format!("{long}..a")), Err(EmptyLabel { offset: 90 }));
    assert_eq!(Host::parse(format!("{long}/")), Err(Byte { offset: 89, byte: b'/' }));
}

type Parts = (&'static str, Option<u16>);

static AUTHORITIES: &[(&str, &str, Result<Parts, AuthorityError>)] = &[
    ("host-port-suffix", "api.example.com", Ok(("api.example.com", None))),
    ("host-port-suffix", "api.example.com:8443", Ok(("api.example.com", Some(8443)))),
    ("host-port-suffix", "api.example.com:443", Ok(("api.example.com", Some(443)))),
    ("host-port-suffix", "api.example.com:80", Ok(("api.example.com", Some(80)))),
    ("RFC 3986 3.2.3: empty, trap: example.com:", "example.com:", Ok(("example.com", None))),
    ("host-trailing-dot", "api.example.com.:443", Ok(("api.example.com", Some(443)))),
    ("port 0", "a.com:0", Ok(("a.com", Some(0)))),
    ("the largest", "a.com:65535", Ok(("a.com", Some(65535)))),
    ("one more", "a.com:65536", Err(AuthorityError::PortTooLarge { offset: 6 })),
    (
        "trap: example.com:99999",
        "example.com:99999",
        Err(AuthorityError::PortTooLarge { offset: 12 }),
    ),
    (
        "beyond 64 bits",
        "a.com:18446744073709551697",
        Err(AuthorityError::PortTooLarge { offset: 6 }),
    ),
    ("trap: 1.2.3.4:080", "1.2.3.4:080", Ok(("1.2.3.4", Some(80)))),
    ("leading zeros", "a.com:0000000000000000000000080", Ok(("a.com", Some(80)))),
    ("not a digit", "a.com:8o", Err(AuthorityError::Port { offset: 7 })),
    ("a sign", "a.com:+80", Err(AuthorityError::Port { offset: 6 })),
    ("a space", "a.com: 80", Err(AuthorityError::Port { offset: 6 })),
    ("two ports", "a.com:80:80", Err(AuthorityError::Port { offset: 8 })),
    ("other digits", "a.com:\u{0663}", Err(AuthorityError::Port { offset: 6 })),
    ("trap: :80", ":80", Err(AuthorityError::Host(Empty))),
    ("a lone colon", ":", Err(AuthorityError::Host(Empty))),
    ("empty", "", Err(AuthorityError::Host(Empty))),
    ("trap: a@b", "a@b", Err(AuthorityError::Host(Byte { offset: 1, byte: b'@' }))),
    ("user and password", "a:b@c", Err(AuthorityError::Port { offset: 2 })),
    ("host-trailing-dot", "a.com..:80", Err(AuthorityError::Host(EmptyLabel { offset: 6 }))),
    ("IPv6", "[2001:DB8::1]", Ok(("[2001:db8::1]", None))),
    ("host-ipv6-brackets-lost", "[2001:db8::1]:8080", Ok(("[2001:db8::1]", Some(8080)))),
    ("IPv6, empty port", "[::1]:", Ok(("[::1]", None))),
    ("IPv6 without brackets", "2001:db8::1", Err(AuthorityError::Port { offset: 5 })),
    ("IPv6 and a dot", "[::1].:80", Err(AuthorityError::Host(AfterBracket { offset: 5 }))),
    ("IPv6 and digits", "[::1]80", Err(AuthorityError::Host(AfterBracket { offset: 5 }))),
    ("IPv6 and two ports", "[::1]:3:4", Err(AuthorityError::Port { offset: 7 })),
    ("IPv6, not closed", "[::1:80", Err(AuthorityError::Host(OpenBracket))),
];

#[test]
fn authorities_parse_as_decided() {
    for (rfc, input, want) in AUTHORITIES {
        let got = Authority::parse(input.as_bytes());
        let got = got.as_ref().map(|authority| (authority.host().as_str(), authority.port()));
        assert_eq!(got, want.as_ref().copied(), "{rfc}: {input}");
    }
}

#[test]
fn displaying_an_authority_and_parsing_it_again_changes_nothing() {
    for (rfc, input, _) in AUTHORITIES {
        if let Ok(authority) = input.parse::<Authority>() {
            assert_eq!(authority.to_string().parse(), Ok(authority), "{rfc}: {input}");
        }
    }
}
