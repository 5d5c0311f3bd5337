//! The options of hosts: each place says some, and all that is said of one host must agree.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use fingerpost_authority::HostPattern;
use fingerpost_path::{Families, Prefix, Preset, Rules, Slug};
use fingerpost_router::{Ambiguity, Fallback};

use super::value;
use crate::config::model::{OnUnresolved, SiteOptions};
use crate::config::place::Place;
use crate::config::raw::{RawChoice, RawFallback, RawLegacy, RawOnUnresolved, RawOptions};
use crate::config::report::Report;
use crate::config::suggest::did_you_mean;
use crate::config::{defaults, duration};

/// The value of an option, and the place that says so; `W` is how it is written there, where that is told.
#[derive(Clone, Debug)]
pub(super) struct Said<T, W = String> {
    pub(super) value: T,
    pub(super) place: Place,
    pub(super) written: W,
}

/// Pairs of places that contradict each other, so that a pair is reported once for all its hosts.
pub(super) type Contradictions = BTreeSet<(Place, Place)>;

macro_rules! options {
    ($($name:ident: $type:ty,)*) => {
        /// What one or more places say of one host.
        #[derive(Clone, Debug, Default)]
        pub(super) struct Declared {
            $(pub(super) $name: Option<Said<$type>>,)*
        }

        impl Declared {
            /// Takes in what another place says of the same host.
            pub(super) fn merge(
                &mut self,
                host: &HostPattern,
                other: &Self,
                known: &mut Contradictions,
                report: &mut Report<'_>,
            ) {
                $(agree(&mut self.$name, &other.$name, known, report, |one, other, cited| {
                    contradiction(host, one, other, cited)
                });)*
            }

            /// The places of all that is said.
            pub(super) fn places(&self) -> impl Iterator<Item = &Place> {
                [$(self.$name.as_ref().map(|said| &said.place),)*].into_iter().flatten()
            }
        }
    };
}

options! {
    account: Arc<str>,
    app: Arc<str>,
    legacy: Families,
    legacy_query: Vec<Box<str>>,
    slug: Slug,
    case_sensitive: bool,
    ambiguous: Ambiguity,
    ambiguous_paths: Ambiguity,
    fallback: Fallback,
    control_plane: bool,
    reserved: Vec<Prefix>,
    flip_drain: Duration,
    on_unresolved: OnUnresolved,
}

fn contradiction<T>(host: &HostPattern, one: &Said<T>, other: &Said<T>, cited: &str) -> String {
    format!(
        "{} here, but {} in {cited}, for the same host {host}; a host has one value of each option",
        other.written, one.written
    )
}

/// Takes in what another place says of the same host. `contradict` words that it says otherwise; it is given
/// the first place as it is cited.
pub(super) fn agree<T: Clone + PartialEq, W: Clone>(
    one: &mut Option<Said<T, W>>,
    other: &Option<Said<T, W>>,
    known: &mut Contradictions,
    report: &mut Report<'_>,
    contradict: impl FnOnce(&Said<T, W>, &Said<T, W>, &str) -> String,
) {
    let Some(other) = other else { return };
    let Some(one) = one else {
        *one = Some(other.clone());
        return;
    };
    if one.value != other.value && known.insert((one.place.clone(), other.place.clone())) {
        let cited = report.cite(&one.place).to_string();
        report.error(&other.place, contradict(one, other, &cited));
    }
}

impl Declared {
    /// Checks the options that stand at one place of the file.
    pub(super) fn check(place: &Place, raw: &RawOptions, report: &mut Report<'_>) -> Self {
        let at = |key: &str| place.key(key);
        let mut parsed = Self {
            account: said(at("account"), raw.account.as_ref(), report, |text| value::name(text)),
            app: said(at("app"), raw.app.as_ref(), report, |text| value::name(text)),
            legacy: said(at("legacy"), raw.legacy.as_ref(), report, legacy),
            slug: said(at("slug"), raw.slug.as_ref(), report, |text| value::quoted::<Slug>(text)),
            flip_drain: said(at("flip_drain"), raw.flip_drain.as_ref(), report, |text| {
                duration::parse(text)
            }),
            ..Self::default()
        };
        parsed.legacy_query = list(at("legacy_query"), &raw.legacy_query, report, query_name);
        parsed.reserved = list(at("reserved"), &raw.reserved, report, prefix);
        parsed.case_sensitive = flag(at("case_sensitive"), raw.case_sensitive);
        parsed.control_plane = flag(at("control_plane"), raw.control_plane);
        parsed.ambiguous = word(at("ambiguous"), raw.ambiguous, choice);
        parsed.ambiguous_paths = word(at("ambiguous_paths"), raw.ambiguous_paths, choice);
        parsed.fallback = word(at("fallback"), raw.fallback, |fallback| match fallback {
            RawFallback::Shared => Fallback::Shared,
            RawFallback::None => Fallback::None,
        });
        parsed.on_unresolved = word(at("on_unresolved"), raw.on_unresolved, |what| match what {
            RawOnUnresolved::Origin => OnUnresolved::Origin,
            RawOnUnresolved::Sticky => OnUnresolved::Sticky,
            RawOnUnresolved::Refuse => OnUnresolved::Refuse,
        });
        parsed
    }

    /// The options of a host of which nothing more is said.
    pub(super) fn complete(self) -> SiteOptions {
        let legacy_unset = self.legacy.is_none();
        let families = value_or_else(self.legacy, || Preset::Any.families());
        let query = value_or_else(self.legacy_query, Vec::new);
        let mut rules = Rules::new(families)
            .with_slug(value_or_else(self.slug, Slug::default))
            .with_case_sensitive(value_or_else(self.case_sensitive, || false));
        if !query.is_empty() {
            rules = rules.with_query(query);
        }
        let mut routing = fingerpost_router::SiteOptions::with_rules(rules);
        routing.ambiguous = value_or_else(self.ambiguous, Ambiguity::default);
        routing.ambiguous_paths = value_or_else(self.ambiguous_paths, Ambiguity::default);
        routing.fallback = value_or_else(self.fallback, Fallback::default);
        SiteOptions {
            account: self.account.map(|said| said.value),
            app: self.app.map(|said| said.value),
            routing,
            legacy_unset,
            control_plane: value_or_else(self.control_plane, || false),
            reserved: value_or_else(self.reserved, Vec::new),
            flip_drain: value_or_else(self.flip_drain, || {
                duration::parse(defaults::FLIP_DRAIN).unwrap_or_default()
            }),
            on_unresolved: value_or_else(self.on_unresolved, OnUnresolved::default),
        }
    }
}

fn value_or_else<T>(said: Option<Said<T>>, default: impl FnOnce() -> T) -> T {
    said.map_or_else(default, |said| said.value)
}

fn said<R: Debug, T, E: std::fmt::Display>(
    place: Place,
    raw: Option<&R>,
    report: &mut Report<'_>,
    parse: impl Fn(&R) -> Result<T, E>,
) -> Option<Said<T>> {
    let raw = raw?;
    match parse(raw) {
        Ok(value) => Some(Said { value, place, written: format!("{raw:?}") }),
        Err(error) => {
            report.error(&place, error);
            None
        }
    }
}

fn list<T, E: std::fmt::Display>(
    place: Place,
    raw: &Option<Vec<String>>,
    report: &mut Report<'_>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Option<Said<Vec<T>>> {
    let raw = raw.as_ref()?;
    let parsed = value::list(&place, Some(raw), report, parse);
    let value = parsed.into_iter().map(|(value, _)| value).collect();
    Some(Said { value, place, written: format!("{raw:?}") })
}

fn flag(place: Place, raw: Option<bool>) -> Option<Said<bool>> {
    let value = raw?;
    Some(Said { value, place, written: value.to_string() })
}

/// A word that the schema has checked.
fn word<R: Debug, T>(place: Place, raw: Option<R>, map: impl Fn(R) -> T) -> Option<Said<T>> {
    let raw = raw?;
    let written = format!("\"{raw:?}\"").to_ascii_lowercase();
    Some(Said { value: map(raw), place, written })
}

fn choice(raw: RawChoice) -> Ambiguity {
    match raw {
        RawChoice::Select => Ambiguity::Select,
        RawChoice::Refuse => Ambiguity::Refuse,
    }
}

fn legacy(raw: &RawLegacy) -> Result<Families, String> {
    let preset = |name: &String| {
        name.parse::<Preset>().map(Preset::families).map_err(|error| {
            let near = did_you_mean(name, Preset::ALL.iter().map(|preset| preset.name()));
            format!("{name:?} is {error}{near}")
        })
    };
    match raw {
        RawLegacy::One(name) => preset(name),
        RawLegacy::Many(names) if names.is_empty() => Err("names no preset".to_owned()),
        RawLegacy::Many(names) => {
            let all = names.iter().map(preset).collect::<Result<Vec<_>, _>>()?;
            Ok(all.into_iter().fold(Families::BASE, |all, one| all | one))
        }
    }
}

fn query_name(text: &str) -> Result<Box<str>, String> {
    if text.is_empty() || text.contains(['=', '&', '?', '#']) {
        return Err(format!("{text:?} is not the name of a query parameter, such as \"q\""));
    }
    Ok(text.into())
}

pub(super) fn prefix(text: &str) -> Result<Prefix, String> {
    Prefix::parse(text)
        .map_err(|error| format!("{text:?} is not a prefix: {}", value::chain(&error)))
}
