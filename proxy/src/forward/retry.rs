//! Which requests may be sent a second time (RFC 9110 section 9.2.2, RFC 9112 section 9.3.1).

use std::rc::Rc;

use http::Method;

use super::Inbound;
use super::upload::Progress;
use crate::upstream::{FleetPool, Lease, ServerPool};

/// What has been tried for one request.
#[derive(Debug, Default)]
pub(crate) struct History {
    turn: Option<usize>,
    /// Servers that gave no connection, or took it back before anything was sent.
    failures: usize,
    /// The idle connections have been tried: the next one is new.
    pub(super) fresh: bool,
    replayed: bool,
    /// How often the snapshot changed between a decision and its dispatch.
    moves: u8,
    /// The connection that the last change left without a request, and its fleet.
    spare: Option<(Lease, Rc<FleetPool>)>,
}

/// Each change costs a wait for a connection to one more server; nobody flips a host that often.
const MOST_MOVES: u8 = 8;

impl History {
    /// The server to ask: the fleet's next, then the ones behind those that failed.
    pub(super) fn server<'f>(
        &mut self,
        fleet: &'f FleetPool,
        now: u32,
    ) -> Option<&'f Rc<ServerPool>> {
        let turn = *self.turn.get_or_insert_with(|| fleet.turn());
        fleet.server(turn.wrapping_add(self.failures), now)
    }

    /// A server failed before anything was sent: whether another one is worth it.
    pub(super) fn next_server(&mut self, servers: usize) -> bool {
        self.failures += 1;
        self.failures < servers
    }

    /// The snapshot changed before anything was sent: whether to decide again. What failed in the
    /// fleet that was decided on says nothing about the one that will be.
    pub(super) fn moved(&mut self) -> bool {
        self.failures = 0;
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

    /// An idle connection turned out to be closed before anything was sent.
    pub(super) fn go_fresh(&mut self) {
        self.fresh = true;
    }

    /// An idle connection died after something was sent: whether it is worth sending it again.
    pub(super) fn replay(&mut self) -> bool {
        self.fresh = true;
        !std::mem::replace(&mut self.replayed, true)
    }
}

/// Whether a request may be sent again after `error` ended the idle connection that it was given.
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
        && (!lease.sent() || method.is_idempotent())
}
