//! Request-targets.

use fingerpost_authority::Target::{self, Asterisk, Authority, Invalid};

const fn origin(path: &'static str, query: Option<&'static str>) -> Target<'static> {
    Target::Origin { path: path.as_bytes(), query: bytes(query) }
}

const fn absolute(
    scheme: &'static str,
    authority: &'static str,
    path: &'static str,
    query: Option<&'static str>,
) -> Target<'static> {
    Target::Absolute {
        scheme: scheme.as_bytes(),
        authority: authority.as_bytes(),
        path: path.as_bytes(),
        query: bytes(query),
    }
}

const fn bytes(text: Option<&'static str>) -> Option<&'static [u8]> {
    match text {
        Some(text) => Some(text.as_bytes()),
        None => None,
    }
}

/// Rule, request-target, what it is.
static CASES: &[(&str, &[u8], Target<'static>)] = &[
    ("RFC 9112 3.2.1", b"/", origin("/", None)),
    ("RFC 9112 3.2.1", b"/a/b", origin("/a/b", None)),
    ("query", b"/a?b", origin("/a", Some("b"))),
    ("an empty query is one", b"/a?", origin("/a", Some(""))),
    ("the first mark", b"/a?b?c", origin("/a", Some("b?c"))),
    ("nothing is decoded", b"/%2e%2E/%3F?%23", origin("/%2e%2E/%3F", Some("%23"))),
    ("nothing is merged", b"//a//../b", origin("//a//../b", None)),
    ("an origin-form may look absolute", b"/http://a.com/", origin("/http://a.com/", None)),
    ("a fragment stays where it is", b"/a#b?c", origin("/a#b", Some("c"))),
    ("a fragment stays where it is", b"/a?b#c", origin("/a", Some("b#c"))),
    ("UTF-8", "/b\u{fc}".as_bytes(), origin("/b\u{fc}", None)),
    ("RFC 9112 3.2.2", b"http://a.com/x?y", absolute("http", "a.com", "/x", Some("y"))),
    ("empty path", b"http://a.com", absolute("http", "a.com", "/", None)),
    ("empty path and a query", b"http://a.com?x/y", absolute("http", "a.com", "/", Some("x/y"))),
    ("the scheme in its case", b"HTTPS://A.com:443/", absolute("HTTPS", "A.com:443", "/", None)),
    ("another scheme", b"coap+tcp://a.com/", absolute("coap+tcp", "a.com", "/", None)),
    ("user information", b"http://u:p@a.com/", absolute("http", "u:p@a.com", "/", None)),
    ("empty authority", b"http:///a", absolute("http", "", "/a", None)),
    ("IPv6", b"http://[::1]:80/a", absolute("http", "[::1]:80", "/a", None)),
    (
        "a fragment does not end the authority",
        b"http://a.com#b/",
        absolute("http", "a.com#b", "/", None),
    ),
    (
        "a second scheme",
        b"http://a.com/http://b.com/",
        absolute("http", "a.com", "/http://b.com/", None),
    ),
    ("no scheme before it", b"://a.com/", Invalid),
    ("a scheme begins with a letter", b"1http://a.com/", Invalid),
    ("a scheme has no underscore", b"ht_tp://a.com/", Invalid),
    ("one slash", b"http:/a", Invalid),
    ("no slash", b"http:a/b", Invalid),
    ("RFC 9112 3.2.3", b"a.com:443", Authority(b"a.com:443")),
    ("authority-form-without-connect", b"private.example.com", Authority(b"private.example.com")),
    ("no slash, no path", b"http:a", Authority(b"http:a")),
    ("path without slash", b"a/b", Invalid),
    ("query without path", b"?a", Invalid),
    ("fragment only", b"#a", Invalid),
    ("RFC 9112 3.2.4", b"*", Asterisk),
    ("more than an asterisk", b"*?a", Invalid),
    ("more than an asterisk", b"*a", Authority(b"*a")),
    ("empty", b"", Invalid),
    ("RFC 9112 3.2: space in the path", b"/a b", Invalid),
    ("RFC 9112 3.2: space in the query", b"/a?b c", Invalid),
    ("space before", b" /a", Invalid),
    ("tab", b"/a\tb", Invalid),
    ("line break", b"/a HTTP/1.1\r\nX: y", Invalid),
    ("line feed in an authority", b"http://a.com\n/", Invalid),
    ("NUL", b"/a\0", Invalid),
    ("DEL", b"/a\x7f", Invalid),
];

#[test]
fn targets_are_taken_apart_as_decided() {
    for (rfc, input, want) in CASES {
        let shown = String::from_utf8_lossy(input);
        assert_eq!(Target::parse(input), *want, "{rfc}: {shown}");
    }
}

#[test]
fn only_forms_with_a_path_have_one() {
    for (target, path, query) in [
        (origin("/a", Some("b")), Some("/a"), Some("b")),
        (origin("/a", None), Some("/a"), None),
        (absolute("http", "a.com", "/c", Some("")), Some("/c"), Some("")),
        (Authority(b"a.com:443"), None, None),
        (Asterisk, None, None),
        (Invalid, None, None),
    ] {
        assert_eq!(target.path(), path.map(str::as_bytes), "{target:?}");
        assert_eq!(target.query(), query.map(str::as_bytes), "{target:?}");
    }
}

/// What hyper hands over is what was sent, unless `http::Uri` refuses it or cuts a fragment.
#[cfg(feature = "http")]
#[test]
fn a_uri_is_taken_apart_like_its_text() {
    let mut compared = 0;
    for (rfc, input, want) in CASES {
        let Ok(uri) = http::Uri::try_from(*input) else {
            continue;
        };
        if input.contains(&b'#') {
            continue;
        }
        let got = match Target::from_uri(&uri) {
            // The crate lowers the case of the schemes that it knows.
            Target::Absolute { scheme: b"https", authority, path, query } => {
                Target::Absolute { scheme: b"HTTPS", authority, path, query }
            }
            other => other,
        };
        assert_eq!(got, *want, "{rfc}: {uri}");
        compared += 1;
    }
    assert!(compared > 20, "{compared} rows");
}
