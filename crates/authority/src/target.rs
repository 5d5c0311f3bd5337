//! The request-target, taken apart.

/// A request-target (RFC 9112 3.2) taken apart without being changed: no byte is decoded, folded or removed.
///
/// The bytes of path and query are those that were received, so that what is matched and what is forwarded
/// can be the same. An empty path of the absolute-form is reported as `/` (RFC 9110 4.2.3).
///
/// A raw `#` does not end anything here: in an origin-form it stays in the path or the query, in an
/// authority it makes the host invalid. Whether it is acceptable is the caller's decision. (A server built
/// on the `http` crate never sees one: `http::Uri` cuts it off with what follows.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "complete: the four forms of RFC 9112 3.2")]
pub enum Target<'a> {
    /// `/path?query` (RFC 9112 3.2.1).
    Origin {
        /// From the slash to the first `?`.
        path: &'a [u8],
        /// Behind the first `?`, where there is one.
        query: Option<&'a [u8]>,
    },
    /// `scheme://authority/path?query` (RFC 9112 3.2.2).
    Absolute {
        /// Before `://`, in the case received.
        scheme: &'a [u8],
        /// Up to the next `/` or `?`; not checked, may be empty or hold user information.
        authority: &'a [u8],
        /// From the slash to the first `?`; `/` where nothing stands there.
        path: &'a [u8],
        /// Behind the first `?`, where there is one.
        query: Option<&'a [u8]>,
    },
    /// `host:port`, for CONNECT only (RFC 9112 3.2.3); not checked.
    Authority(&'a [u8]),
    /// `*`, for OPTIONS only (RFC 9112 3.2.4).
    Asterisk,
    /// None of the four, or with a space or control byte in it.
    Invalid,
}

impl<'a> Target<'a> {
    /// Takes the request-target of a request line apart.
    ///
    /// ```
    /// use fingerpost_authority::Target;
    ///
    /// let target = Target::parse(b"http://a.com?q");
    /// assert_eq!((target.path(), target.query()), (Some(&b"/"[..]), Some(&b"q"[..])));
    /// assert_eq!(Target::parse(b"/a b"), Target::Invalid);
    /// ```
    ///
    /// # Complexity
    ///
    /// Linear; does not allocate.
    #[must_use]
    pub fn parse(raw: &'a [u8]) -> Self {
        // No form holds whitespace or control bytes (RFC 9112 3.2): a line break here would be another header.
        if raw.iter().any(|byte| *byte <= b' ' || *byte == 0x7f) {
            return Self::Invalid;
        }
        match raw {
            [] => Self::Invalid,
            b"*" => Self::Asterisk,
            [b'/', ..] => {
                let (path, query) = split_query(raw);
                Self::Origin { path, query }
            }
            _ => Self::absolute(raw).unwrap_or_else(|| Self::authority(raw)),
        }
    }

    /// Reads an [`http::Uri`] as an HTTP/1 server hands it over.
    ///
    /// For HTTP/2, whose `Uri` also carries `:scheme` and `:authority`, use
    /// [`Head::from_parts`](crate::Head::from_parts).
    ///
    /// # Complexity
    ///
    /// Constant; does not allocate.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn from_uri(uri: &'a http::Uri) -> Self {
        let authority = uri.authority().map(|authority| authority.as_str().as_bytes());
        match (uri.scheme_str(), authority) {
            // The crate lets an empty scheme pass.
            (Some(scheme), Some(authority)) if is_scheme(scheme.as_bytes()) => Self::Absolute {
                scheme: scheme.as_bytes(),
                authority,
                path: uri.path().as_bytes(),
                query: uri.query().map(str::as_bytes),
            },
            (None, None) => Self::from_uri_path(uri),
            (None, Some(authority)) if uri.path().is_empty() => Self::Authority(authority),
            _ => Self::Invalid,
        }
    }

    /// Reads path and query only, as those of an HTTP/2 `:path`.
    #[cfg(feature = "http")]
    pub(crate) fn from_uri_path(uri: &'a http::Uri) -> Self {
        let path = uri.path().as_bytes();
        match path {
            b"*" => Self::Asterisk,
            [b'/', ..] => Self::Origin { path, query: uri.query().map(str::as_bytes) },
            _ => Self::Invalid,
        }
    }

    /// Borrows the path, where the form has one.
    #[must_use]
    pub fn path(&self) -> Option<&'a [u8]> {
        match *self {
            Self::Origin { path, .. } | Self::Absolute { path, .. } => Some(path),
            Self::Authority(_) | Self::Asterisk | Self::Invalid => None,
        }
    }

    /// Borrows the query, where there is one; it may be empty.
    #[must_use]
    pub fn query(&self) -> Option<&'a [u8]> {
        match *self {
            Self::Origin { query, .. } | Self::Absolute { query, .. } => query,
            Self::Authority(_) | Self::Asterisk | Self::Invalid => None,
        }
    }

    fn absolute(raw: &'a [u8]) -> Option<Self> {
        let colon = raw.iter().position(|byte| *byte == b':')?;
        let (scheme, rest) = raw.split_at_checked(colon)?;
        let rest = rest.strip_prefix(b"://")?;
        if !is_scheme(scheme) {
            return None;
        }
        let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at_checked(end)?;
        let (path, query) = split_query(rest);
        let path = if path.is_empty() { b"/" } else { path };
        Some(Self::Absolute { scheme, authority, path, query })
    }

    fn authority(raw: &'a [u8]) -> Self {
        if raw.iter().any(|byte| matches!(byte, b'/' | b'?' | b'#')) {
            return Self::Invalid;
        }
        Self::Authority(raw)
    }
}

/// RFC 3986 3.1.
fn is_scheme(bytes: &[u8]) -> bool {
    let is_rest = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.iter().all(is_rest)
}

fn split_query(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    let Some(mark) = bytes.iter().position(|byte| *byte == b'?') else {
        return (bytes, None);
    };
    match bytes.split_at_checked(mark) {
        Some((path, [_, query @ ..])) => (path, Some(query)),
        _ => (bytes, None),
    }
}
