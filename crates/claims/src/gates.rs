//! The gates that a claim and its entries pass before anything is routed, one function each.

use fingerpost_authority::Host;
use fingerpost_path::Prefix;

use crate::{
    Claim, ClaimSet, Code, Facts, Limits, LocalRoute, Name, NotOwned, SiteFacts, Source, Wanted,
};

/// A gate that a claim did not pass.
pub(crate) type Refused = (Code, Option<NotOwned>);

/// The site that a claim's host resolves to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolved<'a> {
    /// The exact host of a route: the claim's host, or the primary that it is an alias of.
    pub(crate) host: &'a Host,
    pub(crate) route: &'a LocalRoute,
}

/// The account may claim the host.
pub(crate) fn owned(
    facts: &Facts,
    claims: &ClaimSet,
    claim: &Claim,
    source: Source,
) -> Result<(), Refused> {
    facts
        .owns_host(claims, &Wanted::of(claim), source)
        .map_err(|why| (Code::HostNotOwned, Some(why)))
}

/// The claim's host, aliases resolved, is a local route of the claim's account and app.
///
/// The claim's account may claim the host: [`owned`] was passed.
pub(crate) fn local<'a>(facts: &'a Facts, claim: &'a Claim) -> Result<Resolved<'a>, Refused> {
    let (account, app) = (claim.account(), claim.app());
    if let Some(route) = facts.route(claim.host()) {
        let same = route.account.as_ref() == Some(account) && route.app.as_ref() == Some(app);
        let other = (Code::HostNotOwned, Some(NotOwned::RouteOfAnother));
        return if same { Ok(Resolved { host: claim.host(), route }) } else { Err(other) };
    }
    if facts.elsewhere(claim.host()).is_some() {
        return Err((Code::HostElsewhere, None));
    }
    let primary = facts.primary(account, app);
    primary
        .and_then(|host| Some(Resolved { host, route: facts.route(host)? }))
        .ok_or((Code::AppUnroutable, None))
}

/// The account may claim the names under the host.
pub(crate) fn names_owned(
    facts: &Facts,
    claims: &ClaimSet,
    claim: &Claim,
    source: Source,
) -> Result<(), Code> {
    facts.owns_names(claims, &Wanted::of(claim), source).map_err(|_| Code::HostNotOwned)
}

/// No route has the names under the host, so that the claim can route them.
pub(crate) fn names_unrouted(facts: &Facts, host: &Host) -> Result<(), Code> {
    let pattern = fingerpost_authority::HostPattern::Wildcard(host.clone());
    if facts.pattern(&pattern).is_some() { Err(Code::WildcardRouted) } else { Ok(()) }
}

/// The entry is within the limit: `at` counts the entries of the map in the byte order of their prefixes.
pub(crate) const fn within_limit(at: usize, limits: &Limits) -> Result<(), Code> {
    if at < limits.max_paths_per_claim { Ok(()) } else { Err(Code::OverLimit) }
}

/// The prefix can be given away. Compared without ASCII case, as the readings of a request are.
pub(crate) fn unreserved(site: &SiteFacts, prefix: &Prefix) -> Result<(), Code> {
    let same = |segment: &[u8]| segment.eq_ignore_ascii_case(prefix.as_bytes());
    let taken = same(WELL_KNOWN)
        || site.reserved.iter().any(|reserved| same(reserved.as_bytes()))
        || site.guarded.iter().any(|segment| same(segment));
    if taken { Err(Code::Reserved) } else { Ok(()) }
}

/// Certificates and verification depend on it.
const WELL_KNOWN: &[u8] = b".well-known";

/// The target is not the site that the prefix is moved away from.
pub(crate) fn not_itself(resolved: &Resolved<'_>, target: &Host) -> Result<(), Code> {
    if resolved.host == target { Err(Code::TargetIsHost) } else { Ok(()) }
}

/// The target is the exact host of a route that this box has. An alias is none.
pub(crate) fn present<'a>(facts: &'a Facts, target: &Host) -> Result<&'a LocalRoute, Code> {
    let elsewhere = || match facts.elsewhere(target) {
        Some(_) => Code::TargetElsewhere,
        None => Code::TargetMissing,
    };
    facts.route(target).ok_or_else(elsewhere)
}

/// The target is of the same account.
pub(crate) fn same_account(route: &LocalRoute, account: &Name) -> Result<(), Code> {
    if route.account.as_ref() == Some(account) { Ok(()) } else { Err(Code::TargetOtherAccount) }
}

/// The target is not marked as not ready.
pub(crate) const fn ready(route: &LocalRoute) -> Result<(), Code> {
    if route.unready { Err(Code::TargetNotReady) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::{Code, local};
    use crate::{Claim, Facts, Limits, LocalRoute, Name, Reach};

    /// The gate holds by itself, whether or not the one before it was passed.
    #[test]
    fn the_route_is_of_the_account_and_of_the_app() {
        let name = |text| Name::parse(text).unwrap();
        let host = fingerpost_authority::Host::parse("a.example").unwrap();
        let cases = [
            (Some("a"), Some("web"), true),
            (Some("b"), Some("web"), false),
            (Some("a"), Some("go"), false),
            (None, Some("web"), false),
            (Some("a"), None, false),
            (None, None, false),
        ];
        for (account, app, passes) in cases {
            let mut facts = Facts::new(Limits::default());
            let (account, app) = (account.map(name), app.map(name));
            facts.add_route(host.clone(), LocalRoute { account, app, ..LocalRoute::default() });
            let claim = Claim::attach(host.clone(), name("a"), name("web"), Reach::default());
            let got = local(&facts, &claim).map(|resolved| resolved.host == &host);
            match got {
                Ok(same) => assert!(passes && same),
                Err((code, _)) => assert!(!passes && code == Code::HostNotOwned),
            }
        }
    }
}
