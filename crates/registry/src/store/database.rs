//! The connection of a store, and its transactions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fingerpost_claims::{Append, Change, Commit, Committed, Expect, Version};
use rusqlite::{Connection, OptionalExtension, params};

use super::schema;
use super::watch::Serial;
use crate::fault::Fault;
use crate::file::{self, OpenError};

/// The connection of a store, owned by its thread.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) connection: Connection,
    path: PathBuf,
    watched: Option<Arc<Serial>>,
}

impl Database {
    pub(super) fn open(path: &Path, busy_timeout: Duration) -> Result<Self, OpenError> {
        let (connection, _) = file::open(path, &schema::FORMAT, busy_timeout)?;
        Ok(Self { connection, path: path.to_owned(), watched: None })
    }

    /// Names whom every serial is told that is seen from now on.
    pub(super) fn tell(&mut self, watched: Arc<Serial>) {
        self.watched = Some(watched);
    }

    /// Carries out a commit that was checked.
    pub(super) fn commit(&mut self, commit: &Commit) -> Result<Committed, Fault> {
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(|error| self.fault(&error))?;
        let done = self.within(commit).map_err(|error| self.fault(&error));
        let done = match done {
            Ok(stored @ Committed::Stored { .. }) => {
                let synced = self.connection.execute_batch("COMMIT");
                synced.map(|()| stored).map_err(|error| Fault::of_commit(&self.path, &error))
            }
            other => other,
        };
        match &done {
            Ok(Committed::Stored { serial, .. }) => self.observe(*serial),
            Ok(Committed::Conflict { .. }) => file::roll_back(&self.connection, None),
            Err(fault) => file::roll_back(&self.connection, Some(fault.kind())),
        }
        done
    }

    pub(super) fn serial(&self) -> Result<u64, Fault> {
        let read = "SELECT serial FROM state";
        let serial = self.connection.query_row(read, [], |row| row.get::<_, i64>(0));
        let serial = serial.map_err(|error| self.fault(&error))?.cast_unsigned();
        self.observe(serial);
        Ok(serial)
    }

    pub(super) fn check_file(&self) -> Result<(), Fault> {
        file::integrity_check(&self.path, &self.connection)
    }

    pub(super) fn fault(&self, error: &rusqlite::Error) -> Fault {
        Fault::of(&self.path, error)
    }

    pub(super) fn observe(&self, serial: u64) {
        if let Some(watched) = &self.watched {
            watched.observe(serial);
        }
    }

    fn within(&self, commit: &Commit) -> Result<Committed, rusqlite::Error> {
        let current = commit.changes.iter().map(|change| self.version(change));
        let current = current.collect::<Result<Vec<_>, _>>()?;
        let mut expected = commit.changes.iter().zip(&current);
        if !expected.all(|(change, current)| holds(&change.expect, current.as_ref())) {
            return Ok(Committed::Conflict { current });
        }
        let read = "SELECT serial, counter FROM state";
        let state = self.connection.query_row(read, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (mut serial, mut counter): (i64, i64) = state;
        serial += i64::from(commit.bump);
        let mut next = || {
            counter += 1;
            counter
        };
        let stored = commit.changes.iter().map(|change| {
            if commit.bump {
                self.note(change, serial)?;
            }
            self.store(change, &mut next)
        });
        let versions = stored.collect::<Result<_, _>>()?;
        for row in &commit.append {
            self.append(row, next())?;
        }
        let set = "UPDATE state SET serial = ?, counter = ?";
        self.connection.execute(set, [serial, counter])?;
        Ok(Committed::Stored { serial: serial.cast_unsigned(), versions })
    }

    fn version(&self, change: &Change) -> Result<Option<Version>, rusqlite::Error> {
        let read = "SELECT version FROM records WHERE collection = ? AND key = ?";
        let key = params![change.collection.as_str(), change.key];
        let version = self.connection.query_row(read, key, |row| row.get::<_, String>(0));
        Ok(version.optional()?.map(Version::new))
    }

    /// Notes at which serial a record was changed.
    fn note(&self, change: &Change, serial: i64) -> Result<(), rusqlite::Error> {
        let note = "INSERT INTO changes (collection, key, serial) VALUES (?, ?, ?) \
            ON CONFLICT (collection, key) DO UPDATE SET serial = excluded.serial";
        let values = params![change.collection.as_str(), change.key, serial];
        self.connection.execute(note, values).map(|_| ())
    }

    fn store(
        &self,
        change: &Change,
        next: &mut dyn FnMut() -> i64,
    ) -> Result<Option<Version>, rusqlite::Error> {
        let collection = change.collection.as_str();
        let Some(body) = &change.body else {
            let remove = "DELETE FROM records WHERE collection = ? AND key = ?";
            self.connection.execute(remove, params![collection, change.key])?;
            return Ok(None);
        };
        let version = version_of(next(), body);
        let set = "INSERT INTO records (collection, key, version, body) VALUES (?, ?, ?, ?) \
            ON CONFLICT (collection, key) DO UPDATE SET \
            version = excluded.version, body = excluded.body";
        self.connection.execute(set, params![collection, change.key, version, body])?;
        Ok(Some(Version::new(version)))
    }

    fn append(&self, row: &Append, number: i64) -> Result<(), rusqlite::Error> {
        let Append { journal, topic, body } = row;
        let add = "INSERT INTO journals (number, journal, topic, body) VALUES (?, ?, ?, ?)";
        self.connection.execute(add, params![number, journal.as_str(), topic, body])?;
        if let Some(kept) = journal.kept() {
            let drop_older = "DELETE FROM journals WHERE journal = ?1 AND topic = ?2 AND number <= \
                (SELECT number FROM journals WHERE journal = ?1 AND topic = ?2 \
                ORDER BY number DESC LIMIT 1 OFFSET ?3)";
            let kept = i64::try_from(kept).unwrap_or(i64::MAX);
            self.connection.execute(drop_older, params![journal.as_str(), topic, kept])?;
        }
        Ok(())
    }
}

fn holds(expect: &Expect, current: Option<&Version>) -> bool {
    match (expect, current) {
        (Expect::Any, _) | (Expect::Absent, None) => true,
        (Expect::Version(expected), Some(current)) => expected == current,
        _ => false,
    }
}

/// The number alone is given again after an older copy of the file was put back; the body, with a random
/// `write_id` in it, is another one then.
fn version_of(number: i64, body: &[u8]) -> String {
    let hash = blake3::hash(body).to_hex();
    format!("{number}-{}", hash.get(..16).unwrap_or_default())
}
