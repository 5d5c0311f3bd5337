//! Routes that are tried together: a site's own, the shared ones, or those of every host.

use std::sync::Arc;

use fingerpost_path::{PathForm, Rules};

use crate::pattern::PathPattern;
use crate::routes::Routes;

/// What the router itself must know about a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RouteOptions {
    /// No spelling of a path may step around this route, or into it.
    pub guarded: bool,
    /// The route sends the request to an application, rather than answering it here.
    pub forwards: bool,
}

impl RouteOptions {
    /// A route that forwards, without a guard.
    #[must_use]
    pub const fn forwarding() -> Self {
        Self { guarded: false, forwards: true }
    }

    /// A route that answers here, without a guard.
    #[must_use]
    pub const fn answering() -> Self {
        Self { guarded: false, forwards: false }
    }

    /// The same with a guard on it, or not.
    #[must_use]
    pub const fn with_guarded(self, guarded: bool) -> Self {
        Self { guarded, ..self }
    }
}

/// One route of a layer.
#[derive(Clone, Debug)]
pub(crate) struct Route<T> {
    pub(crate) pattern: Arc<PathPattern>,
    pub(crate) options: RouteOptions,
    pub(crate) value: T,
}

/// The routes of one layer, by number.
///
/// Most layers of a box with many hosts are one `/{*rest}`: it stands right here, since look-ups on many hosts
/// are bound by how much memory they touch.
#[derive(Clone, Debug)]
pub(crate) enum Layer<T> {
    /// The one route, of every path.
    Sole(Route<T>),
    /// Any other routes.
    Routes(Arc<Routes<T>>),
}

/// The number of a sole route.
const SOLE: u32 = 0;

impl<T> Layer<T> {
    /// Builds what finds the routes; answers the pairs of routes whose patterns are the same.
    ///
    /// `rules` say how the literals may be misread, which counts where `guards` tells that the router
    /// has a guarded route, be it in this layer or in another.
    pub(crate) fn build(
        mut routes: Vec<Route<T>>,
        rules: &Rules,
        guards: bool,
    ) -> Result<Self, Vec<(PathPattern, PathPattern)>> {
        match routes.pop() {
            Some(sole) if routes.is_empty() && sole.pattern.is_of_every_path() => {
                return Ok(Self::Sole(sole));
            }
            last => routes.extend(last),
        }
        Routes::build(routes, rules, guards).map(|routes| Self::Routes(Arc::new(routes)))
    }

    /// Tells whether two guarded routes are the same when loosened: a backend that reads paths so can't
    /// tell them apart, so that neither is a way around the other.
    pub(crate) fn are_alike(&self, one: u32, other: u32) -> bool {
        match self {
            Self::Sole(_) => one == other,
            Self::Routes(routes) => routes.are_alike(one, other),
        }
    }

    pub(crate) fn is_guarded(&self) -> bool {
        match self {
            Self::Sole(route) => route.options.guarded,
            Self::Routes(routes) => routes.is_guarded(),
        }
    }

    pub(crate) fn routes(&self) -> &[Route<T>] {
        match self {
            Self::Sole(route) => std::slice::from_ref(route),
            Self::Routes(routes) => routes.list(),
        }
    }

    /// The route at `index`.
    pub(crate) fn route(&self, index: u32) -> Option<&Route<T>> {
        match self {
            Self::Sole(route) => Some(route),
            Self::Routes(routes) => routes.route(index),
        }
    }

    /// The index of the route that a path without escapes selects.
    pub(crate) fn find_plain(&self, path: &[u8]) -> Option<u32> {
        match self {
            Self::Sole(_) => sole(path),
            Self::Routes(routes) => routes.find_plain(path),
        }
    }

    /// As [`find_loose`](Self::find_loose) for a path whose segments are ordinary: loosening leaves it.
    pub(crate) fn find_plain_loose(&self, path: &[u8]) -> Option<u32> {
        match self {
            Self::Sole(_) => sole(path),
            Self::Routes(routes) => routes.find_plain_loose(path),
        }
    }

    /// The index of the route that one form of a path selects.
    pub(crate) fn find(&self, path: &PathForm<'_>) -> Option<u32> {
        match self {
            Self::Sole(_) => sole(path.bytes()),
            Self::Routes(routes) => routes.find(path),
        }
    }

    /// The index of the route that a path selects when it and the patterns are loosened alike.
    pub(crate) fn find_loose(&self, path: &PathForm<'_>) -> Option<u32> {
        match self {
            Self::Sole(_) => sole(path.bytes()),
            Self::Routes(routes) => routes.find_loose(path),
        }
    }
}

/// Every path begins with a slash; what doesn't is none.
fn sole(path: &[u8]) -> Option<u32> {
    (path.first() == Some(&b'/')).then_some(SOLE)
}
