//! Random worlds of accounts that fight over a few names, and a slow model of what each claim gets.

use std::collections::{BTreeMap, BTreeSet};

use fingerpost_authority::{Host, HostKind, HostPattern};
use fingerpost_claims::{
    Claim, ClaimSet, Facts, Limits, LocalRoute, Name, OnUnresolved, PathMap, Reach, RowState, Rows,
    SiteFacts, Source,
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

    fn of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.pick(texts.len())]
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
                max_paths_per_claim: [9, 1, 2][choices.pick(3)],
                max_wildcards: [9, 1, 0][choices.pick(3)],
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
    [Some("a"), Some("b"), None][choices.pick(3)].map(name)
}

fn route(choices: &mut Choices<'_>) -> LocalRoute {
    let reserved = [vec![], vec![], vec![Prefix::parse("TWO").unwrap()]];
    let guarded: [Vec<Box<[u8]>>; 3] = [vec![], vec![], vec![b"admin"[..].into()]];
    let policies = [OnUnresolved::Origin, OnUnresolved::Sticky, OnUnresolved::Refuse];
    LocalRoute {
        account: account(choices),
        app: [Some("web"), Some("go"), None][choices.pick(3)].map(name),
        home: [None, Some(name("box-b"))][choices.pick(2)].clone(),
        unready: choices.pick(4) == 3,
        primary: choices.pick(4) == 3,
        site: SiteFacts {
            reserved: reserved[choices.pick(3)].clone(),
            guarded: guarded[choices.pick(3)].clone(),
            on_unresolved: policies[choices.pick(3)],
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
            let entries = [
                r#""paths":{"a b":"x.example","one":"no host","#,
                r#""paths":{"two":7,"two":"next.example","#,
            ][choices.pick(2)];
            let json = json.replacen(r#""paths":{"#, entries, 1).replacen(",}", "}", 1);
            (key, json.into_bytes())
        }
        _ => (key, claim.to_json("id")),
    }
}

/// The slow model: what claims get, by scanning everything for everything.
pub(crate) struct Model<'a> {
    pub(crate) world: &'a World,
    pub(crate) claims: Vec<Claim>,
    pub(crate) unreadable: BTreeSet<Host>,
}

impl<'a> Model<'a> {
    pub(crate) fn new(world: &'a World) -> Self {
        let (mut claims, mut unreadable) = (Vec::new(), BTreeSet::new());
        for (key, body) in &world.stored {
            let Some(host) = Host::parse(key).ok().filter(|host| host.as_str() == key) else {
                continue;
            };
            match Claim::parse(&host, body) {
                Ok(claim) if claim.is_deleted() => {}
                Ok(claim) => claims.push(claim),
                Err(_) => {
                    unreadable.insert(host);
                }
            }
        }
        Self { world, claims, unreadable }
    }

    fn route(&self, host: &Host) -> Option<&LocalRoute> {
        self.world.routes.iter().find(|(known, _)| known == host).map(|(_, route)| route)
    }

    fn elsewhere(&self, host: &Host) -> Vec<Option<&Name>> {
        let found = self.world.elsewhere.iter().filter(|(known, _)| known == host);
        found.map(|(_, account)| account.as_ref()).collect()
    }

    fn has_route(&self, host: &Host, account: &Name) -> bool {
        let elsewhere = self.elsewhere(host);
        match self.route(host) {
            Some(route) => route.account.as_ref() == Some(account),
            None => !elsewhere.is_empty() && elsewhere.iter().all(|of| *of == Some(account)),
        }
    }

    fn routed(&self, host: &Host) -> bool {
        self.route(host).is_some() || !self.elsewhere(host).is_empty()
    }

    /// The accounts of route patterns that cover what `covers` says, by pattern.
    fn above(
        &self,
        covers: impl Fn(&HostPattern) -> bool,
    ) -> BTreeMap<&HostPattern, BTreeSet<Option<&Name>>> {
        let mut above: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for (pattern, account) in &self.world.patterns {
            if covers(pattern) {
                above.entry(pattern).or_default().insert(account.as_ref());
            }
        }
        above
    }

    fn covers_names(pattern: &HostPattern, host: &Host) -> bool {
        // A name that no pattern of this test has itself.
        let under = Host::parse(format!("some-name.{host}")).unwrap();
        !matches!(pattern, HostPattern::Exact(_)) && pattern.matches(&under)
    }

    fn allowed(&self, claim: &Claim, covers: &dyn Fn(&HostPattern) -> bool) -> bool {
        let (account, above) = (claim.account(), self.above(covers));
        let granted = |(of, pattern): &(Name, HostPattern)| of == account && covers(pattern);
        let own = |of: &BTreeSet<Option<&Name>>| of.iter().all(|of| *of == Some(account));
        (self.world.grants.iter().any(granted) || above.values().any(own))
            && !above.values().flatten().flatten().any(|of| *of != account)
    }

    /// By what the operator has written alone.
    fn title_to_host(&self, claim: &Claim, source: Source) -> bool {
        let (host, account) = (claim.host(), claim.account());
        if self.has_route(host, account) {
            return true;
        }
        if self.routed(host) {
            return false;
        }
        source == Source::Config
            || self.allowed(claim, &|pattern| pattern.matches(host))
                && !self.world.config.iter().any(|config| {
                    config.account() != account
                        && (config.host() == host
                            || covers(config, host) && self.title(config, Source::Config))
                })
    }

    fn title_to_names(&self, claim: &Claim, source: Source) -> bool {
        let (host, account) = (claim.host(), claim.account());
        if host.kind() != HostKind::Name {
            return false;
        }
        let same = HostPattern::Wildcard(host.clone());
        if source == Source::Config {
            return !self
                .above(|pattern| *pattern == same)
                .values()
                .flatten()
                .flatten()
                .any(|of| *of != account);
        }
        let covers = |pattern: &HostPattern| Self::covers_names(pattern, host);
        let other = self.above(covers).values().flatten().flatten().any(|of| *of != account);
        !other && (self.has_route(host, account) || self.allowed(claim, &covers))
    }

    fn title(&self, claim: &Claim, source: Source) -> bool {
        self.title_to_host(claim, source) && self.title_to_names(claim, source)
    }

    pub(crate) fn owns_host(&self, claim: &Claim, source: Source) -> bool {
        self.title_to_host(claim, source)
            && (source == Source::Config
                || self.has_route(claim.host(), claim.account())
                || !self.claims.iter().any(|other| {
                    other.account() != claim.account()
                        && covers(other, claim.host())
                        && self.title(other, Source::Stored)
                }))
    }

    pub(crate) fn owns_names(&self, claim: &Claim, source: Source) -> bool {
        self.title_to_names(claim, source)
            && (source == Source::Config
                || !self.claims.iter().any(|other| {
                    other.account() != claim.account()
                        && covers(claim, other.host())
                        && !self.has_route(other.host(), other.account())
                        && self.title_to_host(other, Source::Stored)
                }))
    }

    /// The claims that are to be judged: those of the configuration give way.
    pub(crate) fn effective(&self) -> Vec<(&Claim, Source)> {
        let replaced = |claim: &&Claim| {
            let by = |stored: &Claim| {
                stored.host() == claim.host() && stored.account() == claim.account()
            };
            self.unreadable.contains(claim.host()) || self.claims.iter().any(by)
        };
        let config = self.world.config.iter().filter(|claim| !replaced(claim));
        let config = config.map(|claim| (claim, Source::Config));
        config.chain(self.claims.iter().map(|claim| (claim, Source::Stored))).collect()
    }

    /// The route that a claim that is owned resolves to.
    pub(crate) fn resolved(&self, claim: &Claim) -> Option<&(Host, LocalRoute)> {
        let of_app = |(_, route): &&(Host, LocalRoute)| {
            route.account.as_ref() == Some(claim.account())
                && route.app.as_ref() == Some(claim.app())
        };
        if self.routed(claim.host()) {
            return self.world.routes.iter().filter(of_app).find(|(host, _)| host == claim.host());
        }
        let all: Vec<_> = self.world.routes.iter().filter(of_app).collect();
        let marked: Vec<_> = all.iter().copied().filter(|(_, route)| route.primary).collect();
        match (marked.as_slice(), all.as_slice()) {
            ([one], _) | ([], [one]) => Some(one),
            _ => None,
        }
    }

    /// The rows of a pass, or rather their keys and states.
    pub(crate) fn rows(
        &self,
        previous: &Rows,
    ) -> BTreeMap<(Host, String), (RowState, Option<Host>)> {
        let mut rows = BTreeMap::new();
        for (claim, source) in self.effective() {
            if !self.owns_host(claim, source) {
                continue;
            }
            let Some((resolved, route)) = self.resolved(claim) else { continue };
            let whole = claim.paths().iter().map(|(prefix, to)| (prefix.to_string(), Some(to)));
            let refused = claim.refused().iter().map(|entry| (entry.prefix.to_string(), None));
            let mut entries: Vec<_> = whole.chain(refused).collect();
            entries.sort();
            entries.truncate(self.world.limits.max_paths_per_claim);
            for (prefix, target) in entries {
                let fold = prefix.to_ascii_lowercase();
                let reserved = route
                    .site
                    .reserved
                    .iter()
                    .any(|reserved| reserved.as_str().to_ascii_lowercase() == fold)
                    || route
                        .site
                        .guarded
                        .iter()
                        .any(|guarded| guarded.to_ascii_lowercase() == fold.as_bytes())
                    || fold == ".well-known";
                if Prefix::parse(&prefix).is_err() || reserved {
                    continue;
                }
                let served = target.filter(|target| {
                    *target != resolved
                        && self.route(target).is_some_and(|to| {
                            !to.unready && to.account.as_ref() == Some(claim.account())
                        })
                });
                let before = previous.path(claim.host(), &prefix);
                let held = match route.site.on_unresolved {
                    OnUnresolved::Origin => false,
                    OnUnresolved::Sticky => {
                        before.is_some_and(|row| row.to.account == *claim.account())
                    }
                    OnUnresolved::Refuse => true,
                };
                let state = if served.is_some() { RowState::Routed } else { RowState::Held };
                if served.is_some() || held {
                    rows.insert((claim.host().clone(), prefix), (state, target.cloned()));
                }
            }
        }
        for host in &self.unreadable {
            let Some(route) = self.route(host) else { continue };
            if route.site.on_unresolved == OnUnresolved::Origin {
                continue;
            }
            let mut left = self.world.limits.max_paths_per_claim;
            for (of, prefix, row) in previous.path_rows() {
                let fold = prefix.as_str().to_ascii_lowercase();
                let reserved = route
                    .site
                    .reserved
                    .iter()
                    .any(|reserved| reserved.as_str().to_ascii_lowercase() == fold)
                    || route
                        .site
                        .guarded
                        .iter()
                        .any(|guarded| guarded.to_ascii_lowercase() == fold.as_bytes());
                if of == host
                    && route.account.as_ref() == Some(&row.to.account)
                    && !reserved
                    && left > 0
                {
                    left -= 1;
                    let key = (host.clone(), prefix.to_string());
                    rows.insert(key, (RowState::Held, row.to.target.clone()));
                }
            }
        }
        rows
    }
}

/// Whether a claim covers a host by its wildcard: one label above it.
fn covers(claim: &Claim, host: &Host) -> bool {
    claim.reach().is_wide() && HostPattern::Wildcard(claim.host().clone()).matches(host)
}
