//! What works, but may not do what was meant.

use std::collections::HashMap;

use fingerpost_authority::{Host, HostPattern};
use fingerpost_path::Slug;
use fingerpost_router::{Fallback, PathPattern};

use super::routes::Written;
use super::sites::{Draft, Drafts};
use crate::config::model::{Claim, PathEntry, Scope};
use crate::config::place::Place;
use crate::config::report::Report;
use crate::entry::{Action, FleetId};

/// Looks through the prefix maps.
pub(super) fn maps(
    claims: &[(Claim, Place)],
    routes: &[Written],
    drafts: &Drafts,
    report: &mut Report<'_>,
) {
    let users = fleet_users(routes, drafts);
    let by_host: HashMap<&Host, &Claim> =
        claims.iter().map(|(claim, _)| (&claim.host, claim)).collect();
    for (claim, place) in claims.iter().filter(|(claim, _)| !claim.paths.is_empty()) {
        let paths = place.key("paths");
        let Some(draft) = drafts.get(&HostPattern::Exact(claim.host.clone())) else { continue };
        if draft.options.legacy.is_none() && !draft.unsure {
            let message = format!(
                "legacy is not set on {}, so that paths are read in every way that some stack \
                 reads them; name the stack behind it, such as legacy = \"rails\"",
                claim.host
            );
            report.warn(&paths, message);
        }
        outside_slug(&paths, claim, draft, report);
        if !draft.options.case_sensitive.as_ref().is_some_and(|said| said.value) {
            differ_by_case(&paths, claim, report);
        }
        reachable_elsewhere(claim, draft, routes, &users, &by_host, report);
    }
}

fn outside_slug(paths: &Place, claim: &Claim, draft: &Draft, report: &mut Report<'_>) {
    let slug = draft.options.slug.as_ref().map_or_else(Slug::default, |said| said.value);
    // Where a name is cut: another account may have what stands before.
    let cut = |entry: &PathEntry| entry.prefix.as_str().bytes().position(|b| !slug.contains(b));
    let mut outside = claim.paths.iter().filter_map(|entry| Some((entry, cut(entry)?)));
    let Some((entry, cut)) = outside.next() else { return };
    let more = match outside.count() {
        0 => String::new(),
        more => format!(" ({more} more like it)"),
    };
    let prefix = entry.prefix.as_str();
    let shorter = prefix.get(..cut).filter(|shorter| !shorter.is_empty());
    let danger = shorter.map(|shorter| format!("a flip of {shorter:?} would take it along; "));
    let message = format!(
        "{prefix:?} holds a character outside slug{more}: {}write slug with all characters of \
         account names, such as \"A-Za-z0-9_.-\"",
        danger.unwrap_or_default()
    );
    report.warn(&paths.key(prefix), message);
}

fn differ_by_case(paths: &Place, claim: &Claim, report: &mut Report<'_>) {
    let has_capital =
        |entry: &PathEntry| entry.prefix.as_str().bytes().any(|b| b.is_ascii_uppercase());
    if !claim.paths.iter().any(has_capital) {
        return;
    }
    let mut folded: HashMap<String, &PathEntry> = HashMap::new();
    for entry in &claim.paths {
        let prefix = entry.prefix.as_str();
        let first = folded.entry(prefix.to_ascii_lowercase()).or_insert(entry);
        if first.target != entry.target {
            let message = format!(
                "differs from {:?} only by case, and goes to another target; where the legacy \
                 application tells them apart, write case_sensitive = true",
                first.prefix.as_str()
            );
            report.warn(&paths.key(prefix), message);
        }
    }
}

/// The routes that forward to each fleet, each with one of its hosts; shared routes have none.
type FleetUsers<'a> = HashMap<FleetId, Vec<(Option<&'a HostPattern>, usize)>>;

fn fleet_users<'a>(routes: &[Written], drafts: &'a Drafts) -> FleetUsers<'a> {
    let mut users = FleetUsers::new();
    let of_sites = drafts
        .iter()
        .flat_map(|(host, draft)| draft.routes.iter().map(move |index| (Some(host), *index)));
    let all = 0..routes.len();
    let shared = all.filter(|index| routes.get(*index).is_some_and(Written::is_shared));
    for (host, index) in of_sites.chain(shared.map(|index| (None, index))) {
        if let Some(Action::Forward(fleet)) =
            routes.get(index).and_then(|route| route.action.as_ref())
        {
            users.entry(*fleet).or_default().push((host, index));
        }
    }
    users
}

/// An account that was moved away can still be reached through another host of the same fleet.
fn reachable_elsewhere(
    claim: &Claim,
    draft: &Draft,
    routes: &[Written],
    users: &FleetUsers<'_>,
    claims: &HashMap<&Host, &Claim>,
    report: &mut Report<'_>,
) {
    let own = HostPattern::Exact(claim.host.clone());
    let mut warned: Vec<usize> = Vec::new();
    let fleets = draft.routes.iter().filter_map(|index| match routes.get(*index)?.action {
        Some(Action::Forward(fleet)) => Some(fleet),
        _ => None,
    });
    for &(host, index) in fleets.filter_map(|fleet| users.get(&fleet)).flatten() {
        if report.is_full() {
            return;
        }
        let mapped = match host {
            Some(host) if *host == own => true,
            Some(HostPattern::Exact(host)) => {
                claims.get(host).is_some_and(|other| has_map(other, claim))
            }
            _ => false,
        };
        if mapped || warned.contains(&index) {
            continue;
        }
        warned.push(index);
        let Some(route) = routes.get(index) else { continue };
        let here = host.map_or_else(|| "any host".to_owned(), ToString::to_string);
        let message = format!(
            "the prefixes that are moved away from {} still reach its fleet through this route, \
             on {here}, which does not have the same map",
            claim.host
        );
        report.warn(&route.place.key("fleet"), message);
    }
}

/// Whether a claim moves away everything that another one does. Maps are in the order of their
/// prefixes.
fn has_map(claim: &Claim, other: &Claim) -> bool {
    let target = |prefix: &str| {
        let found = claim.paths.binary_search_by(|entry| entry.prefix.as_str().cmp(prefix)).ok()?;
        claim.paths.get(found).map(|entry| &entry.target)
    };
    other.paths.len() <= claim.paths.len()
        && other.paths.iter().all(|entry| target(entry.prefix.as_str()) == Some(&entry.target))
}

/// Warns of guarded shared routes that a site answers in their place.
pub(super) fn shadowed_guards(routes: &[Written], drafts: &Drafts, report: &mut Report<'_>) {
    for guard in routes.iter().filter(|route| route.guarded && route.scope == Scope::Fallback) {
        let Some(path) = &guard.path else { continue };
        let shadows = |index: &&usize| {
            let route = routes.get(**index).and_then(|route| route.path.as_ref());
            route.is_some_and(|route| overlap(route, path))
        };
        let falls_through = |draft: &Draft| {
            draft.options.fallback.as_ref().is_none_or(|said| said.value == Fallback::Shared)
        };
        let mut shadowed = drafts
            .iter()
            .filter(|(_, draft)| falls_through(draft))
            .filter_map(|(host, draft)| Some((host, draft.routes.iter().find(shadows)?)));
        let Some((host, index)) = shadowed.next() else { continue };
        let more = match shadowed.count() {
            0 => String::new(),
            more => format!(" (and {more} more hosts)"),
        };
        let Some(by) = routes.get(*index) else { continue };
        let message = format!(
            "this guarded route is not reached on {host}{more}: {} takes its path there; with \
             scope = \"every-host\" it is tried first",
            report.cite(&by.place)
        );
        report.warn(&guard.place, message);
    }
}

/// Whether some path matches both patterns.
fn overlap(a: &PathPattern, b: &PathPattern) -> bool {
    let (mut a, mut b) = (a.as_str().split('/'), b.as_str().split('/'));
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            // A slash at the end makes no difference, and a catch-all answers its bare prefix.
            (Some(one), None) | (None, Some(one)) => return one.is_empty() || is_catch_all(one),
            (Some(one), Some(other)) => {
                if is_catch_all(one) || is_catch_all(other) {
                    return true;
                }
                let free = [one, other].iter().any(|it| is_parameter(it));
                if one != other && (!free || one.is_empty() || other.is_empty()) {
                    return false;
                }
            }
        }
    }
}

fn is_catch_all(segment: &str) -> bool {
    segment.starts_with("{*")
}

fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{') && !segment.starts_with("{{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_overlap_where_a_path_matches_both() {
        let rows = [
            ("/{*rest}", "/internal/{*rest}", true),
            ("/internal", "/internal/", true),
            ("/internal", "/internal/{*rest}", true),
            ("/{id}", "/internal", true),
            ("/{id}/x", "/internal/y", false),
            ("/{id}", "/internal/x", false),
            ("/{id}", "/", false),
            ("/{{id}}", "/internal", false),
            ("/a", "/b", false),
            ("/", "/{*rest}", true),
        ];
        for (a, b, want) in rows {
            let (a, b) = (PathPattern::parse(a).unwrap(), PathPattern::parse(b).unwrap());
            assert_eq!(overlap(&a, &b), want, "{a} {b}");
            assert_eq!(overlap(&b, &a), want, "{b} {a}");
        }
    }
}
