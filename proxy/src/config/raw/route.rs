//! A route as it is written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::guards::RawGuards;
use super::site::RawOptions;
use crate::config::defaults;

/// A route: what happens to the requests for one path of its hosts. It has exactly one of
/// `fleet`, `respond` and `redirect`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Route", title = "Route")]
pub(crate) struct RawRoute {
    /// The name of the route in logs, metrics and `explain`. Default: host and path, as in
    /// `tickets.example /{*rest}`; of a shared route its path.
    pub(crate) id: Option<String>,
    /// Hosts that the route serves: `a.example`, `*.a.example` (exactly one label),
    /// `**.a.example` (one or more labels) or `*` (any host). Without it the route is shared:
    /// the layer under every host. A route in a `[[site]]` has the hosts of its site.
    #[schemars(extend("x-type" = "host pattern"))]
    pub(crate) hosts: Option<Vec<String>>,
    /// The path: literal segments, `{name}` for exactly one segment, and a final `{*name}` for
    /// the rest. `{{` and `}}` are literal braces.
    #[schemars(extend("x-type" = "path pattern", "default" = defaults::PATH))]
    pub(crate) path: Option<String>,
    /// When a route without `hosts` is tried.
    #[schemars(extend("default" = "fallback"))]
    pub(crate) scope: Option<RawScope>,
    /// The fleet that requests are forwarded to.
    pub(crate) fleet: Option<String>,
    /// A fixed response.
    pub(crate) respond: Option<RawRespond>,
    /// A redirect: where to, or a table with `to` and `status`.
    pub(crate) redirect: Option<RawRedirect>,
    /// Marks the route that an app's other hostnames point at, where the app has several.
    #[schemars(extend("default" = false))]
    pub(crate) primary: Option<bool>,
    /// For a path that something else protects: requests which name this route in one reading of
    /// their path and another route in another reading are refused with 400, so that nobody gets
    /// around the protection by an odd spelling.
    #[schemars(extend("default" = false))]
    pub(crate) guarded: Option<bool>,
    /// Who may use the route. What is not said here is that of the `[[site]]` of its hosts.
    #[serde(flatten)]
    pub(crate) guards: RawGuards,
    /// Options of the route's hosts. Two different values for one host are an error.
    #[serde(flatten)]
    pub(crate) options: RawOptions,
}

/// A site: options of one or more hosts, and routes grouped under them.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Site", title = "Site")]
pub(crate) struct RawSite {
    /// The hosts, as in a route.
    #[schemars(required, extend("x-type" = "host pattern"))]
    pub(crate) hosts: Option<Vec<String>>,
    /// Routes of these hosts. They take the site's `account` and `app`.
    pub(crate) routes: Option<Vec<RawRoute>>,
    /// Who may use the routes of these hosts, wherever they are written.
    #[serde(flatten)]
    pub(crate) guards: RawGuards,
    /// Options of these hosts.
    #[serde(flatten)]
    pub(crate) options: RawOptions,
}

/// When a route without `hosts` is tried.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Scope", title = "Scope")]
pub(crate) enum RawScope {
    /// After the routes of the host.
    Fallback,
    /// Before the routes of the host, on every host: health checks, ACME challenges.
    EveryHost,
}

/// A fixed response.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Respond", title = "Respond")]
pub(crate) struct RawRespond {
    /// The status code, 200 to 599.
    #[schemars(range(min = 200, max = 599), extend("default" = defaults::RESPOND_STATUS))]
    pub(crate) status: Option<u16>,
    /// The body.
    #[schemars(extend("default" = ""))]
    pub(crate) body: Option<String>,
    /// The media type of the body.
    #[schemars(extend("default" = defaults::CONTENT_TYPE))]
    pub(crate) content_type: Option<String>,
    /// More header fields: name = value.
    #[schemars(extend("x-type" = "table of name = value"))]
    pub(crate) headers: Option<BTreeMap<String, String>>,
}

/// A redirect: where to, or a table with `to` and `status`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Redirect", title = "Redirect")]
pub(crate) enum RawRedirect {
    /// Where to, as in the table's `to`.
    To(String),
    /// Where to, with a status.
    Table(RawRedirectTable),
}

/// A redirect with a status.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RedirectTable", title = "RedirectTable")]
pub(crate) struct RawRedirectTable {
    /// Where to: a path or an `http(s)://` URL. `{host}`, `{path}` and `{query}` stand for the
    /// requested host, path and query (without its `?`), `{uri}` for path and query, and the
    /// parameters of the route's path for what they matched. `{{` and `}}` are literal braces.
    #[schemars(required)]
    pub(crate) to: Option<String>,
    /// The status code: 301, 302, 303, 307 or 308.
    #[schemars(range(min = 301, max = 308), extend("default" = defaults::REDIRECT_STATUS))]
    pub(crate) status: Option<u16>,
}
