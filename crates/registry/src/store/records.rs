//! What is read from a store.

use std::sync::Arc;

use fingerpost_claims::{
    Changes, Collection, Journal, Page, PageQuery, Record, Row, TailQuery, Version,
};
use rusqlite::{OptionalExtension, params};

use super::database::Database;
use crate::fault::Fault;

/// The most that a page holds: after the record with which it has this many bytes it ends.
const PAGE_BYTES: usize = 8 * 1024 * 1024;
/// The most records of a page that names no limit.
const PAGE_RECORDS: usize = 1000;

impl Database {
    pub(super) fn get(
        &mut self,
        collection: Collection,
        key: &str,
    ) -> Result<Option<Record>, Fault> {
        let read = "SELECT version, body FROM records WHERE collection = ? AND key = ?";
        let record = self.connection.query_row(read, params![collection.as_str(), key], |row| {
            Ok(Record { version: version(row, 0)?, body: body(row, 1)? })
        });
        record.optional().map_err(|error| self.fault(&error))
    }

    pub(super) fn list(
        &mut self,
        collection: Collection,
        query: PageQuery<'_>,
    ) -> Result<Page, Fault> {
        let limit = if query.limit == 0 { PAGE_RECORDS } else { query.limit };
        self.page(collection, query, limit).map_err(|error| self.fault(&error))
    }

    fn page(
        &self,
        collection: Collection,
        query: PageQuery<'_>,
        limit: usize,
    ) -> Result<Page, rusqlite::Error> {
        let read = "SELECT key, version, body FROM records \
            WHERE collection = ? AND key >= ? AND key > ? ORDER BY key";
        let mut statement = self.connection.prepare(read)?;
        // No key is empty: past the empty one are all.
        let after = query.after.unwrap_or_default();
        let mut found = statement.query(params![collection.as_str(), query.prefix, after])?;
        let (mut page, mut bytes) = (Page::default(), 0);
        while let Some(row) = found.next()? {
            let key: String = row.get(0)?;
            if !key.starts_with(query.prefix) {
                break;
            }
            if page.records.len() >= limit || bytes >= PAGE_BYTES {
                page.next = page.records.last().map(|(key, _)| key.clone());
                break;
            }
            let record = Record { version: version(row, 1)?, body: body(row, 2)? };
            bytes += record.body.len();
            page.records.push((key, record));
        }
        Ok(page)
    }

    pub(super) fn changed_since(&mut self, since: u64) -> Result<Changes, Fault> {
        // One statement, so that serial and keys are of one state of the file.
        let read = "SELECT serial, NULL, NULL FROM state UNION ALL \
            SELECT serial, collection, key FROM changes WHERE serial > ?";
        let collect = || {
            let mut statement = self.connection.prepare(read)?;
            let mut found = statement.query([i64::try_from(since).unwrap_or(i64::MAX)])?;
            let mut changes = Changes { serial: 0, keys: Some(std::collections::BTreeSet::new()) };
            while let Some(row) = found.next()? {
                let name: Option<String> = row.get(1)?;
                let Some(name) = name else {
                    changes.serial = row.get::<_, i64>(0)?.cast_unsigned();
                    continue;
                };
                let known = Collection::ALL.into_iter().find(|one| one.as_str() == name);
                // A collection that a later version knows is not for us.
                if let (Some(collection), Some(keys)) = (known, &mut changes.keys) {
                    keys.insert((collection, row.get(2)?));
                }
            }
            Ok(changes)
        };
        let mut changes = collect().map_err(|error| self.fault(&error))?;
        // A serial that was never given out is of another store: then nothing is known.
        if since > changes.serial {
            changes.keys = None;
        }
        self.observe(changes.serial);
        Ok(changes)
    }

    pub(super) fn tail(
        &mut self,
        journal: Journal,
        query: TailQuery<'_>,
    ) -> Result<Vec<Row>, Fault> {
        // Two statements, so that each has the index that fits.
        let read = match query.topic {
            Some(_) => {
                "SELECT number, topic, body FROM journals WHERE journal = ?1 AND topic = ?2 \
                    AND number < ?3 ORDER BY number DESC LIMIT ?4"
            }
            None => {
                "SELECT number, topic, body FROM journals WHERE journal = ?1 AND ?2 IS NULL \
                    AND number < ?3 ORDER BY number DESC LIMIT ?4"
            }
        };
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let before = number(query.before.unwrap_or(u64::MAX));
        let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
        let values = params![journal.as_str(), query.topic, before, limit];
        let collect = || {
            let mut statement = self.connection.prepare(read)?;
            let rows = statement.query_map(values, |row| {
                let number = row.get::<_, i64>(0)?.cast_unsigned();
                Ok(Row { number, topic: row.get(1)?, body: body(row, 2)? })
            })?;
            rows.collect::<Result<Vec<_>, _>>()
        };
        collect().map_err(|error| self.fault(&error))
    }
}

fn version(row: &rusqlite::Row<'_>, at: usize) -> Result<Version, rusqlite::Error> {
    row.get::<_, String>(at).map(Version::new)
}

fn body(row: &rusqlite::Row<'_>, at: usize) -> Result<Arc<[u8]>, rusqlite::Error> {
    Ok(row.get_ref(at)?.as_blob()?.into())
}
