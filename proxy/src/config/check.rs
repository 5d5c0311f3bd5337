//! From the configuration as it is written to the checked model.

use super::diagnostics::Diagnostics;
use fingerpost_router::UnknownHost;

use super::defaults;
use super::model::Config;
use super::place::Place;
use super::raw::{RawConfig, RawUnknownHost};
use super::report::Report;

mod action;
mod base;
mod certificates;
mod claims;
mod fleets;
mod guards;
mod options;
mod routes;
mod sites;
mod value;
mod warnings;

/// Checks everything, and reports all that is wrong; without errors there is a model.
pub(super) fn check(raw: RawConfig, report: &mut Report<'_>) -> Config {
    let place = Place::root().key("box");
    let box_name = value::optional(&place, raw.r#box.as_ref(), report, value::name);
    let https_redirect = base::https_redirect(raw.listen.as_ref(), report);
    let http2 = base::http2(raw.listen.as_ref(), raw.http2);
    let listen = base::listen(raw.listen, report);
    let certificates = certificates::check(raw.certificates, &listen, report);
    let store = base::store(raw.store, &listen, report);
    let fleets = fleets::check(raw.fleets, report);
    let accounts = base::accounts(raw.accounts, report);
    let timeouts = base::timeouts(raw.timeouts, report);
    let forwarding = base::forwarding(raw.forwarding, report);

    let mut written = routes::top_level(raw.routes, &fleets, report);
    let written_sites = routes::grouped(raw.site, &fleets, &mut written, report);
    let drafts = sites::gather(&written, &written_sites, report);
    sites::duplicates(&written, &drafts, report);
    sites::duplicate_ids(&written, report);
    let incomplete = written.iter().any(|route| route.hosts.incomplete)
        || written_sites.iter().any(|site| site.hosts.incomplete)
        || report.is_broken(&Place::root().key("routes"))
        || report.is_broken(&Place::root().key("site"));
    let against = claims::Claims { routes: &written, drafts: &drafts, hosts_known: !incomplete };
    let claims = against.check(raw.claims, report);
    warnings::maps(&claims, &written, &drafts, report);
    warnings::shadowed_guards(&written, &drafts, report);

    let (claims, places): (Vec<_>, Vec<_>) = claims.into_iter().unzip();
    let config = Config {
        box_name: box_name.unwrap_or_else(|| defaults::BOX.into()),
        unknown_host: raw.unknown_host.map_or(UnknownHost::Shared, |what| match what {
            RawUnknownHost::Shared => UnknownHost::Shared,
            RawUnknownHost::Reject => UnknownHost::Reject,
        }),
        listen,
        http2,
        admission: base::admission(raw.limits.as_ref()),
        https_redirect,
        min_tls: certificates::min_version(raw.tls),
        certificates,
        store,
        fleets,
        shared: sites::build_shared(&written),
        sites: sites::build(&written, drafts),
        claims,
        accounts,
        claim_limits: base::claim_limits(raw.limits.as_ref()),
        log: base::log(raw.log),
        timeouts,
        limits: base::limits(raw.limits),
        forwarding,
        warnings: Diagnostics::new("", Vec::new()),
    };
    if !report.has_errors() {
        claims::effects(&config, &places, report);
    }
    config
}
