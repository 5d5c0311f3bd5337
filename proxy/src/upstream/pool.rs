//! The idle connections of one thread.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::lease::{Lease, Line};
use crate::entry::FleetId;
use crate::snapshot::{Fleet, Snapshot};

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
    servers: HashMap<Arc<str>, Rc<ServerPool>>,
}

impl Pools {
    /// The pool of a fleet of `snapshot`; `None` for an id that is not one of its fleets.
    pub(crate) fn fleet(&mut self, snapshot: &Arc<Snapshot>, id: FleetId) -> Option<Rc<FleetPool>> {
        self.turn_to(snapshot);
        let slot = self.fleets.get_mut(id.index())?;
        if let Some(pool) = slot {
            return Some(Rc::clone(pool));
        }
        let fleet = Arc::clone(snapshot.fleets.get(id.index())?);
        let servers = fleet
            .servers
            .iter()
            .map(|server| {
                let address = Arc::clone(&server.address);
                let pool = self.servers.entry(address);
                Rc::clone(pool.or_insert_with_key(|address| Rc::new(ServerPool::new(address))))
            })
            .collect();
        let pool = Rc::new(FleetPool { fleet, servers, next: Cell::new(0), turn: self.turn });
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
    }
}

/// A fleet, as one thread sees it.
#[derive(Debug)]
pub(crate) struct FleetPool {
    pub(crate) fleet: Arc<Fleet>,
    servers: Vec<Rc<ServerPool>>,
    next: Cell<usize>,
    turn: u64,
}

impl FleetPool {
    pub(crate) fn len(&self) -> usize {
        self.servers.len()
    }

    /// Takes a turn: where a request begins to look for a server.
    pub(crate) fn turn(&self) -> usize {
        let turn = self.next.get();
        self.next.set(turn.wrapping_add(1));
        turn
    }

    /// The server at `turn`, or the first one after it that is not known to be down; `None` for a
    /// fleet without servers. If all are down, they may have come back.
    pub(crate) fn server(&self, turn: usize, now: u32) -> Option<&Rc<ServerPool>> {
        let first = turn.checked_rem(self.servers.len())?;
        let (before, after) = self.servers.split_at_checked(first)?;
        let mut order = after.iter().chain(before);
        order.find(|server| !server.is_down(now)).or_else(|| self.servers.get(first))
    }
}

/// The idle connections to one server, the most recently used on top.
#[derive(Debug)]
pub(crate) struct ServerPool {
    pub(crate) address: Arc<str>,
    /// The address, where it needs no name resolution.
    pub(super) socket: Option<SocketAddr>,
    idle: RefCell<Vec<Idle>>,
    /// When it last gave no connection, if it has given none since.
    down_since: Cell<Option<u32>>,
}

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

/// How long a server that gave no connection is passed over, in milliseconds.
const DOWN_FOR: u32 = 2_000;

impl ServerPool {
    fn new(address: &Arc<str>) -> Self {
        Self {
            address: Arc::clone(address),
            socket: address.parse().ok(),
            idle: RefCell::default(),
            down_since: Cell::new(None),
        }
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

    /// Notes that it gave no connection.
    pub(crate) fn went_down(&self, now: u32) {
        self.down_since.set(Some(now));
    }

    /// Notes that it gave one.
    pub(crate) fn is_up(&self) {
        self.down_since.set(None);
    }

    fn is_down(&self, now: u32) -> bool {
        self.down_since.get().is_some_and(|since| now.wrapping_sub(since) < DOWN_FOR)
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
    }

    fn has_idle(&self) -> bool {
        !self.idle.borrow().is_empty()
    }
}

fn millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}
