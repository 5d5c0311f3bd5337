//! The one path from a request to a decision.

use std::borrow::Cow;

use fingerpost_path::{PathForm, Spelling, is_plain, normal_form, variants};

use crate::layer::{Layer, Route};
use crate::matched::{Hit, Match, Refused, SiteRef};
use crate::prefixes::{Destination, PrefixMap};
use crate::site::{Ambiguity, Fallback, Site, SiteId};
use crate::{Lookup, Router, Tier, UnknownHost};

/// Hears why a decision is made; costs nothing where nobody listens.
pub(crate) trait Trace {
    fn note(&mut self, reason: impl FnOnce() -> String);
}

/// Nobody listens.
pub(crate) struct Silent;

impl Trace for Silent {
    fn note(&mut self, _: impl FnOnce() -> String) {}
}

impl Trace for Vec<String> {
    fn note(&mut self, reason: impl FnOnce() -> String) {
        self.push(reason());
    }
}

/// What was decided, by indices into the router that decided it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decision<'r> {
    pub(crate) site: Option<(SiteId, Tier)>,
    /// The path has one spelling as far as trees of routes go.
    pub(crate) plain: bool,
    pub(crate) outcome: Result<Option<Pick<'r>>, Refused>,
}

/// A selected route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pick<'r> {
    pub(crate) place: Place,
    pub(crate) hit: Option<Named<'r>>,
}

/// Where a route stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) level: Level,
    pub(crate) index: u32,
}

/// The layers of a look-up, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    EveryHost,
    Site(SiteId),
    Shared,
}

/// A prefix that the request named.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'r> {
    pub(crate) prefix: &'r str,
    pub(crate) spelling: Spelling,
    pub(crate) destination: Destination,
}

impl<T> Router<T> {
    /// Decides one request; explaining and caching call nothing else.
    pub(crate) fn decide<'r>(
        &'r self,
        lookup: &Lookup<'_>,
        trace: &mut impl Trace,
    ) -> Decision<'r> {
        let site = lookup.host.and_then(|host| self.hosts.resolve(host));
        trace.note(|| self.describe_site(lookup, site));
        let mut plain = false;
        let outcome = self.pick(lookup, site, &mut plain, trace);
        Decision { site, plain, outcome }
    }

    fn pick<'r>(
        &'r self,
        lookup: &Lookup<'_>,
        resolved: Option<(SiteId, Tier)>,
        plain: &mut bool,
        trace: &mut impl Trace,
    ) -> Result<Option<Pick<'r>>, Refused> {
        let site = resolved.and_then(|(id, _)| Some((id, self.site(id)?)));
        let mut hit = None;
        if let Some((_, site)) = site
            && let Some(map) = &site.prefixes
        {
            (hit, *plain) = named(site, map, lookup, trace)?;
        }
        *plain = *plain || is_plain(lookup.path);
        let layers = self.layers(lookup, site, hit);
        match layers.select(lookup, *plain, trace)? {
            Some(Place { level: Level::EveryHost, index }) if hit.is_some() => {
                let forwards = self.every.route(index).is_some_and(|r| r.options.forwards);
                if forwards {
                    return Err(Refused::EveryHostForwards);
                }
                Ok(Some(Pick { place: Place { level: Level::EveryHost, index }, hit: None }))
            }
            Some(place) => Ok(Some(Pick { place, hit })),
            None if matches!(hit, Some(Named { destination: Destination::Held, .. })) => {
                Err(Refused::Held)
            }
            None if site.is_none() && self.rejects(lookup) => Err(Refused::UnknownHost),
            None => Ok(None),
        }
    }

    fn rejects(&self, lookup: &Lookup<'_>) -> bool {
        lookup.host.is_some() && self.unknown_host == UnknownHost::Reject
    }

    /// The layers that a request may be served from.
    fn layers<'r>(
        &'r self,
        lookup: &Lookup<'_>,
        site: Option<(SiteId, &'r Site<T>)>,
        hit: Option<Named<'_>>,
    ) -> Layers<'r, T> {
        let every = &*self.every;
        match (hit, site) {
            (Some(Named { destination: Destination::Held, .. }), _) => {
                Layers { every, own: None, shared: None, origin: site.map(|(_, site)| site) }
            }
            (Some(Named { destination: Destination::Site(target), .. }), _) => {
                let own = self.site(target).map(|site| (target, site));
                Layers { every, own, shared: None, origin: site.map(|(_, site)| site) }
            }
            (None, Some((_, own))) => {
                let shared = match own.fallback {
                    Fallback::Shared => Some(&*self.shared),
                    Fallback::None => None,
                };
                Layers { every, own: site, shared, origin: Some(own) }
            }
            (None, None) => {
                let shared = (!self.rejects(lookup)).then_some(&*self.shared);
                Layers { every, own: None, shared, origin: None }
            }
        }
    }

    fn describe_site(&self, lookup: &Lookup<'_>, site: Option<(SiteId, Tier)>) -> String {
        match (lookup.host, site.and_then(|(id, tier)| Some((self.site(id)?, tier)))) {
            (Some(host), Some((site, tier))) => {
                format!("{host} is site {} ({tier})", site.identity.name)
            }
            (Some(host), None) => format!("no site serves {host}"),
            (None, _) => "the request names no host".to_owned(),
        }
    }

    /// The match that a decision stands for.
    pub(crate) fn to_match<'r, 'q>(
        &'r self,
        path: &'q [u8],
        decision: &Decision<'r>,
    ) -> Result<Option<Match<'r, 'q, T>>, Refused> {
        let Some(pick) = decision.outcome? else { return Ok(None) };
        let site = self.site_ref(decision.site);
        let (layer, tier) = match pick.place.level {
            Level::EveryHost => (Some(&self.every), Tier::EveryHost),
            Level::Shared => (Some(&self.shared), Tier::Shared),
            Level::Site(id) => {
                let tier = site.map_or(Tier::Exact, |site| site.tier);
                (self.site(id).map(|site| &site.layer), tier)
            }
        };
        let Some(route) = layer.and_then(|layer| layer.route(pick.place.index)) else {
            return Ok(None);
        };
        let path = if decision.plain { Cow::Borrowed(path) } else { normal_form(path) };
        let encoded = !decision.plain && memchr::memchr(b'%', &path).is_some();
        let hit = pick.hit.map(|named| self.hit(named));
        Ok(Some(Match { route, tier, site, hit, path, encoded }))
    }

    fn hit<'r>(&'r self, named: Named<'r>) -> Hit<'r> {
        let target = match named.destination {
            Destination::Site(id) => self.site(id).and_then(Site::host),
            Destination::Held => None,
        };
        Hit { prefix: named.prefix, spelling: named.spelling, target }
    }

    pub(crate) fn site_ref(&self, site: Option<(SiteId, Tier)>) -> Option<SiteRef<'_>> {
        let (id, tier) = site?;
        let site = self.site(id)?;
        let mapped = site.prefixes.is_some();
        Some(SiteRef { identity: &site.identity, tier, mapped })
    }
}

/// The prefix that a request names, and whether its path is ordinary.
fn named<'r, T>(
    site: &'r Site<T>,
    map: &'r PrefixMap,
    lookup: &Lookup<'_>,
    trace: &mut impl Trace,
) -> Result<(Option<Named<'r>>, bool), Refused> {
    let rules = &site.options().rules;
    let named = |found: Option<(&'r str, Destination)>, spelling| {
        found.map(|(prefix, destination)| Named { prefix, spelling, destination })
    };
    if let Some(segment) = rules.ordinary(lookup.path, lookup.query) {
        let hit = named(map.find_folded(segment), Spelling::Normalised);
        trace.note(|| describe_reading(segment, Spelling::Normalised, hit));
        return Ok((hit, true));
    }
    let spellings = rules.spellings(lookup.path, lookup.query)?;
    let (mut chosen, mut unanimous, mut first) = (None::<Named<'_>>, true, None);
    for reading in spellings.iter() {
        let hit = named(map.find(reading.segment()), reading.spelling());
        trace.note(|| describe_reading(reading.segment(), reading.spelling(), hit));
        let destination = hit.map(|hit| hit.destination);
        unanimous &= *first.get_or_insert(destination) == destination;
        chosen = chosen.or(hit);
    }
    if chosen.is_some() && !unanimous && site.options().ambiguous == Ambiguity::Refuse {
        return Err(Refused::AmbiguousPrefix);
    }
    Ok((chosen, false))
}

fn describe_reading(segment: &[u8], spelling: Spelling, hit: Option<Named<'_>>) -> String {
    let segment = segment.escape_ascii();
    match hit {
        Some(hit) => format!("first segment {segment} ({spelling}) is prefix {}", hit.prefix),
        None => format!("first segment {segment} ({spelling}) is no prefix"),
    }
}

/// The layers that one request may be served from.
struct Layers<'r, T> {
    every: &'r Layer<T>,
    own: Option<(SiteId, &'r Site<T>)>,
    shared: Option<&'r Layer<T>>,
    /// The site that the host resolved to, which says how paths are read.
    origin: Option<&'r Site<T>>,
}

impl<'r, T> Layers<'r, T> {
    /// The first layer's answer.
    fn first(&self, find: impl Fn(&Layer<T>) -> Option<u32>) -> Option<Place> {
        let own = || self.own.and_then(|(id, site)| Some((Level::Site(id), find(&site.layer)?)));
        let shared = || self.shared.and_then(|layer| Some((Level::Shared, find(layer)?)));
        find(self.every)
            .map(|index| (Level::EveryHost, index))
            .or_else(own)
            .or_else(shared)
            .map(|(level, index)| Place { level, index })
    }

    fn route(&self, place: Place) -> Option<&'r Route<T>> {
        self.layer(place.level)?.route(place.index)
    }

    fn layer(&self, level: Level) -> Option<&'r Layer<T>> {
        match level {
            Level::EveryHost => Some(self.every),
            Level::Site(_) => self.own.map(|(_, site)| &*site.layer),
            Level::Shared => self.shared,
        }
    }

    fn are_alike(&self, one: Option<Place>, other: Option<Place>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) if one.level == other.level => {
                self.layer(one.level).is_some_and(|layer| layer.are_alike(one.index, other.index))
            }
            _ => one == other,
        }
    }

    fn is_guarded(&self) -> bool {
        self.every.is_guarded()
            || self.own.is_some_and(|(_, site)| site.guarded)
            || self.shared.is_some_and(Layer::is_guarded)
    }

    fn refuses(&self) -> bool {
        let refuses = |site: &Site<T>| site.options().ambiguous_paths == Ambiguity::Refuse;
        self.origin.is_some_and(refuses) || self.own.is_some_and(|(_, site)| refuses(site))
    }

    /// Selects a route by every spelling of the path.
    ///
    /// A plain path has one spelling; on a site with guarded routes only if each of its segments is
    /// ordinary too. Elsewhere the normal form decides, unless spellings that disagree meet a guard
    /// or a site that refuses them.
    fn select(
        &self,
        lookup: &Lookup<'_>,
        plain: bool,
        trace: &mut impl Trace,
    ) -> Result<Option<Place>, Refused> {
        if self.is_guarded() {
            return self.select_guarded(lookup, trace);
        }
        if plain {
            return Ok(self.first(|layer| layer.find_plain(lookup.path)));
        }
        if self.refuses() {
            return self.select_unanimous(lookup);
        }
        let form = PathForm::encoded(normal_form(lookup.path));
        trace.note(|| format!("the normal form {} decides", form.bytes().escape_ascii()));
        Ok(self.first(|layer| layer.find(&form)))
    }

    fn select_unanimous(&self, lookup: &Lookup<'_>) -> Result<Option<Place>, Refused> {
        let mut answers =
            variants(lookup.path).into_iter().map(|form| self.first(|layer| layer.find(&form)));
        let decided = answers.next().flatten();
        if answers.any(|answer| answer != decided) {
            return Err(Refused::AmbiguousPath);
        }
        Ok(decided)
    }

    fn select_guarded(
        &self,
        lookup: &Lookup<'_>,
        trace: &mut impl Trace,
    ) -> Result<Option<Place>, Refused> {
        let fallback = fingerpost_path::Rules::default();
        let origin = self.origin.map(|site| &site.options().rules);
        let own = self.own.map(|(_, site)| &site.options().rules);
        let rules = own.or(origin).unwrap_or(&fallback);
        let guards = |answer: Option<Place>| {
            answer.and_then(|place| self.route(place)).is_some_and(|r| r.options.guarded)
        };
        if rules.ordinary_throughout(lookup.path, lookup.query) {
            // One spelling; but where a literal is misread as another, so is the path as that literal.
            let decided = self.first(|layer| layer.find_plain(lookup.path));
            let loose = self.first(|layer| layer.find_plain_loose(lookup.path));
            if !self.are_alike(loose, decided) && guards(loose) {
                return Err(Refused::Guarded);
            }
            return Ok(decided);
        }
        let forms = rules.whole(lookup.path, lookup.query)?;
        let decided = forms.first().and_then(|form| self.first(|layer| layer.find(form)));
        let mut unanimous = true;
        for form in &forms {
            let strict = self.first(|layer| layer.find(form));
            let loose = self.first(|layer| layer.find_loose(form));
            for (answer, same) in
                [(strict, strict == decided), (loose, self.are_alike(loose, decided))]
            {
                if !same {
                    unanimous = false;
                    if guards(answer) || guards(decided) {
                        trace.note(|| format!("{} meets a guard", form.bytes().escape_ascii()));
                        return Err(Refused::Guarded);
                    }
                }
            }
        }
        if !unanimous && self.refuses() {
            return Err(Refused::AmbiguousPath);
        }
        Ok(decided)
    }
}
