//! Reading what has changed in the claim store.

use std::collections::BTreeMap;
use std::sync::Arc;

use fingerpost_claims::{ClaimStore, Collection, PageQuery, StoreError, Version};

/// Which bodies of claims this box has taken over.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The serial that they are of; `None` before the first list.
    pub(super) serial: Option<u64>,
    versions: BTreeMap<String, Version>,
}

/// What has changed, to be taken over whole.
#[derive(Debug)]
pub(super) struct Fresh {
    pub(super) serial: u64,
    /// Bodies by key; `None` is nothing (any more).
    pub(super) bodies: Vec<(String, Option<Arc<[u8]>>)>,
    versions: Vec<(String, Option<Version>)>,
}

impl Known {
    /// Reads what has changed since the last time, by the store's own list of changes where it has one.
    pub(super) async fn changes(
        &self,
        store: &dyn ClaimStore,
    ) -> Result<Option<Fresh>, StoreError> {
        let Some(known) = self.serial else { return self.list(store).await.map(Some) };
        let serial = store.serial().await?;
        if serial == known {
            return Ok(None);
        }
        if serial == 0 {
            let reason = format!("it is new, and serial {known} was served of the one before");
            return Err(StoreError::Unavailable { reason });
        }
        let changes = store.changed_since(known).await?;
        let Some(keys) = changes.keys else { return self.list(store).await.map(Some) };
        let mut fresh = Fresh::of(changes.serial);
        for (collection, key) in keys {
            if collection == Collection::Claims {
                let record = store.get(collection, &key).await?;
                fresh.add(key, record.map(|record| (record.body, record.version)));
            }
        }
        Ok(Some(fresh))
    }

    /// Reads every claim, and keeps of them what this box does not have.
    pub(super) async fn list(&self, store: &dyn ClaimStore) -> Result<Fresh, StoreError> {
        // Before the first page: what is written meanwhile is read twice, and never missed.
        let mut fresh = Fresh::of(store.serial().await?);
        let mut gone = self.versions.clone();
        let mut after = None::<String>;
        loop {
            let query = PageQuery { after: after.as_deref(), ..PageQuery::default() };
            let page = store.list(Collection::Claims, query).await?;
            for (key, record) in page.records {
                let known = gone.remove(&key);
                if known.as_ref() != Some(&record.version) {
                    fresh.add(key, Some((record.body, record.version)));
                }
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        gone.into_keys().for_each(|key| fresh.add(key, None));
        Ok(fresh)
    }

    /// Remembers what was taken over.
    pub(super) fn took(&mut self, fresh: Fresh) {
        self.serial = Some(fresh.serial);
        for (key, version) in fresh.versions {
            match version {
                Some(version) => _ = self.versions.insert(key, version),
                None => _ = self.versions.remove(&key),
            }
        }
    }
}

impl Fresh {
    const fn of(serial: u64) -> Self {
        Self { serial, bodies: Vec::new(), versions: Vec::new() }
    }

    fn add(&mut self, key: String, read: Option<(Arc<[u8]>, Version)>) {
        let (body, version) = read.unzip();
        self.versions.push((key.clone(), version));
        self.bodies.push((key, body));
    }

    /// The changes, as a pass takes them.
    pub(super) fn changes(&self) -> impl Iterator<Item = (&str, Option<&[u8]>)> {
        self.bodies.iter().map(|(key, body)| (key.as_str(), body.as_deref()))
    }
}
