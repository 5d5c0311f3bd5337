//! Rows that say who did what.

use std::collections::BTreeMap;

use fingerpost_claims::{Name, PathMap, PathsChange};
use serde::{Deserialize, Serialize};

use crate::Ambient;
use crate::auth::Caller;
use crate::timestamp::timestamp;
use crate::token::Grant;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) enum Action {
    #[serde(rename = "attach")]
    Attach,
    #[serde(rename = "delete")]
    Delete,
    #[serde(rename = "paths")]
    Paths,
    #[serde(rename = "token.create")]
    TokenCreate,
    #[serde(rename = "token.revoke")]
    TokenRevoke,
}

/// Who did it, when, to whose claim.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Deed {
    pub(crate) at: String,
    pub(crate) action: Action,
    /// The id of the token.
    pub(crate) actor: String,
    pub(crate) actor_name: Option<String>,
    pub(crate) role: String,
    pub(crate) account: Option<String>,
    pub(crate) app: Option<String>,
}

impl Deed {
    pub(crate) fn new(
        action: Action,
        ambient: &dyn Ambient,
        caller: &Caller,
        (account, app): (&Name, &Name),
    ) -> Self {
        Self {
            at: timestamp(ambient.now()),
            action,
            actor: caller.id.clone(),
            actor_name: caller.grant.name().map(ToString::to_string),
            role: caller.grant.role().to_string(),
            account: Some(account.to_string()),
            app: Some(app.to_string()),
        }
    }
}

/// A row of the audit. It counts, and never says where anything goes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct AuditRow {
    #[serde(flatten)]
    pub(crate) deed: Deed,
    pub(crate) host: Option<String>,
    pub(crate) before: usize,
    pub(crate) after: usize,
    pub(crate) sequence: Option<u64>,
}

impl AuditRow {
    /// A token was made or removed, by whoever can write to the store.
    pub(crate) fn of_token(action: Action, ambient: &dyn Ambient, id: &str, grant: &Grant) -> Self {
        let text = |name: Option<&Name>| name.map(ToString::to_string);
        let deed = Deed {
            at: timestamp(ambient.now()),
            action,
            actor: id.to_owned(),
            actor_name: text(grant.name()),
            role: grant.role().to_string(),
            account: text(grant.account()),
            app: text(grant.app()),
        };
        Self { deed, host: None, before: 0, after: 0, sequence: None }
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// A row of the history: what a map became, as the difference from what it was.
///
/// The map of any row is found from the present one, by taking back every later row: a flip in a large map
/// costs the flip. `map` tells whether that worked: a map that was written past this door breaks the chain.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct HistoryRow {
    #[serde(flatten)]
    pub(crate) deed: Deed,
    pub(crate) sequence: Option<u64>,
    pub(crate) before: usize,
    pub(crate) after: usize,
    pub(crate) added: BTreeMap<String, String>,
    /// Each with the target before and after.
    pub(crate) moved: BTreeMap<String, (String, String)>,
    pub(crate) removed: BTreeMap<String, String>,
    /// The [`digest`] of the map after it.
    pub(crate) map: String,
}

impl HistoryRow {
    /// `None` where the maps are the same.
    pub(crate) fn new(
        deed: Deed,
        old: &PathMap,
        new: &PathMap,
        sequence: Option<u64>,
    ) -> Option<Self> {
        let change = PathsChange::between(old, new);
        if change.is_noop() {
            return None;
        }
        let target = |map: &PathMap, prefix: &str| {
            map.get(prefix).map(ToString::to_string).unwrap_or_default()
        };
        let pick = |map: &PathMap, prefixes: &[fingerpost_path::Prefix]| {
            let entry = |prefix: &fingerpost_path::Prefix| {
                (prefix.to_string(), target(map, prefix.as_str()))
            };
            prefixes.iter().map(entry).collect()
        };
        let moved = change.moved.iter().map(|prefix| {
            let key = prefix.as_str();
            (key.to_owned(), (target(old, key), target(new, key)))
        });
        Some(Self {
            deed,
            sequence,
            before: change.before,
            after: change.after,
            added: pick(new, &change.added),
            moved: moved.collect(),
            removed: pick(old, &change.removed),
            map: digest(new.iter().map(|(prefix, target)| (prefix.as_str(), target.as_str()))),
        })
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Takes the change back, in a map as it was after it.
    pub(crate) fn undo(&self, map: &mut BTreeMap<String, String>) {
        for prefix in self.added.keys() {
            map.remove(prefix);
        }
        for (prefix, (from, _)) in &self.moved {
            map.insert(prefix.clone(), from.clone());
        }
        map.extend(self.removed.clone());
    }
}

/// A digest of a map, entries in order, each text after its length.
pub(crate) fn digest<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    // Put together first: hashing in one piece is several times as fast as text by text.
    let mut framed = Vec::new();
    for (prefix, target) in entries {
        for text in [prefix, target] {
            framed.extend_from_slice(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
            framed.extend_from_slice(text.as_bytes());
        }
    }
    let mut hasher = blake3::Hasher::new_derive_key("fingerpost 2026-11-30 history map v1");
    hasher.update(&framed);
    hasher.finalize().to_hex().to_string()
}
