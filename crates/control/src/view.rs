//! What a running box knows, as far as the door asks.

use std::fmt;
use std::time::{Duration, SystemTime};

use fingerpost_claims::{BoxFuture, ClaimSet, Facts, Name, Report, StoreError};

/// What a running box knows, as far as the door asks.
pub trait LiveView: fmt::Debug + Send + Sync {
    /// Shows the state of the last pass, once. A lock may be held meanwhile: `visit` does not wait.
    fn look(&self, visit: &mut dyn FnMut(&Live<'_>));

    /// Whether an app is marked `control_plane`: services may not write its claims.
    fn is_control_plane(&self, account: &Name, app: &Name) -> bool;

    /// Whether requests are served: a snapshot is loaded, and the box is not about to stop.
    fn is_ready(&self) -> bool;

    /// What the snapshot in use holds; `None` before the first one.
    fn snapshot(&self) -> Option<Snapshot>;

    /// What every registered box has applied.
    fn nodes(&self) -> BoxFuture<'_, Result<Vec<Node>, StoreError>>;

    /// Resolves when every registered box routes new requests by `serial`, or when the patience is at its end,
    /// with the boxes that do not yet. A box that can't be reached is among them.
    fn wait_applied(
        &self,
        serial: u64,
        patience: Duration,
    ) -> BoxFuture<'_, Result<Vec<String>, StoreError>>;

    /// Lists what each host serves in the snapshot in use, as `routes --json` prints it. A view that has no
    /// such list shows an empty one.
    fn routes(&self) -> Vec<u8> {
        b"{}".to_vec()
    }

    /// Says which route a request takes, and why.
    ///
    /// `line` is a request as a line of `explain --jsonl` describes it.
    ///
    /// # Errors
    /// What is wrong with the line, for people.
    fn explain(&self, line: &[u8]) -> Result<Explained, String>;
}

/// The state of the last pass.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "filled in by every view")]
pub struct Live<'a> {
    /// The store's serial that the claims are of.
    pub serial: u64,
    /// What is known besides claims: routes, limits, who may claim what.
    pub facts: &'a Facts,
    /// The stored claims.
    pub claims: &'a ClaimSet,
    /// What the pass says of every claim.
    pub report: &'a Report,
}

/// What a snapshot holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "filled in by every view")]
pub struct Snapshot {
    /// The store's serial that it has applied.
    pub serial: u64,
    /// How many snapshots this process has loaded.
    pub generation: u64,
    /// The fingerprint of the registry that it was built from.
    pub fingerprint: String,
    /// How many there are of each thing, by its name.
    pub counts: Vec<(&'static str, u64)>,
}

/// What a box has applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "filled in by every view")]
pub struct Node {
    /// The name of the box.
    pub name: Name,
    /// The store's serial by which it routes new requests.
    pub serial: u64,
    /// When it said so.
    pub seen: Option<SystemTime>,
}

/// Which route a request takes, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "filled in by every view")]
pub struct Explained {
    /// The line that `explain --jsonl` answers.
    pub line: Vec<u8>,
    /// Whose the requested host is: the account of its site. `None` is for operators only.
    pub account: Option<Name>,
    /// The app of that site.
    pub app: Option<Name>,
}
