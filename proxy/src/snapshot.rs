//! What a request is decided by.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fingerpost_router::{Handle, Reader, Router};
use tokio::sync::watch;

pub use fleet::{Fleet, Health, Http, Server, Transport};

use crate::entry::Entry;
use crate::guard::Gate;
use crate::network::Network;
use crate::server::Census;
use crate::tls::Certificates;

mod fleet;

/// Everything that routing needs, immutable, swapped as a whole.
#[derive(Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// Hosts and paths to entries.
    pub router: Router<Arc<Entry>>,
    /// The fleets that entries name by [`FleetId`](crate::entry::FleetId).
    pub fleets: Vec<Arc<Fleet>>,
    /// Counts the snapshots of this process; no two have the same.
    pub generation: u64,
    /// Limits and switches of the listeners.
    pub settings: Arc<Settings>,
}

impl Snapshot {
    /// Puts a snapshot together.
    pub fn new(
        router: Router<Arc<Entry>>,
        fleets: Vec<Arc<Fleet>>,
        generation: u64,
        settings: Arc<Settings>,
    ) -> Self {
        Self { router, fleets, generation, settings }
    }
}

/// Limits and switches that hold for every listener.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// How long the first request's header may take, counted from accept (30 s).
    pub header_timeout: Duration,
    /// How long a connection may take from one response to the end of the next header (75 s).
    pub keep_alive_timeout: Duration,
    /// How long a client may pause within a request's content, or in taking a response (60 s).
    pub body_timeout: Duration,
    /// How long a WebSocket may be silent (1 h).
    pub websocket_timeout: Duration,
    /// Bytes of a request's line and header together; more is 431 (64 KiB).
    pub max_header_size: usize,
    /// The peers whose forwarded fields are believed.
    pub trusted_proxies: Vec<Network>,
    /// Whether `Forwarded` (RFC 7239) is sent beside the `X-Forwarded-` fields.
    pub forwarded: bool,
    /// Whether every request gets a line in the access log.
    pub access_log: bool,
    /// How HTTP/2 is spoken.
    pub http2: Http2,
    /// How much clients may ask for.
    pub admission: Admission,
    /// The port that HTTP is redirected to, on hosts that a certificate names.
    pub https_redirect: Option<u16>,
    /// The certificates of listeners for HTTPS.
    pub certificates: Option<Arc<Certificates>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            header_timeout: Duration::from_secs(30),
            keep_alive_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_secs(60),
            websocket_timeout: Duration::from_secs(3600),
            max_header_size: 64 * 1024,
            trusted_proxies: Vec::new(),
            forwarded: false,
            access_log: false,
            http2: Http2::default(),
            admission: Admission::default(),
            https_redirect: None,
            certificates: None,
        }
    }
}

/// How HTTP/2 is spoken with clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Http2 {
    /// Whether a client may begin with it without TLS, if it knows that we speak it.
    pub prior_knowledge: bool,
    /// Exchanges that a connection may have under way at once (128).
    pub max_concurrent_streams: u32,
    /// How many more exchanges a client may give up than it lets us answer; then its connection ends (200).
    pub max_resets: u32,
}

impl Default for Http2 {
    fn default() -> Self {
        Self { prior_knowledge: false, max_concurrent_streams: 128, max_resets: 200 }
    }
}

/// How much clients may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Admission {
    /// Connections at once (65,536).
    pub connections: u32,
    /// Connections at once of one address, of IPv6 its /64 (any number).
    pub connections_per_address: Option<u32>,
    /// Requests on one connection (any number).
    pub requests_per_connection: Option<u32>,
    /// Fields of a request's header (100).
    pub headers: usize,
    /// Bytes of a request's content, where its route doesn't say otherwise (any number).
    pub body_size: Option<u64>,
}

impl Default for Admission {
    fn default() -> Self {
        Self {
            connections: 65_536,
            connections_per_address: None,
            requests_per_connection: None,
            headers: 100,
            body_size: None,
        }
    }
}

/// The current snapshot, and those before it that somebody may still hold.
///
/// Threads read through a [`Reader`] of their own. [`publish`](Self::publish) tells all of them, so
/// that an idle one lets go of the old snapshot too; the old one stays here until it is the last
/// reference, so that freeing a large one never happens on a thread that serves requests.
#[derive(Debug)]
pub struct Snapshots {
    handle: Handle<Snapshot>,
    generation: watch::Sender<u64>,
    retired: Mutex<Vec<Arc<Snapshot>>>,
    gate: Arc<Gate>,
    census: Arc<Census>,
}

impl Snapshots {
    /// Starts with `snapshot`.
    pub fn new(snapshot: Snapshot) -> Self {
        let generation = watch::Sender::new(snapshot.generation);
        let (handle, gate) = (Handle::new(snapshot), Arc::new(Gate::new()));
        Self { handle, generation, retired: Mutex::default(), gate, census: Arc::default() }
    }

    /// The current snapshot.
    pub fn current(&self) -> Arc<Snapshot> {
        self.handle.load_full()
    }

    /// Makes `snapshot` the current one. Requests that are decided from now on see it.
    ///
    /// What is known of servers that stay is kept: whether they are up, and what they are doing.
    pub fn publish(&self, mut snapshot: Snapshot) {
        let generation = snapshot.generation;
        fleet::adopt(&mut snapshot.fleets, &self.current().fleets);
        let old = self.handle.swap(snapshot);
        self.retired.lock().unwrap_or_else(PoisonError::into_inner).push(old);
        self.generation.send_replace(generation);
        self.sweep();
    }

    /// Frees the old snapshots that nobody holds any more; says how many are left.
    pub fn sweep(&self) -> usize {
        let mut freed = Vec::new();
        let mut retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
        freed.extend(retired.extract_if(.., |old| Arc::strong_count(old) == 1));
        let left = retired.len();
        drop(retired);
        drop(freed);
        left
    }

    pub(crate) fn reader(&self) -> Reader<Snapshot> {
        self.handle.reader()
    }

    /// What guards remember, whichever snapshot is current.
    pub(crate) fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// The connections of all threads.
    pub(crate) fn census(&self) -> &Arc<Census> {
        &self.census
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }
}
