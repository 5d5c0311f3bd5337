//! A fleet, as a snapshot holds it.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use crate::tls::UpstreamTls;
use crate::upstream::{FleetState, ServerState};

/// A named pool of upstream servers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fleet {
    /// Its name in the configuration.
    pub name: Arc<str>,
    /// Its servers: of two drawn by weight, the one with less to do is asked.
    pub servers: Vec<Server>,
    /// How long a connection may take to be established, with its handshake (5 s).
    pub connect_timeout: Duration,
    /// How long a response's header may take, counted from the last byte of the request (60 s).
    pub response_timeout: Duration,
    /// How long a response's content may pause (5 min).
    pub body_timeout: Duration,
    /// How long an unused connection is kept (4 s: less than what common servers keep theirs).
    pub idle_timeout: Duration,
    /// How long an exchange may take in all, retries included.
    pub request_timeout: Option<Duration>,
    /// How many unused connections a thread keeps for each server (256).
    pub max_idle: usize,
    /// After how many failures in a row a server is passed over (1); 0 is never.
    pub max_fails: u32,
    /// For how long it is (2 s); then one request tries it.
    pub fail_timeout: Duration,
    /// Statuses of responses that count as failures beside connections that aren't made.
    pub fail_statuses: Vec<StatusCode>,
    /// How long the share of a server that came back grows to the full one (0).
    pub slow_start: Duration,
    /// Retries in percent of the requests of the last ten seconds (20); 0 allows none.
    pub retry_budget: u32,
    /// Exchanges that a server is given at once, by all threads.
    pub max_connections: Option<NonZeroU32>,
    /// Requests that may wait for a server at once (128).
    pub queue: u32,
    /// How long one may (5 s).
    pub queue_timeout: Duration,
    /// How servers are asked whether they are well.
    pub health: Option<Health>,
    /// How they are spoken to.
    pub transport: Transport,
    pub(crate) state: Arc<FleetState>,
}

impl Fleet {
    /// Makes a fleet with the default limits.
    pub fn new(name: impl Into<Arc<str>>, servers: Vec<Server>) -> Self {
        Self {
            name: name.into(),
            servers,
            connect_timeout: Duration::from_secs(5),
            response_timeout: Duration::from_secs(60),
            body_timeout: Duration::from_secs(300),
            idle_timeout: Duration::from_secs(4),
            request_timeout: None,
            max_idle: 256,
            max_fails: 1,
            fail_timeout: Duration::from_secs(2),
            fail_statuses: Vec::new(),
            slow_start: Duration::ZERO,
            retry_budget: 20,
            max_connections: None,
            queue: 128,
            queue_timeout: Duration::from_secs(5),
            health: None,
            transport: Transport::default(),
            state: Arc::default(),
        }
    }
}

/// How servers are spoken to: fleets share connections only where all of it is the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Transport {
    /// The version of HTTP.
    pub http: Http,
    /// TLS, or none.
    pub tls: Option<Arc<UpstreamTls>>,
}

/// The version of HTTP that servers are spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Http {
    /// HTTP/1.1.
    #[default]
    One,
    /// HTTP/2; without TLS it is known beforehand that the server speaks it (RFC 9113 section 3.3).
    Two,
    /// What the server chooses in the handshake.
    Auto,
}

/// One upstream server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Server {
    /// Where it listens, as `host:port`.
    pub address: Arc<str>,
    /// Its share of the requests beside those of the others (1).
    pub weight: NonZeroU32,
    pub(crate) state: Arc<ServerState>,
}

impl Server {
    /// Names a server by its address.
    pub fn new(address: impl Into<Arc<str>>) -> Self {
        Self { address: address.into(), weight: NonZeroU32::MIN, state: Arc::default() }
    }

    /// Gives it another share.
    #[must_use]
    pub fn with_weight(mut self, weight: NonZeroU32) -> Self {
        self.weight = weight;
        self
    }
}

/// How servers are asked whether they are well.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// What is asked for with GET, a path with a query or without.
    pub path: Arc<str>,
    /// The host that is asked for; the server's address where none is given.
    pub host: Option<Arc<str>>,
    /// The pause between two checks, up to a quarter longer (5 s).
    pub interval: Duration,
    /// How long the header of the response may take, connecting included (2 s).
    pub timeout: Duration,
    /// After how many good checks in a row an unhealthy server is healthy (2).
    pub healthy: u32,
    /// After how many bad ones a healthy server isn't (3).
    pub unhealthy: u32,
    /// What a healthy server answers; any 2xx where none is given.
    pub expect: Vec<StatusCode>,
}

impl Health {
    /// Asks for `path` with the default times.
    pub fn new(path: impl Into<Arc<str>>) -> Self {
        Self {
            path: path.into(),
            host: None,
            interval: Duration::from_secs(5),
            timeout: Duration::from_secs(2),
            healthy: 2,
            unhealthy: 3,
            expect: Vec::new(),
        }
    }
}

/// Hands on what is known of `old` fleets and their servers to those of the same name and address.
///
/// Exchanges that are under way count on, and a server that is down isn't up because a file was read.
pub(super) fn adopt(fleets: &mut [Arc<Fleet>], old: &[Arc<Fleet>]) {
    let unchanged = |(one, other): (&Arc<Fleet>, &Arc<Fleet>)| Arc::ptr_eq(one, other);
    if fleets.len() == old.len() && fleets.iter().zip(old).all(unchanged) {
        return;
    }
    let old: HashMap<&str, &Arc<Fleet>> = old.iter().map(|fleet| (&*fleet.name, fleet)).collect();
    for fleet in fleets {
        let Some(known) = old.get(&*fleet.name).filter(|known| !Arc::ptr_eq(known, fleet)) else {
            continue;
        };
        // It was built a moment ago, and nobody else has it.
        let fleet = Arc::make_mut(fleet);
        fleet.state = Arc::clone(&known.state);
        let servers: HashMap<&str, &Server> =
            known.servers.iter().map(|server| (&*server.address, server)).collect();
        for server in &mut fleet.servers {
            if let Some(known) = servers.get(&*server.address) {
                server.state = Arc::clone(&known.state);
                server.state.keep(fleet.health.is_some(), fleet.max_fails > 0);
            }
        }
    }
}
