//! What a look-up is measured beside.

use hashbrown::HashMap;

/// Hosts in a bare hash map, each with a matchit tree: what many Rust proxies do.
#[derive(Debug)]
pub struct HostsAndMatchit {
    hosts: HashMap<Box<str>, usize, foldhash::fast::RandomState>,
    trees: Vec<matchit::Router<u32>>,
}

impl HostsAndMatchit {
    /// Every host gets the same routes.
    pub fn new(hosts: impl IntoIterator<Item = String>, routes: &[String]) -> Self {
        let mut tree = matchit::Router::new();
        for (n, route) in (0..).zip(routes) {
            tree.insert(route.clone(), n).expect("no conflict");
        }
        let hosts = hosts.into_iter().map(|host| (host.into(), 0)).collect();
        Self { hosts, trees: vec![tree] }
    }

    /// The route of a host and path.
    pub fn lookup(&self, host: &str, path: &str) -> Option<u32> {
        let tree = self.trees.get(*self.hosts.get(host)?)?;
        tree.at(path).ok().map(|found| *found.value)
    }
}

/// A bare hash map of first segments.
#[derive(Debug)]
pub struct Segments(HashMap<Box<str>, u32, foldhash::fast::RandomState>);

impl Segments {
    /// Segments to their numbers.
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self(names.into_iter().map(Into::into).zip(0..).collect())
    }

    /// The number of a path's first segment.
    pub fn lookup(&self, path: &str) -> Option<u32> {
        let rest = &path[1..];
        let end = memchr::memchr(b'/', rest.as_bytes()).unwrap_or(rest.len());
        self.0.get(&rest[..end]).copied()
    }
}
