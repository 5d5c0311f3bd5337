//! Does an engine keep the promise that everything else rests on?

use std::future::poll_fn;
use std::task::Poll;

use super::{
    BoxFuture, Change, ClaimStore, Collection, Commit, Committed, Expect, StoreError, Version,
};

/// Why a store is not to be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelfCheckError {
    /// A record was created where there was one.
    #[error("a second creation of one record was stored: the store ignores conditions")]
    CreatedTwice,
    /// Of creations at once, more or less than one was stored.
    #[error("of {racers} creations of one record at once {winners} were stored")]
    Race {
        /// How many there were.
        racers: usize,
        /// How many were answered as stored.
        winners: usize,
    },
    /// A change with the right version was refused.
    #[error("a change that expected the current version was refused")]
    FreshRefused,
    /// A change with an outdated version was stored.
    #[error("a change that expected an outdated version was stored: updates would be lost")]
    StaleStored,
    /// A change that expected a version was stored where there was no record.
    #[error("a change that expected a version was stored where there was no record")]
    MissingStored,
    /// What was just written was not read back.
    #[error("a record that was just written was not read back")]
    NotReadBack,
    /// Two bodies had one version.
    #[error("two bodies of one record had the same version")]
    VersionReused,
    /// The store failed meanwhile.
    #[error("the store failed during its check")]
    Store(#[from] StoreError),
}

/// Checks that a store compares and swaps: run when it is opened.
///
/// It creates a record twice, changes it with a fresh, a stale and a missing version, and races 32
/// creations. `ids` gives a new random text each time; the records are in [`Collection::Probes`] and are
/// removed in the end.
///
/// # Errors
/// [`SelfCheckError`] names what the store did; such a store loses updates and must not be used.
pub async fn self_check(
    store: &dyn ClaimStore,
    ids: &mut (dyn FnMut() -> String + Send),
) -> Result<(), SelfCheckError> {
    let key = ids();
    let Some(first) = create(store, &key, ids()).await? else {
        return Err(SelfCheckError::FreshRefused);
    };
    if create(store, &key, ids()).await?.is_some() {
        return Err(SelfCheckError::CreatedTwice);
    }
    let body = ids();
    let Some(second) = replace(store, &key, first.clone(), body.clone()).await? else {
        return Err(SelfCheckError::FreshRefused);
    };
    if first == second {
        return Err(SelfCheckError::VersionReused);
    }
    let read = store.get(Collection::Probes, &key).await?;
    if read.is_none_or(|read| *read.body != *body.as_bytes() || read.version != second) {
        return Err(SelfCheckError::NotReadBack);
    }
    if replace(store, &key, first, ids()).await?.is_some() {
        return Err(SelfCheckError::StaleStored);
    }
    let missing = ids();
    if replace(store, &missing, second.clone(), ids()).await?.is_some() {
        return Err(SelfCheckError::MissingStored);
    }
    remove(store, &key, second).await?;
    race(store, ids).await
}

const RACERS: usize = 32;

async fn race(
    store: &dyn ClaimStore,
    ids: &mut (dyn FnMut() -> String + Send),
) -> Result<(), SelfCheckError> {
    let key = ids();
    let bodies: Vec<_> = std::iter::repeat_with(ids).take(RACERS).collect();
    let racers = bodies.into_iter().map(|body| {
        let key = &key;
        let racer: BoxFuture<'_, _> = Box::pin(async move { create(store, key, body).await });
        racer
    });
    let mut won = Vec::new();
    for outcome in all(racers.collect()).await {
        won.extend(outcome?);
    }
    let winners = won.len();
    let Some(version) = won.pop().filter(|_| winners == 1) else {
        return Err(SelfCheckError::Race { racers: RACERS, winners });
    };
    remove(store, &key, version).await
}

async fn create(
    store: &dyn ClaimStore,
    key: &str,
    body: String,
) -> Result<Option<Version>, StoreError> {
    commit(store, Change::create(Collection::Probes, key, body.into_bytes())).await
}

async fn replace(
    store: &dyn ClaimStore,
    key: &str,
    version: Version,
    body: String,
) -> Result<Option<Version>, StoreError> {
    commit(store, Change::replace(Collection::Probes, key, version, body.into_bytes())).await
}

async fn remove(store: &dyn ClaimStore, key: &str, version: Version) -> Result<(), SelfCheckError> {
    let expect = Expect::Version(version);
    let change = Change { collection: Collection::Probes, key: key.to_owned(), expect, body: None };
    match store.commit(Commit::of(change)).await? {
        Committed::Stored { .. } => Ok(()),
        Committed::Conflict { .. } => Err(SelfCheckError::FreshRefused),
    }
}

/// The version of what was stored; `None` is a conflict.
async fn commit(store: &dyn ClaimStore, change: Change) -> Result<Option<Version>, StoreError> {
    match store.commit(Commit::of(change)).await? {
        Committed::Stored { versions, .. } => Ok(versions.into_iter().next().flatten()),
        Committed::Conflict { .. } => Ok(None),
    }
}

/// Polls futures together until each has its answer.
async fn all<T>(futures: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut slots: Vec<_> = futures.into_iter().map(|future| (Some(future), None)).collect();
    poll_fn(|context| {
        let mut pending = false;
        for (running, answer) in &mut slots {
            let Some(future) = running else { continue };
            match future.as_mut().poll(context) {
                Poll::Ready(value) => {
                    *answer = Some(value);
                    *running = None;
                }
                Poll::Pending => pending = true,
            }
        }
        if pending { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    slots.into_iter().filter_map(|(_, answer)| answer).collect()
}
