//! An optional cache of decisions in front of a router.

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use fnv::FnvBuildHasher;

use crate::decide::{Decision, Named, Pick, Resolved, Silent};
use crate::layers::{Level, Place};
use crate::matched::{Match, Refused};
use crate::prefixes::Destination;
use crate::site::SiteId;
use crate::{Lookup, Router, Tier};
use fingerpost_path::Spelling;

/// A router with a small cache of its decisions, for one thread.
///
/// The key is host, path and query, each framed by its length and compared in full: a hash alone could
/// be forged, and would hand one route's traffic to another. The cache belongs to one router and ends
/// with it. It holds a fixed number of slots; a look-up that misses overwrites one.
///
/// Off by default everywhere: hashing host and path costs more than a direct look-up, except with path
/// trees of thousands of routes.
#[derive(Debug)]
pub struct CachedRouter<T, H = FnvBuildHasher> {
    router: Arc<Router<T>>,
    hasher: H,
    slots: Box<[Option<Slot>]>,
}

#[derive(Debug)]
struct Slot {
    key: Vec<u8>,
    site: Option<(SiteId, Tier)>,
    plain: bool,
    outcome: Result<Option<Stored>, Refused>,
}

#[derive(Debug)]
struct Stored {
    place: Place,
    hit: Option<(Box<str>, Spelling, Destination)>,
}

/// Longer keys are not cached.
const MAX_KEY: usize = 1024;

impl<T> CachedRouter<T> {
    /// A cache of `slots` decisions (at least one) in front of `router`.
    #[must_use]
    pub fn new(router: Arc<Router<T>>, slots: usize) -> Self {
        Self::with_hasher(router, slots, FnvBuildHasher::default())
    }
}

impl<T, H: BuildHasher> CachedRouter<T, H> {
    /// As [`new`](CachedRouter::new) with another hash: what is answered never depends on it.
    #[must_use]
    pub fn with_hasher(router: Arc<Router<T>>, slots: usize, hasher: H) -> Self {
        let slots = std::iter::repeat_with(|| None).take(slots.max(1)).collect();
        Self { router, hasher, slots }
    }

    /// The router behind the cache.
    #[must_use]
    pub fn router(&self) -> &Arc<Router<T>> {
        &self.router
    }

    /// Makes `router` the one that answers; forgets what was cached unless it is the same.
    pub fn set_router(&mut self, router: &Arc<Router<T>>) {
        if !Arc::ptr_eq(&self.router, router) {
            self.router = Arc::clone(router);
            self.slots.fill_with(|| None);
        }
    }

    /// Answers as [`Router::lookup`] does (R3).
    ///
    /// # Errors
    /// As [`Router::lookup`].
    ///
    /// # Complexity
    /// A hit costs hashing and comparing the key; a miss allocates its copy of the key.
    pub fn lookup<'c, 'q>(
        &'c mut self,
        lookup: &Lookup<'q>,
    ) -> Result<Option<Match<'c, 'q, T>>, Refused> {
        let hash = self.hash(lookup);
        let count = u64::try_from(self.slots.len()).unwrap_or(u64::MAX);
        let at = usize::try_from(hash % count).unwrap_or(0);
        let known = self.slots.get(at).and_then(Option::as_ref).is_some_and(|slot| slot.is(lookup));
        if !known {
            if key_len(lookup) > MAX_KEY {
                return self.router.lookup(lookup);
            }
            let decision = self.router.decide(lookup, &mut Silent);
            if let Some(slot) = self.slots.get_mut(at) {
                *slot = Some(Slot::new(lookup, &decision));
            }
        }
        let Some(slot) = self.slots.get(at).and_then(Option::as_ref) else {
            return self.router.lookup(lookup);
        };
        slot.decision(&self.router).into_match(lookup.path)
    }

    fn hash(&self, lookup: &Lookup<'_>) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        for part in parts(lookup) {
            hasher.write_usize(part.map_or(usize::MAX, <[u8]>::len));
            hasher.write(part.unwrap_or_default());
        }
        hasher.finish()
    }
}

fn parts<'q>(lookup: &Lookup<'q>) -> [Option<&'q [u8]>; 3] {
    [lookup.host.map(|host| host.as_bytes()), Some(lookup.path), lookup.query]
}

/// Each part is framed by its length, an absent one by a length that no part has.
fn frame(part: Option<&[u8]>) -> [u8; 8] {
    part.map_or(u64::MAX, |part| u64::try_from(part.len()).unwrap_or(u64::MAX)).to_le_bytes()
}

fn key_len(lookup: &Lookup<'_>) -> usize {
    parts(lookup).iter().map(|part| 8 + part.map_or(0, <[u8]>::len)).sum()
}

impl Slot {
    fn new<T>(lookup: &Lookup<'_>, decision: &Decision<'_, T>) -> Self {
        let mut key = Vec::with_capacity(key_len(lookup));
        for part in parts(lookup) {
            key.extend(frame(part));
            key.extend(part.unwrap_or_default());
        }
        let store = |pick: &Pick<'_, T>| Stored {
            place: pick.place,
            hit: pick.hit.map(|hit| (hit.prefix.into(), hit.spelling, hit.destination)),
        };
        let outcome = match &decision.outcome {
            Ok(pick) => Ok(pick.as_ref().map(store)),
            Err(refused) => Err(*refused),
        };
        let site = decision.site.map(|Resolved { id, tier, .. }| (id, tier));
        Self { key, site, plain: decision.plain, outcome }
    }

    fn decision<'r, T>(&'r self, router: &'r Router<T>) -> Decision<'r, T> {
        let site =
            self.site.and_then(|(id, tier)| Some(Resolved { id, site: router.site(id)?, tier }));
        let outcome = match &self.outcome {
            Ok(stored) => Ok(stored.as_ref().and_then(|stored| stored.pick(router, site))),
            Err(refused) => Err(*refused),
        };
        Decision { site, plain: self.plain, outcome }
    }

    fn is(&self, lookup: &Lookup<'_>) -> bool {
        let mut rest = self.key.as_slice();
        for part in parts(lookup) {
            let Some(tail) = rest
                .strip_prefix(&frame(part))
                .and_then(|tail| tail.strip_prefix(part.unwrap_or_default()))
            else {
                return false;
            };
            rest = tail;
        }
        rest.is_empty()
    }
}

impl Stored {
    fn pick<'r, T>(
        &'r self,
        router: &'r Router<T>,
        site: Option<Resolved<'r, T>>,
    ) -> Option<Pick<'r, T>> {
        let hit = self.hit.as_ref().map(|(prefix, spelling, destination)| Named {
            prefix,
            spelling: *spelling,
            destination: *destination,
            target: router.target(*destination),
        });
        let layer = match (self.place.level, hit) {
            (Level::EveryHost, _) => &*router.every,
            (Level::Shared, _) => &*router.shared,
            (Level::Own, Some(named)) => &named.target?.layer,
            (Level::Own, None) => &site?.site.layer,
        };
        Some(Pick { place: self.place, route: layer.route(self.place.index)?, hit })
    }
}
