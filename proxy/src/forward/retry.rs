//! Which requests may be sent a second time (RFC 9110 section 9.2.2, RFC 9112 section 9.3.1).

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use tokio::time::Instant;

use super::Inbound;
use super::upload::Progress;
use crate::upstream::{Choice, FleetPool, Lease, ServerPool, Ticket};

/// What has been tried for one request.
#[derive(Debug, Default)]
pub(crate) struct History {
    begun: bool,
    /// Which snapshot `tried` is about, as the pools count them.
    turn: u64,
    /// Servers that gave no connection, took it back before anything was sent, or died with the request.
    tried: Vec<usize>,
    /// The idle connections have been tried: the next one is new.
    pub(super) fresh: bool,
    /// How many connections were closed before anything was sent.
    closed: u8,
    replayed: bool,
    /// How often the snapshot changed between a decision and its dispatch.
    moves: u8,
    /// The connection that the last change left without a request, and its fleet.
    spare: Option<(Lease, Rc<FleetPool>)>,
    /// The place that a wait has brought, in the snapshot of that turn.
    place: Option<(u64, usize, Ticket)>,
    /// When it began to wait for a place.
    queued: Option<Instant>,
    /// When the exchange has taken as long as it may.
    deadline: Option<Instant>,
}

/// Each change costs a wait for a connection to one more server; nobody flips a host that often.
const MOST_MOVES: u8 = 8;

/// One that others use too can be closed again while the next one is opened.
const MOST_CLOSED: u8 = 4;

impl History {
    /// The server to ask: never one that has just failed while there is another.
    pub(super) fn choose(&mut self, fleet: &FleetPool, now: u32) -> Choice {
        if !std::mem::replace(&mut self.begun, true) {
            fleet.budget().deposit();
        }
        if self.turn != fleet.turn() {
            self.turn = fleet.turn();
            self.tried.clear();
        }
        if let Some((turn, index, ticket)) = self.place.take()
            && turn == fleet.turn()
        {
            return Choice::Server(index, Some(ticket));
        }
        if let Some((lease, from)) = self.spare.take() {
            // What a connection counts as is of its fleet.
            if Arc::ptr_eq(&from.fleet.state, &fleet.fleet.state)
                && let Some(index) = fleet.index_of(&lease)
            {
                return self.choose_spare(index, lease, from);
            }
            lease.release(&from.fleet, now);
        }
        fleet.choose(&self.tried)
    }

    fn choose_spare(&mut self, index: usize, mut lease: Lease, from: Rc<FleetPool>) -> Choice {
        let ticket = lease.take_ticket();
        self.spare = Some((lease, from));
        Choice::Server(index, ticket)
    }

    /// Which servers were tried, for a wait.
    pub(super) fn tried(&self) -> &[usize] {
        &self.tried
    }

    /// A wait brought a place. It is looked up again who the request is for.
    pub(super) fn found_place(&mut self, fleet: &FleetPool, index: usize, ticket: Option<Ticket>) {
        self.place = ticket.map(|ticket| (fleet.turn(), index, ticket));
    }

    /// Until when it may wait for a place: `limit` after it began to.
    pub(super) fn wait_until(&mut self, limit: Duration) -> Instant {
        later(*self.queued.get_or_insert_with(Instant::now), limit)
    }

    /// Until when the whole exchange may take: `limit` after its first attempt.
    pub(super) fn deadline(&mut self, limit: Duration) -> Instant {
        *self.deadline.get_or_insert_with(|| later(Instant::now(), limit))
    }

    /// The deadline, where a fleet has set one.
    pub(super) const fn set_deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// A server failed before anything was sent: whether another one is worth it.
    pub(super) fn next_server(&mut self, fleet: &FleetPool, index: usize, now: u32) -> bool {
        self.tried.push(index);
        self.tried.len() < fleet.len() && self.afford(fleet, now)
    }

    /// The snapshot changed before anything was sent: whether to decide again. What failed in the
    /// fleet that was decided on says nothing about the one that will be.
    pub(super) fn moved(&mut self) -> bool {
        self.tried.clear();
        self.moves += 1;
        self.moves < MOST_MOVES
    }

    /// Keeps a connection for the next attempt, which will be at once.
    ///
    /// Most changes are about other hosts. Then the next attempt asks the same server and doesn't
    /// have to wait for anything, so that the change after this one can't come between.
    pub(super) fn spare(&mut self, lease: Lease, fleet: &Rc<FleetPool>) {
        self.spare = Some((lease, Rc::clone(fleet)));
    }

    /// The spare connection, if it goes to `server`; else it goes back to where it is from.
    pub(super) fn take_spare(&mut self, server: &Rc<ServerPool>, now: u32) -> Option<Lease> {
        let (lease, fleet) = self.spare.take()?;
        if lease.is_to(server) {
            return Some(lease);
        }
        lease.release(&fleet.fleet, now);
        None
    }

    /// A connection turned out to be closed before anything was sent: whether another one of the same
    /// server is worth it.
    pub(super) fn go_fresh(&mut self) -> bool {
        self.fresh = true;
        self.closed += 1;
        self.closed < MOST_CLOSED
    }

    /// A connection died after something was sent: whether it is worth sending it again, elsewhere if
    /// there is an elsewhere. Once.
    pub(super) fn replay(&mut self, fleet: &FleetPool, index: usize, now: u32) -> bool {
        self.fresh = true;
        self.tried.push(index);
        !std::mem::replace(&mut self.replayed, true) && self.afford(fleet, now)
    }

    fn afford(&self, fleet: &FleetPool, now: u32) -> bool {
        fleet.budget().withdraw(fleet.fleet.retry_budget, now)
    }
}

/// Whether a request may be sent again after `error` ended the connection that it was given.
///
/// Its content must all be there still. Then it may when no byte of it got out; and when it is
/// idempotent, if the server gave no sign of having begun to answer.
pub(super) fn again(
    method: &Method,
    inbound: Option<&Inbound>,
    lease: &Lease,
    error: &hyper::Error,
) -> bool {
    inbound.is_none_or(|inbound| inbound.progress() == Progress::Untouched)
        && !lease.received(error)
        && (!lease.sent(error) || method.is_idempotent())
}

fn later(from: Instant, limit: Duration) -> Instant {
    // Where a limit is beyond all clocks there is none.
    from.checked_add(limit).unwrap_or_else(|| from + Duration::from_secs(1 << 30))
}
