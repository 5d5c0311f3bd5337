//! The bytes that no path on a host with a prefix map may hold.

/// Checks a raw path: it begins with `/`, its escapes are well formed, nothing in it is a control
/// byte, a space, a `#`, or an encoded NUL, CR or LF. Linear in the length of `path`.
///
/// # Errors
/// [`PathRefused`] with the byte offset of the first offence.
pub fn check_path(path: &[u8]) -> Result<(), PathRefused> {
    if path.first() != Some(&b'/') {
        return Err(PathRefused::NotAbsolute);
    }
    let mut rest = path;
    while let Some((&byte, tail)) = rest.split_first() {
        let at = path.len() - rest.len();
        match byte {
            b'%' => match *tail {
                [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                    if high == b'0' && matches!(low, b'0' | b'a' | b'A' | b'd' | b'D') {
                        return Err(PathRefused::EncodedControl { at });
                    }
                }
                _ => return Err(PathRefused::MalformedEscape { at }),
            },
            b' ' => return Err(PathRefused::Space { at }),
            b'#' => return Err(PathRefused::Fragment { at }),
            0..=0x1f | 0x7f => return Err(PathRefused::Control { at }),
            _ => {}
        }
        rest = tail;
    }
    Ok(())
}

/// Why a path is answered 400 before anything is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathRefused {
    /// The path does not begin with a slash.
    #[error("the path does not begin with a slash")]
    NotAbsolute,
    /// A raw control byte.
    #[error("control byte at byte {at} of the path")]
    Control {
        /// Byte offset in the path.
        at: usize,
    },
    /// A raw space.
    #[error("space at byte {at} of the path")]
    Space {
        /// Byte offset in the path.
        at: usize,
    },
    /// A raw `#`: RFC 9112 3.2.1 has no fragment in a request-target.
    #[error("fragment at byte {at} of the path")]
    Fragment {
        /// Byte offset in the path.
        at: usize,
    },
    /// A `%` without two hexadecimal digits behind it (RFC 3986 2.1).
    #[error("malformed percent-escape at byte {at} of the path")]
    MalformedEscape {
        /// Byte offset in the path.
        at: usize,
    },
    /// `%00`, `%0a` or `%0d`.
    #[error("encoded control character at byte {at} of the path")]
    EncodedControl {
        /// Byte offset in the path.
        at: usize,
    },
    /// More spellings than the work budget allows; leaving some out would break the promise.
    #[error("the path has more spellings than the work budget allows")]
    Budget,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_a_near_accept() {
        use PathRefused as R;
        for (path, want) in [
            (&b"/a"[..], Ok(())),
            (b"a", Err(R::NotAbsolute)),
            (b"", Err(R::NotAbsolute)),
            (b"/a b", Err(R::Space { at: 2 })),
            (b"/a%20b", Ok(())),
            (b"/a\tb", Err(R::Control { at: 2 })),
            (b"/a\x7f", Err(R::Control { at: 2 })),
            (b"/a%09b", Ok(())),
            (b"/a\x80", Ok(())),
            (b"/a#", Err(R::Fragment { at: 2 })),
            (b"/a%23", Ok(())),
            (b"/%", Err(R::MalformedEscape { at: 1 })),
            (b"/%4", Err(R::MalformedEscape { at: 1 })),
            (b"/x%zz", Err(R::MalformedEscape { at: 2 })),
            (b"/%25zz", Ok(())),
            (b"/%00", Err(R::EncodedControl { at: 1 })),
            (b"/%0A", Err(R::EncodedControl { at: 1 })),
            (b"/%0d", Err(R::EncodedControl { at: 1 })),
            (b"/%0b", Ok(())),
            (b"/%01", Ok(())),
        ] {
            assert_eq!(check_path(path), want, "{}", path.escape_ascii());
        }
    }
}
