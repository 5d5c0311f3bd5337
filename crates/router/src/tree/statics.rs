//! The literal children of one node.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// Literal segments to nodes: a list while there are few, a hash table from then on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statics {
    children: Vec<(Box<[u8]>, u32)>,
    index: Option<HashTable<u32>>,
}

/// Up to this many children a list of lengths and bytes is faster than hashing.
const LIST: usize = 6;

impl Statics {
    pub(crate) fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    pub(crate) fn find(&self, segment: &[u8]) -> Option<u32> {
        match &self.index {
            None => self
                .children
                .iter()
                .find(|(key, _)| key.first() == segment.first() && **key == *segment)
                .map(|&(_, node)| node),
            Some(index) => {
                let at = index.find(hash(segment), |&at| self.key(at) == segment)?;
                self.children.get(usize::try_from(*at).ok()?).map(|&(_, node)| node)
            }
        }
    }

    /// Adds a child that is not there yet.
    pub(crate) fn insert(&mut self, segment: &[u8], node: u32) {
        self.children.push((segment.into(), node));
        if self.children.len() > LIST {
            let mut index = self.index.take().unwrap_or_default();
            let first = index.len();
            for at in first..self.children.len() {
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                index.insert_unique(hash(self.key(at)), at, |&at| hash(self.key(at)));
            }
            self.index = Some(index);
        }
    }

    fn key(&self, at: u32) -> &[u8] {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        self.children.get(at).map_or(&[], |(key, _)| key)
    }
}

/// Literals are the operator's own, so their hash needs no secret.
fn hash(segment: &[u8]) -> u64 {
    let mut state = FixedState::with_seed(0).build_hasher();
    state.write(segment);
    state.finish()
}
