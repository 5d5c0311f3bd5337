//! Logging, waiting and forwarding.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::network::Network;

/// What is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// How a line looks.
    pub format: LogFormat,
    /// The least important lines that are logged.
    pub level: LogLevel,
    /// Whether each request is logged.
    pub access: bool,
}

/// How a log line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// How important a log line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the five levels that tracing has")]
pub enum LogLevel {
    /// Something failed.
    Error,
    /// Something needs a look.
    Warn,
    /// Normal operation.
    #[default]
    Info,
    /// What helps to find a fault.
    Debug,
    /// Everything.
    Trace,
}

/// How long the proxy waits for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the header of a request.
    pub header_read_timeout: Duration,
    /// For a client that pauses within a body, its own or the one that it is sent.
    pub body_timeout: Duration,
    /// For the next request on a connection.
    pub keep_alive_timeout: Duration,
    /// For either side of a WebSocket to say something.
    pub websocket_timeout: Duration,
    /// After SIGTERM, before the listeners close.
    pub drain_grace: Duration,
    /// After that, for the requests in flight.
    pub drain_deadline: Duration,
}

/// How much of the machine the proxy uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Threads that serve requests; one for each core when unset.
    pub threads: Option<NonZeroUsize>,
    /// Bytes of the header of a request; more is 431.
    pub max_header_size: usize,
    /// Unused connections that each thread keeps for each server.
    pub upstream_keep_alive: usize,
}

/// What upstream servers are told about the client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forwarding {
    /// Networks whose `X-Forwarded-*` fields are appended to.
    pub trusted_proxies: Vec<Network>,
    /// Whether `Forwarded` (RFC 7239) is sent.
    pub forwarded: bool,
}
