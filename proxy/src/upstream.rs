//! Connections to upstream servers, owned by one thread.

mod budget;
mod connect;
mod failure;
mod fleet;
pub(crate) mod health;
mod lease;
mod pool;
mod shared;
mod socket;
mod state;

pub(crate) use connect::{connect, connect_one};
pub(crate) use failure::Failure;
pub(crate) use fleet::{Choice, FleetPool, Member, Ticket};
pub(crate) use lease::{Lease, NotSent, Switched};
pub(crate) use pool::{Pools, ServerPool};
pub(crate) use state::{FleetState, ServerState};
