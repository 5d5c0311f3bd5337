//! The configuration as it is written: the one source of its JSON Schema.
//!
//! Every field is optional here, also where the schema requires it: what is missing or has the
//! wrong type was reported by [`super::shape`] and taken out of the tree, and the rest is still
//! checked, so that one run of `check` reports everything.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use self::fleet::{
    RawFleet, RawFleetTls, RawFleetTlsTable, RawHealth, RawHttp, RawServer,
};
pub(crate) use self::guards::{
    RawAuth, RawAuthTable, RawBasic, RawForwardAuth, RawGuards, RawInternalOnly, RawRate,
    RawRateLimit,
};
pub(crate) use self::route::{
    RawRedirect, RawRedirectTable, RawRespond, RawRoute, RawScope, RawSite,
};
pub(crate) use self::site::{RawChoice, RawFallback, RawLegacy, RawOnUnresolved, RawOptions};
pub(crate) use self::tls::{RawCertificate, RawTls, RawTlsVersion};
pub(crate) use self::tuning::{
    RawForwarding, RawHttp2, RawLevel, RawLimits, RawLog, RawLogFormat, RawTimeouts,
};
use super::defaults;

mod fleet;
mod guards;
mod route;
mod site;
mod tls;
mod tuning;

/// Configuration of the `fingerpost` proxy.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Configuration")]
pub(crate) struct RawConfig {
    /// The name of this box, the machine that the proxy runs on.
    #[schemars(extend("default" = defaults::BOX))]
    pub(crate) r#box: Option<String>,
    /// What a request gets whose host no route names.
    #[schemars(extend("default" = "shared"))]
    pub(crate) unknown_host: Option<RawUnknownHost>,
    /// Where the proxy listens.
    pub(crate) listen: Option<RawListen>,
    /// How HTTPS is spoken.
    pub(crate) tls: Option<RawTls>,
    /// Certificates for HTTPS, each for the hosts that it names.
    pub(crate) certificates: Option<Vec<RawCertificate>>,
    /// Where the box keeps what it knows.
    pub(crate) store: Option<RawStore>,
    /// Pools of upstream servers, by name: `[fleets.classic]`.
    pub(crate) fleets: Option<BTreeMap<String, RawFleet>>,
    /// Routes, each for the hosts that it names; without `hosts` a route is shared by all hosts.
    pub(crate) routes: Option<Vec<RawRoute>>,
    /// Sites: the options of one or more hosts, with routes grouped under them.
    pub(crate) site: Option<Vec<RawSite>>,
    /// Claims: who owns a hostname, and which first path segments of it another route serves.
    pub(crate) claims: Option<Vec<RawClaim>>,
    /// Accounts, by name: `[accounts.tickets]`.
    pub(crate) accounts: Option<BTreeMap<String, RawAccount>>,
    /// What is logged, and how.
    pub(crate) log: Option<RawLog>,
    /// How long the proxy waits for clients. What it waits for upstream servers is set per fleet.
    pub(crate) timeouts: Option<RawTimeouts>,
    /// How much of the machine the proxy uses.
    pub(crate) limits: Option<RawLimits>,
    /// How HTTP/2 is spoken with clients.
    pub(crate) http2: Option<RawHttp2>,
    /// What the proxy tells upstream servers about the client.
    pub(crate) forwarding: Option<RawForwarding>,
}

/// What a request gets whose host no route names.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "UnknownHost", title = "UnknownHost")]
pub(crate) enum RawUnknownHost {
    /// The shared routes, and 404 where none of them matches.
    Shared,
    /// 421 Misdirected Request; routes with `scope = "every-host"` still answer.
    Reject,
}

/// Where the proxy listens. An address is an IP address and a port; port 0 takes a free one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Listen", title = "Listen")]
pub(crate) struct RawListen {
    /// Addresses for plain HTTP.
    #[schemars(extend("x-type" = "socket address", "default" = [defaults::HTTP]))]
    pub(crate) http: Option<Vec<String>>,
    /// Addresses for HTTPS. They need `[[certificates]]`.
    #[schemars(extend("x-type" = "socket address", "default" = []))]
    pub(crate) https: Option<Vec<String>>,
    /// Also speaks HTTP/2 without TLS, with clients that know it beforehand. By HTTPS, clients choose it themselves.
    #[schemars(extend("default" = false))]
    pub(crate) h2c: Option<bool>,
    /// Answers requests by HTTP with 308 to HTTPS, where a certificate names the host. Routes with
    /// `scope = "every-host"` and `/.well-known/acme-challenge/TOKEN` are served by HTTP all the same, and so is
    /// what a trusted proxy says came by HTTPS.
    #[schemars(extend("default" = false))]
    pub(crate) redirect_http: Option<bool>,
    /// The port that `redirect_http` sends clients to, as they see it.
    #[schemars(range(min = 1), extend("default" = defaults::HTTPS_PORT))]
    pub(crate) https_port: Option<u16>,
    /// Those of the addresses above on which a proxy in front says first whose connection it is: PROXY protocol,
    /// version 1 or 2. A connection without that is closed. Whoever can reach such an address can say that it is
    /// anybody: keep others away from it.
    #[schemars(extend("x-type" = "socket address", "default" = []))]
    pub(crate) proxy_protocol: Option<Vec<String>>,
    /// Address of the admin listener, on which claims are published. Keep it on a loopback or private
    /// address. Without it nothing is published, and no file is written unless `[store]` says so.
    #[schemars(extend("x-type" = "socket address"))]
    pub(crate) admin: Option<String>,
}

/// Where the box keeps what it knows.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Store", title = "Store")]
pub(crate) struct RawStore {
    /// The SQLite file of the embedded store: claims, audit, history, tokens. A relative path starts where
    /// the proxy is started. Beside it, with `.registry` added to its name, stands the file of the rows that
    /// the box routes by: it starts from them when the store can't be read.
    #[schemars(extend("x-type" = "file path", "default" = defaults::SQLITE))]
    pub(crate) sqlite: Option<String>,
}

/// The claim of one hostname: who owns it, and its prefix map. A claim that the same account has published
/// for the hostname takes its place, until that one is deleted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Claim", title = "Claim")]
pub(crate) struct RawClaim {
    /// The hostname: an exact host of a route of the same account and app.
    #[schemars(required, extend("x-type" = "host"))]
    pub(crate) host: Option<String>,
    /// The account that owns the hostname.
    #[schemars(required)]
    pub(crate) account: Option<String>,
    /// The app of that account which the hostname belongs to.
    #[schemars(required)]
    pub(crate) app: Option<String>,
    /// Claims `*.host` as a name too, so that no other account can claim a host under it.
    #[schemars(extend("default" = false))]
    pub(crate) wildcard: Option<bool>,
    /// Also routes `*.host` to the hostname's own routes.
    #[schemars(extend("default" = false))]
    pub(crate) catchall: Option<bool>,
    /// The prefix map: first path segment (bare, without a slash) = the host whose route serves
    /// it. The target is an exact host of a route of the same account. Everything that is not
    /// listed stays with the hostname's own route.
    #[schemars(extend("x-type" = "table of prefix = host"))]
    pub(crate) paths: Option<BTreeMap<String, String>>,
}

/// What one account may do.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Account", title = "Account")]
pub(crate) struct RawAccount {
    /// Hosts that the account may claim although no route of its own names them.
    #[schemars(extend("x-type" = "host pattern", "default" = []))]
    pub(crate) may_claim: Option<Vec<String>>,
}
