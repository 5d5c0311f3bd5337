//! The layers that one request may be served from, in the order in which they are tried.

use fingerpost_path::{PathForm, Rules, normal_form, variants};

use crate::Lookup;
use crate::decide::Trace;
use crate::layer::{Layer, Route};
use crate::matched::Refused;
use crate::site::{Ambiguity, Site};

/// A layer's place in that order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    EveryHost,
    /// The site of the host, or the one that its prefix names.
    Own,
    Shared,
}

/// Where a route stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) level: Level,
    pub(crate) index: u32,
}

/// The layers of one look-up.
#[derive(Debug)]
pub(crate) struct Layers<'r, T> {
    pub(crate) every: &'r Layer<T>,
    pub(crate) own: Option<&'r Site<T>>,
    pub(crate) shared: Option<&'r Layer<T>>,
    /// The site that the host resolved to, which says how paths are read.
    pub(crate) origin: Option<&'r Site<T>>,
}

impl<'r, T> Layers<'r, T> {
    /// The first layer's answer.
    fn first(&self, find: impl Fn(&Layer<T>) -> Option<u32>) -> Option<Place> {
        let own = || self.own.and_then(|site| Some((Level::Own, find(&site.layer)?)));
        let shared = || self.shared.and_then(|layer| Some((Level::Shared, find(layer)?)));
        find(self.every)
            .map(|index| (Level::EveryHost, index))
            .or_else(own)
            .or_else(shared)
            .map(|(level, index)| Place { level, index })
    }

    pub(crate) fn route(&self, place: Place) -> Option<&'r Route<T>> {
        self.layer(place.level)?.route(place.index)
    }

    fn layer(&self, level: Level) -> Option<&'r Layer<T>> {
        match level {
            Level::EveryHost => Some(self.every),
            Level::Own => self.own.map(|site| &site.layer),
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
            || self.own.is_some_and(|site| site.layer.is_guarded())
            || self.shared.is_some_and(Layer::is_guarded)
    }

    fn refuses(&self) -> bool {
        let refuses = |site: &Site<T>| site.options().ambiguous_paths == Ambiguity::Refuse;
        self.origin.is_some_and(refuses) || self.own.is_some_and(refuses)
    }

    /// Selects a route by every spelling of the path.
    ///
    /// A plain path has one spelling; on a site with guarded routes only if each of its segments is
    /// ordinary too. Elsewhere the normal form decides, unless spellings that disagree meet a guard
    /// or a site that refuses them.
    pub(crate) fn select(
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
        self.select_by_form(lookup, trace)
    }

    #[cold]
    fn select_by_form(
        &self,
        lookup: &Lookup<'_>,
        trace: &mut impl Trace,
    ) -> Result<Option<Place>, Refused> {
        if self.refuses() {
            return self.select_unanimous(lookup);
        }
        let form = PathForm::encoded(normal_form(lookup.path));
        trace.note(|| format!("the normal form {} decides", form.bytes().escape_ascii()));
        Ok(self.first(|layer| layer.find(&form)))
    }

    #[cold]
    fn select_unanimous(&self, lookup: &Lookup<'_>) -> Result<Option<Place>, Refused> {
        let mut answers =
            variants(lookup.path).into_iter().map(|form| self.first(|layer| layer.find(&form)));
        let decided = answers.next().flatten();
        if answers.any(|answer| answer != decided) {
            return Err(Refused::AmbiguousPath);
        }
        Ok(decided)
    }

    #[inline(never)]
    fn select_guarded(
        &self,
        lookup: &Lookup<'_>,
        trace: &mut impl Trace,
    ) -> Result<Option<Place>, Refused> {
        let fallback = Rules::default();
        let origin = self.origin.map(|site| &site.options().rules);
        let own = self.own.map(|site| &site.options().rules);
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
