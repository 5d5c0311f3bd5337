//! Who may claim a host.

use std::collections::BTreeSet;

use fingerpost_authority::{Host, HostKind, HostPattern};

use crate::claim_set::parent;
use crate::{Claim, ClaimSet, Facts, Name, Reach};

/// What an account wants to claim.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "written out by callers")]
pub struct Wanted<'a> {
    /// The host.
    pub host: &'a Host,
    /// Who wants it.
    pub account: &'a Name,
    /// What is to be covered besides the host.
    pub reach: Reach,
}

/// Where a claim was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "complete: there are two places")]
pub enum Source {
    /// In the configuration, by the operator.
    Config,
    /// In the store, by an account.
    Stored,
}

/// Why an account may not claim a host; for operators, since it names what others have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotOwned {
    /// A stored claim of another account is under the wildcard.
    #[error("another account claims {under}, which the wildcard would cover")]
    ClaimUnder {
        /// Its host.
        under: Host,
    },
    /// A claim of another account, of a name above, covers the host.
    #[error("another account claims *.{above}")]
    CoveredByClaim {
        /// The host of that claim.
        above: Host,
    },
    /// The routes of another account cover the host.
    #[error("a route of another account has the host {pattern}")]
    CoveredByRoute {
        /// Their pattern.
        pattern: HostPattern,
    },
    /// The configuration gives the host to another account.
    #[error("the configuration gives the host to another account")]
    InConfig,
    /// An address has no names under it.
    #[error("an address has no names under it")]
    NoNames,
    /// It is not a host of the account's routes, and the operator does not allow it.
    #[error("no route of the account has it, and may_claim does not allow it")]
    NotAllowed,
    /// The route of the host belongs to another account or app, or to none.
    #[error("the route of the host belongs to another account or app, or to none")]
    RouteOfAnother,
}

impl Facts {
    /// May this account claim this? Asked before a claim is stored, and in every pass again.
    ///
    /// A host of the account's own routes is its own, and names under it are unless somebody else has them.
    /// Any other host needs a pattern of the operator, and is refused where another account's route (on any
    /// box), wildcard, claim or claim in the configuration names or covers it. No rule depends on who came
    /// first: what the operator has written stands; of two stored claims that overlap, a host under the
    /// other's wildcard, neither gets what they both want.
    ///
    /// An account that is not set is nobody's: an exact route without one can't be claimed, and a wildcard
    /// route without one takes nothing from anybody, so that it does not stand in the way of a grant.
    ///
    /// # Errors
    /// [`NotOwned`] gives the first reason, for the host or for the wildcard.
    ///
    /// # Complexity
    /// Some look-ups for each label, and one for each claim under a wildcard.
    pub fn may_claim(&self, claims: &ClaimSet, wanted: &Wanted<'_>) -> Result<(), NotOwned> {
        self.owns_host(claims, wanted, Source::Stored)?;
        if wanted.reach.is_wide() {
            self.owns_names(claims, wanted, Source::Stored)?;
        }
        Ok(())
    }

    /// The host itself: what is written by the operator, then what is stored by others.
    pub(crate) fn owns_host(
        &self,
        claims: &ClaimSet,
        wanted: &Wanted<'_>,
        source: Source,
    ) -> Result<(), NotOwned> {
        self.title_to_host(wanted, source)?;
        if source == Source::Config || self.has_route(wanted.host, wanted.account) {
            return Ok(());
        }
        let Some(above) = parent(wanted.host) else { return Ok(()) };
        match claims.live(&above) {
            Some(claim)
                if claim.account() != wanted.account && self.has_title(claim, Source::Stored) =>
            {
                Err(NotOwned::CoveredByClaim { above })
            }
            _ => Ok(()),
        }
    }

    /// The names under the host, given that the host is owned.
    pub(crate) fn owns_names(
        &self,
        claims: &ClaimSet,
        wanted: &Wanted<'_>,
        source: Source,
    ) -> Result<(), NotOwned> {
        self.title_to_names(wanted, source)?;
        if source == Source::Config {
            return Ok(());
        }
        let taken = |under: &&Host| {
            let Some(claim) = claims.live(under) else { return false };
            let narrow = Wanted::of(claim);
            claim.account() != wanted.account
                && !self.has_route(under, claim.account())
                && self.title_to_host(&narrow, Source::Stored).is_ok()
        };
        match claims.under(wanted.host).find(taken) {
            Some(under) => Err(NotOwned::ClaimUnder { under: under.clone() }),
            None => Ok(()),
        }
    }

    /// Whether a claim covers the names under its host, as far as the operator's word goes.
    fn has_title(&self, claim: &Claim, source: Source) -> bool {
        let wanted = Wanted::of(claim);
        claim.reach().is_wide()
            && self.title_to_host(&wanted, source).is_ok()
            && self.title_to_names(&wanted, source).is_ok()
    }

    fn title_to_host(&self, wanted: &Wanted<'_>, source: Source) -> Result<(), NotOwned> {
        let Wanted { host, account, .. } = *wanted;
        if self.has_route(host, account) {
            return Ok(());
        }
        if self.route(host).is_some() || self.elsewhere(host).is_some() {
            return Err(NotOwned::RouteOfAnother);
        }
        if source == Source::Config {
            return Ok(());
        }
        let above: Vec<_> = covering(host).collect();
        let granted = self.grants(account).any(|pattern| pattern.matches(host));
        if !granted && !above.iter().any(|pattern| self.pattern_is_of(pattern, account)) {
            return Err(NotOwned::NotAllowed);
        }
        if let Some(pattern) =
            above.into_iter().find(|pattern| self.pattern_is_of_other(pattern, account))
        {
            return Err(NotOwned::CoveredByRoute { pattern });
        }
        if self.config_claim(host).is_some_and(|claim| claim.account() != account) {
            return Err(NotOwned::InConfig);
        }
        let Some(above) = parent(host) else { return Ok(()) };
        match self.config_claim(&above) {
            Some(claim) if claim.account() != account && self.has_title(claim, Source::Config) => {
                Err(NotOwned::CoveredByClaim { above })
            }
            _ => Ok(()),
        }
    }

    fn title_to_names(&self, wanted: &Wanted<'_>, source: Source) -> Result<(), NotOwned> {
        let Wanted { host, account, .. } = *wanted;
        if host.kind() != HostKind::Name {
            return Err(NotOwned::NoNames);
        }
        let same = HostPattern::Wildcard(host.clone());
        let other = |pattern: &HostPattern| self.pattern_is_of_other(pattern, account);
        if source == Source::Config {
            // The operator has written both: the more specific pattern wins, unless they are the same.
            return if other(&same) {
                Err(NotOwned::CoveredByRoute { pattern: same })
            } else {
                Ok(())
            };
        }
        let above: Vec<_> = std::iter::once(same).chain(covering_names(host)).collect();
        let own = self.has_route(host, account)
            || self.grants(account).any(|pattern| above.contains(pattern))
            || above.iter().any(|pattern| self.pattern_is_of(pattern, account));
        if !own {
            return Err(NotOwned::NotAllowed);
        }
        match above.into_iter().find(other) {
            Some(pattern) => Err(NotOwned::CoveredByRoute { pattern }),
            None => Ok(()),
        }
    }

    /// Whether a route of the account has this exact host, here or, where there is none here, elsewhere.
    pub(crate) fn has_route(&self, host: &Host, account: &Name) -> bool {
        match self.route(host) {
            Some(route) => route.account.as_ref() == Some(account),
            None => self.elsewhere(host).is_some_and(|accounts| only(accounts, account)),
        }
    }

    fn pattern_is_of(&self, pattern: &HostPattern, account: &Name) -> bool {
        self.pattern(pattern).is_some_and(|accounts| only(accounts, account))
    }

    fn pattern_is_of_other(&self, pattern: &HostPattern, account: &Name) -> bool {
        let Some(accounts) = self.pattern(pattern) else { return false };
        accounts.iter().flatten().any(|of| of != account)
    }
}

impl<'a> Wanted<'a> {
    /// What a claim wants.
    #[must_use]
    pub const fn of(claim: &'a Claim) -> Self {
        Self { host: claim.host(), account: claim.account(), reach: claim.reach() }
    }
}

fn only(accounts: &BTreeSet<Option<Name>>, account: &Name) -> bool {
    accounts.iter().all(|of| of.as_ref() == Some(account))
}

/// The wildcards that match a host, the narrowest first.
fn covering(host: &Host) -> impl Iterator<Item = HostPattern> {
    let above = std::iter::successors(parent(host), parent);
    let narrow = parent(host).map(HostPattern::Wildcard);
    narrow.into_iter().chain(above.map(HostPattern::DeepWildcard)).chain([HostPattern::Any])
}

/// The wildcards that match every name one label under a host, but `*.host` itself.
fn covering_names(host: &Host) -> impl Iterator<Item = HostPattern> {
    let above = std::iter::successors(Some(host.clone()), parent);
    above.map(HostPattern::DeepWildcard).chain([HostPattern::Any])
}
