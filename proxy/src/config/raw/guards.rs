//! Guards as they are written.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::defaults;

/// Who may use a route, or all routes of a site. A guard of a route takes the place of the site's.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "Guards", title = "Guards")]
pub(crate) struct RawGuards {
    /// The networks whose clients are answered, others get 403: a list, or `true` for this machine
    /// and private networks. Behind a trusted proxy the client is the one that it names.
    #[schemars(extend("x-type" = "network", "default" = false))]
    pub(crate) internal_only: Option<RawInternalOnly>,
    /// Who clients have to prove to be. `false` opens one route of a site that asks.
    #[schemars(extend("default" = false))]
    pub(crate) auth: Option<RawAuth>,
    /// How many requests a client address may make, of IPv6 its /64; more get 429. `false` lifts
    /// the site's limit from one route.
    #[schemars(extend("default" = false))]
    pub(crate) rate_limit: Option<RawRateLimit>,
    /// Bytes of a request's body; more is refused with 413. Default: that of `[limits]`.
    #[schemars(range(min = 1, max = 1_099_511_627_776_u64))]
    pub(crate) max_body_size: Option<u64>,
}

/// The networks whose clients are answered.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "InternalOnly", title = "InternalOnly")]
pub(crate) enum RawInternalOnly {
    /// This machine and private networks, or everybody.
    Flag(bool),
    /// These networks.
    Networks(Vec<String>),
}

/// Who clients have to prove to be.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Auth", title = "Auth")]
pub(crate) enum RawAuth {
    /// Nobody.
    Flag(bool),
    /// What is asked.
    Table(RawAuthTable),
}

/// Exactly one of `basic` and `forward`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AuthTable", title = "AuthTable")]
pub(crate) struct RawAuthTable {
    /// Users with passwords (RFC 7617). The application gets the `Authorization` field too.
    pub(crate) basic: Option<RawBasic>,
    /// Another server that says who may pass.
    pub(crate) forward: Option<RawForwardAuth>,
}

/// Users with passwords.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Basic", title = "Basic")]
pub(crate) struct RawBasic {
    /// What browsers show when they ask for a password. Printable ASCII.
    #[schemars(extend("default" = defaults::REALM))]
    pub(crate) realm: Option<String>,
    /// The users: name = hash of the password, by Argon2 or bcrypt. `fingerpost hash-password` makes one, and
    /// so does `htpasswd -B`.
    #[schemars(required, extend("x-type" = "table of name = hash"))]
    pub(crate) users: Option<BTreeMap<String, String>>,
}

/// A hash, or a password that stands in its place, goes nowhere.
impl fmt::Debug for RawBasic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawBasic").field("realm", &self.realm).finish_non_exhaustive()
    }
}

/// Another server that says who may pass: 2xx passes, 3xx and 4xx go to the client, anything else is 503.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ForwardAuth", title = "ForwardAuth")]
pub(crate) struct RawForwardAuth {
    /// Where it is asked, by GET: `http://host:port/path`. It gets the header of the request, and
    /// `X-Forwarded-Method`, `-Uri`, `-Host`, `-Proto` and `-For`.
    #[schemars(required)]
    pub(crate) url: Option<String>,
    /// Header fields of its answer that the application gets. What a client sends under these names is removed.
    #[schemars(extend("x-type" = "field name", "default" = []))]
    pub(crate) copy_headers: Option<Vec<String>>,
    /// How long it may take.
    #[schemars(extend("x-type" = "duration", "default" = defaults::AUTH_TIMEOUT))]
    pub(crate) timeout: Option<String>,
}

/// How many requests a client address may make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "RateLimit", title = "RateLimit")]
pub(crate) enum RawRateLimit {
    /// Any number.
    Flag(bool),
    /// So many.
    Table(RawRate),
}

/// So many requests in so much time.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Rate", title = "Rate")]
pub(crate) struct RawRate {
    /// Requests in each `per`, evenly spread.
    #[schemars(required, range(min = 1, max = 1_000_000_000))]
    pub(crate) requests: Option<u32>,
    /// The time for `requests`.
    #[schemars(required, extend("x-type" = "duration"))]
    pub(crate) per: Option<String>,
    /// How many of them may come at once. Default: `requests`.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub(crate) burst: Option<u32>,
}
