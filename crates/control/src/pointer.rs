//! Where a value is in a document (RFC 6901).

/// Appends a reference token to a JSON Pointer.
pub(crate) fn pointer(parent: &str, token: &str) -> String {
    format!("{parent}/{}", token.replace('~', "~0").replace('/', "~1"))
}
