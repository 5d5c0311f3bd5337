//! Which host a request names.

use std::error::Error;

use fingerpost_authority::HostFields::{self, Many, One};
use fingerpost_authority::HttpVersion::{Http2, Http10, Http11};
use fingerpost_authority::{
    AuthorityError, Head, HostError, HostPattern, HttpVersion, Selected, Target, TransferEncoding,
    select,
};

/// What a row expects: a host, nothing, the server itself, or a refusal.
#[derive(Debug, PartialEq)]
enum Want {
    Host(&'static str),
    NoHost,
    Asterisk,
    No(u16, Then, &'static str),
}

#[derive(Debug, PartialEq)]
enum Then {
    Close,
    Live,
}

use Then::{Close, Live};
use Want::{Asterisk, Host, No, NoHost};

struct Case {
    rfc: &'static str,
    version: HttpVersion,
    method: &'static str,
    target: &'static str,
    hosts: HostFields<'static>,
    more: More,
    want: Want,
}

/// What most rows leave alone.
struct More {
    authority: Option<&'static str>,
    scheme: Option<&'static str>,
    websocket: bool,
    transfer_encoding: TransferEncoding,
    tls_names: Option<&'static [&'static str]>,
}

const PLAIN: More = More {
    authority: None,
    scheme: None,
    websocket: false,
    transfer_encoding: TransferEncoding::None,
    tls_names: None,
};

const NONE: HostFields<'static> = HostFields::None;
const A: HostFields<'static> = One(b"a.com");

const fn tls(names: &'static [&'static str]) -> More {
    More { tls_names: Some(names), ..PLAIN }
}

const fn coded(transfer_encoding: TransferEncoding) -> More {
    More { transfer_encoding, ..PLAIN }
}

const fn row(
    rfc: &'static str,
    version: HttpVersion,
    request: (&'static str, &'static str, HostFields<'static>),
    more: More,
    want: Want,
) -> Case {
    Case { rfc, version, method: request.0, target: request.1, hosts: request.2, more, want }
}

/// The refusals, each with the words that it is known by.
const NO_HOST: Want = No(400, Close, "no Host field");
const MANY_HOSTS: Want = No(400, Close, "more than one Host field");
const BAD_HOST: Want = No(400, Close, "invalid Host field");
const NOT_CHUNKED: Want = No(400, Close, "Transfer-Encoding is not exactly one chunked");
const UNKNOWN: Want = No(501, Close, "unknown transfer coding");
const BAD_TARGET: Want = No(400, Live, "invalid request-target");
const SCHEME: Want = No(400, Live, "scheme of the request-target is neither http nor https");
const USERINFO: Want = No(400, Live, "user information in the request-target");
const TARGET_HOST: Want = No(400, Live, "invalid authority in the request-target");
const NOT_CONNECT: Want = No(400, Live, "authority-form without CONNECT");
const NOT_OPTIONS: Want = No(400, Live, "asterisk-form without OPTIONS");
const IN_PATH: Want = No(400, Live, "absolute-form in :path");
const BAD_AUTHORITY: Want = No(400, Live, "invalid :authority");
const NOBODY: Want = No(400, Live, "neither :authority nor a Host field");
const DIFFER: Want = No(400, Live, ":authority and Host field differ");
const METHOD: Want = No(405, Live, "method not served");
const MISDIRECTED: Want =
    No(421, Live, "host is not among the names of this connection's certificate");
const H2_BAD_HOST: Want = No(400, Live, "invalid Host field");
const H2_MANY_HOSTS: Want = No(400, Live, "more than one Host field");
const H2_CODED: Want = No(400, Live, "Transfer-Encoding is not exactly one chunked");

static HTTP1: &[Case] = &[
    // Host fields.
    row("RFC 9112 3.2", Http11, ("GET", "/", One(b"A.com:80")), PLAIN, Host("a.com")),
    row("host-missing-http11", Http11, ("GET", "/", NONE), PLAIN, NO_HOST),
    row("in absolute-form too", Http11, ("GET", "http://a.com/", NONE), PLAIN, NO_HOST),
    row("in asterisk-form too", Http11, ("OPTIONS", "*", NONE), PLAIN, NO_HOST),
    row("in authority-form too", Http11, ("CONNECT", "a.com:443", NONE), PLAIN, NO_HOST),
    row("host-duplicate-headers", Http11, ("GET", "/", Many), PLAIN, MANY_HOSTS),
    row("in absolute-form too", Http11, ("GET", "http://a.com/", Many), PLAIN, MANY_HOSTS),
    row("in asterisk-form too", Http11, ("OPTIONS", "*", Many), PLAIN, MANY_HOSTS),
    row(
        "host-duplicate-headers: comma",
        Http11,
        ("GET", "/", One(b"a.com, b.com")),
        PLAIN,
        BAD_HOST,
    ),
    row("empty", Http11, ("GET", "/", One(b"")), PLAIN, BAD_HOST),
    row("invalid", Http11, ("GET", "/", One(b"*.a.com")), PLAIN, BAD_HOST),
    row(
        "invalid in absolute-form",
        Http11,
        ("GET", "http://a.com/", One(b"b..com")),
        PLAIN,
        BAD_HOST,
    ),
    row("empty in absolute-form", Http11, ("GET", "http://a.com/", One(b"")), PLAIN, BAD_HOST),
    row("invalid in asterisk-form", Http11, ("OPTIONS", "*", One(b"a.com/")), PLAIN, BAD_HOST),
    row("host-port-suffix: 65536", Http11, ("GET", "/", One(b"a.com:65536")), PLAIN, BAD_HOST),
    row(
        "host-idn-config: raw bytes",
        Http11,
        ("GET", "/", One(b"b\xc3\xbccher.example")),
        PLAIN,
        BAD_HOST,
    ),
    row("header-nul-bytes", Http11, ("GET", "/", One(b"a.com\0.b.com")), PLAIN, BAD_HOST),
    row(
        "host-uppercase-lookup",
        Http11,
        ("GET", "/x", One(b"API.Example.COM")),
        PLAIN,
        Host("api.example.com"),
    ),
    row(
        "host-trailing-dot",
        Http11,
        ("GET", "/x", One(b"api.example.com.:443")),
        PLAIN,
        Host("api.example.com"),
    ),
    row("host-trailing-dot", Http11, ("GET", "/x", One(b"api.example.com..")), PLAIN, BAD_HOST),
    row("wildcard-apex: leading dot", Http11, ("GET", "/", One(b".example.com")), PLAIN, BAD_HOST),
    row(
        "host-underscore",
        Http11,
        ("GET", "/", One(b"amqp_node1.example.com")),
        PLAIN,
        Host("amqp_node1.example.com"),
    ),
    row(
        "an address",
        Http11,
        ("GET", "/", One(b"[2001:DB8::1]:8080")),
        PLAIN,
        Host("[2001:db8::1]"),
    ),
    row(
        "not looked at before HTTP/2",
        Http11,
        ("GET", "/", NONE),
        More { authority: Some("a.com"), ..PLAIN },
        NO_HOST,
    ),
    row(
        "not looked at before HTTP/2",
        Http11,
        ("GET", "/", A),
        More { authority: Some("b.com"), ..PLAIN },
        Host("a.com"),
    ),
    // HTTP/1.0.
    row("host-missing-http10", Http10, ("GET", "/x", NONE), PLAIN, NoHost),
    row("HTTP/1.0 with Host", Http10, ("GET", "/x", A), PLAIN, Host("a.com")),
    row("HTTP/1.0: two", Http10, ("GET", "/x", Many), PLAIN, MANY_HOSTS),
    row("HTTP/1.0: invalid", Http10, ("GET", "/x", One(b"a b")), PLAIN, BAD_HOST),
    row("HTTP/1.0: empty", Http10, ("GET", "/x", One(b"")), PLAIN, BAD_HOST),
    row("HTTP/1.0: absolute-form", Http10, ("GET", "http://a.com/x", NONE), PLAIN, Host("a.com")),
    row("HTTP/1.0: asterisk-form", Http10, ("OPTIONS", "*", NONE), PLAIN, Asterisk),
    row("HTTP/1.0: CONNECT", Http10, ("CONNECT", "a.com:443", NONE), PLAIN, METHOD),
    row("HTTP/1.0: TLS without a host", Http10, ("GET", "/", NONE), tls(&["a.com"]), NoHost),
    row(
        "HTTP/1.0: coding",
        Http10,
        ("POST", "/", A),
        coded(TransferEncoding::NotChunked),
        NOT_CHUNKED,
    ),
    // Forms.
    row(
        "absolute-form-vs-host",
        Http11,
        ("GET", "http://a.example.com/x", One(b"b.example.com")),
        PLAIN,
        Host("a.example.com"),
    ),
    row(
        "RFC 9112 3.2.2",
        Http11,
        ("GET", "HTTPS://A.com.:443", One(b"b.com:1")),
        PLAIN,
        Host("a.com"),
    ),
    row("another scheme", Http11, ("GET", "ftp://a.com/", A), PLAIN, SCHEME),
    row("a longer scheme", Http11, ("GET", "httpsx://a.com/", A), PLAIN, SCHEME),
    row("RFC 9110 4.2.4", Http11, ("GET", "http://b.com@a.com/", A), PLAIN, USERINFO),
    row("empty user information", Http11, ("GET", "http://@a.com/", A), PLAIN, USERINFO),
    row("empty host", Http11, ("GET", "http:///x", A), PLAIN, TARGET_HOST),
    row("a port only", Http11, ("GET", "http://:80/x", A), PLAIN, TARGET_HOST),
    row("invalid host", Http11, ("GET", "http://a.com;x/", A), PLAIN, TARGET_HOST),
    row("fragment", Http11, ("GET", "http://a.com#x/", A), PLAIN, TARGET_HOST),
    row(
        "authority-form-without-connect",
        Http11,
        ("GET", "private.example.com", One(b"front.example.com")),
        PLAIN,
        NOT_CONNECT,
    ),
    row("without OPTIONS either", Http11, ("OPTIONS", "a.com:80", A), PLAIN, NOT_CONNECT),
    row("none of the forms", Http11, ("GET", "x/y", A), PLAIN, BAD_TARGET),
    row("none of the forms, with CONNECT", Http11, ("CONNECT", "x/y", A), PLAIN, BAD_TARGET),
    row("RFC 9112 3.2.4", Http11, ("OPTIONS", "*", A), PLAIN, Asterisk),
    row("`*` with another method", Http11, ("GET", "*", A), PLAIN, NOT_OPTIONS),
    row("methods are case-sensitive", Http11, ("options", "*", A), PLAIN, NOT_OPTIONS),
    row("OPTIONS of a path", Http11, ("OPTIONS", "/x", A), PLAIN, Host("a.com")),
    // Methods.
    row("CONNECT", Http11, ("CONNECT", "b.com:443", One(b"b.com:443")), PLAIN, METHOD),
    row("CONNECT of a path", Http11, ("CONNECT", "/x", A), PLAIN, METHOD),
    row("where CONNECT leads to is not looked at", Http11, ("CONNECT", "a@b", A), PLAIN, METHOD),
    row(
        "no WebSocket before HTTP/2",
        Http11,
        ("CONNECT", "/x", A),
        More { websocket: true, ..PLAIN },
        METHOD,
    ),
    row("TRACE", Http11, ("TRACE", "/", A), PLAIN, METHOD),
    row("methods are case-sensitive", Http11, ("trace", "/", A), PLAIN, Host("a.com")),
    row("any other method", Http11, ("PURGE", "/", A), PLAIN, Host("a.com")),
    row("a broken head comes first", Http11, ("TRACE", "http://u@a.com/", A), PLAIN, USERINFO),
    row("a broken head comes first", Http11, ("TRACE", "*", A), PLAIN, NOT_OPTIONS),
    row("a broken head comes first", Http11, ("TRACE", "/", Many), PLAIN, MANY_HOSTS),
    // Transfer-Encoding.
    row("chunked", Http11, ("POST", "/", A), coded(TransferEncoding::Chunked), Host("a.com")),
    row("RFC 9112 6.3", Http11, ("POST", "/", A), coded(TransferEncoding::NotChunked), NOT_CHUNKED),
    row("RFC 9112 6.1", Http11, ("POST", "/", A), coded(TransferEncoding::Unknown), UNKNOWN),
    row(
        "before `OPTIONS *`",
        Http11,
        ("OPTIONS", "*", A),
        coded(TransferEncoding::NotChunked),
        NOT_CHUNKED,
    ),
    row(
        "before the form, since it closes",
        Http11,
        ("GET", "*", A),
        coded(TransferEncoding::Unknown),
        UNKNOWN,
    ),
    row(
        "before the method, since it closes",
        Http11,
        ("TRACE", "/", A),
        coded(TransferEncoding::NotChunked),
        NOT_CHUNKED,
    ),
    row("after Host", Http11, ("POST", "/", NONE), coded(TransferEncoding::Unknown), NO_HOST),
    // TLS.
    row("named", Http11, ("GET", "/", A), tls(&["b.com", "a.com"]), Host("a.com")),
    row(
        "named by a wildcard",
        Http11,
        ("GET", "/", One(b"x.a.com.:443")),
        tls(&["*.a.com"]),
        Host("x.a.com"),
    ),
    row("RFC 9110 7.4", Http11, ("GET", "/", A), tls(&["b.com", "*.a.com"]), MISDIRECTED),
    row(
        "the absolute-form's host counts",
        Http11,
        ("GET", "https://b.com/", A),
        tls(&["a.com"]),
        MISDIRECTED,
    ),
    row(
        "the absolute-form's host counts",
        Http11,
        ("GET", "https://b.com/", A),
        tls(&["b.com"]),
        Host("b.com"),
    ),
    row("no names", Http11, ("GET", "/", A), tls(&[]), MISDIRECTED),
    row("for `*` too", Http11, ("OPTIONS", "*", A), tls(&["b.com"]), MISDIRECTED),
    row("for `*` too", Http11, ("OPTIONS", "*", A), tls(&["a.com"]), Asterisk),
    row(
        "an address that is named",
        Http11,
        ("GET", "/", One(b"192.0.2.1")),
        tls(&["192.0.2.1"]),
        Host("192.0.2.1"),
    ),
    row("the method comes first", Http11, ("TRACE", "/", A), tls(&["b.com"]), METHOD),
];

const fn h2(authority: Option<&'static str>) -> More {
    More { authority, scheme: Some("https"), ..PLAIN }
}

const fn h2_over(scheme: Option<&'static str>, authority: &'static str) -> More {
    More { authority: Some(authority), scheme, ..PLAIN }
}

static HTTP2: &[Case] = &[
    row("RFC 9113 8.3.1", Http2, ("GET", "/", NONE), h2(Some("A.com:443")), Host("a.com")),
    row(
        "h2-no-authority-host-only",
        Http2,
        ("GET", "/x", One(b"a.example.com")),
        h2(None),
        Host("a.example.com"),
    ),
    row("h2-no-authority-host-only", Http2, ("GET", "/x", NONE), h2(None), NOBODY),
    row("empty :authority", Http2, ("GET", "/", NONE), h2(Some("")), BAD_AUTHORITY),
    row("empty :authority beside Host", Http2, ("GET", "/", A), h2(Some("")), BAD_AUTHORITY),
    row("user information", Http2, ("GET", "/", NONE), h2(Some("u@a.com")), BAD_AUTHORITY),
    row("invalid Host", Http2, ("GET", "/", One(b"a..com")), h2(None), H2_BAD_HOST),
    row(
        "invalid Host beside :authority",
        Http2,
        ("GET", "/", One(b"")),
        h2(Some("a.com")),
        H2_BAD_HOST,
    ),
    row("two Host fields", Http2, ("GET", "/", Many), h2(Some("a.com")), H2_MANY_HOSTS),
    row(
        "h2-authority-host-mismatch",
        Http2,
        ("GET", "/x", One(b"b.example.com")),
        h2(Some("a.example.com")),
        DIFFER,
    ),
    row(
        "h2-authority-host-mismatch: no false positive",
        Http2,
        ("GET", "/x", One(b"a.example.com:443")),
        h2(Some("A.example.com")),
        Host("a.example.com"),
    ),
    row("the same the other way", Http2, ("GET", "/x", A), h2(Some("a.com.:443")), Host("a.com")),
    row(
        "an empty port is none",
        Http2,
        ("GET", "/x", One(b"a.com:")),
        h2(Some("a.com:443")),
        Host("a.com"),
    ),
    row("another port", Http2, ("GET", "/x", One(b"a.com:8443")), h2(Some("a.com")), DIFFER),
    row(
        "different ports",
        Http2,
        ("GET", "/x", One(b"a.com:8443")),
        h2(Some("a.com:8444")),
        DIFFER,
    ),
    row(
        "the same port",
        Http2,
        ("GET", "/x", One(b"a.com:08443")),
        h2(Some("a.com:8443")),
        Host("a.com"),
    ),
    row(
        "the other scheme's port",
        Http2,
        ("GET", "/x", One(b"a.com:80")),
        h2(Some("a.com")),
        DIFFER,
    ),
    row(
        "the default of http",
        Http2,
        ("GET", "/x", One(b"a.com:80")),
        h2_over(Some("HTTP"), "a.com"),
        Host("a.com"),
    ),
    row(
        "the default of http",
        Http2,
        ("GET", "/x", One(b"a.com:443")),
        h2_over(Some("http"), "a.com"),
        DIFFER,
    ),
    row(
        "another scheme has no default",
        Http2,
        ("GET", "/x", One(b"a.com:443")),
        h2_over(Some("coap"), "a.com"),
        DIFFER,
    ),
    row(
        "scheme not known",
        Http2,
        ("GET", "/x", One(b"a.com:443")),
        h2_over(None, "a.com"),
        Host("a.com"),
    ),
    row(
        "scheme not known",
        Http2,
        ("GET", "/x", One(b"a.com:80")),
        h2_over(None, "a.com"),
        Host("a.com"),
    ),
    row(
        "scheme not known",
        Http2,
        ("GET", "/x", One(b"a.com:80")),
        h2_over(None, "a.com:443"),
        DIFFER,
    ),
    row(
        "scheme not known",
        Http2,
        ("GET", "/x", One(b"a.com:8080")),
        h2_over(None, "a.com"),
        DIFFER,
    ),
    row(
        "RFC 9113 8.2.2",
        Http2,
        ("POST", "/", NONE),
        More { transfer_encoding: TransferEncoding::NotChunked, ..h2(Some("a.com")) },
        H2_CODED,
    ),
    row(
        ":path is no absolute-form",
        Http2,
        ("GET", "http://b.com/", NONE),
        h2(Some("a.com")),
        IN_PATH,
    ),
    row(
        ":path is no authority-form",
        Http2,
        ("GET", "b.com", NONE),
        h2(Some("a.com")),
        NOT_CONNECT,
    ),
    row("invalid :path", Http2, ("GET", "", NONE), h2(Some("a.com")), BAD_TARGET),
    row("OPTIONS *", Http2, ("OPTIONS", "*", NONE), h2(Some("a.com")), Asterisk),
    row("OPTIONS * of nobody", Http2, ("OPTIONS", "*", NONE), h2(None), NOBODY),
    row("`*` with another method", Http2, ("GET", "*", NONE), h2(Some("a.com")), NOT_OPTIONS),
    row("RFC 9113 8.5", Http2, ("CONNECT", "a.com:443", NONE), h2(Some("a.com:443")), METHOD),
    row("CONNECT with a path", Http2, ("CONNECT", "/x", NONE), h2(Some("a.com")), METHOD),
    row(
        "RFC 8441",
        Http2,
        ("CONNECT", "/x", NONE),
        More { websocket: true, ..h2(Some("a.com")) },
        Host("a.com"),
    ),
    row(
        "RFC 8441 wants a path",
        Http2,
        ("CONNECT", "a.com:443", NONE),
        More { websocket: true, ..h2(Some("a.com:443")) },
        NOT_CONNECT,
    ),
    row(
        "RFC 8441 wants CONNECT",
        Http2,
        ("TRACE", "/x", NONE),
        More { websocket: true, ..h2(Some("a.com")) },
        METHOD,
    ),
    row("TRACE", Http2, ("TRACE", "/", NONE), h2(Some("a.com")), METHOD),
    row("a broken head comes first", Http2, ("TRACE", "/", NONE), h2(None), NOBODY),
    row(
        "RFC 9110 7.4",
        Http2,
        ("GET", "/", NONE),
        More { tls_names: Some(&["a.com"]), ..h2(Some("b.com")) },
        MISDIRECTED,
    ),
    row(
        "named",
        Http2,
        ("GET", "/", NONE),
        More { tls_names: Some(&["*.a.com"]), ..h2(Some("x.a.com")) },
        Host("x.a.com"),
    ),
];

fn answer(
    case: &Case,
    names: Option<&[HostPattern]>,
) -> (Option<String>, Option<(u16, bool, &'static str)>, bool) {
    let head = Head {
        version: case.version,
        method: case.method.as_bytes(),
        target: Target::parse(case.target.as_bytes()),
        authority: case.more.authority.map(str::as_bytes),
        scheme: case.more.scheme.map(str::as_bytes),
        websocket: case.more.websocket,
        hosts: case.hosts,
        transfer_encoding: case.more.transfer_encoding,
        tls_names: names,
    };
    match select(&head) {
        Ok(Selected::Host(host)) => (Some(host.to_string()), None, false),
        Ok(Selected::NoHost) => (None, None, false),
        Ok(Selected::Asterisk) => (None, None, true),
        Err(rejected) => {
            assert_eq!(rejected.to_string(), rejected.reason());
            (None, Some((rejected.status(), rejected.close(), rejected.reason())), false)
        }
    }
}

#[test]
fn requests_name_what_was_decided() {
    for case in HTTP1.iter().chain(HTTP2) {
        let names: Option<Vec<HostPattern>> = case
            .more
            .tls_names
            .map(|names| names.iter().map(|name| name.parse().unwrap()).collect());
        let got = answer(case, names.as_deref());
        let want = match &case.want {
            Host(host) => (Some((*host).to_owned()), None, false),
            NoHost => (None, None, false),
            Asterisk => (None, None, true),
            No(status, then, reason) => (None, Some((*status, *then == Close, *reason)), false),
        };
        let Case { rfc, version, method, target, hosts, .. } = case;
        assert_eq!(got, want, "{rfc}: {version:?} {method} {target} {hosts:?}");
    }
}

#[test]
fn the_cause_says_which_part_is_wrong_and_where() {
    let head = |hosts, target: &'static [u8]| Head {
        version: Http11,
        method: b"GET",
        target: Target::parse(target),
        authority: None,
        scheme: None,
        websocket: false,
        hosts,
        transfer_encoding: TransferEncoding::None,
        tls_names: None,
    };
    for (hosts, target, want) in [
        (
            One(&b"a..com"[..]),
            &b"/"[..],
            Some(AuthorityError::Host(HostError::EmptyLabel { offset: 2 })),
        ),
        (One(b"a.com"), b"http://a.com:x/", Some(AuthorityError::Port { offset: 6 })),
        (NONE, b"/", None),
    ] {
        let rejected = select(&head(hosts, target)).unwrap_err();
        let cause = rejected.source().map(|cause| *cause.downcast_ref::<AuthorityError>().unwrap());
        assert_eq!(cause, want, "{rejected}");
    }
    let http2 = Head { version: Http2, authority: Some(b"a.com:x"), ..head(NONE, b"/") };
    let cause = select(&http2).unwrap_err();
    assert_eq!(cause.source().unwrap().to_string(), "byte 6 of the port is not a digit");
}

#[test]
fn host_fields_are_counted() {
    for (values, want) in [
        (&[][..], HostFields::None),
        (&[&b""[..]][..], One(b"")),
        (&[&b"a.com"[..]][..], One(b"a.com")),
        (&[&b"a.com"[..], b"a.com"][..], Many),
        (&[&b"a.com"[..], b"b.com", b"c.com"][..], Many),
    ] {
        assert_eq!(HostFields::from_values(values.iter().copied()), want);
    }
}
