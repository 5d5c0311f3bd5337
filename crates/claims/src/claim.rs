//! The control plane's record of one hostname.

mod encode;
mod parse;
mod set_paths;

use fingerpost_authority::Host;

pub use self::parse::ClaimError;
pub use self::set_paths::{PathsChange, SetPathsError};
use crate::{Name, PathMap, RefusedEntry};

/// The control plane's record of one hostname: who owns it, and which first segments of it are served by
/// which other host.
///
/// # Grammar
/// One JSON object, kept under the canonical text of its host:
///
/// ```json
/// { "host": "tickets.example", "account": "tickets", "app": "classic",
///   "wildcard": false, "catchall": false,
///   "paths": { "paulca": "next.tickets.example" }, "sequence": 7, "write_id": "9f2c" }
/// ```
///
/// `host`, `account` and `app` are required. Members that this version does not know survive a rewrite byte
/// for byte, keys and values, in their order; so do entries of `paths` that are none, until the map is
/// replaced. A known member that is written twice makes the text no claim.
///
/// A claim that is `deleted` is a tombstone: it claims nothing, and keeps the `sequence`.
///
/// # Equality
/// Of everything that is stored, `write_id` and unknown members included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    host: Host,
    account: Name,
    app: Name,
    reach: Reach,
    paths: PathMap,
    refused: Vec<RefusedEntry>,
    /// The `paths` as it was written, while there are refused entries to keep.
    raw_paths: Option<Box<str>>,
    sequence: Option<u64>,
    write_id: Option<Box<str>>,
    deleted: bool,
    unknown: Vec<Unknown>,
}

/// A member that this version does not know, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unknown {
    raw_key: Box<str>,
    raw_value: Box<str>,
}

/// What a claim covers besides its host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "written out by callers")]
pub struct Reach {
    /// `*.host` is claimed as a name: for a certificate, and so that nobody else claims under it.
    pub wildcard: bool,
    /// `*.host` is also routed to the app.
    pub catchall: bool,
}

impl Reach {
    /// Whether `*.host` is claimed. To route it is to claim it.
    #[must_use]
    pub const fn is_wide(self) -> bool {
        self.wildcard || self.catchall
    }
}

impl Claim {
    /// A new claim, without a map: attaching can't invent one.
    #[must_use]
    pub fn attach(host: Host, account: Name, app: Name, reach: Reach) -> Self {
        Self {
            host,
            account,
            app,
            reach,
            paths: PathMap::default(),
            refused: Vec::new(),
            raw_paths: None,
            sequence: None,
            write_id: None,
            deleted: false,
            unknown: Vec::new(),
        }
    }

    /// A new claim over the tombstone of an older one of the same host.
    ///
    /// The same account goes on where it was: `sequence` and unknown members stay. For another account
    /// nothing stays: a number that somebody else has left would keep it from publishing.
    #[must_use]
    pub fn reattach(&self, account: Name, app: Name, reach: Reach) -> Self {
        let fresh = Self::attach(self.host.clone(), account, app, reach);
        if fresh.account != self.account {
            return fresh;
        }
        Self { sequence: self.sequence, unknown: self.unknown.clone(), ..fresh }
    }

    /// What is left of it when it is deleted.
    #[must_use]
    pub fn tombstone(&self) -> Self {
        Self {
            reach: Reach::default(),
            paths: PathMap::default(),
            refused: Vec::new(),
            raw_paths: None,
            deleted: true,
            ..self.clone()
        }
    }

    /// Changes what is covered besides the host; the map stays.
    pub const fn set_reach(&mut self, reach: Reach) {
        self.reach = reach;
    }

    /// The hostname.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// Whose it is.
    #[must_use]
    pub const fn account(&self) -> &Name {
        &self.account
    }

    /// The app of that account.
    #[must_use]
    pub const fn app(&self) -> &Name {
        &self.app
    }

    /// What is covered besides the host.
    #[must_use]
    pub const fn reach(&self) -> Reach {
        self.reach
    }

    /// The valid entries of the map.
    #[must_use]
    pub const fn paths(&self) -> &PathMap {
        &self.paths
    }

    /// What else stood in the map, in the byte order of the prefixes.
    #[must_use]
    pub fn refused(&self) -> &[RefusedEntry] {
        &self.refused
    }

    /// How many entries the map has, refused ones included.
    #[must_use]
    pub fn entry_count(&self) -> usize {
        self.paths.len() + self.refused.len()
    }

    /// The publisher's number of the map.
    #[must_use]
    pub const fn sequence(&self) -> Option<u64> {
        self.sequence
    }

    /// What tells this body from every other: a writer that was not answered reads it back.
    #[must_use]
    pub fn write_id(&self) -> Option<&str> {
        self.write_id.as_deref()
    }

    /// Whether it is a tombstone.
    #[must_use]
    pub const fn is_deleted(&self) -> bool {
        self.deleted
    }
}
