//! Routes with the tree that finds them.

use fingerpost_path::{PathForm, Rules};

use crate::layer::Route;
use crate::pattern::PathPattern;
use crate::tree::PathTree;

/// Routes that are tried together, in the order of their patterns.
#[derive(Debug)]
pub(crate) struct Routes<T> {
    list: Box<[Route<T>]>,
    tree: PathTree,
    /// The same patterns with literals loosened, where a guard may depend on it and a literal differs.
    loose: Option<PathTree>,
    rules: Rules,
    guarded: bool,
    /// For each guarded route, the first one that is the same when loosened; empty where all differ.
    alike: Vec<u32>,
}

impl<T> Routes<T> {
    /// Builds the trees; answers the pairs of routes whose patterns are the same.
    ///
    /// `rules` say how the literals may be misread, which counts where `guards` tells that the router
    /// has a guarded route, be it in this layer or in another.
    pub(crate) fn build(
        mut routes: Vec<Route<T>>,
        rules: &Rules,
        guards: bool,
    ) -> Result<Self, Vec<(PathPattern, PathPattern)>> {
        // By shape, then by text: which of two equal shapes is named first is no matter of order either.
        let key = |route: &Route<T>| {
            (PathPattern::clone(&route.pattern), route.pattern.as_str().to_owned())
        };
        routes.sort_by_cached_key(key);
        let mut tree = PathTree::default();
        let mut conflicts = Vec::new();
        for (index, route) in numbered(&routes) {
            if let Err(holder) = tree.insert(&route.pattern, index, <[u8]>::to_vec)
                && let Some(holder) = nth(&routes, holder)
            {
                let pair = (&holder.pattern, &route.pattern);
                conflicts.push((PathPattern::clone(pair.0), PathPattern::clone(pair.1)));
            }
        }
        if !conflicts.is_empty() {
            return Err(conflicts);
        }
        let guarded = routes.iter().any(|route| route.options.guarded);
        let differs = |literal: &[u8]| rules.loosen(literal) != literal;
        let loosened = guards && routes.iter().any(|route| route.pattern.literals().any(differs));
        let mut alike = Vec::new();
        let loose = loosened.then(|| {
            let mut loose = PathTree::default();
            alike = numbered(&routes).map(|(index, _)| index).collect();
            // Guarded routes first: where two loosened patterns are the same, the guard counts.
            for guarded in [true, false] {
                for (index, route) in numbered(&routes) {
                    if route.options.guarded == guarded {
                        let taken = loose.insert(&route.pattern, index, |s| rules.loosen(s)).err();
                        let same = taken.filter(|_| guarded).zip(at_mut(&mut alike, index));
                        if let Some((holder, slot)) = same {
                            *slot = holder;
                        }
                    }
                }
            }
            loose
        });
        let rules = rules.clone();
        Ok(Self { list: routes.into(), tree, loose, rules, guarded, alike })
    }

    /// Tells whether two guarded routes are the same when loosened: a backend that reads paths so can't
    /// tell them apart, so that neither is a way around the other.
    pub(crate) fn are_alike(&self, one: u32, other: u32) -> bool {
        let first = |index: u32| self.alike.get(usize::try_from(index).ok()?);
        one == other || first(one).is_some_and(|index| Some(index) == first(other))
    }

    pub(crate) fn is_guarded(&self) -> bool {
        self.guarded
    }

    pub(crate) fn list(&self) -> &[Route<T>] {
        &self.list
    }

    /// The route at `index`.
    pub(crate) fn route(&self, index: u32) -> Option<&Route<T>> {
        nth(&self.list, index)
    }

    /// The index of the route that a path without escapes selects.
    pub(crate) fn find_plain(&self, path: &[u8]) -> Option<u32> {
        self.tree.find_plain(path)
    }

    /// As [`find_loose`](Self::find_loose) for a path whose segments are ordinary: loosening leaves it.
    pub(crate) fn find_plain_loose(&self, path: &[u8]) -> Option<u32> {
        self.loose.as_ref().unwrap_or(&self.tree).find_plain(path)
    }

    /// The index of the route that one form of a path selects.
    pub(crate) fn find(&self, path: &PathForm<'_>) -> Option<u32> {
        self.tree.find(path)
    }

    /// The index of the route that a path selects when it and the patterns are loosened alike, by the
    /// rules of this layer: those of another would compare `/Admin` with `/admin`.
    pub(crate) fn find_loose(&self, path: &PathForm<'_>) -> Option<u32> {
        let loose = self.rules.loosen(path.bytes()).into();
        let loose =
            if path.is_encoded() { PathForm::encoded(loose) } else { PathForm::decoded(loose) };
        self.loose.as_ref().unwrap_or(&self.tree).find(&loose)
    }
}

fn at_mut(list: &mut [u32], index: u32) -> Option<&mut u32> {
    list.get_mut(usize::try_from(index).ok()?)
}

fn numbered<T>(routes: &[Route<T>]) -> impl Iterator<Item = (u32, &Route<T>)> {
    (0..=u32::MAX).zip(routes)
}

fn nth<T>(routes: &[Route<T>], index: u32) -> Option<&Route<T>> {
    routes.get(usize::try_from(index).ok()?)
}
