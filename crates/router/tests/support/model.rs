//! A router that is slow and obvious: every route written out with its aliases, tried one after another.
//!
//! Written from the design, not from the crate. It answers with ids, and knows nothing of trees, hashes or shards.

use std::collections::{BTreeMap, BTreeSet};

use super::slow::{self, Slow};

/// What a pattern of a host may be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pattern {
    Exact(String),
    One(String),
    Deep(String),
    Any,
}

/// Which layer a route lives in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layer {
    Site(Pattern),
    Shared,
    EveryHost,
}

#[derive(Clone, Debug)]
pub struct Route {
    pub id: u32,
    pub layer: Layer,
    pub path: String,
    pub guarded: bool,
    pub forwards: bool,
}

/// Options of one site, and its prefix map: prefix to target host (`None`: held).
#[derive(Clone, Debug)]
pub struct Site {
    pub slow: Slow,
    pub case_sensitive: bool,
    pub query: Vec<String>,
    pub refuse_ambiguous: bool,
    pub refuse_ambiguous_paths: bool,
    pub fallback: bool,
    pub map: Option<BTreeMap<Vec<u8>, Option<String>>>,
}

impl Default for Site {
    fn default() -> Self {
        Self {
            slow: Slow::new(&slow::FAMILIES),
            case_sensitive: false,
            query: Vec::new(),
            refuse_ambiguous: false,
            refuse_ambiguous_paths: false,
            fallback: true,
            map: None,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub routes: Vec<Route>,
    pub sites: Vec<(Pattern, Site)>,
    /// alias to primary
    pub aliases: BTreeMap<String, String>,
    pub reject_unknown: bool,
}

/// The tier that a match names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    Exact,
    Wildcard,
    DeepWildcard,
    Any,
    Shared,
    EveryHost,
}

/// What the router says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    Found { id: u32, tier: Tier, prefix: Option<String>, params: Vec<(String, Vec<u8>)> },
    Nothing,
    Refused(u16),
}

/// One segment of a written-out pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seg {
    Static(Vec<u8>),
    Param(String),
    Rest(String),
}

/// A written-out pattern; of two that are the same the lower `rank` wins.
struct Written<'a> {
    segs: Vec<Seg>,
    rank: u8,
    route: &'a Route,
}

fn parse(path: &str) -> Vec<Seg> {
    path[1..]
        .split('/')
        .map(|segment| {
            let literal = segment.replace("{{", "\u{1}").replace("}}", "\u{2}");
            match literal.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
                Some(name) => match name.strip_prefix('*') {
                    Some(name) => Seg::Rest(name.into()),
                    None => Seg::Param(name.into()),
                },
                None => Seg::Static(literal.replace('\u{1}', "{").replace('\u{2}', "}").into_bytes()),
            }
        })
        .collect()
}

fn write_out(route: &Route) -> Vec<Written<'_>> {
    let segs = parse(&route.path);
    let empty = Seg::Static(Vec::new());
    let mut out = vec![Written { segs: segs.clone(), rank: 0, route }];
    let slash = |mut segs: Vec<Seg>| {
        segs.push(empty.clone());
        segs
    };
    if let Some((Seg::Rest(_), bare)) = segs.split_last() {
        if !bare.is_empty() {
            out.push(Written { segs: bare.to_vec(), rank: 1, route });
        }
        out.push(Written { segs: slash(bare.to_vec()), rank: 1, route });
    } else if segs.last() == Some(&empty) {
        if segs.len() > 1 {
            out.push(Written { segs: segs[..segs.len() - 1].to_vec(), rank: 2, route });
        }
    } else {
        out.push(Written { segs: slash(segs), rank: 2, route });
    }
    out
}

type Params = Vec<(String, Vec<u8>)>;

fn matches(segs: &[Seg], path: &[u8]) -> Option<Params> {
    let text: Vec<&[u8]> = path.strip_prefix(b"/")?.split(|&byte| byte == b'/').collect();
    let mut params = Params::new();
    for (at, seg) in segs.iter().enumerate() {
        match seg {
            Seg::Rest(name) => {
                let rest = text.get(at..).filter(|rest| !rest.is_empty())?.join(&b'/');
                params.push((name.clone(), rest));
                return Some(params);
            }
            Seg::Static(literal) if text.get(at) == Some(&literal.as_slice()) => {}
            Seg::Param(name) if text.get(at).is_some_and(|segment| !segment.is_empty()) => {
                params.push((name.clone(), text[at].to_vec()));
            }
            _ => return None,
        }
    }
    (segs.len() == text.len()).then_some(params)
}

/// Static before parameter before catch-all, segment by segment; then the rank.
fn precedence(written: &Written<'_>) -> (Vec<u8>, u8) {
    let kind = |seg: &Seg| match seg {
        Seg::Static(_) => 0,
        Seg::Param(_) => 1,
        Seg::Rest(_) => 2,
    };
    (written.segs.iter().map(kind).collect(), written.rank)
}

/// The route of `routes` that answers exactly these bytes.
pub fn tree<'a>(routes: &[&'a Route], path: &[u8]) -> Option<(&'a Route, Params)> {
    let mut hits: Vec<_> = routes
        .iter()
        .flat_map(|route| write_out(route))
        .filter_map(|written| Some((precedence(&written), matches(&written.segs, path)?, written.route)))
        .collect();
    hits.sort_by(|a, b| a.0.cmp(&b.0));
    hits.into_iter().next().map(|(_, params, route)| (route, params))
}

/// The RFC 3986 normal form: unreserved escapes decoded, others in upper case, dot segments removed.
pub fn normal(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < path.len() {
        let escape = path.get(at..at + 3).filter(|e| e[0] == b'%' && e[1].is_ascii_hexdigit() && e[2].is_ascii_hexdigit());
        match escape {
            Some(escape) => {
                let byte = slow::decode(escape)[0];
                if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                    out.push(byte);
                } else {
                    out.extend(escape.to_ascii_uppercase());
                }
                at += 3;
            }
            None => {
                out.push(path[at]);
                at += 1;
            }
        }
    }
    slow::remove_dots(&out, false)
}

/// As received, the normal form, and decoded or not, merged or not, dots resolved or not.
pub fn spellings(path: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut out = BTreeSet::from([path.to_vec(), normal(path)]);
    for text in [path.to_vec(), slow::decode(path)] {
        for text in [text.clone(), slow::merge(&text)] {
            out.insert(slow::remove_dots(&text, false));
            out.insert(text);
        }
    }
    out
}

impl Model {
    fn in_site(&self, pattern: &Pattern) -> Vec<&Route> {
        self.routes.iter().filter(|route| route.layer == Layer::Site(pattern.clone())).collect()
    }

    fn in_layer(&self, layer: &Layer) -> Vec<&Route> {
        self.routes.iter().filter(|route| route.layer == *layer).collect()
    }

    /// The patterns that own something: routes, options or a map.
    fn patterns(&self) -> BTreeSet<Pattern> {
        let of_routes = self.routes.iter().filter_map(|route| match &route.layer {
            Layer::Site(pattern) => Some(pattern.clone()),
            _ => None,
        });
        of_routes.chain(self.sites.iter().map(|(pattern, _)| pattern.clone())).collect()
    }

    pub fn options(&self, pattern: &Pattern) -> Site {
        self.sites.iter().find(|(own, _)| own == pattern).map(|(_, site)| site.clone()).unwrap_or_default()
    }

    /// The one site of a host, and the tier of the host that was asked for.
    pub fn resolve(&self, host: &str) -> Option<(Pattern, Tier)> {
        let host = self.aliases.get(host).map_or(host, String::as_str);
        let mut best: Option<(u8, usize, Pattern, Tier)> = None;
        for pattern in self.patterns() {
            let found = match &pattern {
                Pattern::Exact(name) if name == host => Some((0, 0, Tier::Exact)),
                Pattern::One(suffix) => host
                    .strip_suffix(suffix.as_str())
                    .and_then(|left| left.strip_suffix('.'))
                    .filter(|label| !label.is_empty() && !label.contains('.'))
                    .map(|_| (1, 0, Tier::Wildcard)),
                Pattern::Deep(suffix) => host
                    .strip_suffix(suffix.as_str())
                    .and_then(|left| left.strip_suffix('.'))
                    .filter(|labels| !labels.is_empty())
                    .map(|_| (2, usize::MAX - suffix.len(), Tier::DeepWildcard)),
                Pattern::Any => Some((3, 0, Tier::Any)),
                Pattern::Exact(_) => None,
            };
            if let Some((order, length, tier)) = found
                && best.as_ref().is_none_or(|best| (order, length) < (best.0, best.1))
            {
                best = Some((order, length, pattern, tier));
            }
        }
        best.map(|(_, _, pattern, tier)| (pattern, tier))
    }
}
