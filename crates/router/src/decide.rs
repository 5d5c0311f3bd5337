//! The one path from a request to a decision.

use std::borrow::Cow;

use fingerpost_authority::Host;
use fingerpost_path::{Spelling, is_plain, normal_form};

use crate::layer::Route;
use crate::layers::{Layers, Level, Place};
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

/// What was decided, in the router that decided it.
#[derive(Debug)]
pub(crate) struct Decision<'r, T> {
    pub(crate) site: Option<Resolved<'r, T>>,
    /// The path has one spelling as far as trees of routes go.
    pub(crate) plain: bool,
    pub(crate) outcome: Result<Option<Pick<'r, T>>, Refused>,
}

/// The site that a host resolved to.
#[derive(Debug)]
pub(crate) struct Resolved<'r, T> {
    pub(crate) id: SiteId,
    pub(crate) site: &'r Site<T>,
    pub(crate) tier: Tier,
}

/// A selected route.
#[derive(Debug)]
pub(crate) struct Pick<'r, T> {
    pub(crate) place: Place,
    pub(crate) route: &'r Route<T>,
    pub(crate) hit: Option<Named<'r, T>>,
}

/// A prefix that the request named.
#[derive(Debug)]
pub(crate) struct Named<'r, T> {
    pub(crate) prefix: &'r str,
    pub(crate) spelling: Spelling,
    pub(crate) destination: Destination,
    /// The destination's site, unless the prefix is held.
    pub(crate) target: Option<&'r Site<T>>,
}

impl<T> Router<T> {
    /// Decides one request; explaining and caching call nothing else.
    #[inline]
    pub(crate) fn decide<'r>(
        &'r self,
        lookup: &Lookup<'_>,
        trace: &mut impl Trace,
    ) -> Decision<'r, T> {
        let site = lookup.host.and_then(|host| self.resolve(host));
        trace.note(|| describe_site(lookup, site));
        let mut plain = false;
        let outcome = self.pick(lookup, site.map(|resolved| resolved.site), &mut plain, trace);
        Decision { site, plain, outcome }
    }

    pub(crate) fn resolve(&self, host: &Host) -> Option<Resolved<'_, T>> {
        let (id, tier) = self.hosts.resolve(host)?;
        Some(Resolved { id, site: self.site(id)?, tier })
    }

    fn pick<'r>(
        &'r self,
        lookup: &Lookup<'_>,
        site: Option<&'r Site<T>>,
        plain: &mut bool,
        trace: &mut impl Trace,
    ) -> Result<Option<Pick<'r, T>>, Refused> {
        let mut hit = None;
        if let Some(site) = site
            && let Some(map) = &site.prefixes
        {
            (hit, *plain) = self.named(site, map, lookup, trace)?;
        }
        *plain = *plain || is_plain(lookup.path);
        let layers = self.layers(lookup, site, hit);
        if let Some(place) = layers.select(lookup, *plain, trace)?
            && let Some(route) = layers.route(place)
        {
            if place.level == Level::EveryHost {
                if hit.is_some() && route.options.forwards {
                    return Err(Refused::EveryHostForwards);
                }
                hit = None;
            }
            return Ok(Some(Pick { place, route, hit }));
        }
        match hit {
            Some(Named { destination: Destination::Held, .. }) => Err(Refused::Held),
            _ if site.is_none() && self.rejects(lookup) => Err(Refused::UnknownHost),
            _ => Ok(None),
        }
    }

    fn rejects(&self, lookup: &Lookup<'_>) -> bool {
        lookup.host.is_some() && self.unknown_host == UnknownHost::Reject
    }

    /// The layers that a request may be served from.
    fn layers<'r>(
        &'r self,
        lookup: &Lookup<'_>,
        origin: Option<&'r Site<T>>,
        hit: Option<Named<'r, T>>,
    ) -> Layers<'r, T> {
        let (own, shared) = match (hit, origin) {
            (Some(named), _) => (named.target, false),
            (None, Some(origin)) => (Some(origin), origin.fallback == Fallback::Shared),
            (None, None) => (None, !self.rejects(lookup)),
        };
        Layers { every: &self.every, own, shared: shared.then_some(&*self.shared), origin }
    }

    /// The prefix that a request names, and whether its path is ordinary.
    fn named<'r>(
        &'r self,
        site: &'r Site<T>,
        map: &'r PrefixMap,
        lookup: &Lookup<'_>,
        trace: &mut impl Trace,
    ) -> Result<(Option<Named<'r, T>>, bool), Refused> {
        let rules = &site.options().rules;
        let Some(segment) = rules.ordinary(lookup.path, lookup.query) else {
            return Ok((self.named_oddly(site, map, lookup, trace)?, false));
        };
        let hit = self.found(map.find_folded(segment), Spelling::Normalised);
        trace.note(|| describe_reading(segment, Spelling::Normalised, hit));
        Ok((hit, true))
    }

    /// The prefix that a request names whose path has several readings.
    #[cold]
    fn named_oddly<'r>(
        &'r self,
        site: &'r Site<T>,
        map: &'r PrefixMap,
        lookup: &Lookup<'_>,
        trace: &mut impl Trace,
    ) -> Result<Option<Named<'r, T>>, Refused> {
        let spellings = site.options().rules.spellings(lookup.path, lookup.query)?;
        let (mut chosen, mut unanimous, mut first) = (None::<Named<'_, T>>, true, None);
        for reading in spellings.iter() {
            let hit = self.found(map.find(reading.segment()), reading.spelling());
            trace.note(|| describe_reading(reading.segment(), reading.spelling(), hit));
            let destination = hit.map(|hit| hit.destination);
            unanimous &= *first.get_or_insert(destination) == destination;
            chosen = chosen.or(hit);
        }
        if chosen.is_some() && !unanimous && site.options().ambiguous == Ambiguity::Refuse {
            return Err(Refused::AmbiguousPrefix);
        }
        Ok(chosen)
    }

    fn found<'r>(
        &'r self,
        found: Option<(&'r str, Destination)>,
        spelling: Spelling,
    ) -> Option<Named<'r, T>> {
        let (prefix, destination) = found?;
        Some(Named { prefix, spelling, destination, target: self.target(destination) })
    }

    pub(crate) fn target(&self, destination: Destination) -> Option<&Site<T>> {
        match destination {
            Destination::Site(id) => self.site(id),
            Destination::Held => None,
        }
    }
}

impl<'r, T> Decision<'r, T> {
    /// The match that a decision about `path` stands for.
    #[inline]
    pub(crate) fn into_match<'q>(
        self,
        path: &'q [u8],
    ) -> Result<Option<Match<'r, 'q, T>>, Refused> {
        let Some(Pick { place, route, hit }) = self.outcome? else { return Ok(None) };
        let site = self.site.map(Resolved::site_ref);
        let tier = match place.level {
            Level::EveryHost => Tier::EveryHost,
            Level::Shared => Tier::Shared,
            Level::Own => site.map_or(Tier::Exact, |site| site.tier),
        };
        let path = if self.plain { Cow::Borrowed(path) } else { normal_form(path) };
        let encoded = !self.plain && memchr::memchr(b'%', &path).is_some();
        let hit = hit.map(|Named { prefix, spelling, target, .. }| Hit {
            prefix,
            spelling,
            target: target.and_then(Site::host),
        });
        Ok(Some(Match { route, tier, site, hit, path, encoded }))
    }
}

impl<'r, T> Resolved<'r, T> {
    /// The site as those outside the router see it.
    pub(crate) fn site_ref(self) -> SiteRef<'r> {
        let mapped = self.site.prefixes.is_some();
        SiteRef { identity: &self.site.identity, tier: self.tier, mapped }
    }
}

fn describe_site<T>(lookup: &Lookup<'_>, site: Option<Resolved<'_, T>>) -> String {
    match (lookup.host, site) {
        (Some(host), Some(Resolved { site, tier, .. })) => {
            format!("{host} is site {} ({tier})", site.identity.name)
        }
        (Some(host), None) => format!("no site serves {host}"),
        (None, _) => "the request names no host".to_owned(),
    }
}

fn describe_reading<T>(segment: &[u8], spelling: Spelling, hit: Option<Named<'_, T>>) -> String {
    let segment = segment.escape_ascii();
    match hit {
        Some(hit) => format!("first segment {segment} ({spelling}) is prefix {}", hit.prefix),
        None => format!("first segment {segment} ({spelling}) is no prefix"),
    }
}

impl<T> Clone for Resolved<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Resolved<'_, T> {}

impl<T> Clone for Named<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Named<'_, T> {}
