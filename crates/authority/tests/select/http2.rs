//! HTTP/2.

use fingerpost_authority::HostFields::{Many, One};
use fingerpost_authority::HttpVersion::Http2;
use fingerpost_authority::TransferEncoding;

use super::Want::{Asterisk, Host};
use super::*;

const fn h2(authority: Option<&'static str>) -> More {
    More { authority, scheme: Some("https"), ..PLAIN }
}

const fn h2_over(scheme: Option<&'static str>, authority: &'static str) -> More {
    More { authority: Some(authority), scheme, ..PLAIN }
}

pub(super) static CASES: &[Case] = &[
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
