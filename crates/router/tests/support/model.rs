//! A router that is slow and obvious: every route written out with its aliases, tried one after another.
//!
//! Written from the design, not from the crate. It answers with ids, and knows nothing of trees, hashes or shards.
//! Where the design leaves a choice (in which order the families combine, which of two hits on odd readings wins),
//! the model answers with every outcome that the design allows.

#![allow(dead_code, reason = "shared: no test uses all of it")]

use std::collections::{BTreeMap, BTreeSet};

use super::slow::{self, Slow};

/// What a pattern of a host may be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pattern {
    Exact(String),
    One(String),
    Deep(String),
    Any,
}

/// Which layer a route lives in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    Site(Pattern),
    Shared,
    EveryHost,
}

#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) id: u32,
    pub(crate) layer: Layer,
    pub(crate) path: String,
    pub(crate) guarded: bool,
    pub(crate) forwards: bool,
}

/// Options of one site, and its prefix map: prefix to target host (`None`: held).
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) slow: Slow,
    pub(crate) case_sensitive: bool,
    pub(crate) refuse_ambiguous: bool,
    pub(crate) refuse_ambiguous_paths: bool,
    pub(crate) fallback: bool,
    pub(crate) map: Option<BTreeMap<Vec<u8>, Option<String>>>,
}

impl Default for Site {
    fn default() -> Self {
        Self {
            slow: Slow::new(&slow::FAMILIES),
            case_sensitive: false,
            refuse_ambiguous: false,
            refuse_ambiguous_paths: false,
            fallback: true,
            map: None,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) routes: Vec<Route>,
    pub(crate) sites: Vec<(Pattern, Site)>,
    /// alias to primary
    pub(crate) aliases: BTreeMap<String, String>,
    /// alias to its own map, if it has one
    pub(crate) alias_maps: BTreeMap<String, BTreeMap<Vec<u8>, Option<String>>>,
    /// `*.host` to primary
    pub(crate) catchalls: BTreeMap<String, String>,
    pub(crate) reject_unknown: bool,
}

/// The tier that a match names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    Exact,
    Wildcard,
    DeepWildcard,
    Any,
    Shared,
    EveryHost,
}

/// What the router says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Answer {
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
                None => {
                    let literal = literal.replace('\u{1}', "{").replace('\u{2}', "}");
                    Seg::Static(slow::decode(literal.as_bytes()))
                }
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

/// A spelling of a whole path; an encoded one is split first, and its segments are decoded then.
type Form = (Vec<u8>, bool);

fn matches(written: &Written<'_>, (path, encoded): &Form) -> Option<Params> {
    let text: Vec<&[u8]> = path.strip_prefix(b"/")?.split(|&byte| byte == b'/').collect();
    let value = |segment: &[u8]| if *encoded { slow::decode(segment) } else { segment.to_vec() };
    let mut params = Params::new();
    for (at, seg) in written.segs.iter().enumerate() {
        match seg {
            Seg::Rest(name) => {
                let rest = text.get(at..).filter(|rest| !rest.is_empty())?.join(&b'/');
                params.push((name.clone(), value(&rest)));
                return Some(params);
            }
            Seg::Static(literal)
                if text.get(at).is_some_and(|segment| value(segment) == *literal) => {}
            Seg::Param(name) if text.get(at).is_some_and(|segment| !segment.is_empty()) => {
                params.push((name.clone(), value(text[at])));
            }
            _ => return None,
        }
    }
    if written.rank == 1
        && let Some(Seg::Rest(name)) = parse(&written.route.path).pop()
    {
        params.push((name, Vec::new()));
    }
    (written.segs.len() == text.len()).then_some(params)
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

/// The route of `written` that answers exactly these bytes.
fn tree<'a>(written: &[Written<'a>], form: &Form) -> Option<(&'a Route, Params)> {
    let hits = written.iter().filter_map(|written| Some((written, matches(written, form)?)));
    hits.min_by_key(|(written, _)| precedence(written))
        .map(|(written, params)| (written.route, params))
}

/// The RFC 3986 normal form: unreserved escapes decoded, others in upper case, dot segments removed.
pub(crate) fn normal(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < path.len() {
        let escape = path
            .get(at..at + 3)
            .filter(|e| e[0] == b'%' && e[1].is_ascii_hexdigit() && e[2].is_ascii_hexdigit());
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
pub(crate) fn spellings(path: &[u8]) -> BTreeSet<Form> {
    let mut out = BTreeSet::from([(path.to_vec(), true), (normal(path), true)]);
    for (text, encoded) in [(path.to_vec(), true), (slow::decode(path), false)] {
        for text in [text.clone(), slow::merge(&text)] {
            out.insert((slow::remove_dots(&text, false), encoded));
            out.insert((text, encoded));
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
    pub(crate) fn patterns(&self) -> BTreeSet<Pattern> {
        let of_routes = self.routes.iter().filter_map(|route| match &route.layer {
            Layer::Site(pattern) => Some(pattern.clone()),
            _ => None,
        });
        of_routes.chain(self.sites.iter().map(|(pattern, _)| pattern.clone())).collect()
    }

    pub(crate) fn options(&self, pattern: &Pattern) -> Site {
        self.sites
            .iter()
            .find(|(own, _)| own == pattern)
            .map(|(_, site)| site.clone())
            .unwrap_or_default()
    }

    /// The one site of a host, and the tier of the host that was asked for.
    pub(crate) fn resolve(&self, host: &str) -> Option<(Pattern, Tier)> {
        let host = self.aliases.get(host).map_or(host, String::as_str);
        let mut best: Option<(u8, usize, Pattern, Tier)> = None;
        let own = self.patterns().into_iter().map(|pattern| (pattern.clone(), pattern));
        let catchalls = self.catchalls.iter().map(|(suffix, primary)| {
            (Pattern::One(suffix.clone()), Pattern::Exact(primary.clone()))
        });
        for (written, pattern) in own.chain(catchalls) {
            let found = match &written {
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

    /// The options of the site of a host, with the map that this host has.
    pub(crate) fn site_for(&self, host: &str, pattern: &Pattern) -> Site {
        let mut site = self.options(pattern);
        if let Some(map) = self.alias_maps.get(host) {
            site.map = Some(map.clone()).filter(|map| !map.is_empty());
        }
        site
    }
}

/// What is tried for one request, first to last.
struct Layers<'a> {
    every: Trees<'a>,
    own: Option<(Trees<'a>, Site)>,
    shared: Option<Trees<'a>>,
    /// The site says `ambiguous_paths = "refuse"`.
    refuse: bool,
}

/// One layer's routes written out: as they are, and with their literals cut and folded.
struct Trees<'a> {
    strict: Vec<Written<'a>>,
    loose: Vec<Written<'a>>,
    site: Site,
}

impl<'a> Trees<'a> {
    fn new(routes: Vec<&'a Route>, site: Site) -> Self {
        let strict: Vec<_> = routes.iter().flat_map(|route| write_out(route)).collect();
        let mut loose: Vec<_> = routes.iter().flat_map(|route| write_out(route)).collect();
        for seg in loose.iter_mut().flat_map(|written| &mut written.segs) {
            if let Seg::Static(literal) = seg {
                let parts: Vec<_> =
                    literal.split(|&byte| byte == b'/').map(|part| loosen(part, &site)).collect();
                *literal = parts.join(&b'/');
            }
        }
        // of two that became the same a guarded one counts
        loose.sort_by_key(|written| !written.route.guarded);
        Self { strict, loose, site }
    }

    /// Two guarded routes that are one when cut and folded.
    fn alike(&self, one: &Route, other: &Route) -> bool {
        let shapes = |route: &Route| -> BTreeSet<Vec<Seg>> {
            let explicit =
                |written: &&Written<'_>| written.route.id == route.id && written.rank == 0;
            let nameless = |seg: &Seg| match seg {
                Seg::Static(literal) => Seg::Static(literal.clone()),
                Seg::Param(_) => Seg::Param(String::new()),
                Seg::Rest(_) => Seg::Rest(String::new()),
            };
            let found = self.loose.iter().filter(explicit);
            found.map(|written| written.segs.iter().map(nameless).collect()).collect()
        };
        one.guarded && other.guarded && !shapes(one).is_disjoint(&shapes(other))
    }

    fn loosely(&self, (path, encoded): &Form) -> Option<&'a Route> {
        let segments: Vec<_> =
            slow::segments(path).iter().map(|segment| loosen(segment, &self.site)).collect();
        tree(&self.loose, &(slow::rooted(&segments), *encoded)).map(|(route, _)| route)
    }
}

/// A segment as a backend reads it that cuts it, and ignores case.
fn loosen(segment: &[u8], site: &Site) -> Vec<u8> {
    let cut =
        if site.slow.on(slow::Family::Cut) { site.slow.cut(segment) } else { segment.to_vec() };
    let kept = if cut.is_empty() { segment.to_vec() } else { cut };
    if site.case_sensitive { kept } else { kept.to_ascii_lowercase() }
}

type Chosen<'a> = Option<(&'a Route, Params)>;

impl<'a> Layers<'a> {
    fn all(&self) -> Vec<&Trees<'a>> {
        let own = self.own.as_ref().map(|(trees, _)| trees);
        [Some(&self.every), own, self.shared.as_ref()].into_iter().flatten().collect()
    }

    fn find(&self, form: &Form) -> Chosen<'a> {
        self.all().into_iter().find_map(|layer| tree(&layer.strict, form))
    }

    fn loosely(&self, form: &Form) -> Option<&'a Route> {
        self.all().into_iter().find_map(|layer| layer.loosely(form))
    }

    /// What the normal form selects, whether the request has to be refused, and whether it may be.
    fn select(&self, path: &[u8], site: &Site) -> (Chosen<'a>, bool, bool) {
        let decided = self.find(&(normal(path), true));
        let id = |route: Option<&Route>| route.map(|route| route.id);
        let want = decided.as_ref().map(|(route, _)| *route);
        let guards = |route: Option<&Route>| route.is_some_and(|route| route.guarded);
        let same = |found: Option<&Route>| {
            id(found) == id(want)
                || found.zip(want).is_some_and(|(one, other)| {
                    self.all().iter().any(|layer| layer.alike(one, other))
                })
        };
        let guarded =
            self.all().iter().any(|layer| layer.strict.iter().any(|written| written.route.guarded));
        let strict = |forms: &BTreeSet<Form>| -> Vec<Option<&'a Route>> {
            let found = forms.iter().map(|form| self.find(form).map(|(route, _)| route));
            found.filter(|found| id(*found) != id(want)).collect()
        };
        let differ = strict(&spellings(path));
        let refused = self.refuse && !differ.is_empty();
        if !guarded {
            return (decided, refused, refused);
        }
        let own = self.own.as_ref().map_or(site, |(_, own)| own);
        let mut segments = slow::segments(path);
        if segments.last().is_some_and(Vec::is_empty) {
            segments.pop();
        }
        let ordinary = |segment: &Vec<u8>| {
            segment == b"_next" || own.slow.ordinary(&slow::rooted(std::slice::from_ref(segment)))
        };
        let next = segments.first().is_some_and(|first| first == b"_next");
        if !next && segments.iter().all(|segment| !segment.is_empty() && ordinary(segment)) {
            // One spelling, but a guarded literal may be misread as it: `/admin` is `/Admin` to some.
            let found = self.loosely(&(path.to_vec(), true));
            let refuse = !same(found) && guards(found);
            return (decided, refuse, refuse);
        }
        let must: BTreeSet<Form> =
            must_forms(&own.slow, path).union(&spellings(path)).cloned().collect();
        let met =
            |found: &Vec<Option<&Route>>| found.iter().any(|&found| guards(found) || guards(want));
        let differ = strict(&must);
        let refuse = refused
            || met(&differ)
            || must.iter().any(|form| {
                let found = self.loosely(form);
                guards(found) && !same(found)
            });
        let may: BTreeSet<Form> = own
            .slow
            .may_forms(path)
            .into_iter()
            .map(|(decoded, text)| (text, decoded == 0))
            .collect();
        let may: BTreeSet<Form> = may.union(&must).cloned().collect();
        let loose: Vec<_> =
            may.iter().map(|form| self.loosely(form)).filter(|found| !same(*found)).collect();
        let differ = strict(&may);
        let may_refuse = refuse
            || met(&differ)
            || met(&loose)
            || (self.refuse && differ.len() + loose.len() > 0);
        (decided, refuse, may_refuse)
    }
}

fn must_forms(slow: &Slow, path: &[u8]) -> BTreeSet<Form> {
    let (raws, decoded) = slow.must_forms(path);
    let mut out: BTreeSet<Form> = raws.into_iter().map(|text| (text, true)).collect();
    for text in decoded {
        if slow.on(slow::Family::Merge) {
            out.insert((slow::merge(&text), false));
        }
        if slow.on(slow::Family::Dots) {
            let resolved = slow::remove_dots(&text, false);
            out.insert((slow::merge(&resolved), false));
            out.insert((slow::remove_dots(&slow::merge(&text), false), false));
            out.insert((resolved, false));
        }
        out.insert((text, false));
    }
    out
}

/// A prefix as the map spells it, with its target (`None`: held).
type Hit = (Vec<u8>, Option<String>);

fn hit(site: &Site, segment: &[u8]) -> Option<Hit> {
    let map = site.map.as_ref()?;
    let entry = |key: &Vec<u8>| Some((key.clone(), map.get(key)?.clone()));
    if let Some(exact) = entry(&segment.to_vec()) {
        return Some(exact);
    }
    if site.case_sensitive {
        return None;
    }
    if let Some(folded) = entry(&segment.to_ascii_lowercase()) {
        return Some(folded);
    }
    map.keys().find(|key| key.eq_ignore_ascii_case(segment)).and_then(entry)
}

/// The hits that may decide (`None` for no hit), and whether the request has to, and may, be refused.
fn named(site: &Site, path: &[u8]) -> (BTreeSet<Option<Hit>>, bool, bool) {
    let look = |set: &slow::Set| -> BTreeSet<Option<Hit>> {
        set.iter().map(|segment| hit(site, segment)).collect()
    };
    let must = look(&site.slow.must(path));
    let mut may = look(&site.slow.may(path));
    if site.slow.ordinary(path) {
        let only = hit(site, &slow::first(path));
        return (BTreeSet::from([only]), false, false);
    }
    let targets = |hits: &BTreeSet<Option<Hit>>| -> BTreeSet<Option<Option<String>>> {
        hits.iter().map(|hit| hit.as_ref().map(|(_, target)| target.clone())).collect()
    };
    let refuse = site.refuse_ambiguous && targets(&must).len() > 1;
    may.insert(None);
    let may_refuse = site.refuse_ambiguous && targets(&may).len() > 1;
    // the cleaned form of the decoded path is the most normalised reading
    if let Some(best) = hit(site, &slow::first(&slow::clean(&slow::decode(path)))) {
        return (BTreeSet::from([Some(best)]), refuse, may_refuse);
    }
    if must.iter().any(Option::is_some) {
        may.remove(&None);
    }
    (may, refuse, may_refuse)
}

impl Model {
    /// Every answer that the design allows; nearly always one.
    pub(crate) fn lookup(&self, host: Option<&str>, path: &[u8]) -> BTreeSet<Answer> {
        let resolved = host.and_then(|host| self.resolve(host));
        let Some((pattern, tier)) = resolved else {
            let rejects = host.is_some() && self.reject_unknown;
            let layers = self.layers(None, !rejects, false);
            let miss = if rejects { Answer::Refused(421) } else { Answer::Nothing };
            return outcome(&layers, path, &Site::default(), None, Tier::Shared, &miss);
        };
        let site = self.site_for(host.unwrap_or_default(), &pattern);
        if site.map.is_none() {
            let layers = self.layers(Some(&pattern), site.fallback, site.refuse_ambiguous_paths);
            return outcome(&layers, path, &site, None, tier, &Answer::Nothing);
        }
        if slow::unclean(path) {
            return BTreeSet::from([Answer::Refused(400)]);
        }
        let (hits, refuse, may_refuse) = named(&site, path);
        let mut out = BTreeSet::new();
        if may_refuse {
            out.insert(Answer::Refused(400));
        }
        if refuse {
            return out;
        }
        for hit in hits {
            out.extend(match &hit {
                None => {
                    let layers =
                        self.layers(Some(&pattern), site.fallback, site.refuse_ambiguous_paths);
                    outcome(&layers, path, &site, None, tier, &Answer::Nothing)
                }
                Some((_, None)) => {
                    let layers = self.layers(None, false, site.refuse_ambiguous_paths);
                    outcome(&layers, path, &site, hit.as_ref(), tier, &Answer::Refused(503))
                }
                Some((_, Some(target))) => {
                    let target = Pattern::Exact(target.clone());
                    let refuse =
                        site.refuse_ambiguous_paths || self.options(&target).refuse_ambiguous_paths;
                    let layers = self.layers(Some(&target), false, refuse);
                    outcome(&layers, path, &site, hit.as_ref(), tier, &Answer::Nothing)
                }
            });
        }
        out
    }

    fn layers(&self, own: Option<&Pattern>, shared: bool, refuse: bool) -> Layers<'_> {
        Layers {
            every: Trees::new(self.in_layer(&Layer::EveryHost), Site::default()),
            own: own
                .map(|own| (Trees::new(self.in_site(own), self.options(own)), self.options(own))),
            shared: shared.then(|| Trees::new(self.in_layer(&Layer::Shared), Site::default())),
            refuse,
        }
    }
}

/// What the layers answer to a request that named `hit`.
fn outcome(
    layers: &Layers<'_>,
    path: &[u8],
    site: &Site,
    hit: Option<&Hit>,
    tier: Tier,
    miss: &Answer,
) -> BTreeSet<Answer> {
    let (decided, refuse, may_refuse) = layers.select(path, site);
    let mut out = BTreeSet::new();
    if may_refuse {
        out.insert(Answer::Refused(400));
    }
    if refuse {
        return out;
    }
    let prefix = hit.map(|(prefix, _)| String::from_utf8_lossy(prefix).into_owned());
    out.insert(match decided {
        None => miss.clone(),
        Some((route, params)) => match route.layer {
            Layer::EveryHost if hit.is_some() && route.forwards => Answer::Refused(400),
            Layer::EveryHost => {
                Answer::Found { id: route.id, tier: Tier::EveryHost, prefix: None, params }
            }
            Layer::Shared => Answer::Found { id: route.id, tier: Tier::Shared, prefix, params },
            Layer::Site(_) => Answer::Found { id: route.id, tier, prefix, params },
        },
    });
    out
}
