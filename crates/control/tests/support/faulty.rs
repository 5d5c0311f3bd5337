//! A store that fails when it is told to.

#![allow(dead_code, reason = "each file of tests uses its part")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use fingerpost_claims::{
    BoxFuture, Changes, ClaimStore, Collection, Commit, Committed, Journal, MemoryStore, Page,
    PageQuery, Record, Row, StoreError, TailQuery, Watch,
};

/// How one commit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It says that another was faster.
    Conflict,
    /// It is not stored, and says so.
    Unavailable,
    /// It is not stored, and does not say so.
    Lost,
    /// It is stored, and does not say so.
    Unsaid,
    /// It is stored later, after the next read; it does not say so.
    Late,
    /// It is stored, does not say so, and another replaces it before anybody looks.
    Overwritten,
}

#[derive(Debug, Default)]
pub(crate) struct Faulty {
    pub(crate) inner: MemoryStore,
    pub(crate) faults: Mutex<VecDeque<Fault>>,
    late: Mutex<Option<Commit>>,
    pub(crate) down: Mutex<bool>,
    pub(crate) commits: Mutex<usize>,
}

impl Faulty {
    pub(crate) fn new(faults: &[Fault]) -> Arc<Self> {
        let faults = Mutex::new(faults.iter().copied().collect());
        Arc::new(Self { faults, ..Self::default() })
    }

    fn up(&self) -> Result<(), StoreError> {
        if *self.down.lock().unwrap() {
            return Err(StoreError::Unavailable { reason: "/secret/path is gone".to_owned() });
        }
        Ok(())
    }
}

fn unknown() -> StoreError {
    StoreError::Unknown { reason: "no answer".to_owned() }
}

impl ClaimStore for Faulty {
    fn get<'a>(
        &'a self,
        collection: Collection,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<Record>, StoreError>> {
        Box::pin(async move {
            self.up()?;
            let read = self.inner.get(collection, key).await;
            let late = self.late.lock().unwrap().take();
            if let Some(late) = late {
                self.inner.commit(late).await?;
            }
            read
        })
    }

    fn list<'a>(
        &'a self,
        collection: Collection,
        query: PageQuery<'a>,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        Box::pin(async move {
            self.up()?;
            self.inner.list(collection, query).await
        })
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Committed, StoreError>> {
        Box::pin(async move {
            self.up()?;
            *self.commits.lock().unwrap() += 1;
            let fault = self.faults.lock().unwrap().pop_front();
            match fault {
                None => self.inner.commit(commit).await,
                Some(Fault::Conflict) => {
                    Ok(Committed::Conflict { current: vec![None; commit.changes.len()] })
                }
                Some(Fault::Unavailable) => {
                    Err(StoreError::Unavailable { reason: "/secret/path is full".to_owned() })
                }
                Some(Fault::Lost) => Err(unknown()),
                Some(Fault::Unsaid) => {
                    self.inner.commit(commit).await?;
                    Err(unknown())
                }
                Some(Fault::Late) => {
                    *self.late.lock().unwrap() = Some(commit);
                    Err(unknown())
                }
                Some(Fault::Overwritten) => {
                    let change = commit.changes[0].clone();
                    let stored = self.inner.commit(commit).await?;
                    let Committed::Stored { versions, .. } = stored else { panic!("{stored:?}") };
                    let body = String::from_utf8(change.body.unwrap()).unwrap();
                    let at = body.find("\"write_id\":\"").unwrap() + 12;
                    let other = format!("{}other{}", &body[..at], &body[at..]).into_bytes();
                    let version = versions[0].clone().unwrap();
                    let change = fingerpost_claims::Change::replace(
                        change.collection,
                        &change.key,
                        version,
                        other,
                    );
                    self.inner.commit(Commit::of(change).with_bump()).await?;
                    Err(unknown())
                }
            }
        })
    }

    fn serial(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move {
            self.up()?;
            self.inner.serial().await
        })
    }

    fn changed_since(&self, serial: u64) -> BoxFuture<'_, Result<Changes, StoreError>> {
        Box::pin(async move {
            self.up()?;
            self.inner.changed_since(serial).await
        })
    }

    fn tail<'a>(
        &'a self,
        journal: Journal,
        query: TailQuery<'a>,
    ) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        Box::pin(async move {
            self.up()?;
            self.inner.tail(journal, query).await
        })
    }

    fn watch(&self) -> Box<dyn Watch> {
        self.inner.watch()
    }
}
