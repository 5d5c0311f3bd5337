//! A decision with its reasons.

use crate::decide::Resolved;
use crate::matched::{Match, Refused, SiteRef};
use crate::{Lookup, Router};

/// What [`Router::lookup`] answers for a request, and why.
#[derive(Debug)]
pub struct Explanation<'r, 'q, T> {
    site: Option<SiteRef<'r>>,
    outcome: Result<Option<Match<'r, 'q, T>>, Refused>,
    reasons: Vec<String>,
}

impl<'r, 'q, T> Explanation<'r, 'q, T> {
    /// The site that the host resolved to.
    #[must_use]
    pub fn site(&self) -> Option<SiteRef<'r>> {
        self.site
    }

    /// The decision: the same as [`Router::lookup`]'s (R8).
    ///
    /// # Errors
    /// As [`Router::lookup`].
    pub fn outcome(&self) -> &Result<Option<Match<'r, 'q, T>>, Refused> {
        &self.outcome
    }

    /// The steps that led to it, in order, in plain words.
    #[must_use]
    pub fn reasons(&self) -> &[String] {
        &self.reasons
    }
}

impl<T> Router<T> {
    /// Answers one request as [`lookup`](Self::lookup) does, by the same code, with the reasons.
    ///
    /// # Complexity
    /// As a look-up, and a string for each reason.
    #[must_use]
    pub fn explain<'r, 'q>(&'r self, lookup: &Lookup<'q>) -> Explanation<'r, 'q, T> {
        let mut reasons = Vec::new();
        let decision = self.decide(lookup, &mut reasons);
        let site = decision.site.map(Resolved::site_ref);
        let outcome = decision.into_match(lookup.path);
        reasons.push(match &outcome {
            Ok(Some(found)) => match (found.prefix(), found.target()) {
                (Some(prefix), Some(target)) => {
                    format!("prefix {prefix} selects {} of {target}", found.pattern())
                }
                _ => format!("{} matches ({})", found.pattern(), found.tier()),
            },
            Ok(None) => "no route matches".to_owned(),
            Err(refused) => refused.to_string(),
        });
        Explanation { site, outcome, reasons }
    }
}
