//! What makes the tables of a registry into others.

use std::collections::BTreeMap;

use fingerpost_claims::RowsDiff;

use super::tables::{Local, Tables};
use crate::rows::{FleetBoxRow, FleetRow, RouteRow, Row, SiteRow};

/// What makes the tables of a registry into others. The default changes nothing.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "written out by callers: one field for each table")]
pub struct Diff {
    /// Changes of `routes`.
    pub routes: Changes<RouteRow>,
    /// Changes of `fleets`.
    pub fleets: Changes<FleetRow>,
    /// Changes of `fleet_boxes`.
    pub fleet_boxes: Changes<FleetBoxRow>,
    /// Changes of `sites`.
    pub sites: Changes<SiteRow>,
    /// Changes of the tables that a pass over the claims owns.
    pub rows: RowsDiff,
    /// The serial of the claim store that the rows are of; `None` keeps the last.
    pub serial: Option<u64>,
}

impl Diff {
    /// What makes `old` into `new`.
    ///
    /// # Complexity
    /// Linear in the local rows, and in the path rows of hosts that the two don't share.
    #[must_use]
    pub fn between(old: &Tables, new: &Tables) -> Self {
        let rows = old.rows.diff(&new.rows);
        Self { rows, serial: new.serial, ..Self::of_local(&old.local, &new.local) }
    }

    /// What makes the local rows `old` into `new`, leaving the rest alone.
    #[must_use]
    pub fn of_local(old: &Local, new: &Local) -> Self {
        Self {
            routes: Changes::between(&old.routes, &new.routes),
            fleets: Changes::between(&old.fleets, &new.fleets),
            fleet_boxes: Changes::between(&old.fleet_boxes, &new.fleet_boxes),
            sites: Changes::between(&old.sites, &new.sites),
            ..Self::default()
        }
    }
}

/// Changes of one table: rows that are to be there, and keys that are not to be.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "written out by callers")]
pub struct Changes<R: Row> {
    /// Rows to insert, or to store over those with the same key.
    pub put: Vec<R>,
    /// Keys of rows to remove; done first.
    pub remove: Vec<R::Key>,
}

impl<R: Row> Default for Changes<R> {
    fn default() -> Self {
        Self { put: Vec::new(), remove: Vec::new() }
    }
}

impl<R: Row + Clone> Changes<R> {
    /// What makes `old` into `new`.
    #[must_use]
    pub fn between(old: &BTreeMap<R::Key, R>, new: &BTreeMap<R::Key, R>) -> Self {
        let put = new.iter().filter(|(key, row)| old.get(key) != Some(row));
        let remove = old.keys().filter(|key| !new.contains_key(key));
        Self { put: put.map(|(_, row)| row.clone()).collect(), remove: remove.cloned().collect() }
    }
}
