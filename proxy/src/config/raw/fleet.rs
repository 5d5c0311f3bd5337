//! Fleets as they are written.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::defaults;

/// A pool of upstream servers that all serve the same application.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Fleet", title = "Fleet")]
pub(crate) struct RawFleet {
    /// The servers, each `host:port` or a table with `address` and `weight` (1 to 1000). At least one. They
    /// take turns by weight, but for those that have more requests under way than another.
    #[schemars(required, extend("x-type" = "server"))]
    pub(crate) servers: Option<Vec<RawServer>>,
    /// How long connecting to a server may take, with its handshake.
    #[schemars(extend("x-type" = "duration", "default" = defaults::CONNECT_TIMEOUT))]
    pub(crate) connect_timeout: Option<String>,
    /// How long a server may take from the end of the request to the header of its response.
    #[schemars(extend("x-type" = "duration", "default" = defaults::RESPONSE_TIMEOUT))]
    pub(crate) response_timeout: Option<String>,
    /// How long a server may pause within the body of a response.
    #[schemars(extend("x-type" = "duration", "default" = defaults::FLEET_BODY_TIMEOUT))]
    pub(crate) body_timeout: Option<String>,
    /// How long an unused connection to a server is kept for the next request. Keep it shorter
    /// than the server's own keep-alive timeout.
    #[schemars(extend("x-type" = "duration", "default" = defaults::IDLE_TIMEOUT))]
    pub(crate) idle_timeout: Option<String>,
    /// How long an exchange may take in all, from its first attempt to the end of its response; a WebSocket
    /// only until it is open. No limit by default.
    #[schemars(extend("x-type" = "duration"))]
    pub(crate) request_timeout: Option<String>,
    /// After how many failures in a row a server is passed over while another is up: connections that it
    /// didn't give, and responses of `fail_statuses`. 0 never passes one over.
    #[schemars(range(min = 0, max = 1000), extend("default" = defaults::MAX_FAILS))]
    pub(crate) max_fails: Option<u32>,
    /// For how long. Then one request tries it, and so on until one succeeds.
    #[schemars(extend("x-type" = "duration", "default" = defaults::FAIL_TIMEOUT))]
    pub(crate) fail_timeout: Option<String>,
    /// Statuses of responses that count as failures, from 500 to 599. The responses are passed on all the same.
    #[schemars(extend("x-type" = "status", "default" = []))]
    pub(crate) fail_statuses: Option<Vec<u16>>,
    /// How long the share of a server that has come back grows from a tenth to the full one.
    #[schemars(extend("x-type" = "duration", "default" = defaults::SLOW_START))]
    pub(crate) slow_start: Option<String>,
    /// Requests that may be sent a second time, in percent of those of the last ten seconds, beside
    /// three a second; counted by each thread. 0 allows none.
    #[schemars(range(min = 0, max = 100), extend("default" = defaults::RETRY_BUDGET))]
    pub(crate) retry_budget: Option<u32>,
    /// Exchanges that a server is given at once, by all threads together. No limit by default.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) max_connections: Option<u32>,
    /// Requests that may wait at once until a server has room; more get 503 with `Retry-After`.
    #[schemars(range(min = 0, max = 1_000_000), extend("default" = defaults::QUEUE))]
    pub(crate) queue: Option<u32>,
    /// How long a request may wait for room; then it gets the same.
    #[schemars(extend("x-type" = "duration", "default" = defaults::QUEUE_TIMEOUT))]
    pub(crate) queue_timeout: Option<String>,
    /// Asks each server whether it is well, and passes over those that aren't.
    pub(crate) health: Option<RawHealth>,
    /// The version of HTTP that the servers are spoken to.
    #[schemars(extend("default" = "1.1"))]
    pub(crate) http: Option<RawHttp>,
    /// Speaks TLS with the servers, whose certificates are always verified: `true`, or a table.
    pub(crate) tls: Option<RawFleetTls>,
}

/// A version of HTTP.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Http", title = "Http")]
pub(crate) enum RawHttp {
    /// HTTP/1.1.
    #[serde(rename = "1.1")]
    One,
    /// HTTP/2; without TLS the servers have to speak nothing else (h2c by prior knowledge).
    #[serde(rename = "2")]
    Two,
    /// What the server chooses in the handshake of TLS.
    #[serde(rename = "auto")]
    Auto,
}

/// Whether TLS is spoken, or how.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "FleetTls", title = "FleetTls")]
pub(crate) enum RawFleetTls {
    /// With the names of the servers' addresses and the system's root certificates, or not at all.
    On(bool),
    /// With others.
    Table(RawFleetTlsTable),
}

/// How TLS is spoken with servers.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FleetTlsTable", title = "FleetTlsTable")]
pub(crate) struct RawFleetTlsTable {
    /// The name that the servers' certificates must have, and that is asked for (SNI). Default: the host of
    /// each server's address.
    #[schemars(extend("x-type" = "host"))]
    pub(crate) server_name: Option<String>,
    /// A PEM file of the root certificates to trust, instead of the system's.
    #[schemars(extend("x-type" = "file path"))]
    pub(crate) ca: Option<String>,
}

/// A server, or a table with its weight.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Server", title = "Server")]
pub(crate) enum RawServer {
    /// Its address, as in the table's `address`.
    Address(String),
    /// Its address, with a weight.
    Table(RawServerTable),
}

/// A server with a weight.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ServerTable", title = "ServerTable")]
pub(crate) struct RawServerTable {
    /// Where it listens: `host:port`.
    #[schemars(required, extend("x-type" = "server address"))]
    pub(crate) address: Option<String>,
    /// How much it is given beside the others.
    #[schemars(range(min = 1, max = 1000), extend("default" = 1))]
    pub(crate) weight: Option<u32>,
}

/// How servers are asked whether they are well: once for the whole box, whatever its threads.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Health", title = "Health")]
pub(crate) struct RawHealth {
    /// What is asked for with GET.
    #[schemars(required, extend("x-type" = "path"))]
    pub(crate) path: Option<String>,
    /// The `Host` that is asked for. Default: the server's address.
    #[schemars(extend("x-type" = "host"))]
    pub(crate) host: Option<String>,
    /// The pause between two checks of a server; each is up to a quarter longer, by chance.
    #[schemars(extend("x-type" = "duration", "default" = defaults::HEALTH_INTERVAL))]
    pub(crate) interval: Option<String>,
    /// How long a check may take.
    #[schemars(extend("x-type" = "duration", "default" = defaults::HEALTH_TIMEOUT))]
    pub(crate) timeout: Option<String>,
    /// After how many good checks in a row a server is well again.
    #[schemars(range(min = 1, max = 1000), extend("default" = defaults::HEALTHY))]
    pub(crate) healthy: Option<u32>,
    /// After how many bad checks in a row it isn't any more. The first check ever decides by itself.
    #[schemars(range(min = 1, max = 1000), extend("default" = defaults::UNHEALTHY))]
    pub(crate) unhealthy: Option<u32>,
    /// Statuses that a server which is well answers. Default: 200 to 299.
    #[schemars(extend("x-type" = "status"))]
    pub(crate) expect: Option<Vec<u16>>,
}
