//! The rows that a box routes by, in one file.

mod apply;
mod audit;
mod diff;
mod schema;
mod tables;
mod usage;

use std::path::{Path, PathBuf};
use std::time::Duration;

use fingerpost_fingerprint::{Digests, Fingerprint, Key};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

pub use self::apply::Applied;
pub use self::diff::{Changes, Diff};
pub(crate) use self::schema::FORMAT;
pub use self::tables::{Local, Tables};
pub use self::usage::Usage;
use crate::fault::Fault;
use crate::file::{self, OpenError};

/// The rows that a box routes by, in one SQLite file.
///
/// One process owns the file; while it hands over to another, both may have it open. Each sees what the
/// other has committed.
#[derive(Debug)]
pub struct Registry {
    connection: Connection,
    path: PathBuf,
    /// As of `data_version`, and all that this connection has committed.
    digests: Digests,
    serial: Option<u64>,
    /// Changes when another connection commits. `None` after a commit that failed.
    data_version: Option<i64>,
    is_new: bool,
}

/// How a registry is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "written out by callers")]
pub struct Options {
    /// How long to wait for somebody else's lock (5 s).
    pub busy_timeout: Duration,
    /// What to do where rows are not what was last written.
    pub on_altered: OnAltered,
}

impl Default for Options {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(5), on_altered: OnAltered::Refuse }
    }
}

/// What to do with a file whose rows are not what was last written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete: they are believed or they are not")]
pub enum OnAltered {
    /// Believe them: somebody edited the file on purpose.
    Accept,
    /// Report [`OpenError::Altered`].
    #[default]
    Refuse,
}

impl Registry {
    /// Opens the file, or creates it, and reads everything.
    ///
    /// All rows are digested on the way and compared with the digests that were kept while they were written:
    /// rows that have changed since are found, whoever changed them.
    ///
    /// # Errors
    /// [`OpenError`] when the file can't be used; it was not changed then.
    ///
    /// # Complexity
    /// Linear in the rows: about 0.8 s for a million.
    pub fn open(path: &Path, options: &Options) -> Result<(Self, Tables), OpenError> {
        let (connection, is_new) = file::open(path, &FORMAT, options.busy_timeout)?;
        let key = read_key(path, &connection)?;
        let mut registry = Self {
            connection,
            path: path.to_owned(),
            digests: Digests::new(key),
            serial: None,
            data_version: None,
            is_new,
        };
        let tables = registry.load(options.on_altered)?;
        Ok((registry, tables))
    }

    /// Whether the file was created by this [`open`](Self::open): its tables are empty because nothing was
    /// ever written, and not because everything was removed.
    #[must_use]
    pub const fn is_new(&self) -> bool {
        self.is_new
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The digest of everything that routing depends on, as of the last call that read or wrote the file.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.digests.fingerprint()
    }

    /// The digests that the fingerprint is made of.
    #[must_use]
    pub const fn digests(&self) -> &Digests {
        &self.digests
    }

    /// The serial of the claim store that the rows are of; `None` before the first.
    #[must_use]
    pub const fn serial(&self) -> Option<u64> {
        self.serial
    }

    /// How many rows of any table, its own bookkeeping included, this has inserted, changed or removed since
    /// it was opened.
    #[must_use]
    pub fn rows_written(&self) -> u64 {
        self.connection.total_changes()
    }

    /// Reads everything anew.
    ///
    /// # Errors
    /// [`Fault`]; corrupt rows are one, never missing rows.
    ///
    /// # Complexity
    /// Linear in the rows.
    pub fn tables(&mut self) -> Result<Tables, Fault> {
        self.in_transaction(TransactionBehavior::Deferred, |registry| {
            tables::load(&registry.path, &registry.connection, &mut |_, _, _| {})
        })
    }

    /// Runs SQLite's check of the whole file. Slow: linear in the file, with every page read.
    ///
    /// # Errors
    /// [`Fault`] of kind corrupt with what was found, or another when the check could not run.
    pub fn check_file(&self) -> Result<(), Fault> {
        file::integrity_check(&self.path, &self.connection)
    }

    /// Runs `work` in a transaction, after taking over what other processes have committed. What it
    /// changed is rolled back when it fails.
    fn in_transaction<T>(
        &mut self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let begin = match behavior {
            TransactionBehavior::Deferred => "BEGIN DEFERRED",
            _ => "BEGIN IMMEDIATE",
        };
        self.connection.execute_batch(begin).map_err(|error| self.fault(&error))?;
        let done = self.refresh().and_then(|()| work(self));
        let done = done.and_then(|done| {
            // Unless it is said to have happened, nobody knows.
            let known = self.data_version.take();
            let commit = self.connection.execute_batch("COMMIT");
            commit.map_err(|error| Fault::of_commit(&self.path, &error))?;
            self.data_version = known;
            Ok(done)
        });
        if let Err(fault) = &done {
            file::roll_back(&self.connection, Some(fault.kind()));
        }
        done
    }

    /// Takes over digests and serial where somebody else has committed, or our own last commit failed.
    fn refresh(&mut self) -> Result<(), Fault> {
        // The first read makes the transaction see one state of the file.
        let serial = read_serial(&self.connection).map_err(|error| self.fault(&error))?;
        let now = file::pragma(&self.connection, "data_version").map_err(|e| self.fault(&e))?;
        if self.data_version != Some(now) {
            self.digests = self.kept_digests()?;
            self.serial = serial;
            self.data_version = Some(now);
        }
        Ok(())
    }

    fn fault(&self, error: &rusqlite::Error) -> Fault {
        Fault::of(&self.path, error)
    }
}

fn read_key(path: &Path, connection: &Connection) -> Result<Key, Fault> {
    let read = "SELECT value FROM meta WHERE name = 'key'";
    let secret = connection.query_row(read, [], |row| row.get(0));
    secret.map(Key::new).map_err(|error| Fault::of(path, &error))
}

fn read_serial(connection: &Connection) -> Result<Option<u64>, rusqlite::Error> {
    let read = "SELECT value FROM meta WHERE name = 'serial'";
    let serial = connection.query_row(read, [], |row| row.get::<_, i64>(0)).optional()?;
    Ok(serial.map(i64::cast_unsigned))
}
