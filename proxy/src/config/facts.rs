//! What a configuration says that claims are judged by.

use std::sync::Arc;

use fingerpost_authority::HostPattern;
use fingerpost_claims::{Claim, Facts, LocalRoute, Name, PathMap, Reach, SiteFacts};

use super::{Config, Site};
use crate::entry::Action;

impl Config {
    /// What claims are judged by: routes and their owners, who may claim what, and the claims that stand in the
    /// configuration itself.
    ///
    /// # Complexity
    /// `n log n` in routes and entries.
    pub fn facts(&self) -> Facts {
        let mut facts = self.facts_without_claims();
        for claim in self.claims.iter().filter_map(|claim| to_claim(self, claim)) {
            facts.add_config_claim(claim);
        }
        facts
    }

    /// The same without the claims of the configuration.
    pub(crate) fn facts_without_claims(&self) -> Facts {
        let mut facts = Facts::new(self.claim_limits);
        let sites = self.sites.iter().map(|site| (&site.pattern, &site.routes));
        for (pattern, routes) in sites.chain([(&HostPattern::Any, &self.shared)]) {
            for route in routes {
                if let Action::Forward(fleet) = route.action
                    && let Some(fleet) = self.fleet(fleet)
                {
                    facts.add_fleet(&fleet.name, pattern.clone());
                }
            }
        }
        for site in self.sites.iter().filter(|site| !site.routes.is_empty()) {
            let account = name(site.options.account.as_ref());
            match &site.pattern {
                HostPattern::Exact(host) => facts.add_route(host.clone(), route(site, account)),
                pattern => facts.add_pattern(pattern.clone(), account),
            }
        }
        for account in &self.accounts {
            let Some(name) = name(Some(&account.name)) else { continue };
            for pattern in &account.may_claim {
                facts.allow(name.clone(), pattern.clone());
            }
        }
        facts
    }
}

fn route(site: &Site, account: Option<Name>) -> LocalRoute {
    let options = &site.options;
    let guarded = site.routes.iter().filter(|route| route.guarded);
    // What the backend may leave of a literal would take the route along too (`/wp.login` goes with `wp`).
    let rules = &options.routing.rules;
    let guarded = guarded
        .filter_map(|route| route.path.first_literal())
        .flat_map(|first| [first.into(), rules.loosen(first).into()]);
    LocalRoute {
        account,
        app: name(options.app.as_ref()),
        home: None,
        unready: false,
        primary: site.routes.iter().any(|route| route.primary),
        site: SiteFacts {
            reserved: options.reserved.clone(),
            guarded: guarded.collect(),
            on_unresolved: match options.on_unresolved {
                super::OnUnresolved::Origin => fingerpost_claims::OnUnresolved::Origin,
                super::OnUnresolved::Sticky => fingerpost_claims::OnUnresolved::Sticky,
                super::OnUnresolved::Refuse => fingerpost_claims::OnUnresolved::Refuse,
            },
            legacy_unset: options.legacy_unset,
            slug: options.routing.rules.slug(),
        },
    }
}

fn to_claim(config: &Config, claim: &super::Claim) -> Option<Claim> {
    let (account, app) = (name(Some(&claim.account))?, name(Some(&claim.app))?);
    let reach = Reach { wildcard: claim.wildcard, catchall: claim.catchall };
    let mut made = Claim::attach(claim.host.clone(), account, app, reach);
    let entries =
        claim.paths.iter().map(|entry| (entry.prefix.as_str(), Some(entry.target.as_str())));
    let (map, _) = PathMap::check(&claim.host, entries);
    // What is past the limit is dropped, and reported, by the pass: the operator has written it.
    let mut limits = config.claim_limits;
    limits.max_paths_per_claim = usize::MAX;
    made.set_paths(map, None, &limits).ok()?;
    Some(made)
}

/// The grammar of a configuration's names is that of claims.
fn name(text: Option<&Arc<str>>) -> Option<Name> {
    Name::parse(text?).ok()
}
