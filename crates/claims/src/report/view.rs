//! What an account may see of a report.

use std::sync::Arc;

use super::{ClaimReport, Report, Verdict};
use crate::{Code, Name, Source};

impl Report {
    /// The report as the account may see it: its own claims, and nothing of other accounts' hosts.
    ///
    /// What is wrong with a target is told only where the target is the account's own; otherwise it is
    /// [`Code::TargetUnavailable`], be the target missing or somebody else's.
    #[must_use]
    pub fn view_for(&self, account: &Name) -> Self {
        let of_account = |claim: &ClaimReport| claim.account.as_ref() == Some(account);
        let visible = self.claims.iter().filter(|(_, claim)| of_account(claim));
        let claims =
            visible.map(|(key, claim)| (key.clone(), Arc::new(self.seen(claim)))).collect();
        let over = self.wildcards_over.iter().filter(|host| self.of_host(host).any(of_account));
        Self { claims, wildcards_over: over.cloned().collect(), strays: Default::default() }
    }

    fn seen(&self, claim: &ClaimReport) -> ClaimReport {
        let mut seen = claim.clone();
        if let Verdict::Refused { detail, .. } = &mut seen.verdict {
            *detail = None;
        }
        for entry in &mut seen.entries {
            let own = entry.own_target || self.is_alias_of(entry.target.as_deref(), claim);
            if entry.code.is_private_to_target() && !own {
                entry.code = Code::TargetUnavailable;
            }
        }
        seen
    }

    /// Whether a target is a host that the same account has claimed, though it is no route.
    fn is_alias_of(&self, target: Option<&str>, claim: &ClaimReport) -> bool {
        let Some(host) =
            target.and_then(|text| fingerpost_authority::Host::from_written(text).ok())
        else {
            return false;
        };
        [Source::Config, Source::Stored].into_iter().any(|source| {
            self.claims.get(&(host.clone(), source)).is_some_and(|other| {
                other.account == claim.account && other.verdict == Verdict::Standing
            })
        })
    }
}
