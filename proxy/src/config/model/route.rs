//! What happens to the requests for one path of one host.

use std::sync::Arc;

use fingerpost_router::PathPattern;

use crate::entry::Action;
use crate::guard::Guards;

/// A route of one host pattern, or a shared one. A route that is written with several hosts is
/// one of these for each.
#[derive(Clone, Debug)]
pub struct Route {
    /// The id: as written, else `HOST PATH`, of a shared route `PATH`.
    pub id: Arc<str>,
    /// The path.
    pub path: PathPattern,
    /// When the route is tried.
    pub scope: Scope,
    /// What it does.
    pub action: Action,
    /// The account: that of the site, of a shared route its own.
    pub account: Option<Arc<str>>,
    /// The app: that of the site, of a shared route its own.
    pub app: Option<Arc<str>>,
    /// Whether it is the one that its app's other hostnames point at.
    pub primary: bool,
    /// Whether spellings that could mean it and another route are refused.
    pub guarded: bool,
    /// Who may use it.
    pub guards: Guards,
    /// Bytes of a request's body; where it is not said, those of all routes.
    pub max_body_size: Option<u64>,
}

/// When a route is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "these are the layers of the router")]
pub enum Scope {
    /// Shared: before the routes of any host.
    EveryHost,
    /// For the requests of its host.
    #[default]
    Site,
    /// Shared: after the routes of the host.
    Fallback,
}
