//! The list of sites, shared between versions in chunks.

use std::sync::Arc;

use crate::site::{Site, SiteId};

/// Sites by number. A change copies one chunk and the list of chunks.
#[derive(Debug)]
pub(crate) struct Sites<T> {
    chunks: Vec<Arc<[Site<T>]>>,
    len: usize,
}

/// Sites in a chunk.
const CHUNK: usize = 256;

impl<T> Sites<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, SiteId(id): SiteId) -> Option<&Site<T>> {
        let id = usize::try_from(id).ok()?;
        self.chunks.get(id / CHUNK)?.get(id % CHUNK)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Site<T>> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// Replaces one site, or adds one at the end.
    pub(crate) fn set(&mut self, SiteId(id): SiteId, site: Site<T>)
    where
        T: Clone,
    {
        let Ok(id) = usize::try_from(id) else { return };
        if id == self.len {
            let grown = match self.chunks.pop_if(|chunk| chunk.len() < CHUNK) {
                Some(chunk) => chunk.iter().cloned().chain([site]).collect(),
                None => Arc::from([site]),
            };
            self.chunks.push(grown);
            self.len += 1;
            return;
        }
        let chunk = self.chunks.get_mut(id / CHUNK).map(Arc::make_mut);
        if let Some(slot) = chunk.and_then(|chunk| chunk.get_mut(id % CHUNK)) {
            *slot = site;
        }
    }
}

impl<T> Clone for Sites<T> {
    fn clone(&self) -> Self {
        Self { chunks: self.chunks.clone(), len: self.len }
    }
}

impl<T> FromIterator<Site<T>> for Sites<T> {
    fn from_iter<I: IntoIterator<Item = Site<T>>>(sites: I) -> Self {
        let mut sites = sites.into_iter();
        let (mut chunks, mut len) = (Vec::new(), 0);
        loop {
            let chunk: Arc<[_]> = sites.by_ref().take(CHUNK).collect();
            if chunk.is_empty() {
                return Self { chunks, len };
            }
            len += chunk.len();
            chunks.push(chunk);
        }
    }
}
