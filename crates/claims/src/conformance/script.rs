//! Random commits on two stores at once.

use std::collections::BTreeMap;

use super::model;
use crate::{
    Change, ClaimStore, Collection, Commit, Committed, Expect, Journal, PageQuery, TailQuery,
    Version,
};

/// Does the same to an empty store and to the memory store, and compares every answer (C3).
///
/// `script` is any bytes: each step takes some of them. Versions are compared by which step gave them, since
/// their text is each store's own.
///
/// # Panics
/// If an answer differs.
pub async fn same_as_memory(store: &dyn ClaimStore, script: &[u8]) {
    let memory = model();
    let mut bytes = script.iter().copied();
    let mut sides = [Side::new(store), Side::new(&memory)];
    let mut step = 0;
    while let Some(first) = bytes.next() {
        let mut byte = || usize::from(bytes.next().unwrap_or_default());
        let choices = [usize::from(first), byte(), byte(), byte()];
        step += 1;
        let [real, model] = &mut sides;
        assert_eq!(real.step(step, choices).await, model.step(step, choices).await, "step {step}");
    }
    let [real, model] = &mut sides;
    assert_eq!(real.everything().await, model.everything().await, "in the end");
}

const KEYS: [&str; 3] = ["a.example", "b.example", "c.example"];
const COLLECTIONS: [Collection; 3] = [Collection::Claims, Collection::Nodes, Collection::Tokens];

/// One store, and the versions that it has given, each with a name that both sides know.
struct Side<'a> {
    store: &'a dyn ClaimStore,
    names: BTreeMap<String, usize>,
    /// The versions that were ever read or written, by collection and key.
    seen: BTreeMap<(Collection, &'static str), Vec<Version>>,
}

impl<'a> Side<'a> {
    const fn new(store: &'a dyn ClaimStore) -> Self {
        Self { store, names: BTreeMap::new(), seen: BTreeMap::new() }
    }

    fn name(&mut self, version: &Version) -> usize {
        let next = self.names.len();
        *self.names.entry(version.as_str().to_owned()).or_insert(next)
    }

    fn change(&self, step: usize, [kind, key, expect, _]: [usize; 4]) -> Change {
        let key = KEYS.get(key % KEYS.len()).copied().unwrap_or_default();
        let at = kind / 8 % COLLECTIONS.len();
        let collection = COLLECTIONS.get(at).copied().unwrap_or(Collection::Claims);
        let seen = self.seen.get(&(collection, key)).map(Vec::as_slice).unwrap_or_default();
        let expect = match expect % 6 {
            0 | 1 => Expect::Absent,
            2 => Expect::Any,
            3 => seen.first().cloned().map_or(Expect::Absent, Expect::Version),
            _ => seen.last().cloned().map_or(Expect::Absent, Expect::Version),
        };
        let body = (kind % 8 != 7).then(|| format!("body {step}").into_bytes());
        Change { collection, key: key.to_owned(), expect, body }
    }

    /// What a step answers, versions by their names.
    async fn step(&mut self, step: usize, choices: [usize; 4]) -> String {
        let change = self.change(step, choices);
        let (collection, key) = (change.collection, change.key.clone());
        let mut commit = Commit::of(change);
        if let [_, second, expect, extra] = choices
            && extra % 4 == 1
        {
            commit.changes.push(self.change(step, [second, expect, extra / 4, 0]));
        }
        commit.bump = choices.iter().sum::<usize>() % 2 == 0;
        if choices.iter().sum::<usize>() % 3 == 0 {
            commit = commit.with_row(Journal::History, &key, step.to_string().into_bytes());
        }
        let keys: Vec<_> =
            commit.changes.iter().map(|change| (change.collection, change.key.clone())).collect();
        let answer = match self.store.commit(commit).await {
            Err(error) => format!("{error:?}"),
            Ok(Committed::Conflict { current }) => {
                format!("conflict {:?}", self.learn(&keys, current))
            }
            Ok(Committed::Stored { serial, versions }) => {
                format!("stored {serial} {:?}", self.learn(&keys, versions))
            }
        };
        let read = self.store.get(collection, &key).await.expect("the store is there");
        let read = read.map(|read| (read.body.to_vec(), self.name(&read.version)));
        format!("{answer}; then {read:?}")
    }

    fn learn(
        &mut self,
        keys: &[(Collection, String)],
        versions: Vec<Option<Version>>,
    ) -> Vec<Option<usize>> {
        let mut names = Vec::new();
        for ((collection, key), version) in keys.iter().zip(versions) {
            names.push(version.as_ref().map(|version| self.name(version)));
            let known = KEYS.into_iter().find(|known| known == key);
            if let (Some(key), Some(version)) = (known, version) {
                let seen = self.seen.entry((*collection, key)).or_default();
                if seen.last() != Some(&version) {
                    seen.push(version);
                }
            }
        }
        names
    }

    /// Everything that can be read.
    async fn everything(&mut self) -> String {
        let mut all = format!("{:?}", self.store.serial().await);
        for collection in Collection::ALL {
            let mut after = None;
            loop {
                let query = PageQuery { after: after.as_deref(), ..PageQuery::default() };
                let page = self.store.list(collection, query).await.expect("the store is there");
                for (key, record) in page.records {
                    let version = self.name(&record.version);
                    all += &format!("; {collection}/{key} {version} {:?}", record.body);
                }
                let Some(next) = page.next else { break };
                after = Some(next);
            }
        }
        let query = TailQuery { topic: None, before: None, limit: usize::MAX };
        let rows = self.store.tail(Journal::History, query).await.expect("the store is there");
        for row in rows {
            all += &format!("; {} {:?}", row.topic, row.body);
        }
        all
    }
}
