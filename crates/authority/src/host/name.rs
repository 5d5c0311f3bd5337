//! Names with their dotted quads.

use core::net::Ipv4Addr;

use super::text::Text;
use super::{HostError, HostKind};

/// RFC 1035 2.3.4: 255 octets on the wire are 253 of text.
const MAX_NAME: usize = 253;
/// RFC 1035 2.3.4.
const MAX_LABEL: usize = 63;

/// Parses a name or a dotted quad, from which a trailing dot is already gone.
pub(super) fn parse(name: &[u8]) -> Result<Text, HostError> {
    // First, so that no work is spent on a megabyte of header.
    if name.len() > MAX_NAME {
        return Err(HostError::TooLong { len: name.len() });
    }
    let mut offset = 0;
    let mut last = (0, name);
    for label in name.split(|byte| *byte == b'.') {
        check_label(label, offset)?;
        last = (offset, label);
        offset += label.len() + 1;
    }
    let (offset, label) = last;
    if !is_numeric(label) {
        return Ok(Text::new(HostKind::Name, name));
    }
    if is_dotted_quad(name) {
        return Ok(Text::new(HostKind::V4, name));
    }
    Err(HostError::Numeric { offset })
}

fn check_label(label: &[u8], offset: usize) -> Result<(), HostError> {
    if label.is_empty() {
        return Err(HostError::EmptyLabel { offset });
    }
    if label.len() > MAX_LABEL {
        return Err(HostError::LabelTooLong { offset });
    }
    let stray = label
        .iter()
        .enumerate()
        .find(|(_, byte)| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')));
    match stray {
        Some((position, byte)) => Err(HostError::Byte { offset: offset + position, byte: *byte }),
        None => Ok(()),
    }
}

/// What other components may read as a number: all digits, or `0x` with nothing but hexadecimal digits
/// behind it, even none (the "ends in a number" rule of browsers).
fn is_numeric(label: &[u8]) -> bool {
    match label {
        [b'0', b'x' | b'X', rest @ ..] => rest.iter().all(u8::is_ascii_hexdigit),
        _ => label.iter().all(u8::is_ascii_digit),
    }
}

/// The standard parser is as strict as RFC 3986 3.2.2: four decimal octets, no leading zero.
fn is_dotted_quad(name: &[u8]) -> bool {
    core::str::from_utf8(name).is_ok_and(|name| name.parse::<Ipv4Addr>().is_ok())
}
