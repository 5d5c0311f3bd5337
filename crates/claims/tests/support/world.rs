//! Random worlds of accounts that fight over a few names.

use std::collections::BTreeMap;

use fingerpost_authority::{Host, HostPattern};
use fingerpost_claims::{
    Claim, ClaimSet, Facts, Limits, LocalRoute, Name, OnUnresolved, PathMap, Reach, SiteFacts,
};
use fingerpost_path::Prefix;

pub(crate) const HOSTS: [&str; 8] = [
    "pages.example",
    "a.pages.example",
    "b.pages.example",
    "next.example",
    "old.example",
    "x.a.pages.example",
    "example",
    "192.0.2.1",
];
const PATTERNS: [&str; 6] =
    ["*.pages.example", "*.a.pages.example", "**.pages.example", "*.example", "**.example", "*"];
const ACCOUNTS: [&str; 2] = ["a", "b"];
const APPS: [&str; 2] = ["web", "go"];
const PREFIXES: [&str; 6] = ["one", "two", "ONE", "admin", ".well-known", "a/b"];

/// Everything that a pass looks at, as lists, so that their order can be changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) routes: Vec<(Host, LocalRoute)>,
    pub(crate) patterns: Vec<(HostPattern, Option<Name>)>,
    pub(crate) elsewhere: Vec<(Host, Option<Name>)>,
    pub(crate) grants: Vec<(Name, HostPattern)>,
    pub(crate) config: Vec<Claim>,
    pub(crate) stored: Vec<(String, Vec<u8>)>,
    pub(crate) limits: Limits,
}

/// Choices that are read off bytes; when they run out, the first choice is taken.
pub(crate) struct Choices<'a>(std::slice::Iter<'a, u8>);

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.iter())
    }

    pub(crate) fn pick(&mut self, n: usize) -> usize {
        self.0.next().map_or(0, |byte| usize::from(*byte) % n)
    }

    fn of<T: Clone>(&mut self, items: &[T]) -> T {
        let at = self.pick(items.len());
        items.get(at).cloned().unwrap()
    }
}

pub(crate) fn host(text: &str) -> Host {
    Host::parse(text).unwrap()
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

impl World {
    pub(crate) fn random(choices: &mut Choices<'_>) -> Self {
        let mut world = Self {
            limits: Limits {
                max_paths_per_claim: choices.of(&[9, 1, 2]),
                max_wildcards: choices.of(&[9, 1, 0]),
            },
            ..Self::default()
        };
        for _ in 0..choices.pick(5) {
            let host = host(choices.of(&HOSTS));
            if world.routes.iter().all(|(known, _)| *known != host) {
                let route = route(choices);
                world.routes.push((host, route));
            }
        }
        for _ in 0..choices.pick(3) {
            let pattern = HostPattern::from_written(choices.of(&PATTERNS)).unwrap();
            world.patterns.push((pattern, account(choices)));
        }
        for _ in 0..choices.pick(2) {
            world.elsewhere.push((host(choices.of(&HOSTS)), account(choices)));
        }
        for _ in 0..choices.pick(4) {
            let all: Vec<_> = HOSTS.into_iter().chain(PATTERNS).collect();
            let pattern = HostPattern::from_written(choices.of(&all)).unwrap();
            world.grants.push((name(choices.of(&ACCOUNTS)), pattern));
        }
        for _ in 0..choices.pick(3) {
            let claim = claim(choices);
            if world.config.iter().all(|known| known.host() != claim.host()) {
                world.config.push(claim);
            }
        }
        for _ in 0..choices.pick(5) {
            let (key, body) = stored(choices);
            if world.stored.iter().all(|(known, _)| *known != key) {
                world.stored.push((key, body));
            }
        }
        world
    }

    pub(crate) fn facts(&self) -> Facts {
        let mut facts = Facts::new(self.limits);
        for (host, route) in &self.routes {
            facts.add_route(host.clone(), route.clone());
        }
        for (pattern, account) in &self.patterns {
            facts.add_pattern(pattern.clone(), account.clone());
        }
        for (host, account) in &self.elsewhere {
            facts.add_elsewhere(host.clone(), account.clone());
        }
        for (account, pattern) in &self.grants {
            facts.allow(account.clone(), pattern.clone());
        }
        for claim in &self.config {
            facts.add_config_claim(claim.clone());
        }
        facts
    }

    pub(crate) fn claims(&self) -> ClaimSet {
        let mut claims = ClaimSet::new();
        for (key, body) in &self.stored {
            claims.set(key, Some(body));
        }
        claims
    }
}

fn account(choices: &mut Choices<'_>) -> Option<Name> {
    choices.of(&[Some("a"), Some("b"), None]).map(name)
}

fn route(choices: &mut Choices<'_>) -> LocalRoute {
    let reserved = [vec![], vec![], vec![Prefix::parse("TWO").unwrap()]];
    let guarded: [Vec<Box<[u8]>>; 3] = [vec![], vec![], vec![b"admin"[..].into()]];
    let policies = [OnUnresolved::Origin, OnUnresolved::Sticky, OnUnresolved::Refuse];
    LocalRoute {
        account: account(choices),
        app: choices.of(&[Some("web"), Some("go"), None]).map(name),
        home: choices.of(&[None, Some("box-b")]).map(name),
        unready: choices.pick(4) == 3,
        primary: choices.pick(4) == 3,
        site: SiteFacts {
            reserved: choices.of(&reserved),
            guarded: choices.of(&guarded),
            on_unresolved: choices.of(&policies),
            ..SiteFacts::default()
        },
    }
}

fn claim(choices: &mut Choices<'_>) -> Claim {
    let host = host(choices.of(&HOSTS));
    let (account, app) = (name(choices.of(&ACCOUNTS)), name(choices.of(&APPS)));
    let reach = Reach { wildcard: choices.pick(3) == 2, catchall: choices.pick(3) == 2 };
    let mut written = BTreeMap::new();
    for _ in 0..choices.pick(4) {
        written.insert(choices.of(&PREFIXES), Some(choices.of(&HOSTS)));
    }
    let (map, _) = PathMap::check(&host, written);
    let mut claim = Claim::attach(host, account, app, reach);
    claim.set_paths(map, None, &Limits::default()).unwrap();
    claim
}

pub(crate) fn stored(choices: &mut Choices<'_>) -> (String, Vec<u8>) {
    let mut claim = claim(choices);
    let key = claim.host().to_string();
    match choices.pick(12) {
        10 => (key.to_uppercase(), claim.to_json("id")),
        9 => (key, b"{".to_vec()),
        8 => {
            claim = claim.tombstone();
            (key, claim.to_json("id"))
        }
        7 => {
            // An entry that is none, and one that is written twice.
            let json = String::from_utf8(claim.to_json("id")).unwrap();
            let entries = choices.of(&[
                r#""paths":{"a b":"x.example","one":"no host","#,
                r#""paths":{"two":7,"two":"next.example","#,
            ]);
            let json = json.replacen(r#""paths":{"#, entries, 1).replacen(",}", "}", 1);
            (key, json.into_bytes())
        }
        _ => (key, claim.to_json("id")),
    }
}
