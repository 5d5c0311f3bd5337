//! Are the rows what was written?

use fingerpost_fingerprint::{Digests, Encoder, RowDigest, Section, SectionHostDigest, VERSION};
use rusqlite::{OptionalExtension, TransactionBehavior, params};

use super::{OnAltered, Registry, Tables, tables};
use crate::fault::Fault;
use crate::file::OpenError;

impl Registry {
    /// Digests every row from scratch and compares the result with the digests that were kept: names the
    /// hosts for which they differ, each once a section. None is the only good answer.
    ///
    /// # Errors
    /// [`Fault`] when the rows can't be read.
    ///
    /// # Complexity
    /// Linear in the rows: about 0.6 s for a million. Others can read and write meanwhile.
    pub fn audit(&mut self) -> Result<Vec<(Section, String)>, Fault> {
        self.in_transaction(TransactionBehavior::Deferred, |registry| {
            Ok(owned(registry.digests.changed_hosts(&registry.digest_rows()?)))
        })
    }

    /// Reads everything for the first time.
    pub(super) fn load(&mut self, on_altered: OnAltered) -> Result<Tables, OpenError> {
        let (known, found, loaded) =
            self.in_transaction(TransactionBehavior::Deferred, |registry| {
                let mut scratch = FromScratch::new(&registry.digests);
                let seen =
                    &mut |section, host: &str, row: &Encoder| scratch.add(section, host, row);
                let loaded = tables::load(&registry.path, &registry.connection, seen)?;
                Ok((registry.has_digest_version()?, scratch.done(), loaded))
            })?;
        let altered = owned(self.digests.changed_hosts(&found));
        match altered.first() {
            None if known => {}
            Some((section, host)) if known && on_altered == OnAltered::Refuse => {
                return Err(OpenError::Altered {
                    path: self.path.clone(),
                    section: section.name(),
                    host: host.clone(),
                    hosts: altered.len(),
                });
            }
            // Digests of another version of the encoding say nothing.
            _ => self.replace_digests()?,
        }
        Ok(loaded)
    }

    /// Reads the digests that were kept.
    pub(super) fn kept_digests(&self) -> Result<Digests, Fault> {
        let fault = |error| self.fault(&error);
        let read = "SELECT section, host, rows, sum FROM digests";
        let mut statement = self.connection.prepare(read).map_err(fault)?;
        let mut found = statement.query([]).map_err(fault)?;
        let mut digests = Digests::new(self.digests.key().clone());
        while let Some(row) = found.next().map_err(fault)? {
            let section: String = row.get(0).map_err(fault)?;
            let host: String = row.get(1).map_err(fault)?;
            let (rows, sum): (i64, _) =
                row.get(2).and_then(|rows| Ok((rows, row.get(3)?))).map_err(fault)?;
            let section = Section::from_name(&section).ok_or_else(|| {
                Fault::corrupt(&self.path, format!("table digests has no section {section:?}"))
            })?;
            let digest = SectionHostDigest::from_parts(rows.cast_unsigned(), sum);
            digests.merge(section, &host, digest);
        }
        Ok(digests)
    }

    /// Makes the digests those of the rows.
    fn replace_digests(&mut self) -> Result<(), Fault> {
        self.digests = self.in_transaction(TransactionBehavior::Immediate, |registry| {
            let fault = |error| registry.fault(&error);
            let found = registry.digest_rows()?;
            registry.connection.execute_batch("DELETE FROM digests").map_err(fault)?;
            for (section, host, digest) in found.iter() {
                registry.keep_digest(section, host, digest)?;
            }
            let set = "INSERT INTO meta (name, value) VALUES ('digests', ?) \
                ON CONFLICT (name) DO UPDATE SET value = excluded.value";
            registry.connection.execute(set, [VERSION]).map_err(fault)?;
            Ok(found)
        })?;
        Ok(())
    }

    fn digest_rows(&self) -> Result<Digests, Fault> {
        let mut scratch = FromScratch::new(&self.digests);
        let seen = &mut |section, host: &str, row: &Encoder| scratch.add(section, host, row);
        tables::scan(&self.path, &self.connection, seen)?;
        Ok(scratch.done())
    }

    /// Stores the digest of a host, or removes that of a host without rows.
    pub(super) fn keep_digest(
        &self,
        section: Section,
        host: &str,
        digest: SectionHostDigest,
    ) -> Result<(), Fault> {
        let done = if digest.is_empty() {
            let remove = "DELETE FROM digests WHERE section = ? AND host = ?";
            self.connection.execute(remove, params![section.name(), host])
        } else {
            let (rows, sum) = (digest.count().cast_signed(), digest.sum());
            let set = "INSERT INTO digests (section, host, rows, sum) VALUES (?, ?, ?, ?) \
                ON CONFLICT (section, host) DO UPDATE SET rows = excluded.rows, sum = excluded.sum";
            self.connection.execute(set, params![section.name(), host, rows, sum])
        };
        done.map(|_| ()).map_err(|error| self.fault(&error))
    }

    fn has_digest_version(&self) -> Result<bool, Fault> {
        let read = "SELECT value FROM meta WHERE name = 'digests'";
        let version = self.connection.query_row(read, [], |row| row.get::<_, String>(0)).optional();
        let version = version.map_err(|error| self.fault(&error))?;
        Ok(version.as_deref() == Some(VERSION))
    }
}

/// Sums rows that come grouped by host.
struct FromScratch {
    digests: Digests,
    group: Option<(Section, String)>,
    sum: SectionHostDigest,
}

impl FromScratch {
    fn new(like: &Digests) -> Self {
        let digests = Digests::new(like.key().clone());
        Self { digests, group: None, sum: SectionHostDigest::EMPTY }
    }

    fn add(&mut self, section: Section, host: &str, row: &Encoder) {
        let row = RowDigest::of(self.digests.key(), row);
        if self.group.as_ref().is_none_or(|group| (group.0, group.1.as_str()) != (section, host)) {
            self.flush();
            self.group = Some((section, host.to_owned()));
        }
        self.sum.add(row);
    }

    fn flush(&mut self) {
        if let Some((section, host)) = self.group.take() {
            self.digests.merge(section, &host, std::mem::take(&mut self.sum));
        }
    }

    fn done(mut self) -> Digests {
        self.flush();
        self.digests
    }
}

fn owned(hosts: Vec<(Section, &str)>) -> Vec<(Section, String)> {
    hosts.into_iter().map(|(section, host)| (section, host.to_owned())).collect()
}
