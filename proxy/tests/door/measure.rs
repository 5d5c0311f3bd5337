//! What flips cost, in figures. Each is a test of its own, run on a quiet machine:
//! `cargo test --release -p fingerpost --test door -- --ignored --nocapture measure::`.

#[path = "measure/inside.rs"]
mod inside;
#[path = "measure/latency.rs"]
mod latency;
#[path = "measure/load.rs"]
mod load;
#[path = "measure/million.rs"]
mod million;

use std::time::Duration;

/// Prints the middle and the far end of some times; answers the 99th percentile.
fn spread(name: &str, times: impl IntoIterator<Item = Duration>) -> Duration {
    let mut times: Vec<_> = times.into_iter().collect();
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 1000];
    let figures = [("p50", 500), ("p90", 900), ("p99", 990), ("p99.9", 999), ("max", 1000)];
    let figures =
        figures.map(|(name, share)| format!("{name} {:8.3} ms", at(share).as_secs_f64() * 1e3));
    println!("{name:<28} {}  of {}", figures.join("  "), times.len());
    at(990)
}

/// How busy the machine is besides: the load average, where there is one.
fn busy() -> String {
    std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}
