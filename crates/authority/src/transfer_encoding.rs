//! Whether the end of a request's body can be told.

use crate::HttpVersion;

/// What the `Transfer-Encoding` of a request amounts to (RFC 9112 6.1, 6.3).
///
/// Only exactly one `chunked` is accepted. A decoder in front that undoes `gzip, chunked` and drops the field,
/// or that takes `chunked, identity` for something else than the next hop does, is how requests are smuggled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "every case has its own answer")]
pub enum TransferEncoding {
    /// There is no such field.
    None,
    /// One field, in it one `chunked`.
    Chunked,
    /// Anything else that we could name: 400.
    NotChunked,
    /// A coding that we do not know: 501.
    Unknown,
}

/// The registered codings and their old names, besides `chunked` (RFC 9112 7), and `identity`, which
/// RFC 2616 had.
const CODINGS: [&[u8]; 6] =
    [b"gzip", b"x-gzip", b"compress", b"x-compress", b"deflate", b"identity"];

impl TransferEncoding {
    /// Judges the values of all `Transfer-Encoding` fields of one request, in order.
    ///
    /// Values come as RFC 9110 5.5 defines them, without whitespace around them: a parser that leaves some
    /// is lax, and `chunked` with a space behind it is not `chunked` here.
    ///
    /// Two fields are [`NotChunked`](Self::NotChunked), and so is any field in HTTP/1.0, which has no such
    /// thing (RFC 9112 6.1), or in HTTP/2, where it is malformed (RFC 9113 8.2.2).
    ///
    /// ```
    /// use fingerpost_authority::{HttpVersion, TransferEncoding};
    ///
    /// let judge = |value: &'static str| {
    ///     TransferEncoding::from_fields([value.as_bytes()], HttpVersion::Http11)
    /// };
    /// assert_eq!(judge("Chunked"), TransferEncoding::Chunked);
    /// assert_eq!(judge("gzip, chunked"), TransferEncoding::NotChunked);
    /// assert_eq!(judge("xchunked"), TransferEncoding::Unknown);
    /// ```
    ///
    /// # Complexity
    ///
    /// Linear; does not allocate.
    pub fn from_fields<'v>(
        values: impl IntoIterator<Item = &'v [u8]>,
        version: HttpVersion,
    ) -> Self {
        let mut values = values.into_iter();
        let Some(value) = values.next() else {
            return Self::None;
        };
        if values.next().is_some() || version != HttpVersion::Http11 {
            return Self::NotChunked;
        }
        if value.eq_ignore_ascii_case(b"chunked") {
            return Self::Chunked;
        }
        let mut verdict = Self::NotChunked;
        for element in value.split(|byte| *byte == b',') {
            let name = coding(element);
            if name.is_empty() || !name.iter().all(|byte| is_token_byte(*byte)) {
                return Self::NotChunked;
            }
            if !is_known(name) {
                verdict = Self::Unknown;
            }
        }
        verdict
    }
}

/// The name of a list element: before its parameters, without the whitespace that lists allow.
fn coding(element: &[u8]) -> &[u8] {
    let name = element.split(|byte| *byte == b';').next().unwrap_or_default();
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = name.iter().position(|byte| !blank(byte)).unwrap_or(name.len());
    let end = name.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    name.get(start..end).unwrap_or_default()
}

fn is_known(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"chunked")
        || CODINGS.iter().any(|coding| name.eq_ignore_ascii_case(coding))
}

/// RFC 9110 5.6.2.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
