//! What one host pattern owns.

use std::sync::Arc;
use std::time::Duration;

use fingerpost_authority::HostPattern;
use fingerpost_path::Prefix;

use super::Route;

/// The routes and options of one host pattern.
#[derive(Clone, Debug)]
pub struct Site {
    /// The pattern.
    pub pattern: HostPattern,
    /// Its options.
    pub options: SiteOptions,
    /// Its routes in the order of the file; none where only options were written. No two have
    /// the same path, parameter names aside.
    pub routes: Vec<Route>,
}

/// The options of one host pattern.
#[derive(Clone, Debug)]
pub struct SiteOptions {
    /// The account that it belongs to.
    pub account: Option<Arc<str>>,
    /// The app of that account.
    pub app: Option<Arc<str>>,
    /// What the router needs to know: how paths are read, and what happens where readings
    /// disagree or nothing matches.
    pub routing: fingerpost_router::SiteOptions,
    /// Whether nobody has said what runs behind the host's own routes.
    pub legacy_unset: bool,
    /// Whether the app is part of the control plane.
    pub control_plane: bool,
    /// First segments that can't be claimed, besides `.well-known`.
    pub reserved: Vec<Prefix>,
    /// How long WebSockets and event streams on the old route live on after a flip.
    pub flip_drain: Duration,
    /// What a prefix gets whose target is not there.
    pub on_unresolved: OnUnresolved,
}

/// What a prefix gets whose target is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnUnresolved {
    /// The host's own routes.
    #[default]
    Origin,
    /// 503 where this box has served it before, else the host's own routes.
    Sticky,
    /// 503.
    Refuse,
}
