//! Shared inputs of the benchmarks.

pub mod corpora;
pub mod peers;
