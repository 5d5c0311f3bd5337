//! Ordinary names, at the speed of the request path.

use super::HostKind;
use super::text::{INLINE, Text};

/// Room for the longest inline text, a whole number of vector registers.
const ROOM: usize = 64;

/// Accepts a name of up to 62 bytes whose last label begins with no digit; any other input is `None`, and
/// the whole grammar decides it. A short name cannot hold a label that is too long.
///
/// Fixed-size loops without branches, which compile to vector code: half the time of a loop over the bytes.
#[inline]
pub(super) fn parse(bytes: &[u8]) -> Option<Text> {
    let name = bytes.strip_suffix(b".").unwrap_or(bytes);
    let len = name.len();
    if len > INLINE || name.first()? == &b'.' || name.last()? == &b'.' {
        return None;
    }
    // Padded with a byte that is valid and no dot, so that the padding never decides.
    let mut text = [b'0'; ROOM];
    text.get_mut(..len)?.copy_from_slice(name);
    text.make_ascii_lowercase();

    let mut refuse = false;
    let mut before = b'0';
    for byte in text {
        refuse |= !is_name_byte(byte) | ((before == b'.') & (byte == b'.'));
        before = byte;
    }
    let last_label = name.rsplit(|byte| *byte == b'.').next()?;
    if refuse || last_label.first()?.is_ascii_digit() {
        return None;
    }
    let bytes = *text.first_chunk::<INLINE>()?;
    Some(Text::Inline { kind: HostKind::Name, len: u8::try_from(len).ok()?, bytes })
}

/// Is this lower-case byte one of a name, dots included? Without branches.
#[inline]
fn is_name_byte(byte: u8) -> bool {
    (byte.wrapping_sub(b'a') < 26)
        | (byte.wrapping_sub(b'0') < 10)
        | (byte == b'-')
        | (byte == b'_')
        | (byte == b'.')
}
