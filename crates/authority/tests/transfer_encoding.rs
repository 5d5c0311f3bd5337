//! Transfer-Encoding.

use fingerpost_authority::HttpVersion::{self, Http2, Http10, Http11};
use fingerpost_authority::TransferEncoding::{self, Chunked, None, NotChunked, Unknown};

/// Rule, version, field values, verdict.
static CASES: &[(&str, HttpVersion, &[&str], TransferEncoding)] = &[
    ("absent", Http11, &[], None),
    ("absent", Http10, &[], None),
    ("absent", Http2, &[], None),
    ("RFC 9112 7.1", Http11, &["chunked"], Chunked),
    ("RFC 9112 7: case-insensitive", Http11, &["Chunked"], Chunked),
    ("RFC 9112 6.1: HTTP/1.0", Http10, &["chunked"], NotChunked),
    ("RFC 9112 6.1: HTTP/1.0", Http10, &["xchunked"], NotChunked),
    ("RFC 9113 8.2.2", Http2, &["chunked"], NotChunked),
    ("two fields", Http11, &["chunked", "chunked"], NotChunked),
    ("two fields", Http11, &["chunked", "identity"], NotChunked),
    ("two fields", Http11, &["chunked", "xchunked"], NotChunked),
    ("twice chunked", Http11, &["chunked, chunked"], NotChunked),
    ("decoded by hyper", Http11, &["gzip, chunked"], NotChunked),
    ("RFC 9112 6.3: chunked is not last", Http11, &["chunked, gzip"], NotChunked),
    ("known codings", Http11, &["x-gzip"], NotChunked),
    ("known codings", Http11, &["compress"], NotChunked),
    ("known codings", Http11, &["x-compress"], NotChunked),
    ("known codings", Http11, &["Deflate"], NotChunked),
    ("known codings", Http11, &["identity"], NotChunked),
    ("unknown", Http11, &["xchunked"], Unknown),
    ("unknown", Http11, &["br"], Unknown),
    ("unknown", Http11, &["br, chunked"], Unknown),
    ("unknown", Http11, &["chunked,\tbr"], Unknown),
    ("unknown, with a parameter", Http11, &["br ; q=1"], Unknown),
    ("a parameter", Http11, &["chunked;a=b"], NotChunked),
    ("empty", Http11, &[""], NotChunked),
    ("empty element", Http11, &[", chunked"], NotChunked),
    ("empty element", Http11, &["chunked,"], NotChunked),
    ("empty element beside an unknown coding", Http11, &["br, , chunked"], NotChunked),
    ("empty element behind an unknown coding", Http11, &["br,"], NotChunked),
    ("a lax parser left a space", Http11, &["chunked "], NotChunked),
    ("a lax parser left a tab", Http11, &["\tchunked"], NotChunked),
    ("no token: vertical tab", Http11, &["\x0bchunked"], NotChunked),
    ("no token: NUL", Http11, &["chunked\0"], NotChunked),
    ("no token: space inside", Http11, &["x chunked"], NotChunked),
    ("no token: quotes", Http11, &["\"chunked\""], NotChunked),
];

#[test]
fn fields_are_judged_as_decided() {
    for (rfc, version, values, want) in CASES {
        let got =
            TransferEncoding::from_fields(values.iter().map(|value| value.as_bytes()), *version);
        assert_eq!(got, *want, "{rfc}: {version:?} {values:?}");
    }
}
