//! What a box knows without any stored claim.

use std::collections::{BTreeMap, BTreeSet};

use fingerpost_authority::{Host, HostPattern};
use fingerpost_path::{Prefix, Slug};

use crate::{Claim, Limits, Name};

/// What a box knows without any stored claim: routes, and what the operator has written.
///
/// It changes when the configuration or a pushed route does; then everything is reconciled anew.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    routes: BTreeMap<Host, LocalRoute>,
    patterns: BTreeMap<HostPattern, BTreeSet<Option<Name>>>,
    elsewhere: BTreeMap<Host, BTreeSet<Option<Name>>>,
    may_claim: BTreeMap<Name, BTreeSet<HostPattern>>,
    config_claims: BTreeMap<Host, Claim>,
    apps: BTreeMap<(Name, Name), BTreeSet<Host>>,
    fleets: BTreeMap<Box<str>, BTreeSet<HostPattern>>,
    limits: Limits,
}

/// The routes of one exact host, as far as claims need to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "written out by callers")]
pub struct LocalRoute {
    /// Whose it is; `None` matches nobody.
    pub account: Option<Name>,
    /// The app of that account; `None` matches none.
    pub app: Option<Name>,
    /// The box that serves it, if this one sends it there.
    pub home: Option<Name>,
    /// Whether it is marked as not ready. Never the opinion of a health check.
    pub unready: bool,
    /// Whether its app's other hostnames point at it.
    pub primary: bool,
    /// What its site says of claims.
    pub site: SiteFacts,
}

/// What a site says of claims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "written out by callers")]
pub struct SiteFacts {
    /// First segments that can't be claimed, besides `.well-known`.
    pub reserved: Vec<Prefix>,
    /// The static first segments of guarded routes, decoded, which can't be claimed either.
    pub guarded: Vec<Box<[u8]>>,
    /// What a prefix gets whose target is not there.
    pub on_unresolved: OnUnresolved,
    /// Whether nobody has said what runs behind the origin; only for a [`Warning`](crate::Warning).
    pub legacy_unset: bool,
    /// The bytes that account names are made of; only for a [`Warning`](crate::Warning).
    pub slug: Slug,
}

/// What a prefix gets whose target is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete: the origin answers always, never, or only at first"
)]
pub enum OnUnresolved {
    /// The origin answers.
    #[default]
    Origin,
    /// 503 where this box has served it before, else the origin.
    Sticky,
    /// 503.
    Refuse,
}

impl Facts {
    /// Nothing but limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Adds the routes of an exact host; what was known of it before is forgotten.
    pub fn add_route(&mut self, host: Host, route: LocalRoute) {
        let app = |route: &LocalRoute| route.account.clone().zip(route.app.clone());
        if let Some(known) = self.routes.get(&host).and_then(app)
            && let Some(hosts) = self.apps.get_mut(&known)
        {
            hosts.remove(&host);
        }
        if let Some(app) = app(&route) {
            self.apps.entry(app).or_default().insert(host.clone());
        }
        self.routes.insert(host, route);
    }

    /// Adds a host pattern of routes, of any box. An exact one is of another box.
    pub fn add_pattern(&mut self, pattern: HostPattern, account: Option<Name>) {
        match pattern {
            HostPattern::Exact(host) => self.add_elsewhere(host, account),
            pattern => {
                self.patterns.entry(pattern).or_default().insert(account);
            }
        }
    }

    /// Adds an exact host whose routes are on another box that this one knows no way to.
    pub fn add_elsewhere(&mut self, host: Host, account: Option<Name>) {
        self.elsewhere.entry(host).or_default().insert(account);
    }

    /// Adds that a route of `pattern` forwards to `fleet`; only for a [`Warning`](crate::Warning). Routes shared by
    /// all hosts have the pattern `*`.
    pub fn add_fleet(&mut self, fleet: &str, pattern: HostPattern) {
        self.fleets.entry(fleet.into()).or_default().insert(pattern);
    }

    /// Allows an account to claim what `pattern` matches, where no route of its own has the host.
    pub fn allow(&mut self, account: Name, pattern: HostPattern) {
        self.may_claim.entry(account).or_default().insert(pattern);
    }

    /// Adds a claim of the configuration; one of the same host is forgotten.
    pub fn add_config_claim(&mut self, claim: Claim) {
        self.config_claims.insert(claim.host().clone(), claim);
    }

    /// The limits.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The routes of an exact host.
    #[must_use]
    pub fn route(&self, host: &Host) -> Option<&LocalRoute> {
        self.routes.get(host)
    }

    /// The claim of a host in the configuration.
    #[must_use]
    pub fn config_claim(&self, host: &Host) -> Option<&Claim> {
        self.config_claims.get(host)
    }

    /// The host that other hostnames of an app point at: the one marked primary, or the only one.
    #[must_use]
    pub fn primary(&self, account: &Name, app: &Name) -> Option<&Host> {
        let hosts = self.apps.get(&(account.clone(), app.clone()))?;
        let marked = |host: &&Host| self.routes.get(host).is_some_and(|route| route.primary);
        let candidates = if hosts.iter().any(|host| marked(&host)) {
            hosts.iter().filter(marked).take(2).collect()
        } else {
            hosts.iter().take(2).collect::<Vec<_>>()
        };
        if let [only] = *candidates { Some(only) } else { None }
    }

    pub(crate) fn config_claims(&self) -> impl Iterator<Item = (&Host, &Claim)> {
        self.config_claims.iter()
    }

    /// Whose routes have this exact host on other boxes.
    pub(crate) fn elsewhere(&self, host: &Host) -> Option<&BTreeSet<Option<Name>>> {
        self.elsewhere.get(host)
    }

    /// Whose routes have this pattern.
    pub(crate) fn pattern(&self, pattern: &HostPattern) -> Option<&BTreeSet<Option<Name>>> {
        self.patterns.get(pattern)
    }

    /// Patterns that reach a fleet of this host's own routes, without the host itself.
    pub(crate) fn ways_around(&self, host: &Host) -> BTreeSet<&HostPattern> {
        let own = HostPattern::Exact(host.clone());
        let fleets = self.fleets.values().filter(|patterns| patterns.contains(&own));
        fleets.flatten().filter(|pattern| **pattern != own).collect()
    }

    /// What the operator allows an account to claim.
    pub(crate) fn grants(&self, account: &Name) -> impl Iterator<Item = &HostPattern> {
        self.may_claim.get(account).into_iter().flatten()
    }
}
