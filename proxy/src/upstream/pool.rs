//! The idle connections of one thread.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, Weak};
use std::time::Duration;

use http::uri::Scheme;
use tokio::sync::Mutex;

use super::Failure;
use super::fleet::{Chance, FleetPool, Memory};
use super::lease::{Lease, Line};
use super::shared::Shared;
use crate::entry::FleetId;
use crate::snapshot::{Fleet, Http, Snapshot, Transport};

/// Every server that this thread has connections to.
///
/// Servers outlive snapshots, so that a reload doesn't close connections to a server that stays.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    /// The snapshot that `fleets` are of. It holds none of it, and no other can stand where it stood.
    snapshot: Weak<Snapshot>,
    /// How many snapshots there have been.
    turn: u64,
    fleets: Vec<Option<Rc<FleetPool>>>,
    servers: HashMap<(Arc<str>, Transport), Rc<ServerPool>>,
    /// By the names of fleets, since those outlive snapshots too.
    memories: HashMap<Arc<str>, Rc<Memory>>,
    chance: Rc<Chance>,
}

impl Pools {
    /// The pool of a fleet of `snapshot`; `None` for an id that is not one of its fleets.
    #[expect(clippy::mutable_key_type, reason = "what can change in a transport is not compared")]
    pub(crate) fn fleet(&mut self, snapshot: &Arc<Snapshot>, id: FleetId) -> Option<Rc<FleetPool>> {
        self.turn_to(snapshot);
        let slot = self.fleets.get_mut(id.index())?;
        if let Some(pool) = slot {
            return Some(Rc::clone(pool));
        }
        let fleet = Arc::clone(snapshot.fleets.get(id.index())?);
        let memory = Rc::clone(self.memories.entry(Arc::clone(&fleet.name)).or_default());
        let servers = &mut self.servers;
        let pools = fleet.servers.iter().map(|server| {
            let pool = servers.entry((Arc::clone(&server.address), fleet.transport.clone()));
            let make = |(address, transport): &(Arc<str>, Transport)| {
                Rc::new(ServerPool::new(address, transport.clone()))
            };
            Rc::clone(pool.or_insert_with_key(make))
        });
        let chance = Rc::clone(&self.chance);
        let pool = FleetPool::new(Arc::clone(&fleet), pools, memory, chance, self.turn);
        let pool = Rc::new(pool);
        *slot = Some(Rc::clone(&pool));
        Some(pool)
    }

    /// Forgets the fleets of a snapshot other than this one, which may hold large parts of it.
    ///
    /// Snapshots are told apart by where they are, not by a number that somebody has to get right:
    /// an id that is looked up in the fleets of another snapshot names another tenant's servers.
    pub(crate) fn turn_to(&mut self, snapshot: &Arc<Snapshot>) {
        if self.snapshot.as_ptr() != Arc::as_ptr(snapshot) {
            self.snapshot = Arc::downgrade(snapshot);
            self.turn += 1;
            self.fleets.clear();
            self.fleets.resize(snapshot.fleets.len(), None);
        }
    }

    /// Whether `fleet` is of this snapshot.
    pub(crate) fn is_of(&mut self, snapshot: &Arc<Snapshot>, fleet: &FleetPool) -> bool {
        self.turn_to(snapshot);
        fleet.turn == self.turn
    }

    /// Closes what has been idle too long, and drops servers that no fleet names any more.
    pub(crate) fn expire(&mut self, now: u32) {
        for server in self.servers.values() {
            server.expire(now);
        }
        self.servers.retain(|_, server| Rc::strong_count(server) > 1 || server.has_idle());
        self.memories.retain(|_, memory| {
            memory.budget.roll(now);
            Rc::strong_count(memory) > 1 || !memory.budget.is_idle()
        });
    }
}

/// The idle connections to one server, the most recently used on top.
#[derive(Debug)]
pub(crate) struct ServerPool {
    pub(crate) address: Arc<str>,
    /// The address, where it needs no name resolution.
    pub(super) socket: Option<SocketAddr>,
    pub(super) transport: Transport,
    idle: RefCell<Vec<Idle>>,
    /// Connections that carry many exchanges.
    shared: RefCell<Vec<Rc<Shared>>>,
    /// Whoever opens one of those; the others wait for it.
    pub(super) opening: Mutex<()>,
    /// How often one was opened, or was not, and what the last attempt came to.
    pub(super) opened: Cell<(u32, Option<Failure>)>,
    /// The server was left to choose, and chose HTTP/1.1.
    pub(super) chose_one: Cell<bool>,
}

static HTTP: Scheme = Scheme::HTTP;
static HTTPS: Scheme = Scheme::HTTPS;

/// A connection that nobody uses.
#[derive(Debug)]
struct Idle {
    line: Line,
    since: u32,
    /// How long the fleet that gave it back wants it kept.
    timeout: u32,
}

impl Idle {
    fn age(&self, now: u32) -> u32 {
        now.wrapping_sub(self.since)
    }
}

impl ServerPool {
    pub(super) fn new(address: &Arc<str>, transport: Transport) -> Self {
        Self {
            address: Arc::clone(address),
            socket: address.parse().ok(),
            transport,
            idle: RefCell::default(),
            shared: RefCell::default(),
            opening: Mutex::default(),
            opened: Cell::default(),
            chose_one: Cell::new(false),
        }
    }

    /// Whether its connections carry many exchanges, as far as anybody knows.
    pub(crate) fn is_shared(&self) -> bool {
        self.transport.http != Http::One && !self.chose_one.get()
    }

    /// The scheme that its requests name.
    pub(crate) const fn scheme(&self) -> &Scheme {
        if self.transport.tls.is_some() { &HTTPS } else { &HTTP }
    }

    /// A place on a connection that carries many exchanges.
    pub(crate) fn take_shared(self: &Rc<Self>) -> Option<Lease> {
        let shared = self.shared.borrow();
        let shared = shared.iter().find(|shared| shared.has_room())?;
        Some(Lease::shared(shared.begin(), Rc::clone(self), true))
    }

    pub(super) fn share(&self, shared: Rc<Shared>) {
        self.shared.borrow_mut().push(shared);
    }

    /// An idle connection that still lives, and is not too old for the fleet that asks.
    ///
    /// Fleets with other limits may name the same server.
    pub(crate) fn take(&self, fleet: &Fleet, now: u32) -> Option<Lease> {
        let timeout = millis(fleet.idle_timeout);
        let mut idle = self.idle.borrow_mut();
        // The youngest is on top: below one that is too old are only older ones.
        while idle.last()?.age(now) < timeout {
            let Idle { line, .. } = idle.pop()?;
            if !line.sender.is_closed() {
                return Some(Lease::new(line, true));
            }
        }
        None
    }

    /// Keeps a connection, as long as `fleet` says and unless as many as it says are here.
    pub(super) fn put(&self, line: Line, fleet: &Fleet, now: u32) {
        let mut idle = self.idle.borrow_mut();
        if !line.sender.is_closed() && idle.len() < fleet.max_idle {
            idle.push(Idle { line, since: now, timeout: millis(fleet.idle_timeout) });
        }
    }

    fn expire(&self, now: u32) {
        self.idle
            .borrow_mut()
            .retain(|idle| !idle.line.sender.is_closed() && idle.age(now) < idle.timeout);
        self.shared.borrow_mut().retain(|shared| shared.is_kept(now));
    }

    fn has_idle(&self) -> bool {
        !self.idle.borrow().is_empty() || !self.shared.borrow().is_empty()
    }
}

pub(super) fn millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}
