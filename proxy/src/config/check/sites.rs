//! Sorts the routes into the sites of their hosts.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use fingerpost_authority::HostPattern;

use super::guards;
use super::options::{Contradictions, Declared};
use super::routes::{Written, WrittenSite};
use crate::config::model::{Route, Scope, Site};
use crate::config::place::Place;
use crate::config::report::Report;

/// Everything that the file says of each host, in matching order.
pub(super) type Drafts = BTreeMap<HostPattern, Draft>;

/// What the file says of one host.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) options: Declared,
    /// The guards of its `[[site]]`.
    pub(super) guards: guards::Declared,
    /// Indices of its routes.
    pub(super) routes: Vec<usize>,
    /// Whether a place that speaks of it has the wrong shape, so that more may be meant.
    pub(super) unsure: bool,
}

impl Draft {
    /// Whether one of its routes is guarded, by itself or as all of them are.
    pub(super) fn is_guarded(&self, route: &Written) -> bool {
        route.guarded || route.guards.or(&self.guards).close()
    }
}

/// Gathers routes and options by host. Takes `n log n` time in the hosts written.
pub(super) fn gather(routes: &[Written], sites: &[WrittenSite], report: &mut Report<'_>) -> Drafts {
    let mut drafts = Drafts::new();
    let mut known = Contradictions::new();
    for site in sites {
        let unsure = report.is_broken(&site.place);
        for host in &site.hosts.patterns {
            let draft = drafts.entry(host.clone()).or_default();
            draft.options.merge(host, &site.options, &mut known, report);
            draft.guards.merge(host, &site.guards, &mut known, report);
            draft.unsure |= unsure;
        }
    }
    for (index, route) in routes.iter().enumerate() {
        let unsure = report.is_broken(&route.place);
        for host in &route.hosts.patterns {
            let draft = drafts.entry(host.clone()).or_default();
            draft.options.merge(host, &route.options, &mut known, report);
            draft.routes.push(index);
            draft.unsure |= unsure;
        }
    }
    drafts
}

/// Reports routes that have the same host and path, each pair once for all its hosts.
pub(super) fn duplicates(routes: &[Written], drafts: &Drafts, report: &mut Report<'_>) {
    let mut pairs: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    let shared: Vec<usize> = (0..routes.len())
        .filter(|index| routes.get(*index).is_some_and(Written::is_shared))
        .collect();
    let layers = drafts.iter().map(|(host, draft)| (Some(host), &draft.routes));
    for (host, indices) in layers.chain([(None, &shared)]) {
        let mut first = HashMap::new();
        for &index in indices {
            let Some(path) = routes.get(index).and_then(|route| route.path.as_ref()) else {
                continue;
            };
            match first.entry(path) {
                Entry::Vacant(free) => _ = free.insert(index),
                Entry::Occupied(taken) => pairs
                    .entry((*taken.get(), index))
                    .or_default()
                    .extend(host.map(ToString::to_string)),
            }
        }
    }
    for ((first, second), hosts) in pairs {
        let (Some(first), Some(second)) = (routes.get(first), routes.get(second)) else { continue };
        report_duplicate(first, second, &hosts, report);
    }
}

fn report_duplicate(first: &Written, second: &Written, hosts: &[String], report: &mut Report<'_>) {
    let (Some(taken), Some(path)) = (&first.path, &second.path) else { return };
    let of = match hosts {
        [] => "without hosts".to_owned(),
        [one] => format!("of {one}"),
        [one, more @ ..] => format!("of {one} (and {} more)", more.len()),
    };
    let same = if taken.as_str() == path.as_str() {
        String::new()
    } else {
        format!(", written {:?} there", taken.as_str())
    };
    let message = format!(
        "the path {:?} {of} is that of {} already{same}",
        path.as_str(),
        report.cite(&first.place)
    );
    report.error(&second.path_place(), message);
}

/// Reports ids that name two routes.
pub(super) fn duplicate_ids(routes: &[Written], report: &mut Report<'_>) {
    let mut first: HashMap<Arc<str>, &Place> = HashMap::new();
    for route in routes {
        let Some(id) = &route.id else { continue };
        if let Some(taken) = first.get(id) {
            let message = format!("the id {id:?} is that of {} already", report.cite(taken));
            report.error(&route.place.key("id"), message);
        } else {
            first.insert(id.clone(), &route.place);
        }
    }
    for route in routes.iter().filter(|route| route.id.is_none()) {
        let hosts = route.hosts.patterns.iter().map(Some);
        for host in hosts.chain(route.is_shared().then_some(None)) {
            let Some(id) = default_id(route, host) else { continue };
            if let Some(taken) = first.get(&id) {
                let message =
                    format!("the id {id:?} is that of {} by default", report.cite(&route.place));
                report.error(&taken.key("id"), message);
            }
        }
    }
}

/// Builds the sites. Routes with errors are left out; there are none when all is well.
pub(super) fn build(routes: &[Written], drafts: Drafts) -> Vec<Site> {
    let mut sites = Vec::with_capacity(drafts.len());
    for (pattern, draft) in drafts {
        let options = draft.options.clone().complete();
        let of_site = draft.routes.iter().filter_map(|index| {
            let written = routes.get(*index)?;
            let mut route = build_route(written, Some(&pattern))?;
            let guards = written.guards.or(&draft.guards);
            (route.guards, route.max_body_size) = (guards.complete(), guards.body_size());
            route.guarded = draft.is_guarded(written);
            route.account.clone_from(&options.account);
            route.app.clone_from(&options.app);
            Some(route)
        });
        sites.push(Site { routes: of_site.collect(), pattern: pattern.clone(), options });
    }
    sites
}

/// Builds the routes without hosts.
pub(super) fn build_shared(routes: &[Written]) -> Vec<Route> {
    let shared = routes.iter().filter(|route| route.is_shared());
    shared.filter_map(|route| build_route(route, None)).collect()
}

fn build_route(route: &Written, host: Option<&HostPattern>) -> Option<Route> {
    Some(Route {
        id: route.id.clone().or_else(|| default_id(route, host))?,
        path: route.path.clone()?,
        scope: if host.is_some() { Scope::Site } else { route.scope },
        action: route.action.clone()?,
        account: route.options.account.as_ref().map(|said| said.value.clone()),
        app: route.options.app.as_ref().map(|said| said.value.clone()),
        primary: route.primary,
        guarded: route.guarded,
        guards: route.guards.complete(),
        max_body_size: route.guards.body_size(),
    })
}

fn default_id(route: &Written, host: Option<&HostPattern>) -> Option<Arc<str>> {
    let path = route.path.as_ref()?.as_str();
    Some(host.map_or_else(|| path.into(), |host| format!("{host} {path}").into()))
}
