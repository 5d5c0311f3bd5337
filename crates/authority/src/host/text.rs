//! Canonical text, inline while it is short.

use super::HostKind;

/// How many bytes are stored inline: what makes a host one cache line of 64 bytes.
pub(super) const INLINE: usize = 62;

#[derive(Clone)]
pub(super) enum Text {
    /// `len <= INLINE`, bytes behind `len` mean nothing.
    Inline { kind: HostKind, len: u8, bytes: [u8; INLINE] },
    /// A name of more than [`INLINE`] bytes; addresses are shorter.
    Long(Box<[u8]>),
}

impl Text {
    /// Stores `bytes` in lower case. An address is never longer than [`INLINE`].
    pub(super) fn new(kind: HostKind, bytes: &[u8]) -> Self {
        let mut inline = [0; INLINE];
        match (inline.get_mut(..bytes.len()), u8::try_from(bytes.len())) {
            (Some(start), Ok(len)) => {
                start.copy_from_slice(bytes);
                start.make_ascii_lowercase();
                Self::Inline { kind, len, bytes: inline }
            }
            _ => Self::Long(bytes.to_ascii_lowercase().into_boxed_slice()),
        }
    }

    pub(super) fn kind(&self) -> HostKind {
        match self {
            Self::Inline { kind, .. } => *kind,
            Self::Long(_) => HostKind::Name,
        }
    }

    #[inline]
    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Inline { len, bytes, .. } => bytes.get(..usize::from(*len)).unwrap_or_default(),
            Self::Long(bytes) => bytes,
        }
    }
}
