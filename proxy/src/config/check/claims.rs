//! Claims: each host and target is checked against the routes.

use std::collections::HashMap;

use fingerpost_authority::{Host, HostPattern};
use fingerpost_claims::{ClaimSet, Code, Rows, reconcile};
use fingerpost_path::Prefix;

use super::routes::Written;
use super::sites::{Draft, Drafts};
use super::{options, value};
use crate::config::model::{Claim, Config, PathEntry};
use crate::config::place::Place;
use crate::config::raw::RawClaim;
use crate::config::report::Report;
use crate::config::suggest::did_you_mean;

/// Never a prefix: certificates and verification depend on it.
const WELL_KNOWN: &str = ".well-known";

/// Everything that claims are checked against.
pub(super) struct Claims<'a> {
    pub(super) routes: &'a [Written],
    pub(super) drafts: &'a Drafts,
    /// Whether every host of the file could be read.
    pub(super) hosts_known: bool,
}

impl Claims<'_> {
    /// Checks the claims; each comes back with its place.
    pub(super) fn check(
        &self,
        raw: Option<Vec<RawClaim>>,
        report: &mut Report<'_>,
    ) -> Vec<(Claim, Place)> {
        let all = Place::root().key("claims");
        let mut claims = Vec::new();
        let mut first: HashMap<Host, Place> = HashMap::new();
        for (index, raw) in raw.unwrap_or_default().into_iter().enumerate() {
            let place = all.index(index);
            let at = place.key("host");
            let host = value::optional(&at, raw.host.as_ref(), report, value::host);
            if let Some(host) = &host {
                if let Some(taken) = first.get(host) {
                    let message = format!("{host} is claimed in {} already", report.cite(taken));
                    report.error(&at, message);
                } else {
                    first.insert(host.clone(), place.clone());
                }
            }
            claims.extend(self.claim(&place, host, raw, report).map(|claim| (claim, place)));
        }
        claims
    }

    fn claim(
        &self,
        place: &Place,
        host: Option<Host>,
        raw: RawClaim,
        report: &mut Report<'_>,
    ) -> Option<Claim> {
        let mut name = |key: &str, text: Option<&String>| {
            value::optional(&place.key(key), text, report, value::name)
        };
        let account = name("account", raw.account.as_ref());
        let app = name("app", raw.app.as_ref());
        let mut site = None;
        if let Some(host) = &host {
            site = self.site(&|| place.key("host"), host, "a claim is for", report);
            if let (Some(draft), Some(account), Some(app)) = (site, &account, &app) {
                self.owner(&place.key("host"), host, draft, account, app, report);
            }
        }
        let reserved = site.map(|draft| self.reserved(draft, report)).unwrap_or_default();
        let mut paths = Vec::new();
        for (prefix, target) in raw.paths.unwrap_or_default() {
            let at = || place.key("paths").key(&prefix);
            let free = options::prefix(&prefix).and_then(|prefix| not_reserved(prefix, &reserved));
            let prefix = match free {
                Ok(prefix) => Some(prefix),
                Err(message) => {
                    report.error(&at(), message);
                    None
                }
            };
            let target = self.target(&at, &target, host.as_ref(), account.as_deref(), report);
            if let (Some(prefix), Some(target)) = (prefix, target) {
                paths.push(PathEntry { prefix, target });
            }
        }
        let (wildcard, catchall) = (raw.wildcard.unwrap_or(false), raw.catchall.unwrap_or(false));
        Some(Claim { host: host?, account: account?, app: app?, wildcard, catchall, paths })
    }

    /// Finds the site of an exact host of a route.
    fn site(
        &self,
        at: &dyn Fn() -> Place,
        host: &Host,
        what: &str,
        report: &mut Report<'_>,
    ) -> Option<&Draft> {
        let exact = HostPattern::Exact(host.clone());
        let found = self.drafts.get(&exact);
        if let Some(draft) = found.filter(|draft| !draft.routes.is_empty()) {
            return Some(draft);
        }
        // What may only be misspelled is reported there.
        if !self.hosts_known {
            return None;
        }
        if report.is_full() {
            report.error(&at(), "not shown");
            return None;
        }
        let covering = self.drafts.iter().find(|(pattern, draft)| {
            !draft.routes.is_empty() && pattern.matches(host) && **pattern != exact
        });
        let why = if let Some((pattern, draft)) = covering {
            let route = draft.routes.first().and_then(|index| self.routes.get(*index));
            let cited = route.map(|route| report.cite(&route.place)).unwrap_or_default();
            format!("; {what} an exact host of a route, and only {pattern} of {cited} covers it")
        } else {
            let exact: Vec<_> = self
                .drafts
                .keys()
                .filter_map(|pattern| match pattern {
                    HostPattern::Exact(host) => Some(host.as_str()),
                    _ => None,
                })
                .collect();
            did_you_mean(host.as_str(), exact)
        };
        report.error(&at(), format_args!("no route has the host {host}{why}"));
        None
    }

    /// Checks that the host belongs to the account and app of its claim.
    fn owner(
        &self,
        place: &Place,
        host: &Host,
        draft: &Draft,
        account: &str,
        app: &str,
        report: &mut Report<'_>,
    ) {
        let options = &draft.options;
        let owner = options.account.as_ref().map(|said| (&*said.value, &said.place));
        let of_app = options.app.as_ref().map(|said| (&*said.value, &said.place));
        let mut wrong = |what: &str, wanted: &str, found: Option<(&str, &Place)>| match found {
            Some((found, _)) if found == wanted => {}
            Some((found, said)) => {
                let cited = report.cite(said);
                let message =
                    format!("{host} belongs to the {what} {found:?} by {cited}, not to {wanted:?}");
                report.error(place, message);
            }
            None if draft.unsure => {}
            None => report.error(
                place,
                format_args!("{host} has no {what}: write {what} = {wanted:?} on its route"),
            ),
        };
        wrong("account", account, owner);
        wrong("app", app, of_app);
    }

    /// Checks the host that a prefix is served by.
    fn target(
        &self,
        at: &dyn Fn() -> Place,
        text: &str,
        host: Option<&Host>,
        account: Option<&str>,
        report: &mut Report<'_>,
    ) -> Option<Host> {
        let target = match value::host(text) {
            Ok(target) => target,
            Err(message) => {
                report.error(&at(), message);
                return None;
            }
        };
        if host == Some(&target) {
            report.error(&at(), format_args!("{target} is the claim's own host"));
            return None;
        }
        let draft = self.site(at, &target, "a target is", report)?;
        match (&draft.options.account, account) {
            (_, None) => {}
            (Some(said), Some(account)) if *said.value == *account => {}
            (Some(said), Some(account)) => {
                let cited = report.cite(&said.place);
                let message = format!(
                    "{target} belongs to the account {:?} by {cited}, not to {account:?}",
                    &*said.value
                );
                report.error(&at(), message);
            }
            (None, Some(_)) if draft.unsure => {}
            (None, Some(account)) => {
                let message =
                    format!("{target} has no account: write account = {account:?} on its route");
                report.error(&at(), message);
            }
        }
        Some(target)
    }

    /// First segments that can't be prefixes of a site, each with the reason.
    fn reserved(&self, draft: &Draft, report: &Report<'_>) -> Vec<(Box<str>, String)> {
        let mut reserved = Vec::new();
        if let Some(said) = &draft.options.reserved {
            let cited = report.cite(&said.place);
            for prefix in &said.value {
                reserved.push((prefix.as_str().into(), format!("reserved in {cited}")));
            }
        }
        let rules = draft.options.clone().complete().routing.rules;
        let routes = draft.routes.iter().filter_map(|index| self.routes.get(*index));
        for route in routes.filter(|route| draft.is_guarded(route)) {
            let first = route.path.as_ref().and_then(|path| path.first_literal());
            let Some(first) = first else { continue };
            let why =
                format!("the first segment of a guarded route, {}", report.cite(&route.place));
            // What the backend may leave of it would take the route along too.
            let loosened = rules.loosen(first);
            for segment in [first, loosened.as_slice()] {
                reserved.push((String::from_utf8_lossy(segment).into(), why.clone()));
            }
        }
        reserved
    }
}

/// Reports what of the claims would have no effect, though each of them is fine by itself.
pub(super) fn effects(config: &Config, places: &[Place], report: &mut Report<'_>) {
    let outcome = reconcile(&config.facts(), &ClaimSet::new(), &Rows::default());
    for (claim, place) in config.claims.iter().zip(places) {
        for judged in outcome.report.of_host(&claim.host) {
            if let Some(code) = judged.verdict.code() {
                report.error(&place.key("host"), format_args!("the claim has no effect: {code}"));
            } else if let Some(code) = judged.wildcard {
                let key = if claim.catchall { "catchall" } else { "wildcard" };
                let host = &claim.host;
                let why = match code {
                    Code::WildcardRouted => format!("a route has the host *.{host} already"),
                    Code::HostNotOwned => format!("another account has names under {host}"),
                    code => format!("*.{host} has no effect: {code}"),
                };
                report.error(&place.key(key), why);
            }
            let over = judged.entries.iter().filter(|entry| entry.code == Code::OverLimit).count();
            if over > 0 {
                let (all, limit) = (claim.paths.len(), config.claim_limits.max_paths_per_claim);
                let message = format!("{all} entries, and limits.max_paths_per_claim is {limit}");
                report.error(&place.key("paths"), message);
            }
        }
        if outcome.report.wildcards_over_limit().any(|host| *host == claim.host) {
            let key = if claim.catchall { "catchall" } else { "wildcard" };
            let limit = config.claim_limits.max_wildcards;
            let message = format!("more wildcards than limits.max_wildcards, {limit}");
            report.error(&place.key(key), message);
        }
    }
}

/// Compared without case, as the spellings of a request are.
fn not_reserved(prefix: Prefix, reserved: &[(Box<str>, String)]) -> Result<Prefix, String> {
    let text = prefix.as_str();
    if text.eq_ignore_ascii_case(WELL_KNOWN) {
        return Err(format!("{WELL_KNOWN} can never be a prefix"));
    }
    match reserved.iter().find(|(segment, _)| text.eq_ignore_ascii_case(segment)) {
        Some((_, why)) => Err(format!("{text:?} can't be a prefix: it is {why}")),
        None => Ok(prefix),
    }
}
