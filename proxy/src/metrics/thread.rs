//! What one worker counts.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use fingerpost_router::{Match, Tier};
use http::StatusCode;
use tokio::time::Instant;

use super::OTHER;
use super::codes::Codes;
use super::durations::Durations;
use crate::entry::Entry;

/// What one worker counts, as others read it.
#[derive(Debug, Default)]
pub(crate) struct Thread {
    /// Locked by its worker only when it meets a route for the first time since a snapshot.
    pub(super) series: Mutex<HashMap<Labels, Arc<Codes>>>,
    pub(super) durations: Durations,
}

/// What tells one series from another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Labels {
    /// The route's id.
    pub(super) route: Arc<str>,
    /// The pattern that the requested host resolved to.
    pub(super) host: Arc<str>,
    /// How the route was found; `None` where none was.
    pub(super) via: Option<Via>,
}

/// How a route was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Via {
    /// By the host's prefix map.
    Prefix,
    /// Among the routes of a tier.
    Tier(Tier),
}

impl Via {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Prefix => "prefix",
            Self::Tier(tier) => tier.name(),
        }
    }
}

/// The meters of one worker, on its thread.
#[derive(Debug)]
pub(crate) struct Meters(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    thread: Arc<Thread>,
    known: RefCell<Known>,
    /// What found no route.
    none: Arc<Codes>,
}

/// The series of one snapshot's routes, by where entry and site stand: nothing of a snapshot moves.
#[derive(Debug, Default)]
struct Known {
    generation: u64,
    series: HashMap<(usize, usize, Via), Arc<Codes>, foldhash::fast::RandomState>,
}

impl Meters {
    pub(crate) fn new(thread: Arc<Thread>) -> Self {
        let labels = Labels { route: OTHER.into(), host: OTHER.into(), via: None };
        let none = thread.series(labels);
        Self(Rc::new(Inner { thread, known: RefCell::default(), none }))
    }

    /// Begins to measure an exchange.
    pub(crate) fn begin(&self) -> Meter {
        let codes = Arc::clone(&self.0.none);
        Meter { inner: Rc::clone(&self.0), started: Instant::now(), codes, status: StatusCode::OK }
    }
}

/// What is measured of one exchange; counted when it is dropped.
#[derive(Debug)]
pub(crate) struct Meter {
    inner: Rc<Inner>,
    started: Instant,
    codes: Arc<Codes>,
    status: StatusCode,
}

impl Meter {
    /// Notes the route that a snapshot's router has found.
    pub(crate) fn set_match(&mut self, generation: u64, matched: &Match<'_, '_, Arc<Entry>>) {
        let (entry, site) = (matched.value(), matched.site());
        let via = match matched.prefix() {
            Some(_) => Via::Prefix,
            None => Via::Tier(matched.tier()),
        };
        let place = site.map_or(0, |site| site.name().as_ptr().addr());
        let key = (Arc::as_ptr(entry).addr(), place, via);
        let mut known = self.inner.known.borrow_mut();
        if known.generation != generation {
            known.series.clear();
            known.generation = generation;
        }
        let codes = known.series.entry(key).or_insert_with(|| {
            let host = site.map_or(OTHER, |site| site.name()).into();
            self.inner.thread.series(Labels { route: Arc::clone(&entry.id), host, via: Some(via) })
        });
        self.codes = Arc::clone(codes);
    }

    pub(crate) fn set_status(&mut self, status: StatusCode) {
        self.status = status;
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.codes.count(self.status.as_u16());
        self.inner.thread.durations.observe(self.started.elapsed());
    }
}

impl Thread {
    fn series(&self, labels: Labels) -> Arc<Codes> {
        let mut series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(series.entry(labels).or_default())
    }
}
