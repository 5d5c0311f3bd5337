//! From claims and routes to rows, with a reason for everything that has no effect.

mod entries;
mod host;
mod reconciler;
mod tables;

pub use self::reconciler::{Pass, Reconciler};
use self::tables::Tables;
use crate::{ClaimSet, Facts, Report, Rows, Withdrawn};

/// What a full pass leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// The three tables.
    pub rows: Rows,
    /// Every claim and entry, with the reason where it has no effect.
    pub report: Report,
    /// What was routed before, is still wanted, and is routed no longer; in order.
    pub withdrawn: Vec<Withdrawn>,
}

/// Derives the rows of every claim.
///
/// Pure and total: it reads no clock, and nothing makes it fail. `previous` are the rows that this box
/// served until now; of them it takes only which prefixes a site with
/// [`OnUnresolved::Sticky`](crate::OnUnresolved::Sticky) holds.
///
/// * A claim of the configuration gives way to a stored one of the same account, and comes back when that is
///   deleted. Where the stored one does not parse it does not come back: nobody knows which of its entries
///   were withdrawn since.
/// * A claim that does not parse drops its own rows and no other. Where the host is a route whose site says
///   `sticky` or `refuse`, the path rows that the route's account had are held: the claim can't be read, so
///   that nobody has given them back to the origin.
/// * Entries past the limit and reserved prefixes are never held.
///
/// # Invariants
/// Each is a property test of the same name in `tests/invariants.rs`.
///
/// * K1: the order of inputs is irrelevant.
/// * K2: a second pass over its own rows changes nothing.
/// * K3: no row without a claim of that account behind it, and none that routes without having passed every
///   gate. (Behind a held row may stand a claim that does not parse, on a route of that account.)
/// * K4: every claim and every entry is in the report once.
/// * K5: the rows always build a router.
///
/// # Complexity
/// Linear in claims and entries, with some logarithmic look-ups each.
#[must_use]
pub fn reconcile(facts: &Facts, claims: &ClaimSet, previous: &Rows) -> Outcome {
    let (tables, withdrawn) = Tables::full(facts, claims, previous);
    let Tables { rows, report, .. } = tables;
    Outcome { rows, report, withdrawn }
}
