//! The embedded claim store.

mod answer;
mod database;
mod records;
mod schema;
mod watch;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use fingerpost_claims::{
    BoxFuture, Changes, ClaimStore, Collection, Commit, Committed, Journal, Page, PageQuery,
    Record, Row, StoreError, TailQuery, Watch,
};

use self::answer::answer;
use self::database::Database;
use self::watch::Serial;
use crate::fault::{Fault, FaultKind};
use crate::file::OpenError;

/// A [`ClaimStore`] in one SQLite file, which several processes may share.
///
/// A thread of its own does the work, in the order in which it was asked; the futures belong to no
/// particular runtime. Each commit is one transaction, and is on disk before it is answered. The watch tells
/// of commits of this process at once, and of those of others when something is read.
///
/// Versions are never given twice, not even after an older copy of the file was put back: each holds a hash
/// of the body.
pub struct SqliteStore {
    path: PathBuf,
    jobs: Sender<Job>,
    serial: Arc<Serial>,
}

/// How a store is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "written out by callers")]
pub struct StoreOptions {
    /// How long a commit waits for that of another process (10 s).
    pub busy_timeout: Duration,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(10) }
    }
}

type Job = Box<dyn FnOnce(&mut Database) + Send>;

impl SqliteStore {
    /// Opens the file, or creates it, and starts the thread.
    ///
    /// # Errors
    /// [`OpenError`] when the file can't be used; it was not changed then. A file that fails is never taken for an empty
    /// one.
    pub fn open(path: &Path, options: &StoreOptions) -> Result<Self, OpenError> {
        let mut database = Database::open(path, options.busy_timeout)?;
        let serial = Arc::new(Serial::new(database.serial()?));
        database.tell(Arc::clone(&serial));
        let (jobs, queue) = channel::<Job>();
        let name = "claim-store".to_owned();
        let started = thread::Builder::new().name(name).spawn(move || {
            while let Ok(job) = queue.recv() {
                job(&mut database);
            }
        });
        started.map_err(|error| Fault::new(FaultKind::Internal, path, error))?;
        Ok(Self { path: path.to_owned(), jobs, serial })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs SQLite's check of the whole file. Slow, and nothing else is answered meanwhile.
    pub fn check_file(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.ask(|database| database.check_file())
    }

    /// Has the thread do something.
    fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Database) -> Result<T, Fault> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let (promise, answer) = answer();
        // Without a thread the promise is dropped with the job, and the answer says so.
        let _ = self.jobs.send(Box::new(move |database| promise.keep(work(database))));
        Box::pin(async move {
            match answer.await {
                Some(done) => done.map_err(|fault| to_store_error(&fault)),
                None => Err(StoreError::Unavailable { reason: GONE.to_owned() }),
            }
        })
    }
}

impl ClaimStore for SqliteStore {
    fn get<'a>(
        &'a self,
        collection: Collection,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<Record>, StoreError>> {
        let key = key.to_owned();
        self.ask(move |database| database.get(collection, &key))
    }

    fn list<'a>(
        &'a self,
        collection: Collection,
        query: PageQuery<'a>,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        let PageQuery { prefix, after, limit } = query;
        let (prefix, after) = (prefix.to_owned(), after.map(str::to_owned));
        self.ask(move |database| {
            database.list(collection, PageQuery { prefix: &prefix, after: after.as_deref(), limit })
        })
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Committed, StoreError>> {
        if let Err(invalid) = commit.check() {
            return Box::pin(std::future::ready(Err(StoreError::Invalid(invalid))));
        }
        let done = self.ask(move |database| database.commit(&commit));
        Box::pin(async move {
            match done.await {
                // It was sent, and the thread ended: with it done or without.
                Err(StoreError::Unavailable { reason }) if reason == GONE => {
                    Err(StoreError::Unknown { reason })
                }
                done => done,
            }
        })
    }

    fn serial(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.ask(|database| database.serial())
    }

    fn changed_since(&self, serial: u64) -> BoxFuture<'_, Result<Changes, StoreError>> {
        self.ask(move |database| database.changed_since(serial))
    }

    fn tail<'a>(
        &'a self,
        journal: Journal,
        query: TailQuery<'a>,
    ) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        let TailQuery { topic, before, limit } = query;
        let topic = topic.map(str::to_owned);
        self.ask(move |database| {
            database.tail(journal, TailQuery { topic: topic.as_deref(), before, limit })
        })
    }

    fn watch(&self) -> Box<dyn Watch> {
        Serial::watch(&self.serial)
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).finish_non_exhaustive()
    }
}

fn to_store_error(fault: &Fault) -> StoreError {
    let reason = fault.to_string();
    match fault.kind() {
        FaultKind::Corrupt => StoreError::Corrupt { reason },
        FaultKind::Unsettled => StoreError::Unknown { reason },
        _ => StoreError::Unavailable { reason },
    }
}

const GONE: &str = "the store's thread has ended";
