//! An immutable router from host, first path segment and path to a route.
//!
//! A [`Router`] is built once and never changes; versions share what did not change, and a [`Handle`]
//! swaps them under running requests. It knows hosts, paths and values of the embedder's own type; it
//! does no I/O, parses no requests and keeps no time.
//!
//! # Sites
//! A **site** is what one host pattern owns: a tree of path routes, and optionally a map of first
//! segments that the site of another host serves. A host resolves to one site, by the first
//! [`Tier`] that has one: the host itself, `*.suffix` (one label), `**.suffix` (one or more, the longest
//! suffix), `*`. A miss there goes to the shared routes, or nowhere; it never reaches another site. Routes
//! of every host are tried before the site.
//!
//! # Prefix maps
//! On a site with a map, every reading of the first segment ([`fingerpost_path`]) is looked up, the most
//! normalised first. A hit selects the target's site: the path is looked up in its tree, its own map is
//! not consulted, and no match there is a miss.
//!
//! # Spellings
//! A path that has several spellings is matched by its RFC 3986 normal form. Where another spelling would
//! select another route and one of the two is guarded, the request is refused; so it is wherever the site
//! says so.
//!
//! See [`RouterBuilder`] for an example.
//!
//! # Cost
//! An ordinary path takes no allocation: one or two probes for the host, one for the prefix, a walk over
//! the segments. A change of a prefix copies one shard of about 1,000 entries.
//!
//! # Invariants
//! R1 a look-up equals the naive model. R2 the order of building is irrelevant. R3 cached equals uncached.
//! R4 at most one hop. R5 one request, one snapshot. R6 no allocation on a hit for an ordinary path. R7 a
//! look-up on a host returns an every-host or shared route, one of the host's own site, or one of a site
//! that its own map names. R8 explaining equals looking up. Each is a test of the same name.

mod builder;
mod cached;
mod conflict;
mod decide;
mod explain;
mod handle;
mod hosts;
mod layer;
mod layers;
mod matched;
mod pattern;
mod prefixes;
mod router;
mod routes;
mod site;
mod sites;
mod table;
mod tree;
mod update;

pub use builder::RouterBuilder;
pub use cached::CachedRouter;
pub use conflict::{Conflict, Conflicts, Moved, Owner};
pub use explain::Explanation;
pub use handle::{Handle, Reader};
pub use hosts::Tier;
pub use layer::RouteOptions;
pub use matched::{Match, Refused, SiteRef};
pub use pattern::{PathPattern, PatternError};
pub use router::{Lookup, RouteRef, Router, UnknownHost};
pub use site::{Ambiguity, Fallback, SiteOptions};
pub use update::{Alias, PathChange, Update};
