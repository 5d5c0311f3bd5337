//! The routes as they are written: each with all its hosts, before they are sorted into sites.

use std::collections::HashSet;
use std::sync::Arc;

use fingerpost_authority::HostPattern;
use fingerpost_router::PathPattern;

use super::guards;
use super::options::Declared;
use super::{action, value};
use crate::config::defaults;
use crate::config::model::{Fleet, Scope};
use crate::config::place::Place;
use crate::config::raw::{RawRoute, RawScope, RawSite};
use crate::config::report::Report;
use crate::entry::Action;

/// One route of the file.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) place: Place,
    pub(super) id: Option<Arc<str>>,
    /// The hosts; none on a shared route.
    pub(super) hosts: Hosts,
    /// The path, unless it is not known because of an error.
    pub(super) path: Option<PathPattern>,
    pub(super) scope: Scope,
    pub(super) action: Option<Action>,
    pub(super) primary: bool,
    /// By a key of its own; its sites may guard it too.
    pub(super) guarded: bool,
    pub(super) guards: guards::Declared,
    pub(super) options: Declared,
}

/// A `[[site]]` without its routes.
#[derive(Debug)]
pub(super) struct WrittenSite {
    pub(super) place: Place,
    pub(super) hosts: Hosts,
    pub(super) guards: guards::Declared,
    pub(super) options: Declared,
}

/// The hosts of a route or site.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    pub(super) patterns: Vec<HostPattern>,
    /// Whether there may be more, which could not be read.
    pub(super) incomplete: bool,
}

impl Written {
    /// Whether the route is in the layer under all hosts.
    pub(super) fn is_shared(&self) -> bool {
        self.scope != Scope::Site
    }

    /// Where to point at for the path: the key, or the route when it has the default.
    pub(super) fn path_place(&self) -> Place {
        self.place.key("path")
    }
}

/// Checks the routes of the top level.
pub(super) fn top_level(
    raw: Option<Vec<RawRoute>>,
    fleets: &[Fleet],
    report: &mut Report<'_>,
) -> Vec<Written> {
    let all = Place::root().key("routes");
    let mut routes = Vec::new();
    for (index, raw) in raw.unwrap_or_default().into_iter().enumerate() {
        let place = all.index(index);
        let hosts = hosts(&place, raw.hosts.as_ref(), report);
        let scope = match (&hosts, raw.scope) {
            (Some(_), None) => Scope::Site,
            (Some(_), Some(_)) => {
                let message = "scope is for routes without hosts, and this one has hosts";
                report.error(&place.key("scope"), message);
                Scope::Site
            }
            // Its hosts may be what was misspelled: it is neither checked as a shared route nor
            // as one of a host.
            (None, None) if report.is_broken(&place) => Scope::Site,
            (None, _) if report.is_broken(&place.key("hosts")) => Scope::Site,
            (None, Some(RawScope::EveryHost)) => Scope::EveryHost,
            (None, Some(RawScope::Fallback)) => Scope::Fallback,
            (None, None) => Scope::Fallback,
        };
        let missing = Hosts { patterns: Vec::new(), incomplete: scope == Scope::Site };
        let route = check(place, hosts.unwrap_or(missing), scope, &raw, fleets, report);
        if route.is_shared() {
            shared_options(&route, report);
        }
        routes.push(route);
    }
    routes
}

/// Checks the sites, and the routes grouped under them.
pub(super) fn grouped(
    raw: Option<Vec<RawSite>>,
    fleets: &[Fleet],
    routes: &mut Vec<Written>,
    report: &mut Report<'_>,
) -> Vec<WrittenSite> {
    let all = Place::root().key("site");
    let mut sites = Vec::new();
    for (index, raw) in raw.unwrap_or_default().into_iter().enumerate() {
        let place = all.index(index);
        let missing = Hosts { patterns: Vec::new(), incomplete: true };
        let hosts = hosts(&place, raw.hosts.as_ref(), report).unwrap_or(missing);
        let options = Declared::check(&place, &raw.options, report);
        let guards = guards::Declared::check(&place, &raw.guards, report);
        for (index, raw) in raw.routes.unwrap_or_default().into_iter().enumerate() {
            let place = place.key("routes").index(index);
            let taken = [("hosts", raw.hosts.is_some()), ("scope", raw.scope.is_some())];
            for (key, _) in taken.iter().filter(|(_, is_written)| *is_written) {
                report.error(&place.key(key), "a route in a [[site]] has the hosts of the site");
            }
            routes.push(check(place, hosts.clone(), Scope::Site, &raw, fleets, report));
        }
        sites.push(WrittenSite { place, hosts, guards, options });
    }
    sites
}

fn check(
    place: Place,
    hosts: Hosts,
    scope: Scope,
    raw: &RawRoute,
    fleets: &[Fleet],
    report: &mut Report<'_>,
) -> Written {
    let id = value::optional(&place.key("id"), raw.id.as_ref(), report, value::name);
    let path = path(&place, raw.path.as_deref(), report);
    let action = action::check(&place, raw, path.as_ref(), fleets, report);
    let options = Declared::check(&place, &raw.options, report);
    let guards = guards::Declared::check(&place, &raw.guards, report);
    let primary = raw.primary.unwrap_or(false);
    let guarded = raw.guarded.unwrap_or(false) || guards.close();
    Written { place, id, hosts, path, scope, action, primary, guarded, guards, options }
}

/// Checks the hosts of a route or site; none when it does not say any.
fn hosts(table: &Place, raw: Option<&Vec<String>>, report: &mut Report<'_>) -> Option<Hosts> {
    let raw = raw?;
    let place = table.key("hosts");
    if raw.is_empty() {
        let what = "is empty: name a host, or take the key out for a route that all hosts share";
        report.error(&place, what);
    }
    let parsed = value::list(&place, Some(raw), report, value::host_pattern);
    let incomplete = parsed.len() < raw.len();
    let mut patterns = Vec::new();
    let mut seen = HashSet::new();
    for (pattern, place) in parsed {
        if seen.insert(pattern.clone()) {
            patterns.push(pattern);
        } else {
            report.error(&place, format_args!("the host {pattern} is listed twice"));
        }
    }
    Some(Hosts { patterns, incomplete })
}

fn path(route: &Place, raw: Option<&str>, report: &mut Report<'_>) -> Option<PathPattern> {
    let place = route.key("path");
    if raw.is_none() && report.is_broken(route) {
        return None;
    }
    let text = raw.unwrap_or(defaults::PATH);
    match PathPattern::parse(text) {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            report.error(&place, format_args!("{text:?} is not a path: {}", value::chain(&error)));
            None
        }
    }
}

fn shared_options(route: &Written, report: &mut Report<'_>) {
    let own = [&route.options.account, &route.options.app];
    let own: Vec<_> = own.into_iter().flatten().map(|said| &said.place).collect();
    for place in route.options.places().filter(|place| !own.contains(place)) {
        report.error(place, "an option of a host, and this route has no hosts");
    }
    if route.primary {
        report.error(&route.place.key("primary"), "this route has no hosts to be the primary of");
    }
}
