//! IPv6 addresses in brackets.

use core::fmt::{self, Write as _};
use core::net::Ipv6Addr;

use super::text::Text;
use super::{HostError, HostKind};

/// Longer than any address in brackets: eight groups of four take 41 bytes, a mapped IPv4 address less.
const ROOM: usize = 48;

/// Parses `"[" IPv6 "]"`; `bytes` begin with the bracket.
pub(super) fn parse(bytes: &[u8]) -> Result<Text, HostError> {
    let close = bytes.iter().position(|byte| *byte == b']').ok_or(HostError::OpenBracket)?;
    if close + 1 < bytes.len() {
        return Err(HostError::AfterBracket { offset: close + 1 });
    }
    let inner = bytes.get(1..close).unwrap_or_default();
    if let Some(position) = inner.iter().position(|byte| *byte == b'%') {
        return Err(HostError::ZoneId { offset: position + 1 });
    }
    let address: Ipv6Addr = core::str::from_utf8(inner)
        .ok()
        .and_then(|inner| inner.parse().ok())
        .ok_or(HostError::V6)?;

    let mut canonical = Buffer { len: 0, bytes: [0; ROOM] };
    write!(canonical, "[{address}]").map_err(|fmt::Error| HostError::V6)?;
    Ok(Text::new(HostKind::V6, canonical.written()))
}

/// A formatter target on the stack. The standard library displays RFC 5952 text.
struct Buffer {
    len: usize,
    bytes: [u8; ROOM],
}

impl Buffer {
    fn written(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl fmt::Write for Buffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        let room = self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}
