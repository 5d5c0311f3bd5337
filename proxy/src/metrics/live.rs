//! What is true at the moment of asking.

use fingerpost_authority::Host;

/// What is true at the moment of asking, besides what was counted.
#[derive(Debug, Default)]
pub(crate) struct Live {
    /// The generation of the snapshot in use.
    pub(crate) generation: u64,
    /// The entries in the map of each host.
    pub(crate) entries: Vec<(Host, usize)>,
    /// The entries that are not routed, by host and code.
    pub(crate) unresolved: Vec<(Host, &'static str, usize)>,
}
