//! Passes that look at changed claims only.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fingerpost_authority::Host;

use super::host::judge;
use super::tables::Tables;
use crate::claim_set::parent;
use crate::{Claim, ClaimReport, ClaimSet, Facts, Report, Rows, RowsDiff, Withdrawn};

/// Facts, claims, and what was made of them; it follows changes at the cost of the hosts that change.
///
/// After any sequence of changes its rows and report are those of a full pass over what it then holds
/// (`incremental_equals_full` in `tests/incremental.rs`).
#[derive(Clone, Debug, Default)]
pub struct Reconciler {
    facts: Facts,
    claims: ClaimSet,
    tables: Tables,
}

/// What a pass changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pass {
    /// What changed in the tables.
    pub diff: RowsDiff,
    /// What was routed before, is still wanted, and is routed no longer; in order.
    pub withdrawn: Vec<Withdrawn>,
}

impl Reconciler {
    /// Makes a full pass; `previous` are the rows that the box served until now.
    #[must_use]
    pub fn new(facts: Facts, claims: ClaimSet, previous: &Rows) -> (Self, Pass) {
        let mut reconciler = Self { facts, claims, tables: Tables::default() };
        let pass = reconciler.full(previous);
        (reconciler, pass)
    }

    /// The three tables.
    #[must_use]
    pub const fn rows(&self) -> &Rows {
        &self.tables.rows
    }

    /// Every claim and entry, with the reason where it has no effect.
    #[must_use]
    pub const fn report(&self) -> &Report {
        &self.tables.report
    }

    /// The stored claims.
    #[must_use]
    pub const fn claims(&self) -> &ClaimSet {
        &self.claims
    }

    /// What is known besides.
    #[must_use]
    pub const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Takes over new facts, and makes a full pass.
    pub fn set_facts(&mut self, facts: Facts) -> Pass {
        self.facts = facts;
        let previous = std::mem::take(&mut self.tables.rows);
        self.full(&previous)
    }

    /// Takes over every claim anew, as after a full list of the store, and makes a full pass.
    pub fn set_claims(&mut self, claims: ClaimSet) -> Pass {
        self.claims = claims;
        let previous = std::mem::take(&mut self.tables.rows);
        self.full(&previous)
    }

    /// Takes over changed claims by the keys that they are stored under, each with its body or `None` where
    /// there is none (any more), and looks at the hosts that this concerns.
    ///
    /// # Complexity
    /// Linear in the entries of the changed hosts, of the names above them, and of claims directly under
    /// them; linear in the number of wildcards.
    pub fn update<'b>(
        &mut self,
        changes: impl IntoIterator<Item = (&'b str, Option<&'b [u8]>)>,
    ) -> Pass {
        let mut concerned = BTreeSet::new();
        for (key, body) in changes {
            let Some(host) = self.claims.set(key, body) else { continue };
            concerned.extend(parent(&host));
            concerned.extend(self.claims.under(&host).cloned());
            concerned.insert(host);
        }
        self.look_at(&concerned)
    }

    /// What a pass would say of a claim if it was stored; nothing is changed.
    ///
    /// The limit over all wildcards is left out.
    ///
    /// # Complexity
    /// Linear in the number of claims and in the entries of this one.
    #[must_use]
    pub fn preview(&self, claim: Claim) -> Vec<ClaimReport> {
        let host = claim.host().clone();
        let mut claims = self.claims.clone();
        claims.insert(host.clone(), Ok(claim));
        let before = self.tables.rows.paths.get(&host).map(AsRef::as_ref);
        judge(&self.facts, &claims, &host, before).reports
    }

    fn look_at(&mut self, concerned: &BTreeSet<Host>) -> Pass {
        let mut pass = Pass::default();
        let old_aliases = only(&self.tables.rows.aliases, concerned);
        let old_wildcards = std::mem::take(&mut self.tables.rows.wildcards);
        for host in concerned {
            let before = self.tables.rows.paths.get(host).map(Arc::clone);
            let before = before.as_deref();
            let judged = judge(&self.facts, &self.claims, host, before);
            pass.withdrawn.extend(judged.withdrawn(before));
            self.tables.place(judged);
            let after = self.tables.rows.paths.get(host).map(AsRef::as_ref);
            // Rows that did not change stay where they were.
            if !before.zip(after).is_some_and(|(before, after)| std::ptr::eq(before, after)) {
                pass.diff.compare_paths(host, before, after);
            }
        }
        self.tables.finish(self.facts.limits(), &self.claims);
        let rows = &self.tables.rows;
        pass.diff.compare_aliases(&old_aliases, &only(&rows.aliases, concerned));
        pass.diff.compare_wildcards(&old_wildcards, &rows.wildcards);
        pass
    }

    fn full(&mut self, previous: &Rows) -> Pass {
        let (tables, withdrawn) = Tables::full(&self.facts, &self.claims, previous);
        self.tables = tables;
        Pass { diff: previous.diff(&self.tables.rows), withdrawn }
    }
}

/// The rows of some hosts.
fn only<V: Clone>(rows: &BTreeMap<Host, V>, hosts: &BTreeSet<Host>) -> BTreeMap<Host, V> {
    let row = |host: &Host| Some((host.clone(), rows.get(host)?.clone()));
    hosts.iter().filter_map(row).collect()
}
