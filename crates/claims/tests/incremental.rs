//! Passes over changed claims only, against full ones.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

#[path = "support/world.rs"]
mod world;

use fingerpost_claims::{ClaimSet, Reconciler, Rows, reconcile};
use proptest::collection::vec;
use proptest::prelude::*;
use world::{Choices, World, stored};

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(100_000)
    })]

    #[test]
    fn incremental_equals_full(bytes in vec(any::<u8>(), 0..240)) {
        let mut choices = Choices::new(&bytes);
        let mut world = World::random(&mut choices);
        let (mut reconciler, first) = Reconciler::new(world.facts(), world.claims(), &Rows::default());
        let mut rows = Rows::default();
        rows.apply(&first.diff);
        prop_assert_eq!(&rows, reconciler.rows());
        for _ in 0..4 {
            let mut changes = Vec::new();
            for _ in 0..=choices.pick(2) {
                let (key, body) = stored(&mut choices);
                let body = (choices.pick(4) != 3).then_some(body);
                world.stored.retain(|(known, _)| *known != key);
                world.stored.extend(body.clone().map(|body| (key.clone(), body)));
                changes.push((key, body));
            }
            let full = reconcile(&world.facts(), &world.claims(), reconciler.rows());
            let changes = changes.iter().map(|(key, body)| (key.as_str(), body.as_deref()));
            let pass = reconciler.update(changes);
            prop_assert_eq!(reconciler.rows(), &full.rows);
            prop_assert_eq!(reconciler.report(), &full.report);
            prop_assert_eq!(pass.withdrawn, full.withdrawn);
            rows.apply(&pass.diff);
            prop_assert_eq!(&rows, &full.rows);
        }
        // New facts, and a full list.
        world.routes = World::random(&mut choices).routes;
        let full = reconcile(&world.facts(), &world.claims(), reconciler.rows());
        rows.apply(&reconciler.set_facts(world.facts()).diff);
        prop_assert_eq!((&rows, reconciler.report()), (&full.rows, &full.report));
        rows.apply(&reconciler.set_claims(ClaimSet::new()).diff);
        let none = reconcile(&world.facts(), &ClaimSet::new(), &full.rows);
        prop_assert_eq!(&rows, &none.rows);
    }
}
