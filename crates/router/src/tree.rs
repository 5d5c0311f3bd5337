//! A tree of path patterns, matched segment by segment.

use fingerpost_path::PathForm;

use crate::pattern::{PathPattern, Segment};
use statics::{Cut, Head, Statics};

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
    /// The value of a pattern that ends here with a trailing slash.
    slashed: Option<(Rank, u32)>,
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

/// How a written-out pattern ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Bare,
    Slash,
}

const ROOT: u32 = 0;

impl Node {
    fn end_mut(&mut self, end: End) -> &mut Option<(Rank, u32)> {
        match end {
            End::Bare => &mut self.leaf,
            End::Slash => &mut self.slashed,
        }
    }

    /// Sets a value unless something stronger is there.
    ///
    /// Two aliases of one rank never meet: `/x` and `/x/` are slash variants of each other's explicit
    /// pattern only, and a bare prefix has one catch-all.
    fn offer(&mut self, end: End, rank: Rank, value: u32) {
        let held = self.end_mut(end);
        if held.is_none_or(|(held, _)| held > rank) {
            *held = Some((rank, value));
        }
    }
}

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
        let mut steps = Vec::with_capacity(keys.len());
        let (mut catch_all, mut end) = (false, End::Bare);
        for (segment, key) in pattern.segments().iter().zip(&keys) {
            match segment {
                Segment::Literal(_) if key.is_empty() => end = End::Slash,
                Segment::Literal(_) => steps.push(Step::Literal(key)),
                Segment::Param(_) => steps.push(Step::Param),
                Segment::CatchAll(_) => catch_all = true,
            }
        }
        let at = self.node(&steps);
        let Some(node) = self.at_mut(at) else { return Ok(()) };
        if catch_all {
            if let Some(holder) = node.catch_all {
                return Err(holder);
            }
            node.catch_all = Some(value);
            node.offer(End::Slash, Rank::BarePrefix, value);
            if at != ROOT {
                node.offer(End::Bare, Rank::BarePrefix, value);
            }
            return Ok(());
        }
        if let Some((Rank::Explicit, holder)) = *node.end_mut(end) {
            return Err(holder);
        }
        node.offer(end, Rank::Explicit, value);
        let other = if end == End::Bare { End::Slash } else { End::Bare };
        if at != ROOT {
            node.offer(other, Rank::SlashVariant, value);
        }
        Ok(())
    }

    /// Finds or makes the node at the end of `steps`.
    fn node(&mut self, steps: &[Step<'_>]) -> u32 {
        let mut at = ROOT;
        for step in steps {
            let fresh = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
            let Some(node) = self.at_mut(at) else { return at };
            let next = match step {
                Step::Literal(bytes) => node.statics.find(bytes, Head::of(bytes)),
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
        let rest = path.strip_prefix(b"/")?;
        self.walk::<false>(ROOT, rest)
    }

    /// Goes down from `at`, straight on where there is one way, and back where a way ends in nothing.
    fn walk<const ENCODED: bool>(&self, mut at: u32, mut rest: &[u8]) -> Option<u32> {
        loop {
            let node = self.at(at)?;
            if rest.is_empty() {
                return node.slashed.map(|(_, value)| value).or(node.catch_all);
            }
            if node.statics.is_empty() && node.param.is_none() {
                return node.catch_all;
            }
            let Cut { segment, head, rest: deeper } = Cut::from(rest);
            let found = if ENCODED && memchr::memchr(b'%', segment).is_some() {
                let decoded = Vec::from_iter(percent_encoding::percent_decode(segment));
                node.statics.find(&decoded, Head::of(&decoded))
            } else {
                node.statics.find(segment, head)
            };
            let param = if segment.is_empty() { None } else { node.param };
            let only = match (found, param) {
                (None, None) => return node.catch_all,
                (Some(next), None) | (None, Some(next)) if node.catch_all.is_none() => next,
                (first, second) => {
                    let down = |next: Option<u32>| match deeper {
                        Some(deeper) => self.walk::<ENCODED>(next?, deeper),
                        None => self.leaf(next?),
                    };
                    return down(first).or_else(|| down(second)).or(node.catch_all);
                }
            };
            match deeper {
                Some(deeper) => (at, rest) = (only, deeper),
                None => return self.leaf(only),
            }
        }
    }

    fn leaf(&self, node: u32) -> Option<u32> {
        self.at(node)?.leaf.map(|(_, value)| value)
    }

    fn at(&self, node: u32) -> Option<&Node> {
        self.nodes.get(usize::try_from(node).ok()?)
    }

    fn at_mut(&mut self, node: u32) -> Option<&mut Node> {
        self.nodes.get_mut(usize::try_from(node).ok()?)
    }
}
