//! One change of one claim, made by compare-and-swap.

use std::time::Duration;

use fingerpost_authority::Host;
use fingerpost_claims::{
    Change, Claim, Collection, Commit, Committed, Journal, PathMap, StoreError, Version,
};

use crate::auth::Caller;
use crate::control::Control;
use crate::hex;
use crate::problem::Problem;
use crate::record::{Action, AuditRow, Deed, HistoryRow};

/// What is stored of a host.
#[derive(Debug)]
pub(super) enum Current {
    /// Nothing.
    Absent,
    /// A claim that lives, or a tombstone.
    Claim { claim: Box<Claim>, version: Version },
    /// Something that does not parse.
    Unreadable { version: Version },
}

impl Current {
    pub(super) const fn version(&self) -> Option<&Version> {
        match self {
            Self::Absent => None,
            Self::Claim { version, .. } | Self::Unreadable { version } => Some(version),
        }
    }

    /// The claim, unless it is deleted.
    pub(super) fn live(&self) -> Option<&Claim> {
        match self {
            Self::Claim { claim, .. } if !claim.is_deleted() => Some(claim),
            _ => None,
        }
    }

    fn write_id(&self) -> Option<&str> {
        match self {
            Self::Claim { claim, .. } => claim.write_id(),
            _ => None,
        }
    }

    /// What the stored map is, whether anything serves it or not.
    fn map(&self) -> PathMap {
        self.live().map(|claim| claim.paths().clone()).unwrap_or_default()
    }
}

/// What a plan makes of what is stored.
#[derive(Debug)]
pub(super) enum Step<T> {
    /// Nothing is to be stored.
    Keep(T),
    /// This is to be stored.
    Store(Box<Claim>, Counts, T),
}

/// What the audit counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    pub(super) before: usize,
    pub(super) after: usize,
}

/// A change that was made, or that there was no need to make.
#[derive(Debug)]
pub(super) struct Written<T> {
    /// The serial that a box has to apply to route by it.
    pub(super) serial: u64,
    /// What is stored now.
    pub(super) version: Option<Version>,
    pub(super) answer: T,
}

impl Control {
    /// Reads what is stored of a host.
    pub(super) async fn current(&self, host: &Host) -> Result<Current, StoreError> {
        let record = self.store.get(Collection::Claims, host.as_str()).await?;
        Ok(record.map_or(Current::Absent, |record| match Claim::parse(host, &record.body) {
            Ok(claim) => Current::Claim { claim: Box::new(claim), version: record.version },
            Err(_) => Current::Unreadable { version: record.version },
        }))
    }

    /// Makes a change: plans it on what is stored, commits claim, audit and history with a new serial, and
    /// plans again where somebody was faster.
    ///
    /// A commit that the store did not answer is never guessed about: its `write_id` is looked for. While
    /// what was there before is still there the change is tried again on that version, so that at most one of
    /// the tries can be stored; where something else is there, nobody can tell.
    pub(super) async fn write<T: Clone>(
        &self,
        caller: &Caller,
        action: Action,
        host: &Host,
        mut plan: impl FnMut(&Current) -> Result<Step<T>, Problem>,
    ) -> Result<Written<T>, Problem> {
        let mut unanswered: Vec<(String, T)> = Vec::new();
        let mut before: Option<Version> = None;
        for attempt in 0..ATTEMPTS {
            let current = match self.current(host).await {
                Ok(current) => current,
                Err(_) if !unanswered.is_empty() => return Err(outcome_unknown()),
                Err(error) => return Err(error.into()),
            };
            if let Some((_, answer)) =
                unanswered.iter().find(|(id, _)| Some(&**id) == current.write_id())
            {
                let serial = self.store.serial().await.map_err(|_| outcome_unknown())?;
                let version = current.version().cloned();
                return Ok(Written { serial, version, answer: answer.clone() });
            }
            if !unanswered.is_empty() && current.version() != before.as_ref() {
                return Err(outcome_unknown());
            }
            let (claim, counts, answer) = match plan(&current)? {
                Step::Store(claim, counts, answer) => (claim, counts, answer),
                Step::Keep(answer) => {
                    let serial = self.store.serial().await?;
                    return Ok(Written { serial, version: current.version().cloned(), answer });
                }
            };
            let write_id = self.write_id();
            let commit = self.commit_of(caller, action, &current, &claim, counts, &write_id);
            match self.store.commit(commit).await {
                Ok(Committed::Stored { serial, versions }) => {
                    let version = versions.into_iter().next().flatten();
                    return Ok(Written { serial, version, answer });
                }
                Ok(Committed::Conflict { .. }) => {}
                Err(StoreError::Unknown { reason }) => {
                    tracing::warn!(reason, "the claim store did not say whether it stored a claim");
                    before = current.version().cloned();
                    unanswered.push((write_id, answer));
                }
                Err(_) if !unanswered.is_empty() => return Err(outcome_unknown()),
                Err(error) => return Err(error.into()),
            }
            self.pause(attempt).await;
        }
        if unanswered.is_empty() {
            let detail =
                "others changed the claim again and again; nothing was changed by this request";
            Err(Problem::unavailable("contention", detail))
        } else {
            Err(outcome_unknown())
        }
    }

    fn commit_of(
        &self,
        caller: &Caller,
        action: Action,
        current: &Current,
        claim: &Claim,
        counts: Counts,
        write_id: &str,
    ) -> Commit {
        let (host, body) = (claim.host().as_str(), claim.to_json(write_id));
        let change = match current.version() {
            None => Change::create(Collection::Claims, host, body),
            Some(version) => Change::replace(Collection::Claims, host, version.clone(), body),
        };
        let owner = (claim.account(), claim.app());
        let deed = Deed::new(action, &*self.ambient, caller, owner);
        let Counts { before, after } = counts;
        let audit = AuditRow {
            deed: deed.clone(),
            host: Some(host.to_owned()),
            before,
            after,
            sequence: claim.sequence(),
        };
        let mut commit = Commit::of(change).with_row(Journal::Audit, host, audit.to_json());
        let new = if claim.is_deleted() { PathMap::default() } else { claim.paths().clone() };
        if let Some(row) = HistoryRow::new(deed, &current.map(), &new, claim.sequence()) {
            commit = commit.with_row(Journal::History, host, row.to_json());
        }
        commit.with_bump()
    }

    fn write_id(&self) -> String {
        hex::encode(self.ambient.random().first_chunk::<16>().unwrap_or(&[0; 16]))
    }

    /// Lets the others finish: nothing at first, then a while, by chance.
    async fn pause(&self, attempt: u32) {
        let most = 1_u64 << attempt.min(6);
        let [chance, ..] = self.ambient.random();
        let millis = u64::from(chance) * most / 256;
        if attempt > 1 && millis > 0 {
            tokio::time::sleep(Duration::from_millis(millis)).await;
        }
    }
}

/// So often a change is planned anew; each time somebody else's was stored.
const ATTEMPTS: u32 = 64;

fn outcome_unknown() -> Problem {
    let detail = "the claim store did not say whether it stored the change: read the claim to see";
    Problem::unavailable("outcome_unknown", detail)
}
