//! Files that can't be used, and those that can.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failing test may panic")]

#[path = "support/rows.rs"]
mod rows;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fingerpost_registry::{
    Diff, FaultKind, OpenError, Options, Registry, SqliteStore, StoreOptions, set_aside,
};
use rusqlite::Connection;
use tempfile::TempDir;

use self::rows::{open, sample};

/// A directory with a registry that holds the sample.
fn with_sample() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("registry.db");
    let (mut registry, empty) = open(&path);
    assert!(registry.is_new());
    registry.apply(&Diff::between(&empty, &sample())).unwrap();
    (directory, path)
}

fn log_of(path: &Path) -> PathBuf {
    path.with_extension("db-wal")
}

fn sql(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

fn edit(path: &Path, edit: impl Fn(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    edit(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// What is done to a file, and what opening it then says.
struct Case {
    what: &'static str,
    damage: fn(&Path),
    want: fn(&OpenError) -> bool,
    says: &'static str,
}

fn corrupt(error: &OpenError) -> bool {
    error.fault() == Some(FaultKind::Corrupt)
}

const CASES: &[Case] = &[
    Case {
        what: "emptied, which SQLite takes for a new database",
        damage: |path| fs::write(path, b"").unwrap(),
        want: corrupt,
        says: "the file is empty",
    },
    Case {
        what: "overwritten with text",
        damage: |path| {
            fs::write(path, b"not a database, but long enough to be looked at\n".repeat(200))
                .unwrap()
        },
        want: corrupt,
        says: "file is not a database",
    },
    Case {
        what: "cut off in the middle",
        damage: |path| edit(path, |bytes| bytes.truncate(bytes.len() / 2)),
        want: corrupt,
        says: "malformed",
    },
    Case {
        what: "a page of zeroes",
        damage: |path| {
            edit(path, |bytes| {
                let last = bytes.len() - 4096;
                bytes[4096..last].fill(0);
            })
        },
        want: corrupt,
        says: "malformed",
    },
    Case {
        what: "one letter of one target lost a bit",
        damage: |path| {
            edit(path, |bytes| {
                let target = b"next.tickets.example";
                let at = bytes.windows(target.len()).position(|window| window == target).unwrap();
                bytes[at] ^= 1;
            })
        },
        want: |error| matches!(error, OpenError::Altered { section: "route_paths", hosts: 1, .. }),
        says: "other rows than were written: 1 hosts, first route_paths of \"tickets.example\"",
    },
    Case {
        what: "a row removed",
        damage: |path| sql(path, "DELETE FROM route_paths WHERE prefix = 'paulca'"),
        want: |error| matches!(error, OpenError::Altered { section: "route_paths", hosts: 1, .. }),
        says: "route_paths",
    },
    Case {
        what: "all rows removed",
        damage: |path| sql(path, "DELETE FROM route_paths; DELETE FROM routes"),
        want: |error| matches!(error, OpenError::Altered { hosts: 4, .. }),
        says: "4 hosts",
    },
    Case {
        what: "a table removed",
        damage: |path| sql(path, "DROP TABLE route_paths"),
        want: corrupt,
        says: "no such table: route_paths",
    },
    Case {
        what: "its key removed",
        damage: |path| sql(path, "DELETE FROM meta WHERE name = 'key'"),
        want: corrupt,
        says: "no rows",
    },
    Case {
        what: "a host that is none",
        damage: |path| sql(path, "UPDATE route_paths SET host = 'a..b' WHERE prefix = 'paulca'"),
        want: corrupt,
        says: "table route_paths holds no host of ours",
    },
    Case {
        what: "a host that is not canonical",
        damage: |path| sql(path, "UPDATE route_paths SET host = 'Tickets.example'"),
        want: corrupt,
        says: "table route_paths holds no host of ours",
    },
    Case {
        what: "a number out of range",
        damage: |path| sql(path, "UPDATE routes SET status = 65536"),
        want: corrupt,
        says: "table routes holds no status of ours",
    },
    Case {
        what: "an unknown word",
        damage: |path| sql(path, "UPDATE route_paths SET state = 'Routed'"),
        want: corrupt,
        says: "table route_paths holds no state of ours",
    },
    Case {
        what: "of a later version",
        damage: |path| sql(path, "PRAGMA user_version = 2"),
        want: |error| matches!(error, OpenError::Newer { found: 2, supported: 1, .. }),
        says: "has format 2, this version reads up to 1: use a newer version",
    },
    Case {
        what: "of another application",
        damage: |path| sql(path, "PRAGMA application_id = 1"),
        want: |error| matches!(error, OpenError::NotOurs { .. }),
        says: "is a database of something else",
    },
    Case {
        what: "a claim store",
        damage: |path| {
            fs::remove_file(path).unwrap();
            drop(SqliteStore::open(path, &StoreOptions::default()).unwrap());
        },
        want: |error| matches!(error, OpenError::NotOurs { .. }),
        says: "is a database of something else",
    },
    Case {
        what: "gone, with its log left behind",
        damage: |path| {
            fs::remove_file(path).unwrap();
            fs::write(log_of(path), b"x").unwrap();
        },
        want: corrupt,
        says: "the database is gone, its write-ahead log is still there",
    },
    Case {
        what: "in a directory that is not there",
        damage: |path| fs::remove_dir_all(path.parent().unwrap()).unwrap(),
        want: |error| error.fault() == Some(FaultKind::Unopened),
        says: "can't be opened",
    },
    Case {
        what: "a directory",
        damage: |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        },
        want: |error| error.fault().is_some(),
        says: "registry.db",
    },
];

#[test]
fn a_bad_file_is_never_an_empty_one() {
    for Case { what, damage, want, says } in CASES {
        let (_directory, path) = with_sample();
        damage(&path);
        let bytes = fs::read(&path).ok();
        let error = Registry::open(&path, &Options::default()).map(|_| ()).unwrap_err();
        assert!(want(&error), "{what}: {error:?}");
        let text = error.to_string();
        assert!(text.contains(says) && text.contains("registry.db"), "{what}: {text}");
        assert_eq!(fs::read(&path).ok(), bytes, "{what}: the file was changed");
    }
}

/// The near misses of the cases above.
#[test]
fn a_good_file_opens_again() {
    let (_directory, path) = with_sample();
    sql(
        &path,
        "PRAGMA user_version = 1; UPDATE routes SET dns_status = 'gone', cert_expires_at = 9",
    );
    let (registry, tables) = open(&path);
    assert!(!registry.is_new());
    assert_eq!(tables.rows, sample().rows);
    assert_eq!((tables.serial, registry.serial()), (Some(7), Some(7)));
    assert_eq!(tables.local.routes.len(), sample().local.routes.len());
    registry.check_file().unwrap();
}

/// Of many that create a file at once, one does; and no draft is left.
#[test]
fn one_of_many_creates() {
    let (directory, path) = with_sample();
    let names = |directory: &Path| {
        let mut names: Vec<_> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(directory.path()), ["registry.db"]);
    fs::remove_file(&path).unwrap();
    let all: Vec<_> = std::thread::scope(|scope| {
        let many: Vec<_> = (0..8).map(|_| scope.spawn(|| open(&path).0)).collect();
        many.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(all.iter().filter(|registry| registry.is_new()).count(), 1);
    assert!(all.iter().all(|registry| registry.fingerprint() == all[0].fingerprint()));
    drop(all);
    assert_eq!(names(directory.path()), ["registry.db"]);
}

#[test]
fn a_file_that_is_set_aside_makes_room() {
    let (directory, path) = with_sample();
    fs::write(log_of(&path), b"x").unwrap();
    let aside = set_aside(&path, "corrupt-1").unwrap();
    assert_eq!(aside, directory.path().join("registry.db.corrupt-1"));
    assert!(aside.exists() && !path.exists() && !log_of(&path).exists());
    let (registry, tables) = open(&path);
    assert!(registry.is_new() && tables.rows.paths.is_empty());
    assert!(set_aside(&directory.path().join("none.db"), "x").is_ok(), "nothing is in the way");
}

#[test]
fn a_locked_file_is_said_to_be_locked() {
    let (_directory, path) = with_sample();
    let options = Options { busy_timeout: Duration::from_millis(20), ..Options::default() };
    let (mut registry, tables) = Registry::open(&path, &options).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut changed = tables.clone();
    changed.local.fleets.clear();
    let diff = Diff::between(&tables, &changed);
    let before = registry.fingerprint();
    let fault = registry.apply(&diff).unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Locked, "{fault}");
    assert_eq!(registry.fingerprint(), before);
    // Reading goes on, and once the lock is gone so does writing.
    assert_eq!(registry.tables().unwrap(), tables);
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(registry.apply(&diff).unwrap().removed, 2);
}

/// A hand-over: both processes have the file open, and each sees what the other commits.
#[test]
fn two_registries_on_one_file_agree() {
    let (_directory, path) = with_sample();
    let (mut one, tables) = open(&path);
    let (mut other, _) = open(&path);
    for round in 0..4_u64 {
        let before = one.tables().unwrap();
        let mut after = before.clone();
        after.local.fleets.remove("go").map_or_else(
            || drop(after.local.fleets.insert("go".to_owned(), rows::fleet("go"))),
            drop,
        );
        after.serial = Some(round);
        let (writer, reader) =
            if round % 2 == 0 { (&mut one, &mut other) } else { (&mut other, &mut one) };
        writer.apply(&Diff::between(&before, &after)).unwrap();
        assert_eq!(reader.tables().unwrap(), after);
        assert_eq!(reader.fingerprint(), writer.fingerprint());
        assert_eq!((reader.serial(), reader.audit().unwrap()), (Some(round), vec![]));
    }
    assert_eq!(one.tables().unwrap().local, tables.local);
}
