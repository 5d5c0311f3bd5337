//! Connections to upstream servers, owned by one thread.

mod connect;
mod failure;
mod lease;
mod pool;

pub(crate) use connect::connect;
pub(crate) use failure::Failure;
pub(crate) use lease::{Lease, Switched};
pub(crate) use pool::{FleetPool, Pools, ServerPool};
