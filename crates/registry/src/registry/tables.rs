//! Everything that a registry holds, in memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use fingerpost_claims::Rows;
use fingerpost_fingerprint::{Encoder, Section};
use rusqlite::Connection;

use super::read_serial;
use crate::fault::Fault;
use crate::rows::{
    Bind, FleetBoxRow, FleetRow, RouteAlias, RoutePath, RouteRow, Row, SiteRow, WildcardDomain,
};

/// Everything that a registry holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "everything that a registry holds")]
pub struct Tables {
    /// The tables that the box fills from what it knows itself.
    pub local: Local,
    /// The tables that a pass over the claims owns.
    pub rows: Rows,
    /// The serial of the claim store that the rows are of.
    pub serial: Option<u64>,
}

/// The tables that the box fills from what it knows itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "one field for each table")]
pub struct Local {
    /// `routes`.
    pub routes: BTreeMap<<RouteRow as Row>::Key, RouteRow>,
    /// `fleets`.
    pub fleets: BTreeMap<<FleetRow as Row>::Key, FleetRow>,
    /// `fleet_boxes`.
    pub fleet_boxes: BTreeMap<<FleetBoxRow as Row>::Key, FleetBoxRow>,
    /// `sites`.
    pub sites: BTreeMap<<SiteRow as Row>::Key, SiteRow>,
}

/// Told of each row: its section, its host, its encoding.
pub(super) type Seen<'a> = &'a mut dyn FnMut(Section, &str, &Encoder);

/// Reads everything, and shows each row to `seen` in the order of sections' tables and keys.
pub(super) fn load(path: &Path, connection: &Connection, seen: Seen<'_>) -> Result<Tables, Fault> {
    let serial = read_serial(connection).map_err(|error| Fault::of(path, &error))?;
    let mut tables = Tables { serial, ..Tables::default() };
    let Tables { local, rows, .. } = &mut tables;
    let mut file = Reader { path, connection, seen };
    file.each(|row: RouteRow| _ = local.routes.insert(row.key(), row))?;
    file.each(|row: FleetRow| _ = local.fleets.insert(row.key(), row))?;
    file.each(|row: FleetBoxRow| _ = local.fleet_boxes.insert(row.key(), row))?;
    file.each(|row: SiteRow| _ = local.sites.insert(row.key(), row))?;
    file.each(|row: RouteAlias| rows.aliases.extend([row.split()]))?;
    file.each(|row: WildcardDomain| rows.wildcards.extend([row.split()]))?;
    let mut last = None;
    file.each(|row: RoutePath| {
        let (host, prefix, row) = row.split(&mut last);
        Arc::make_mut(rows.paths.entry(host).or_default()).insert(prefix, row);
    })?;
    Ok(tables)
}

/// Reads every row without keeping any.
pub(super) fn scan(path: &Path, connection: &Connection, seen: Seen<'_>) -> Result<(), Fault> {
    let mut file = Reader { path, connection, seen };
    file.each(|_: RouteRow| {})?;
    file.each(|_: FleetRow| {})?;
    file.each(|_: FleetBoxRow| {})?;
    file.each(|_: SiteRow| {})?;
    file.each(|_: RouteAlias| {})?;
    file.each(|_: WildcardDomain| {})?;
    file.each(|_: RoutePath| {})
}

struct Reader<'a> {
    path: &'a Path,
    connection: &'a Connection,
    seen: Seen<'a>,
}

impl Reader<'_> {
    fn each<R: Bind>(&mut self, mut keep: impl FnMut(R)) -> Result<(), Fault> {
        let fault = |error| Fault::of(self.path, &error);
        let mut statement = self.connection.prepare(&R::TABLE.select_all()).map_err(fault)?;
        let mut found = statement.query([]).map_err(fault)?;
        let mut encoder = Encoder::new();
        while let Some(columns) = found.next().map_err(fault)? {
            let row = read::<R>(self.path, columns)?;
            row.encode(&mut encoder);
            (self.seen)(R::TABLE.section, &R::owner_of(&row.key()), &encoder);
            keep(row);
        }
        Ok(())
    }
}

/// Reads one row; a value that was never stored by us is corruption.
pub(super) fn read<R: Bind>(path: &Path, columns: &rusqlite::Row<'_>) -> Result<R, Fault> {
    R::read(columns).map_err(|column| {
        let (table, column) = (R::TABLE.name(), column.0);
        Fault::corrupt(path, format!("table {table} holds no {column} of ours"))
    })
}
