//! Every column of every table takes part.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic")]

#[path = "support/rows.rs"]
mod rows;

use std::path::Path;

use fingerpost_fingerprint::Section;
use fingerpost_registry::{Diff, FaultKind, OnAltered, OpenError, Options, Registry, Tables};
use rusqlite::Connection;
use rusqlite::types::Value;

use self::rows::{open, sample};

/// Say when something was last checked; nothing that routing depends on.
const LEFT_OUT: [(&str, &str); 3] =
    [("routes", "dns_status"), ("routes", "cert_expires_at"), ("fleet_boxes", "heartbeat_at")];

/// For every column of every section's table as the file has it: a change of it alone, behind the
/// registry's back, is found; and the same change, applied, moves the fingerprint.
#[test]
fn f5_every_column_moves_the_fingerprint() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("registry.db");
    let (mut registry, empty) = open(&path);
    registry.apply(&Diff::between(&empty, &sample())).unwrap();
    let before = registry.fingerprint();
    drop(registry);

    let mut columns = 0;
    for section in Section::ALL {
        let table = section.name();
        for (column, is_key) in columns_of(&path, table) {
            let copy = directory.path().join(format!("{table}-{column}.db"));
            std::fs::copy(&path, &copy).unwrap();
            let changed = change(&copy, table, &column);
            let (mut plain, old) = {
                let copy = directory.path().join(format!("{table}-{column}-plain.db"));
                std::fs::copy(&path, &copy).unwrap();
                open(&copy)
            };
            assert_ne!(changed, old, "{table}.{column} was changed and reads the same");

            let applied = plain.apply(&Diff::between(&old, &changed)).unwrap();
            assert_eq!(applied.written, 1, "{table}.{column}");
            assert_eq!(applied.removed, u64::from(is_key), "{table}.{column}");
            assert_eq!(plain.tables().unwrap(), changed, "{table}.{column} is not stored");
            assert_eq!(plain.audit().unwrap(), [], "{table}.{column}");
            let left_out = LEFT_OUT.contains(&(table, &column));
            assert_eq!(plain.fingerprint() == before, left_out, "{table}.{column}");
            assert_eq!(applied.hosts.is_empty(), left_out, "{table}.{column}");
            columns += 1;
        }
    }
    assert!(columns >= 59, "only {columns} columns were tried");
}

fn columns_of(path: &Path, table: &str) -> Vec<(String, bool)> {
    let connection = Connection::open(path).unwrap();
    let mut statement =
        connection.prepare("SELECT name, pk > 0 FROM pragma_table_info(?)").unwrap();
    let columns = statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    columns.map(Result::unwrap).collect()
}

/// Changes one value of a column to another that the registry can read; what was changed is refused on
/// opening, and read when that is asked for.
fn change(path: &Path, table: &str, column: &str) -> Tables {
    let connection = Connection::open(path).unwrap();
    let old: Value = connection
        .query_row(&format!("SELECT {column} FROM {table}"), [], |row| row.get(0))
        .unwrap();
    for candidate in candidates(&old) {
        let keys = keys(path, table);
        let set = format!(
            "UPDATE {table} SET {column} = ?1 WHERE ({keys}) = (SELECT {keys} FROM {table} LIMIT 1)"
        );
        if connection.execute(&set, [&candidate]).is_err() {
            continue;
        }
        let refuse = Registry::open(path, &Options::default());
        let accept = Options { on_altered: OnAltered::Accept, ..Options::default() };
        let left_out = LEFT_OUT.contains(&(table, column));
        match refuse {
            Err(OpenError::Altered { section, hosts, .. }) if !left_out => {
                assert_eq!(section, table, "{table}.{column}");
                assert!(hosts <= 2, "{table}.{column}");
                let (registry, tables) = Registry::open(path, &accept).unwrap();
                drop(registry);
                assert!(Registry::open(path, &Options::default()).is_ok(), "accepted for good");
                return tables;
            }
            Ok((_, tables)) if left_out => return tables,
            // Not a value of this column: refused too, and for a reason.
            Err(error) => assert_eq!(error.fault(), Some(FaultKind::Corrupt), "{table}.{column}"),
            Ok(_) => panic!("{table}.{column}: {old:?} became {candidate:?} unseen"),
        }
        connection.execute(&set, [&old]).unwrap();
    }
    panic!("no other value for {table}.{column}: {old:?}");
}

fn keys(path: &Path, table: &str) -> String {
    let keys = columns_of(path, table).into_iter().filter(|(_, is_key)| *is_key);
    keys.map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}

fn candidates(old: &Value) -> Vec<Value> {
    let words = [
        "none",
        "routed",
        "refuse",
        "held",
        "respond",
        "pushed",
        "every-host",
        "select",
        "sticky",
        "shared",
        "zz.example",
        "[\"zz\"]",
    ];
    let mut all: Vec<_> = match old {
        Value::Integer(number) => vec![Value::Integer(1 - number), Value::Integer(number + 1)],
        Value::Blob(bytes) => vec![Value::Blob([bytes, &b"!"[..]].concat())],
        _ => words.map(|word| Value::Text(word.to_owned())).to_vec(),
    };
    all.retain(|value| value != old);
    all
}
