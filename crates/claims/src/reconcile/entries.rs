//! What the entries of one map get.

use std::collections::BTreeMap;
use std::sync::Arc;

use fingerpost_authority::Host;
use fingerpost_path::Prefix;

use crate::gates::{self, Resolved};
use crate::{
    Claim, Code, Destination, EntryReport, Facts, OnUnresolved, PathRow, PathRows, RefusedEntry,
    RowState,
};

/// Judges the entries of one claim that stands.
pub(super) struct Judge<'a> {
    facts: &'a Facts,
    claim: &'a Claim,
    resolved: &'a Resolved<'a>,
    previous: Option<&'a PathRows>,
    /// What is said of each target is the same for every entry.
    targets: BTreeMap<&'a Host, Judgement>,
    /// The target of the entry before; most maps name one target only.
    last: Option<(&'a Host, Judgement)>,
    rows: Vec<(Prefix, PathRow)>,
    refused: Vec<EntryReport>,
}

/// An entry of a map as it was written: one that has both parts, or one that is none.
enum Written<'a> {
    Whole(&'a Prefix, &'a Host),
    Refused(&'a RefusedEntry),
}

impl Written<'_> {
    fn prefix(&self) -> &str {
        match self {
            Self::Whole(prefix, _) => prefix.as_str(),
            Self::Refused(entry) => &entry.prefix,
        }
    }

    fn target(&self) -> Option<Box<str>> {
        match self {
            Self::Whole(_, target) => Some(target.as_str().into()),
            Self::Refused(entry) => entry.target.clone(),
        }
    }
}

/// What is said of a target.
#[derive(Clone)]
struct Judgement {
    to: Arc<Destination>,
    refused: Option<Code>,
    own: bool,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        facts: &'a Facts,
        claim: &'a Claim,
        resolved: &'a Resolved<'a>,
        previous: Option<&'a PathRows>,
    ) -> Self {
        let rows = Vec::with_capacity(claim.paths().len());
        let (targets, last, refused) = (BTreeMap::new(), None, Vec::new());
        Self { facts, claim, resolved, previous, targets, last, rows, refused }
    }

    /// The rows, and what is not routed.
    pub(super) fn entries(mut self) -> (PathRows, Vec<EntryReport>) {
        for (at, entry) in in_order(self.claim).enumerate() {
            self.entry(at, &entry);
        }
        // They come in order, which a tree is built from at once.
        (self.rows.into_iter().collect(), self.refused)
    }

    fn entry(&mut self, at: usize, entry: &Written<'a>) {
        let parsed;
        let prefix = match entry {
            Written::Whole(prefix, _) => *prefix,
            Written::Refused(refused) => match Prefix::parse(&refused.prefix) {
                Ok(prefix) => {
                    parsed = prefix;
                    &parsed
                }
                Err(_) => return self.refuse(entry, Code::PrefixInvalid, false, false),
            },
        };
        let site = &self.resolved.route.site;
        let open = gates::within_limit(at, self.facts.limits())
            .and_then(|()| gates::unreserved(site, prefix));
        if let Err(code) = open {
            return self.refuse(entry, code, false, false);
        }
        let judgement = match entry {
            Written::Whole(_, target) => self.target(target),
            Written::Refused(refused) => Judgement {
                to: self.nowhere(None),
                refused: Some(refused.fault.code()),
                own: false,
            },
        };
        let Judgement { to, refused, own } = judgement;
        let Some(code) = refused else {
            self.rows.push((prefix.clone(), PathRow { to, state: RowState::Routed }));
            return;
        };
        let held = self.holds(prefix);
        if held {
            self.rows.push((prefix.clone(), PathRow { to, state: RowState::Held }));
        }
        self.refuse(entry, code, held, own);
    }

    /// Whether an unresolved prefix gets 503 and not the origin.
    fn holds(&self, prefix: &Prefix) -> bool {
        match self.resolved.route.site.on_unresolved {
            OnUnresolved::Origin => false,
            OnUnresolved::Refuse => true,
            OnUnresolved::Sticky => self
                .previous
                .and_then(|rows| rows.get(prefix))
                .is_some_and(|row| row.to.account == *self.claim.account()),
        }
    }

    fn refuse(&mut self, entry: &Written<'_>, code: Code, held: bool, own_target: bool) {
        self.refused.push(EntryReport {
            prefix: entry.prefix().into(),
            target: entry.target(),
            code,
            held,
            own_target,
        });
    }

    fn target(&mut self, target: &'a Host) -> Judgement {
        if let Some((_, known)) = self.last.as_ref().filter(|(last, _)| std::ptr::eq(*last, target))
        {
            return known.clone();
        }
        let judgement = match self.targets.get(target) {
            Some(known) => known.clone(),
            None => self.judge_target(target),
        };
        self.targets.insert(target, judgement.clone());
        self.last = Some((target, judgement.clone()));
        judgement
    }

    fn judge_target(&self, target: &Host) -> Judgement {
        let account = self.claim.account();
        let refused = |code, own| {
            let to = self.nowhere(Some(target.clone()));
            Judgement { to, refused: Some(code), own }
        };
        if let Err(code) = gates::not_itself(self.resolved, target) {
            return refused(code, true);
        }
        let route = match gates::present(self.facts, target) {
            Ok(route) => route,
            Err(code) => return refused(code, self.facts.has_route(target, account)),
        };
        if let Err(code) = gates::same_account(route, account) {
            return refused(code, false);
        }
        if let Err(code) = gates::ready(route) {
            return refused(code, true);
        }
        let to = Destination {
            target: Some(target.clone()),
            account: account.clone(),
            app: route.app.clone(),
            home: route.home.clone(),
        };
        Judgement { to: Arc::new(to), refused: None, own: true }
    }

    /// What a held row says of its target: nothing that is not in the claim.
    fn nowhere(&self, target: Option<Host>) -> Arc<Destination> {
        let account = self.claim.account().clone();
        Arc::new(Destination { target, account, app: None, home: None })
    }
}

/// The entries of a claim that has no effect, each with the claim's own code.
pub(super) fn refuse_all(claim: &Claim, code: Code) -> Vec<EntryReport> {
    let report = |entry: Written<'_>| EntryReport {
        prefix: entry.prefix().into(),
        target: entry.target(),
        code,
        held: false,
        own_target: false,
    };
    in_order(claim).map(report).collect()
}

/// The entries of a map in the byte order of their prefixes.
fn in_order(claim: &Claim) -> impl Iterator<Item = Written<'_>> {
    let mut whole = claim.paths().iter().peekable();
    let mut refused = claim.refused().iter().peekable();
    std::iter::from_fn(move || {
        let refused_first = match (whole.peek(), refused.peek()) {
            (Some((prefix, _)), Some(entry)) => *entry.prefix < *prefix.as_str(),
            (None, _) => true,
            (Some(_), None) => false,
        };
        if refused_first {
            return refused.next().map(Written::Refused);
        }
        whole.next().map(|(prefix, target)| Written::Whole(prefix, target))
    })
}
