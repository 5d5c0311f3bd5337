//! Heads as hyper hands them over.
#![cfg(feature = "http")]

use fingerpost_authority::{
    Head, HostFields, HostPattern, HttpVersion, Selected, Target, TransferEncoding, select,
};
use http::{Method, Request, Version, request::Parts};

fn parts(version: Version, method: &Method, uri: &str, fields: &[(&str, &str)]) -> Parts {
    let mut request = Request::builder().version(version).method(method).uri(uri);
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    request.body(()).expect("a request").into_parts().0
}

fn host(parts: &Parts) -> Result<String, u16> {
    match select(&Head::from_parts(parts, None)) {
        Ok(Selected::Host(host)) => Ok(host.to_string()),
        Ok(other) => Ok(format!("{other:?}")),
        Err(rejected) => Err(rejected.status()),
    }
}

/// Rule, version, method, `Uri`, fields, host or status.
type Row = (
    &'static str,
    Version,
    Method,
    &'static str,
    &'static [(&'static str, &'static str)],
    Result<&'static str, u16>,
);

#[test]
fn parts_name_what_their_request_named() {
    let rows: &[Row] = &[
        ("Host", Version::HTTP_11, Method::GET, "/a?b", &[("host", "A.com:80")], Ok("a.com")),
        ("no Host", Version::HTTP_11, Method::GET, "/", &[], Err(400)),
        (
            "hyper lets two pass",
            Version::HTTP_11,
            Method::GET,
            "/",
            &[("host", "a.com"), ("host", "a.com")],
            Err(400),
        ),
        (
            "absolute-form",
            Version::HTTP_11,
            Method::GET,
            "http://b.com/",
            &[("host", "a.com")],
            Ok("b.com"),
        ),
        ("absolute-form, no Host", Version::HTTP_11, Method::GET, "http://b.com/", &[], Err(400)),
        (
            "trap: userinfo",
            Version::HTTP_11,
            Method::GET,
            "http://u@b.com/",
            &[("host", "a.com")],
            Err(400),
        ),
        (
            "empty scheme",
            Version::HTTP_11,
            Method::GET,
            "://b.com/",
            &[("host", "a.com")],
            Err(400),
        ),
        (
            "authority-form-without-connect",
            Version::HTTP_11,
            Method::GET,
            "b.com",
            &[("host", "a.com")],
            Err(400),
        ),
        ("CONNECT", Version::HTTP_11, Method::CONNECT, "b.com:443", &[("host", "b.com")], Err(405)),
        ("`*`", Version::HTTP_11, Method::OPTIONS, "*", &[("host", "a.com")], Ok("Asterisk")),
        (
            "coding",
            Version::HTTP_11,
            Method::POST,
            "/",
            &[("host", "a.com"), ("transfer-encoding", "gzip, chunked")],
            Err(400),
        ),
        (
            "coding",
            Version::HTTP_11,
            Method::POST,
            "/",
            &[("host", "a.com"), ("transfer-encoding", "br")],
            Err(501),
        ),
        (
            "coding",
            Version::HTTP_11,
            Method::POST,
            "/",
            &[("host", "a.com"), ("transfer-encoding", "chunked")],
            Ok("a.com"),
        ),
        (
            "coding",
            Version::HTTP_10,
            Method::POST,
            "/",
            &[("transfer-encoding", "chunked")],
            Err(400),
        ),
        ("host-missing-http10", Version::HTTP_10, Method::GET, "/", &[], Ok("NoHost")),
        ("HTTP/0.9", Version::HTTP_09, Method::GET, "/", &[], Ok("NoHost")),
        (":authority", Version::HTTP_2, Method::GET, "https://a.com:443/x", &[], Ok("a.com")),
        (
            ":authority and Host",
            Version::HTTP_2,
            Method::GET,
            "https://a.com/x",
            &[("host", "A.com:443")],
            Ok("a.com"),
        ),
        (
            ":authority and another Host",
            Version::HTTP_2,
            Method::GET,
            "https://a.com/x",
            &[("host", "b.com")],
            Err(400),
        ),
        (
            "the scheme decides about the port",
            Version::HTTP_2,
            Method::GET,
            "http://a.com/x",
            &[("host", "a.com:443")],
            Err(400),
        ),
        (
            "another scheme is no absolute-form",
            Version::HTTP_2,
            Method::GET,
            "coap://a.com/x",
            &[],
            Ok("a.com"),
        ),
        (
            "h2-no-authority-host-only",
            Version::HTTP_2,
            Method::GET,
            "/x",
            &[("host", "a.com")],
            Ok("a.com"),
        ),
        ("h2-no-authority-host-only", Version::HTTP_2, Method::GET, "/x", &[], Err(400)),
        ("RFC 9113 8.5", Version::HTTP_2, Method::CONNECT, "a.com:443", &[], Err(405)),
        (
            "coding",
            Version::HTTP_2,
            Method::POST,
            "https://a.com/x",
            &[("transfer-encoding", "chunked")],
            Err(400),
        ),
        ("HTTP/3", Version::HTTP_3, Method::GET, "https://a.com/x", &[], Ok("a.com")),
    ];
    for (rfc, version, method, uri, fields, want) in rows {
        let got = host(&parts(*version, method, uri, fields));
        assert_eq!(got.as_deref(), want.as_deref(), "{rfc}: {version:?} {method} {uri} {fields:?}");
    }
}

#[test]
fn an_http2_asterisk_stays_one() {
    let uri = http::uri::Builder::new().scheme("https").authority("a.com").path_and_query("*");
    let request = Request::options(uri.build().unwrap()).version(Version::HTTP_2).body(()).unwrap();
    assert_eq!(host(&request.into_parts().0), Ok("Asterisk".to_owned()));
}

#[test]
fn each_part_arrives_in_its_field() {
    let names: [HostPattern; 1] = ["*.com".parse().unwrap()];
    let http2 =
        parts(Version::HTTP_2, &Method::CONNECT, "https://a.com:443/x?y", &[("host", "a.com")]);
    let head = Head { websocket: true, ..Head::from_parts(&http2, Some(&names)) };
    assert_eq!(head.version, HttpVersion::Http2);
    assert_eq!(head.method, b"CONNECT");
    assert_eq!(head.target, Target::Origin { path: b"/x", query: Some(b"y") });
    assert_eq!(head.authority, Some(&b"a.com:443"[..]));
    assert_eq!(head.scheme, Some(&b"https"[..]));
    assert_eq!(head.hosts, HostFields::One(b"a.com"));
    assert_eq!(head.transfer_encoding, TransferEncoding::None);
    assert_eq!(head.tls_names, Some(&names[..]));
    assert_eq!(select(&head), Ok(Selected::Host("a.com".parse().unwrap())));

    let http1 = parts(Version::HTTP_11, &Method::GET, "http://a.com/x", &[]);
    let head = Head::from_parts(&http1, None);
    assert_eq!((head.authority, head.scheme, head.hosts), (None, None, HostFields::None));
}
