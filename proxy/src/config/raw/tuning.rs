//! Logging, limits and forwarding as they are written.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::defaults;

/// What is logged, and how.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Log", title = "Log")]
pub(crate) struct RawLog {
    /// How a log line looks.
    #[schemars(extend("default" = "text"))]
    pub(crate) format: Option<RawLogFormat>,
    /// The least important lines that are logged.
    #[schemars(extend("default" = "info"))]
    pub(crate) level: Option<RawLevel>,
    /// Writes one line for each request.
    #[schemars(extend("default" = false))]
    pub(crate) access: Option<bool>,
}

/// How a log line looks.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "LogFormat", title = "LogFormat")]
pub(crate) enum RawLogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// How important a log line is.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Level", title = "Level")]
pub(crate) enum RawLevel {
    /// Something failed.
    Error,
    /// Something needs a look.
    Warn,
    /// What happens in normal operation.
    Info,
    /// What helps to find a fault.
    Debug,
    /// Everything.
    Trace,
}

/// How long the proxy waits for clients, and for requests in flight when it stops.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Timeouts", title = "Timeouts")]
pub(crate) struct RawTimeouts {
    /// How long a client may take to send the header of a request.
    #[schemars(extend("x-type" = "duration", "default" = defaults::HEADER_READ_TIMEOUT))]
    pub(crate) header_read_timeout: Option<String>,
    /// How long a client may pause within the body of a request, or in taking a response.
    #[schemars(extend("x-type" = "duration", "default" = defaults::BODY_TIMEOUT))]
    pub(crate) body_timeout: Option<String>,
    /// How long a client's connection is kept open between two requests.
    #[schemars(extend("x-type" = "duration", "default" = defaults::KEEP_ALIVE_TIMEOUT))]
    pub(crate) keep_alive_timeout: Option<String>,
    /// How long a WebSocket may be silent in both directions.
    #[schemars(extend("x-type" = "duration", "default" = defaults::WEBSOCKET_TIMEOUT))]
    pub(crate) websocket_timeout: Option<String>,
    /// On SIGTERM: how long the listeners serve on, with `Connection: close`, while load
    /// balancers notice that the box is going away.
    #[schemars(extend("x-type" = "duration", "default" = defaults::DRAIN_GRACE))]
    pub(crate) drain_grace: Option<String>,
    /// On SIGTERM, after `drain_grace`: how long requests in flight may take to finish.
    #[schemars(extend("x-type" = "duration", "default" = defaults::DRAIN_DEADLINE))]
    pub(crate) drain_deadline: Option<String>,
}

/// How much of the machine the proxy uses.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Limits", title = "Limits")]
pub(crate) struct RawLimits {
    /// Threads that serve requests. Default: one for each core.
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) threads: Option<u16>,
    /// Bytes of the request line and the header of a request together; more is refused with 431.
    #[schemars(range(min = 1024, max = 1_048_576), extend("default" = defaults::MAX_HEADER_SIZE))]
    pub(crate) max_header_size: Option<u32>,
    /// Fields in the header of a request; more are refused with 431.
    #[schemars(range(min = 1, max = 10_000), extend("default" = defaults::MAX_HEADERS))]
    pub(crate) max_headers: Option<u16>,
    /// Bytes of a request's body, where the route and its site don't say otherwise; more is refused with 413.
    /// Default: any number.
    #[schemars(range(min = 1, max = 1_099_511_627_776_u64))]
    pub(crate) max_body_size: Option<u64>,
    /// Connections of clients; more are answered 503 and closed.
    #[schemars(range(min = 1, max = 100_000_000), extend("default" = defaults::MAX_CONNECTIONS))]
    pub(crate) max_connections: Option<u32>,
    /// Connections of one client address, of IPv6 its /64. Trusted proxies are exempt. Default: any number.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub(crate) max_connections_per_address: Option<u32>,
    /// Requests on one connection, which is then closed with a word. Default: any number.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub(crate) max_requests_per_connection: Option<u32>,
    /// Unused connections that each thread keeps for each server of a fleet.
    #[schemars(extend("default" = defaults::UPSTREAM_KEEP_ALIVE))]
    pub(crate) upstream_keep_alive: Option<u16>,
    /// Entries of one claim's prefix map. The write door refuses a larger one.
    #[schemars(range(min = 1, max = 1_000_000), extend("default" = defaults::MAX_PATHS_PER_CLAIM))]
    pub(crate) max_paths_per_claim: Option<u32>,
    /// Claims of `*.host`, over all accounts.
    #[schemars(range(min = 0, max = 100_000), extend("default" = defaults::MAX_WILDCARDS))]
    pub(crate) max_wildcards: Option<u32>,
}

/// How HTTP/2 is spoken with clients. Limits that have the same name for every version hold here too; a client
/// is told of `max_header_size`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Http2", title = "Http2")]
pub(crate) struct RawHttp2 {
    /// Exchanges that one connection may have under way at once. Clients are told of it; more are refused.
    #[schemars(range(min = 1, max = 10_000), extend("default" = defaults::MAX_CONCURRENT_STREAMS))]
    pub(crate) max_concurrent_streams: Option<u32>,
    /// How many more exchanges a client may give up than it lets us answer, and how many malformed ones it may
    /// send; then its connection is closed. A client that does nothing else makes servers work for nobody.
    #[schemars(range(min = 1, max = 1_000_000), extend("default" = defaults::MAX_RESETS))]
    pub(crate) max_resets: Option<u32>,
}

/// What the proxy tells upstream servers about the client.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Forwarding", title = "Forwarding")]
pub(crate) struct RawForwarding {
    /// Networks of proxies in front of this one: the `X-Forwarded-*` fields that they send are
    /// kept and appended to. Those of everybody else are replaced.
    #[schemars(extend("x-type" = "network", "default" = []))]
    pub(crate) trusted_proxies: Option<Vec<String>>,
    /// Also sends `Forwarded` (RFC 7239).
    #[schemars(extend("default" = false))]
    pub(crate) forwarded: Option<bool>,
}
