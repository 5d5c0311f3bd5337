//! Bytes as lower-case hexadecimal digits.

/// Writes bytes as lower-case hexadecimal digits.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
