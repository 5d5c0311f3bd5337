//! The store that the others are measured by.

use std::collections::BTreeMap;
use std::future::{poll_fn, ready};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::{
    Append, BoxFuture, Change, Changes, ClaimStore, Collection, Commit, Committed, Expect, Journal,
    Page, PageQuery, Record, Row, StoreError, TailQuery, Version, Watch,
};

/// A [`ClaimStore`] in memory: the executable specification that every other store is tested against.
///
/// Cloning gives another handle on the same records.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<Records>>);

#[derive(Debug, Default)]
struct Records {
    records: BTreeMap<(Collection, String), Record>,
    journals: BTreeMap<Journal, Vec<Row>>,
    /// The serial at which each record was last changed by a commit that bumped.
    changed: BTreeMap<(Collection, String), u64>,
    serial: u64,
    /// Counts stored bodies: a version, and a row's number, is never given twice.
    counter: u64,
    watchers: Vec<Waker>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Records> {
        // A panic elsewhere leaves whole records behind: each is stored by one insertion.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClaimStore for MemoryStore {
    fn get<'a>(
        &'a self,
        collection: Collection,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<Record>, StoreError>> {
        let found = self.lock().records.get(&(collection, key.to_owned())).cloned();
        Box::pin(ready(Ok(found)))
    }

    fn list<'a>(
        &'a self,
        collection: Collection,
        query: PageQuery<'a>,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        let page = self.lock().page(collection, query);
        Box::pin(ready(Ok(page)))
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Committed, StoreError>> {
        let outcome = match commit.check() {
            Ok(()) => Ok(self.lock().commit(commit)),
            Err(invalid) => Err(StoreError::Invalid(invalid)),
        };
        Box::pin(ready(outcome))
    }

    fn serial(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(ready(Ok(self.lock().serial)))
    }

    fn changed_since(&self, serial: u64) -> BoxFuture<'_, Result<Changes, StoreError>> {
        let records = self.lock();
        let changed = records.changed.iter().filter(|(_, at)| **at > serial);
        // A serial that was never given out is of another store: then nothing is known.
        let keys =
            (serial <= records.serial).then(|| changed.map(|(key, _)| key.clone()).collect());
        let changes = Changes { serial: records.serial, keys };
        drop(records);
        Box::pin(ready(Ok(changes)))
    }

    fn tail<'a>(
        &'a self,
        journal: Journal,
        query: TailQuery<'a>,
    ) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        let records = self.lock();
        let rows = records.journals.get(&journal).into_iter().flatten().rev();
        let wanted = rows.filter(|row| {
            query.topic.is_none_or(|topic| row.topic == topic)
                && query.before.is_none_or(|before| row.number < before)
        });
        let rows = wanted.take(query.limit).cloned().collect();
        drop(records);
        Box::pin(ready(Ok(rows)))
    }

    fn watch(&self) -> Box<dyn Watch> {
        let seen = self.lock().serial;
        Box::new(MemoryWatch { store: self.clone(), seen })
    }
}

impl Records {
    fn page(&self, collection: Collection, query: PageQuery<'_>) -> Page {
        let from = match query.after {
            Some(after) if after >= query.prefix => Bound::Excluded((collection, after.to_owned())),
            _ => Bound::Included((collection, query.prefix.to_owned())),
        };
        let inside = |((of, key), _): &(&(Collection, String), &Record)| {
            *of == collection && key.starts_with(query.prefix)
        };
        let mut rest = self.records.range((from, Bound::Unbounded)).take_while(inside);
        let limit = if query.limit == 0 { usize::MAX } else { query.limit };
        let records: Vec<_> = rest
            .by_ref()
            .take(limit)
            .map(|((_, key), record)| (key.clone(), record.clone()))
            .collect();
        let next = rest.next().and_then(|_| records.last().map(|(key, _)| key.clone()));
        Page { records, next }
    }

    fn commit(&mut self, commit: Commit) -> Committed {
        let key = |change: &Change| (change.collection, change.key.clone());
        let current: Vec<_> = commit
            .changes
            .iter()
            .map(|change| self.records.get(&key(change)).map(|record| record.version.clone()))
            .collect();
        let holds = commit.changes.iter().zip(&current).all(|(change, current)| {
            match (&change.expect, current) {
                (Expect::Any, _) | (Expect::Absent, None) => true,
                (Expect::Version(expected), Some(current)) => expected == current,
                _ => false,
            }
        });
        if !holds {
            return Committed::Conflict { current };
        }
        if commit.bump {
            self.serial += 1;
        }
        let mut versions = Vec::with_capacity(commit.changes.len());
        for change in commit.changes {
            versions.push(self.store(change, commit.bump));
        }
        for row in commit.append {
            self.append(row);
        }
        if commit.bump {
            for waker in self.watchers.drain(..) {
                waker.wake();
            }
        }
        Committed::Stored { serial: self.serial, versions }
    }

    fn store(&mut self, change: Change, bump: bool) -> Option<Version> {
        let key = (change.collection, change.key);
        if bump {
            self.changed.insert(key.clone(), self.serial);
        }
        let Some(body) = change.body else {
            self.records.remove(&key);
            return None;
        };
        self.counter += 1;
        let version = Version::new(self.counter.to_string());
        self.records.insert(key, Record { body: body.into(), version: version.clone() });
        Some(version)
    }

    fn append(&mut self, append: Append) {
        self.counter += 1;
        let Append { journal, topic, body } = append;
        let rows = self.journals.entry(journal).or_default();
        rows.push(Row { number: self.counter, topic, body: body.into() });
        let Some(kept) = journal.kept() else { return };
        let Some(topic) = rows.last().map(|row| row.topic.clone()) else { return };
        let of_topic = rows.iter().filter(|row| row.topic == topic).count();
        let mut surplus = of_topic.saturating_sub(kept);
        rows.retain(|row| {
            let dropped = surplus > 0 && row.topic == topic;
            surplus -= usize::from(dropped);
            !dropped
        });
    }
}

#[derive(Debug)]
struct MemoryWatch {
    store: MemoryStore,
    seen: u64,
}

impl Watch for MemoryWatch {
    fn changed(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(poll_fn(|context| {
            let mut records = self.store.lock();
            if records.serial == self.seen {
                let known = records.watchers.iter().any(|waker| waker.will_wake(context.waker()));
                if !known {
                    records.watchers.push(context.waker().clone());
                }
                return Poll::Pending;
            }
            self.seen = records.serial;
            Poll::Ready(Ok(()))
        }))
    }
}
