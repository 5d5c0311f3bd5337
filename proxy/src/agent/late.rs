//! A claim store that is opened when it can be.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fingerpost_claims::{
    BoxFuture, Changes, ClaimStore, Collection, Commit, Committed, Journal, Page, PageQuery,
    Record, Row, SelfCheckError, StoreError, TailQuery, Watch, self_check,
};
use fingerpost_registry::{SqliteStore, StoreOptions};

use crate::random;

/// A claim store that is opened when it can be; until then it answers that it is unavailable.
pub(super) struct LateStore {
    path: PathBuf,
    opened: Mutex<State>,
}

enum State {
    Open(Arc<SqliteStore>),
    Closed(String),
}

/// Why the store is not open.
#[derive(Debug, thiserror::Error)]
pub(super) enum LateError {
    /// It never will be: its engine does not keep the promises.
    #[error("the store must not be used")]
    Broken(#[source] SelfCheckError),
    /// It may be later.
    #[error("{0}")]
    NotNow(String),
}

impl LateStore {
    pub(super) fn new(path: &Path) -> Self {
        let state = State::Closed("it was not opened yet".to_owned());
        Self { path: path.to_owned(), opened: Mutex::new(state) }
    }

    /// Opens the store unless it is open. `known` is the serial that this box has applied before: a file that is
    /// not there, or new, is not that store.
    pub(super) async fn open(&self, known: Option<u64>) -> Result<(), LateError> {
        if self.current().is_ok() {
            return Ok(());
        }
        let opened = self.try_open(known).await;
        let mut state = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        match opened {
            Ok(store) => {
                *state = State::Open(Arc::new(store));
                Ok(())
            }
            Err(error) => {
                *state = State::Closed(error.to_string());
                Err(error)
            }
        }
    }

    /// As [`open`](Self::open), but never creates the file.
    pub(super) async fn open_existing(&self) -> Result<(), LateError> {
        if let Err(error) = std::fs::metadata(&self.path) {
            return Err(LateError::NotNow(format!("{}: {error}", self.path.display())));
        }
        self.open(None).await
    }

    async fn try_open(&self, known: Option<u64>) -> Result<SqliteStore, LateError> {
        let not_now = |error: &dyn fmt::Display| LateError::NotNow(error.to_string());
        let known = known.filter(|serial| *serial > 0);
        if let Some(serial) = known
            && let Err(error) = std::fs::metadata(&self.path)
        {
            let path = self.path.display();
            return Err(LateError::NotNow(match error.kind() {
                ErrorKind::NotFound => format!(
                    "{path} is gone, and this box has served serial {serial} of it: put it back, or \
                     remove the registry beside it to begin anew"
                ),
                _ => format!("{path}: {error}"),
            }));
        }
        let store = SqliteStore::open(&self.path, &StoreOptions::default());
        let store = store.map_err(|error| not_now(&error))?;
        if let Some(known) = known {
            is_known(&store, known).await.map_err(|error| not_now(&error))?;
        }
        match self_check(&store, &mut random::id).await {
            Ok(()) => Ok(store),
            Err(SelfCheckError::Store(error)) => Err(not_now(&error)),
            Err(error) => Err(LateError::Broken(error)),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.current().is_ok()
    }

    fn current(&self) -> Result<Arc<SqliteStore>, StoreError> {
        match &*self.opened.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Open(store) => Ok(Arc::clone(store)),
            State::Closed(reason) => Err(StoreError::Unavailable { reason: reason.clone() }),
        }
    }
}

/// A store that has never stored anything is not the one that rows came from.
async fn is_known(store: &SqliteStore, known: u64) -> Result<(), StoreError> {
    if store.serial().await? > 0 {
        return Ok(());
    }
    let path = store.path().display();
    let reason = format!(
        "{path} is new, and this box has served serial {known} of the one before: put that back, or \
         remove the registry beside it to begin anew"
    );
    Err(StoreError::Unavailable { reason })
}

impl ClaimStore for LateStore {
    fn get<'a>(
        &'a self,
        collection: Collection,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<Record>, StoreError>> {
        let store = self.current();
        Box::pin(async move { store?.get(collection, key).await })
    }

    fn list<'a>(
        &'a self,
        collection: Collection,
        query: PageQuery<'a>,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        let store = self.current();
        Box::pin(async move { store?.list(collection, query).await })
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Committed, StoreError>> {
        let store = self.current();
        Box::pin(async move { store?.commit(commit).await })
    }

    fn serial(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        let store = self.current();
        Box::pin(async move { store?.serial().await })
    }

    fn changed_since(&self, serial: u64) -> BoxFuture<'_, Result<Changes, StoreError>> {
        let store = self.current();
        Box::pin(async move { store?.changed_since(serial).await })
    }

    fn tail<'a>(
        &'a self,
        journal: Journal,
        query: TailQuery<'a>,
    ) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        let store = self.current();
        Box::pin(async move { store?.tail(journal, query).await })
    }

    fn watch(&self) -> Box<dyn Watch> {
        match self.current() {
            Ok(store) => store.watch(),
            Err(_) => Box::new(Never),
        }
    }
}

impl fmt::Debug for LateStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LateStore").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The watch of a store that is not open.
#[derive(Debug)]
struct Never;

impl Watch for Never {
    fn changed(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(std::future::pending())
    }
}
