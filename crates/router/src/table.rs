//! A map of byte strings that a change copies one shard of.

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// Byte strings to `u32`, split into shards that are shared between versions.
///
/// Keys are chosen by tenants, so the hash is seeded. Each key is stored with the text that it stands
/// for: itself, or a text whose ASCII-folded form it is. A key can therefore have several entries, one
/// for each text.
///
/// Measured: about 32 bytes an entry, text included; a change costs one copy of its shard, which
/// holds about [`PER_SHARD`] entries.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    hasher: FixedState,
    shards: Box<[Arc<Shard>]>,
    len: usize,
}

#[derive(Clone, Debug, Default)]
struct Shard {
    text: Vec<u8>,
    slots: HashTable<Slot>,
    /// Bytes of `text` that no slot uses any more.
    dead: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    start: u32,
    value: u32,
    len: u16,
    key: Key,
}

/// What a key is to the text of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// The text itself.
    Exact,
    /// The text in ASCII lower case.
    Folded,
}

/// One entry that a look-up found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) value: u32,
    pub(crate) key: Key,
}

const PER_SHARD: usize = 1_000;
const MAX_SHARDS: usize = 1_024;

impl Table {
    /// An empty table with room for `expected` entries.
    pub(crate) fn new(seed: u64, expected: usize) -> Self {
        let count = (expected / PER_SHARD).next_power_of_two().clamp(1, MAX_SHARDS);
        let shard = Arc::new(Shard::default());
        Self {
            hasher: FixedState::with_seed(seed),
            shards: std::iter::repeat_n(shard, count).collect(),
            len: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Finds the entry of `key`: the exact one, else that of the smallest text.
    pub(crate) fn find(&self, key: &[u8]) -> Option<Entry<'_>> {
        let hash = self.hash(key);
        let shard = self.shards.get(self.shard_of(hash))?;
        let is_for = |slot: &Slot| {
            text_of(&shard.text, slot).is_some_and(|text| match slot.key {
                Key::Exact => text == key,
                Key::Folded => is_folded(text, key),
            })
        };
        let first = shard.entry(shard.slots.find(hash, is_for)?)?;
        if first.key == Key::Exact { Some(first) } else { shard.best(hash, key) }
    }

    /// Adds or replaces the entry of `text` under `key`.
    pub(crate) fn insert(&mut self, key: Key, text: &[u8], value: u32) {
        if self.len >= self.capacity().saturating_mul(4) && self.shards.len() < MAX_SHARDS {
            self.reshard();
        }
        let Ok(len) = u16::try_from(text.len()) else { return };
        let hash = self.hash_as(key, text);
        let hasher = self.hasher.clone();
        let Some(shard) = self.shard_mut(hash) else { return };
        if let Some(slot) = shard.slot_mut(hash, key, text) {
            slot.value = value;
            return;
        }
        let Ok(start) = u32::try_from(shard.text.len()) else { return };
        shard.text.extend_from_slice(text);
        let slot = Slot { start, value, len, key };
        let bytes = &shard.text;
        shard.slots.insert_unique(hash, slot, |slot| hash_slot(&hasher, bytes, slot));
        self.len += 1;
    }

    /// Removes the entry of `text` under `key`, if there is one.
    pub(crate) fn remove(&mut self, key: Key, text: &[u8]) {
        let hash = self.hash_as(key, text);
        let hasher = self.hasher.clone();
        let Some(shard) = self.shard_mut(hash) else { return };
        let bytes = &shard.text;
        let is_it = |slot: &Slot| slot.key == key && text_of(bytes, slot) == Some(text);
        let Ok(found) = shard.slots.find_entry(hash, is_it) else { return };
        found.remove();
        shard.dead += text.len();
        if shard.dead > shard.text.len() / 2 {
            shard.compact(&hasher);
        }
        self.len -= 1;
    }

    /// Every entry, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        self.shards.iter().flat_map(|shard| shard.slots.iter().filter_map(|slot| shard.entry(slot)))
    }

    /// How many shards this table has in common with `other`, and how many it has.
    pub(crate) fn shared_shards(&self, other: &Self) -> (usize, usize) {
        let same = self.shards.iter().zip(&other.shards).filter(|(a, b)| Arc::ptr_eq(a, b)).count();
        (same, self.shards.len())
    }

    /// Entries that the shards were cut for.
    fn capacity(&self) -> usize {
        self.shards.len().saturating_mul(PER_SHARD)
    }

    /// Cuts more shards, as if they had been expected.
    fn reshard(&mut self) {
        let count = (self.len / PER_SHARD).next_power_of_two().clamp(1, MAX_SHARDS);
        let shards = std::iter::repeat_n(Arc::new(Shard::default()), count).collect();
        let mut table = Self { hasher: self.hasher.clone(), shards, len: 0 };
        for entry in self.iter() {
            table.insert(entry.key, entry.text, entry.value);
        }
        *self = table;
    }

    fn hash(&self, key: &[u8]) -> u64 {
        hash_bytes(&self.hasher, key)
    }

    fn hash_as(&self, key: Key, text: &[u8]) -> u64 {
        match key {
            Key::Exact => self.hash(text),
            Key::Folded => self.hash(&text.to_ascii_lowercase()),
        }
    }

    /// Shards take bits that the table inside does not: it uses the lowest and the seven highest.
    fn shard_of(&self, hash: u64) -> usize {
        usize::try_from(hash >> 40 & 0xffff).unwrap_or(0) & (self.shards.len() - 1)
    }

    fn shard_mut(&mut self, hash: u64) -> Option<&mut Shard> {
        let at = self.shard_of(hash);
        self.shards.get_mut(at).map(Arc::make_mut)
    }
}

impl Shard {
    fn entry(&self, slot: &Slot) -> Option<Entry<'_>> {
        Some(Entry { text: text_of(&self.text, slot)?, value: slot.value, key: slot.key })
    }

    /// The exact entry of `key`, else the folded one of the smallest text.
    #[cold]
    fn best(&self, hash: u64, key: &[u8]) -> Option<Entry<'_>> {
        self.slots
            .iter_hash(hash)
            .filter_map(|slot| self.entry(slot).filter(|entry| entry.is_for(key)))
            .min_by_key(|entry| (entry.key == Key::Folded, entry.text))
    }

    fn slot_mut(&mut self, hash: u64, key: Key, text: &[u8]) -> Option<&mut Slot> {
        let bytes = &self.text;
        self.slots.find_mut(hash, |slot| slot.key == key && text_of(bytes, slot) == Some(text))
    }

    /// Copies the texts in use to a new arena.
    fn compact(&mut self, hasher: &FixedState) {
        let mut fresh = Self::default();
        for slot in self.slots.iter() {
            let Some(text) = text_of(&self.text, slot) else { continue };
            let Ok(start) = u32::try_from(fresh.text.len()) else { continue };
            fresh.text.extend_from_slice(text);
            let bytes = &fresh.text;
            let moved = Slot { start, ..*slot };
            let hash = hash_slot(hasher, bytes, &moved);
            fresh.slots.insert_unique(hash, moved, |slot| hash_slot(hasher, bytes, slot));
        }
        *self = fresh;
    }
}

impl Entry<'_> {
    fn is_for(&self, key: &[u8]) -> bool {
        match self.key {
            Key::Exact => self.text == key,
            Key::Folded => is_folded(self.text, key),
        }
    }
}

fn is_folded(text: &[u8], key: &[u8]) -> bool {
    text.eq_ignore_ascii_case(key) && !key.iter().any(u8::is_ascii_uppercase)
}

fn text_of<'a>(text: &'a [u8], slot: &Slot) -> Option<&'a [u8]> {
    let start = usize::try_from(slot.start).ok()?;
    text.get(start..start + usize::from(slot.len))
}

fn hash_slot(hasher: &FixedState, text: &[u8], slot: &Slot) -> u64 {
    let text = text_of(text, slot).unwrap_or_default();
    match slot.key {
        Key::Exact => hash_bytes(hasher, text),
        Key::Folded => hash_bytes(hasher, &text.to_ascii_lowercase()),
    }
}

/// A key is hashed alone, so that its length needs no frame.
fn hash_bytes(hasher: &FixedState, bytes: &[u8]) -> u64 {
    let mut state = hasher.build_hasher();
    state.write(bytes);
    state.finish()
}
