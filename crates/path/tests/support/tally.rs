//! Property tests that also prove that they met the cases that matter.

#![allow(dead_code, reason = "shared: no test uses all of it")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};

/// Cases of one kind, counted.
#[derive(Default)]
pub(crate) struct Tally(RefCell<BTreeMap<&'static str, u32>>);

impl Tally {
    /// Counts a case under `kind` if it is one.
    pub(crate) fn count(&self, kind: &'static str, is: bool) {
        if is {
            *self.0.borrow_mut().entry(kind).or_default() += 1;
        }
    }
}

/// How many cases every property is run with.
pub(crate) const CASES: u32 = 100_000;

/// Runs `test` on [`CASES`] cases; each of `kinds` has to be met at least that often in a thousand.
pub(crate) fn prove<S: Strategy<Value: Debug>>(
    strategy: S,
    kinds: &[(&'static str, u32)],
    test: impl Fn(&S::Value, &Tally) -> TestCaseResult,
) {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let tally = Tally::default();
    let outcome = TestRunner::new(config).run(&strategy, |case| test(&case, &tally));
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let seen = tally.0.into_inner();
    println!("{seen:?}");
    for &(kind, in_a_thousand) in kinds {
        let count = seen.get(kind).copied().unwrap_or_default();
        assert!(
            count >= CASES / 1000 * in_a_thousand,
            "{kind}: only {count} of {CASES} cases; {seen:?}"
        );
    }
}
