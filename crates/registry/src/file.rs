//! Opening a database file of ours, and no other.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::fault::{Fault, FaultKind};

/// What a kind of file looks like.
#[derive(Debug)]
pub(crate) struct Format {
    /// What SQLite keeps in the header to tell files of applications apart.
    pub(crate) application_id: i32,
    /// What makes the version after each index out of it. Never edited once released: appended to.
    pub(crate) migrations: &'static [&'static str],
}

/// Why a file was not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Rows are not what was last written: somebody edited them, or the disk lost bits.
    #[error(
        "{path} holds other rows than were written: {hosts} hosts, first {section} of {host:?}",
        path = path.display()
    )]
    Altered {
        /// The file.
        path: PathBuf,
        /// The table of the first host whose rows differ.
        section: &'static str,
        /// That host; of a fleet, its name.
        host: String,
        /// How many hosts' rows differ, each counted once a table.
        hosts: usize,
    },
    /// The file failed.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// A later version of this program has changed the format.
    #[error(
        "{path} has format {found}, this version reads up to {supported}: use a newer version",
        path = path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The latest that is known here.
        supported: i64,
    },
    /// The file is a database of another application, or of another kind.
    #[error("{path} is a database of something else", path = path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
}

/// Opens the file, creating it where there is none; says whether it did.
pub(crate) fn open(
    path: &Path,
    format: &Format,
    busy_timeout: Duration,
) -> Result<(Connection, bool), OpenError> {
    let created = match fs::metadata(path) {
        Ok(meta) if meta.len() == 0 => {
            // SQLite would take it for a new database, and everything for deleted.
            return Err(Fault::corrupt(path, "the file is empty").into());
        }
        Ok(_) => false,
        Err(error) if error.kind() == ErrorKind::NotFound => create(path, format, busy_timeout)?,
        Err(error) => return Err(Fault::of_io(path, &error).into()),
    };
    let fault = |error| Fault::of(path, &error);
    let mut connection = connect(path, OpenFlags::empty(), busy_timeout)?;
    let id: i32 = pragma(&connection, "application_id").map_err(fault)?;
    if id != format.application_id {
        return Err(OpenError::NotOurs { path: path.to_owned() });
    }
    migrate(path, &mut connection, format)?;
    Ok((connection, created))
}

/// Moves a file and its log out of the way, to `<file>.<suffix>`, so that a new one can be built.
///
/// # Errors
/// [`Fault`] when the file can't be renamed.
pub fn set_aside(path: &Path, suffix: &str) -> Result<PathBuf, Fault> {
    let to = with_ending(path, &format!(".{suffix}"));
    // The log first: a database without its log is old, a log without its database would be taken for
    // that of the next one.
    for ending in ["-wal", "-shm", ""] {
        match fs::rename(with_ending(path, ending), with_ending(&to, ending)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Fault::of_io(path, &error));
            }
            _ => {}
        }
    }
    Ok(to)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Builds the file under another name and links it into place whole: a crash leaves no file, never an
/// empty one, and of two processes one creates it.
fn create(path: &Path, format: &Format, busy_timeout: Duration) -> Result<bool, OpenError> {
    let io = |error: &std::io::Error| Fault::of_io(path, error);
    let log = with_ending(path, "-wal");
    if fs::exists(&log).map_err(|error| io(&error))? {
        let detail = "the database is gone, its write-ahead log is still there";
        return Err(Fault::corrupt(path, detail).into());
    }
    // Another thread or process that creates the file at this moment has a draft of its own.
    let us = format!("{}-{:?}", std::process::id(), std::thread::current().id());
    let us: String = us.chars().filter(|c| c.is_ascii_digit() || *c == '-').collect();
    let draft = with_ending(path, &format!(".new-{us}"));
    let remove = || {
        ["-wal", "-shm", ""].into_iter().try_for_each(|ending| {
            match fs::remove_file(with_ending(&draft, ending)) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(io(&error)),
                _ => Ok(()),
            }
        })
    };
    remove()?;
    let built = build(&draft, format, busy_timeout).map_err(|fault| fault.at(path));
    let linked = built.and_then(|()| match fs::hard_link(&draft, path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(io(&error).into()),
    });
    remove()?;
    let linked = linked?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or_else(|| Path::new("."));
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(|error| io(&error))?;
    Ok(linked)
}

fn build(draft: &Path, format: &Format, busy_timeout: Duration) -> Result<(), OpenError> {
    let fault = |error| Fault::of(draft, &error);
    let mut connection = connect(draft, OpenFlags::SQLITE_OPEN_CREATE, busy_timeout)?;
    keep_private(draft)?;
    connection.pragma_update(None, "journal_mode", "WAL").map_err(fault)?;
    connection.pragma_update(None, "application_id", format.application_id).map_err(fault)?;
    migrate(draft, &mut connection, format)?;
    // Closing moves the log into the file and removes it.
    connection.close().map_err(|(_, error)| Fault::of(draft, &error))?;
    Ok(())
}

/// Nobody else on the machine is to read keys, claims or credentials. SQLite gives the log the permissions of
/// the file.
fn keep_private(draft: &Path) -> Result<(), Fault> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(draft, private).map_err(|error| Fault::of_io(draft, &error))?;
    }
    Ok(())
}

fn connect(path: &Path, more: OpenFlags, busy_timeout: Duration) -> Result<Connection, Fault> {
    let fault = |error| Fault::of(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let connection = Connection::open_with_flags(path, flags).map_err(fault)?;
    // SQLite opens what it can't write for reading, and fails later for a reason that does not say so. (Trying
    // it ourselves would be worse: closing a file of our own drops SQLite's locks on it, process-wide.)
    if connection.is_readonly("main").map_err(fault)? {
        return Err(Fault::new(FaultKind::ReadOnly, path, "no permission, or a read-only disk"));
    }
    configure(&connection, busy_timeout).map_err(fault)?;
    Ok(connection)
}

fn configure(connection: &Connection, busy_timeout: Duration) -> Result<(), rusqlite::Error> {
    connection.busy_timeout(busy_timeout)?;
    // Every commit is synced before it is answered.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Corruption is found where it is read, not where it leads to.
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // The log of one large commit is not kept for good.
    connection.pragma_update(None, "journal_size_limit", LOG_KEPT)
}

/// Takes back the transaction that is open, if one is, after it failed.
///
/// What it had written to a full disk is given back too: else the log would stay as large as the disk.
pub(crate) fn roll_back(connection: &Connection, fault: Option<FaultKind>) {
    // Where one of these fails, the next BEGIN does and says why.
    if !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    if fault == Some(FaultKind::DiskFull) {
        let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
}

fn migrate(path: &Path, connection: &mut Connection, format: &Format) -> Result<(), OpenError> {
    let supported = i64::try_from(format.migrations.len()).unwrap_or(i64::MAX);
    let fault = |error| Fault::of(path, &error);
    loop {
        let found: i64 = pragma(connection, "user_version").map_err(fault)?;
        if found > supported {
            return Err(OpenError::Newer { path: path.to_owned(), found, supported });
        }
        if found == supported {
            return Ok(());
        }
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
        // Another process may have migrated while this one waited for the lock.
        let now: i64 = pragma(&transaction, "user_version").map_err(fault)?;
        let next = usize::try_from(now).ok().and_then(|now| format.migrations.get(now));
        if let Some(sql) = next.filter(|_| now == found) {
            transaction.execute_batch(sql).map_err(fault)?;
            transaction.pragma_update(None, "user_version", now + 1).map_err(fault)?;
            transaction.commit().map_err(|error| Fault::of_commit(path, &error))?;
        }
    }
}

/// Reads a setting.
pub(crate) fn pragma<T: rusqlite::types::FromSql>(
    connection: &Connection,
    name: &str,
) -> Result<T, rusqlite::Error> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

/// Runs SQLite's own check of the file.
pub(crate) fn integrity_check(path: &Path, connection: &Connection) -> Result<(), Fault> {
    let answer: String =
        pragma(connection, "integrity_check").map_err(|error| Fault::of(path, &error))?;
    if answer == "ok" { Ok(()) } else { Err(Fault::corrupt(path, answer)) }
}

impl OpenError {
    /// Names the file that was asked for, not the one that was to become it.
    fn at(self, path: &Path) -> Self {
        match self {
            Self::Fault(fault) => Self::Fault(fault.at(path)),
            other => other,
        }
    }

    /// What is wrong with the file, where that is it.
    #[must_use]
    pub const fn fault(&self) -> Option<FaultKind> {
        match self {
            Self::Fault(fault) => Some(fault.kind()),
            _ => None,
        }
    }
}

/// Bytes of a write-ahead log that are kept for the next commits.
const LOG_KEPT: i64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: Format = Format {
        application_id: 7,
        migrations: &["CREATE TABLE a (x)", "CREATE TABLE b (x); INSERT INTO b VALUES (1)"],
    };

    fn version(path: &Path) -> i64 {
        pragma(&Connection::open(path).unwrap(), "user_version").unwrap()
    }

    #[test]
    fn commits_are_synced_to_a_log() {
        let directory = tempfile::tempdir().unwrap();
        let (connection, created) =
            open(&directory.path().join("a.db"), &FORMAT, Duration::ZERO).unwrap();
        assert!(created);
        assert_eq!(pragma::<i64>(&connection, "synchronous"), Ok(2));
        assert_eq!(pragma::<String>(&connection, "journal_mode").unwrap(), "wal");
    }

    #[cfg(unix)]
    #[test]
    fn files_are_private() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let (connection, _) =
            open(&directory.path().join("a.db"), &FORMAT, Duration::ZERO).unwrap();
        connection.execute_batch("INSERT INTO a VALUES (1)").unwrap();
        for file in ["a.db", "a.db-wal", "a.db-shm"] {
            let mode = fs::metadata(directory.path().join(file)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
    }

    /// From any version to the last, each step once; a step that fails leaves the version before it.
    #[test]
    fn migrations_run_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        let older = Format { migrations: &FORMAT.migrations[..1], ..FORMAT };
        let broken = Format {
            migrations: &["CREATE TABLE a (x)", "CREATE TABLE c (x); CREATE TABLE a (x)"],
            ..FORMAT
        };
        drop(open(&path, &older, Duration::ZERO).unwrap());
        assert_eq!(version(&path), 1);
        assert!(open(&path, &broken, Duration::ZERO).is_err());
        assert_eq!(version(&path), 1);
        let (connection, created) = open(&path, &FORMAT, Duration::ZERO).unwrap();
        assert!(!created && connection.execute("DELETE FROM b", []) == Ok(1));
        assert!(connection.execute("DELETE FROM c", []).is_err(), "half a migration");
        drop(connection);
        drop(open(&path, &FORMAT, Duration::ZERO).unwrap());
        let error = open(&path, &older, Duration::ZERO).map(|_| ()).unwrap_err();
        assert!(matches!(error, OpenError::Newer { found: 2, supported: 1, .. }), "{error}");
    }
}
