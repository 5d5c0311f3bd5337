//! What a pass over the claims leaves behind for the router.

mod diff;

use std::collections::BTreeMap;
use std::sync::Arc;

use fingerpost_authority::Host;
use fingerpost_path::Prefix;

pub use self::diff::RowsDiff;
pub(crate) use self::diff::compare;
use crate::Name;

/// The three tables that a pass owns wholly: a row without a claim behind it is gone after it.
///
/// Equality is equality of rows. Cloning copies the maps, but no path rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the three tables, which a registry loads and stores"
)]
pub struct Rows {
    /// `route_aliases`: claimed hosts that have no route.
    pub aliases: BTreeMap<Host, AliasRow>,
    /// `wildcard_domains`, by the host under which the names are: the row of `a.example` is for
    /// `*.a.example`.
    pub wildcards: BTreeMap<Host, WildcardRow>,
    /// `route_paths`, by host. A host without rows is not here.
    pub paths: BTreeMap<Host, Arc<PathRows>>,
}

/// The path rows of one host.
pub type PathRows = BTreeMap<Prefix, PathRow>;

impl Rows {
    /// The row of a prefix.
    #[must_use]
    pub fn path(&self, host: &Host, prefix: &str) -> Option<&PathRow> {
        self.paths.get(host)?.get(prefix)
    }

    /// Every path row, in the order of hosts and prefixes.
    pub fn path_rows(&self) -> impl Iterator<Item = (&Host, &Prefix, &PathRow)> {
        self.paths
            .iter()
            .flat_map(|(host, rows)| rows.iter().map(move |(prefix, row)| (host, prefix, row)))
    }
}

/// A host that resolves to the site of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the columns of a table")]
pub struct AliasRow {
    /// The exact host of a route.
    pub primary: Host,
    /// Whether the alias has a prefix map of its own: then it shares the routes of the primary's site, and
    /// not its map. Without, it shares the map too.
    pub own_map: bool,
}

/// A name `*.host`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the columns of a table")]
pub struct WildcardRow {
    /// Whose it is.
    pub account: Name,
    /// The app of that account.
    pub app: Name,
    /// The exact host of a route whose site answers for `*.host`; `None` where it is claimed as a name only.
    pub catchall: Option<Host>,
}

/// Where one first segment of a host goes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the columns of a table")]
pub struct PathRow {
    /// The target and what it is charged to; rows with the same one share it.
    pub to: Arc<Destination>,
    /// Whether requests go there.
    pub state: RowState,
}

/// The host that a first segment goes to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "the columns of a table")]
pub struct Destination {
    /// The host whose site serves it. `None` only in a held row, where what was written is no host.
    pub target: Option<Host>,
    /// The account of the claim, which is the target's too where requests go there.
    pub account: Name,
    /// The target's app; `None` where it has none, or is unresolved.
    pub app: Option<Name>,
    /// The box that has the target's route; `None` is this one.
    pub home: Option<Name>,
}

/// Whether requests go to the target of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "complete: they do or they do not")]
pub enum RowState {
    /// They do: every gate was passed.
    Routed,
    /// They get 503: the target is unresolved, and the site wants the origin to stay out.
    Held,
}

impl RowState {
    /// The word that a registry stores.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Routed => "routed",
            Self::Held => "held",
        }
    }

    /// The state that a registry has stored.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Routed, Self::Held].into_iter().find(|state| state.as_str() == word)
    }
}
