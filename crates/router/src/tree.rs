//! A tree of path patterns, matched segment by segment.

use fingerpost_path::PathForm;

use crate::pattern::{PathPattern, Segment};
use statics::Statics;

mod statics;

/// Path patterns to values, immutable once built.
///
/// One trie holds every pattern, written out with its aliases: a catch-all also answers its bare prefix
/// with and without the slash, and every other pattern also answers with its trailing slash added or
/// removed. Where two written-out patterns are the same, an explicit one beats a catch-all's bare
/// prefix, which beats a slash variant. The walk tries a literal before a parameter before a catch-all
/// at each segment, and steps back where a branch ends without a value.
///
/// A node is entered by one path only, so a look-up visits each node at most once: it is linear in the
/// length of the path, times the number of patterns that share its first segments in the worst case.
#[derive(Clone, Debug)]
pub(crate) struct PathTree {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    statics: Statics,
    param: Option<u32>,
    /// The value of `{*rest}` here.
    catch_all: Option<u32>,
    /// The value of a pattern that ends here, with what made it.
    leaf: Option<(Rank, u32)>,
}

/// What made a written-out pattern, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Explicit,
    BarePrefix,
    SlashVariant,
}

/// One step of a written-out pattern.
enum Step<'a> {
    Literal(&'a [u8]),
    Param,
}

const ROOT: u32 = 0;
const TRAILING_SLASH: Step<'static> = Step::Literal(b"");

impl Default for PathTree {
    fn default() -> Self {
        Self { nodes: vec![Node::default()] }
    }
}

impl PathTree {
    /// Adds a pattern; answers the value that holds its place already, if one does.
    ///
    /// `key` maps a literal to what it is compared by: the identity, or a looser form of it.
    pub(crate) fn insert(
        &mut self,
        pattern: &PathPattern,
        value: u32,
        key: impl Fn(&[u8]) -> Vec<u8>,
    ) -> Result<(), u32> {
        let keys: Vec<Vec<u8>> = pattern
            .segments()
            .iter()
            .map(|segment| match segment {
                Segment::Literal(bytes) => key(bytes),
                Segment::Param(_) | Segment::CatchAll(_) => Vec::new(),
            })
            .collect();
        let mut steps = Vec::with_capacity(keys.len() + 1);
        let mut catch_all = false;
        for (segment, key) in pattern.segments().iter().zip(&keys) {
            match segment {
                Segment::Literal(_) => steps.push(Step::Literal(key)),
                Segment::Param(_) => steps.push(Step::Param),
                Segment::CatchAll(_) => catch_all = true,
            }
        }
        if catch_all {
            return self.insert_catch_all(steps, value);
        }
        self.set_leaf(&steps, Rank::Explicit, value)?;
        let slashed = matches!(steps.last(), Some(Step::Literal(b"")));
        if slashed {
            steps.pop();
        } else {
            steps.push(TRAILING_SLASH);
        }
        if !steps.is_empty() {
            self.offer_leaf(&steps, Rank::SlashVariant, value);
        }
        Ok(())
    }

    fn insert_catch_all(&mut self, mut steps: Vec<Step<'_>>, value: u32) -> Result<(), u32> {
        let node = self.node(&steps);
        if let Some(node) = self.at_mut(node) {
            if let Some(holder) = node.catch_all {
                return Err(holder);
            }
            node.catch_all = Some(value);
        }
        if !steps.is_empty() {
            self.offer_leaf(&steps, Rank::BarePrefix, value);
        }
        steps.push(TRAILING_SLASH);
        self.offer_leaf(&steps, Rank::BarePrefix, value);
        Ok(())
    }

    fn set_leaf(&mut self, steps: &[Step<'_>], rank: Rank, value: u32) -> Result<(), u32> {
        let node = self.node(steps);
        match self.at_mut(node) {
            Some(Node { leaf: Some((held, holder)), .. }) if *held == rank => Err(*holder),
            Some(node) => {
                node.leaf = Some((rank, value));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Sets an alias unless something stronger, or the same from a pattern added before, is there.
    ///
    /// Two aliases of one rank never meet: `/x` and `/x/` are slash variants of each other's explicit
    /// pattern only, and a bare prefix has one catch-all.
    fn offer_leaf(&mut self, steps: &[Step<'_>], rank: Rank, value: u32) {
        let node = self.node(steps);
        if let Some(node) = self.at_mut(node)
            && node.leaf.is_none_or(|(held, _)| held > rank)
        {
            node.leaf = Some((rank, value));
        }
    }

    /// Finds or makes the node at the end of `steps`.
    fn node(&mut self, steps: &[Step<'_>]) -> u32 {
        let mut at = ROOT;
        for step in steps {
            let fresh = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
            let Some(node) = self.at_mut(at) else { return at };
            let next = match step {
                Step::Literal(bytes) => node.statics.find(bytes),
                Step::Param => node.param,
            };
            at = match (next, step) {
                (Some(next), _) => next,
                (None, Step::Literal(bytes)) => {
                    node.statics.insert(bytes, fresh);
                    self.nodes.push(Node::default());
                    fresh
                }
                (None, Step::Param) => {
                    node.param = Some(fresh);
                    self.nodes.push(Node::default());
                    fresh
                }
            };
        }
        at
    }

    /// The value of the most specific pattern that matches `path`, which begins with a slash.
    pub(crate) fn find(&self, path: &PathForm<'_>) -> Option<u32> {
        let rest = path.bytes().strip_prefix(b"/")?;
        if path.is_encoded() {
            self.walk::<true>(ROOT, rest)
        } else {
            self.walk::<false>(ROOT, rest)
        }
    }

    /// As [`find`](Self::find) for a path that holds no escape.
    pub(crate) fn find_plain(&self, path: &[u8]) -> Option<u32> {
        self.walk::<false>(ROOT, path.strip_prefix(b"/")?)
    }

    fn walk<const ENCODED: bool>(&self, at: u32, rest: &[u8]) -> Option<u32> {
        let node = self.at(at)?;
        if !node.statics.is_empty() || node.param.is_some() {
            let end = memchr::memchr(b'/', rest);
            let (segment, tail) = rest.split_at(end.unwrap_or(rest.len()));
            let found = if ENCODED && memchr::memchr(b'%', segment).is_some() {
                node.statics.find(&Vec::from_iter(percent_encoding::percent_decode(segment)))
            } else {
                node.statics.find(segment)
            };
            let param = node.param.filter(|_| !segment.is_empty());
            for next in [found, param].into_iter().flatten() {
                let value = match tail.split_first() {
                    Some((_, deeper)) => self.walk::<ENCODED>(next, deeper),
                    None => self.at(next)?.leaf.map(|(_, value)| value),
                };
                if value.is_some() {
                    return value;
                }
            }
        }
        node.catch_all
    }

    fn at(&self, node: u32) -> Option<&Node> {
        self.nodes.get(usize::try_from(node).ok()?)
    }

    fn at_mut(&mut self, node: u32) -> Option<&mut Node> {
        self.nodes.get_mut(usize::try_from(node).ok()?)
    }
}
