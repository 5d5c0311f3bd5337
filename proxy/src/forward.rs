//! Passing a request on to an upstream server, and its response back.

mod dispatch;
mod download;
mod expect;
mod http2;
mod queue;
mod retry;
mod trailers;
mod tunnel;
mod upload;

pub(crate) use dispatch::{Attempt, Order, attempt};
pub(crate) use download::Download;
pub(crate) use retry::History;
pub(crate) use tunnel::Tunnel;
pub(crate) use upload::{Inbound, Upload};
