//! Changing rows, all or none.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use fingerpost_fingerprint::{Encoder, Key, RowDigest, Section, SectionHostDigest};
use rusqlite::{Connection, Statement, TransactionBehavior};

use super::{Changes, Diff, Registry, tables};
use crate::fault::Fault;
use crate::rows::{Bind, RouteAlias, RoutePath, Row, WildcardDomain};

/// What a [`Registry::apply`] has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// Rows that were inserted, or stored over others.
    pub written: u64,
    /// Rows that were removed.
    pub removed: u64,
    /// Rows that were there already, or to be removed and not there.
    pub unchanged: u64,
    /// The hosts whose rows now digest differently, each once a section, in order: what has to be rebuilt.
    pub hosts: Vec<(Section, String)>,
}

impl Registry {
    /// Carries out all changes of `diff`, or none, in one transaction that is on disk when this returns.
    ///
    /// A row that is there already is not written; where nothing changes, the disk is not touched.
    ///
    /// # Errors
    /// [`Fault`]: nothing was changed, unless it is [unsettled](crate::FaultKind::Unsettled).
    ///
    /// # Complexity
    /// A look-up for each changed row, and a write for each that differs. What is not in `diff` costs nothing.
    pub fn apply(&mut self, diff: &Diff) -> Result<Applied, Fault> {
        let (applied, changes) =
            self.in_transaction(TransactionBehavior::Immediate, |registry| {
                let mut work = Work::new(registry);
                work.all(diff)?;
                let Work { applied, changes, .. } = work;
                for ((section, host), change) in &changes {
                    let mut digest = registry.digests.get(*section, host);
                    digest.merge(*change);
                    registry.keep_digest(*section, host, digest)?;
                }
                if let Some(serial) = diff.serial.filter(|_| diff.serial != registry.serial) {
                    let set = "INSERT INTO meta (name, value) VALUES ('serial', ?) \
                        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
                    let stored = registry.connection.execute(set, [serial.cast_signed()]);
                    stored.map_err(|error| registry.fault(&error))?;
                }
                Ok((applied, changes))
            })?;
        for ((section, host), change) in &changes {
            self.digests.merge(*section, host, *change);
        }
        self.serial = diff.serial.or(self.serial);
        let hosts = changes.into_keys().collect();
        Ok(Applied { hosts, ..applied })
    }
}

struct Work<'a> {
    path: &'a Path,
    connection: &'a Connection,
    key: &'a Key,
    encoder: Encoder,
    applied: Applied,
    changes: BTreeMap<(Section, String), SectionHostDigest>,
}

impl<'a> Work<'a> {
    fn new(registry: &'a Registry) -> Self {
        Self {
            path: &registry.path,
            connection: &registry.connection,
            key: registry.digests.key(),
            encoder: Encoder::new(),
            applied: Applied::default(),
            changes: BTreeMap::new(),
        }
    }

    fn all(&mut self, diff: &Diff) -> Result<(), Fault> {
        let Diff { routes, fleets, fleet_boxes, sites, rows, serial: _ } = diff;
        self.local(routes)?;
        self.local(fleets)?;
        self.local(fleet_boxes)?;
        self.local(sites)?;
        self.table::<RouteAlias>(rows.aliases.iter().map(|(host, row)| Step {
            key: Cow::Borrowed(host),
            row: row.as_ref().map(|row| Cow::Owned(RouteAlias::new(host, row))),
        }))?;
        self.table::<WildcardDomain>(rows.wildcards.iter().map(|(host, row)| Step {
            key: Cow::Borrowed(host),
            row: row.as_ref().map(|row| Cow::Owned(WildcardDomain::new(host, row))),
        }))?;
        self.table::<RoutePath>(rows.paths.iter().map(|(host, prefix, row)| Step {
            key: Cow::Owned((host.clone(), prefix.clone())),
            row: row.as_ref().map(|row| Cow::Owned(RoutePath::new(host, prefix, row))),
        }))?;
        self.changes.retain(|_, change| !change.is_empty());
        Ok(())
    }

    fn local<R: Bind + Clone>(&mut self, changes: &Changes<R>) -> Result<(), Fault> {
        let removals = changes.remove.iter().map(|key| Step { key: Cow::Borrowed(key), row: None });
        let rows = changes.put.iter();
        let rows =
            rows.map(|row| Step { key: Cow::Owned(row.key()), row: Some(Cow::Borrowed(row)) });
        self.table::<R>(removals.chain(rows))
    }

    fn table<'r, R: Bind + Clone + 'r>(
        &mut self,
        steps: impl Iterator<Item = Step<'r, R>>,
    ) -> Result<(), Fault> {
        let mut steps = steps.peekable();
        if steps.peek().is_none() {
            return Ok(());
        }
        let path = self.path;
        let fault = |error| Fault::of(path, &error);
        let prepare = |sql: &str| self.connection.prepare(sql).map_err(fault);
        let mut select = prepare(&R::TABLE.select())?;
        let mut upsert = prepare(&R::TABLE.upsert())?;
        let mut delete = prepare(&R::TABLE.delete())?;
        for Step { key, row: new } in steps {
            let old = find::<R>(path, &mut select, &key)?;
            match &new {
                _ if old.as_ref() == new.as_deref() => {
                    self.applied.unchanged += 1;
                    continue;
                }
                Some(row) => {
                    row.bind(&mut upsert).and_then(|()| upsert.raw_execute()).map_err(fault)?;
                    self.applied.written += 1;
                }
                None => {
                    R::bind_key(&key, &mut delete).map_err(fault)?;
                    delete.raw_execute().map_err(fault)?;
                    self.applied.removed += 1;
                }
            }
            let owner = (R::TABLE.section, R::owner_of(&key).into_owned());
            let change = self.changes.entry(owner).or_default();
            let mut digest = |row: &R| {
                row.encode(&mut self.encoder);
                RowDigest::of(self.key, &self.encoder)
            };
            if let Some(old) = &old {
                change.remove(digest(old));
            }
            if let Some(new) = &new {
                change.add(digest(new));
            }
        }
        Ok(())
    }
}

/// What is to be in the place of one row.
struct Step<'a, R: Row + Clone> {
    key: Cow<'a, R::Key>,
    row: Option<Cow<'a, R>>,
}

fn find<R: Bind>(
    path: &Path,
    select: &mut Statement<'_>,
    key: &R::Key,
) -> Result<Option<R>, Fault> {
    let fault = |error| Fault::of(path, &error);
    R::bind_key(key, select).map_err(fault)?;
    let mut found = select.raw_query();
    let row = found.next().map_err(fault)?;
    row.map(|columns| tables::read(path, columns)).transpose()
}
