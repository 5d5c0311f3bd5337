//! The options of a host as they are written.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::defaults;

/// Options of a host: on a `[[site]]`, or on any route of the host.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "Options", title = "Options")]
pub(crate) struct RawOptions {
    /// The account that the host belongs to.
    pub(crate) account: Option<String>,
    /// The app of that account.
    pub(crate) app: Option<String>,
    /// The stack that runs behind the host's own routes, so that a prefix is found under every
    /// spelling of a path which that stack would read as the prefix: a preset (`generic`,
    /// `rails`, `sinatra`, `servlet`, `php`, `whatwg`, `nextjs`, `nocase`, `restify`, `dotnet`,
    /// `python`, `any`), or a list of them which counts as all together.
    #[schemars(extend("default" = "any"))]
    pub(crate) legacy: Option<RawLegacy>,
    /// Query parameters by which the legacy stack picks a page (`?q=`), where it does.
    #[schemars(extend("default" = []))]
    pub(crate) legacy_query: Option<Vec<String>>,
    /// The bytes that account names are made of, as ranges.
    #[schemars(extend("default" = defaults::SLUG))]
    pub(crate) slug: Option<String>,
    /// Whether the legacy stack tells `Paulca` from `paulca`.
    #[schemars(extend("default" = false))]
    pub(crate) case_sensitive: Option<bool>,
    /// What happens to a path that some readings take for a prefix and some don't.
    #[schemars(extend("default" = "select"))]
    pub(crate) ambiguous: Option<RawChoice>,
    /// What happens to a path whose readings select different routes of the host.
    #[schemars(extend("default" = "select"))]
    pub(crate) ambiguous_paths: Option<RawChoice>,
    /// What a path gets that no route of the host matches.
    #[schemars(extend("default" = "shared"))]
    pub(crate) fallback: Option<RawFallback>,
    /// Marks the app of the host as part of the platform's own control plane.
    #[schemars(extend("default" = false))]
    pub(crate) control_plane: Option<bool>,
    /// First path segments that can't be claimed as prefixes. `.well-known` never can.
    #[schemars(extend("x-type" = "prefix", "default" = []))]
    pub(crate) reserved: Option<Vec<String>>,
    /// How long WebSockets and event streams on the old route live on after a flip.
    #[schemars(extend("x-type" = "duration", "default" = defaults::FLIP_DRAIN))]
    pub(crate) flip_drain: Option<String>,
    /// What a prefix gets whose target is not there.
    #[schemars(extend("default" = "origin"))]
    pub(crate) on_unresolved: Option<RawOnUnresolved>,
}

/// A preset, or a list of presets.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Legacy", title = "Legacy")]
pub(crate) enum RawLegacy {
    /// One preset.
    One(String),
    /// All of these together.
    Many(Vec<String>),
}

/// As it is written, for messages.
impl fmt::Debug for RawLegacy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(name) => name.fmt(f),
            Self::Many(names) => names.fmt(f),
        }
    }
}

/// What happens where the readings of a path disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Choice", title = "Choice")]
pub(crate) enum RawChoice {
    /// The most normalised reading decides.
    Select,
    /// 400 Bad Request.
    Refuse,
}

/// What a path gets that no route of the host matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Fallback", title = "Fallback")]
pub(crate) enum RawFallback {
    /// The shared routes.
    Shared,
    /// 404 Not Found.
    None,
}

/// What a prefix gets whose target is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "OnUnresolved", title = "OnUnresolved")]
pub(crate) enum RawOnUnresolved {
    /// The host's own routes.
    Origin,
    /// 503 if this box has served it from its target before, else the host's own routes.
    Sticky,
    /// 503 Service Unavailable.
    Refuse,
}
