//! What a changed row costs. Run with `cargo test --release -p fingerpost-fingerprint -- --ignored --nocapture`.

use std::hint::black_box;

use fingerpost_fingerprint::{Digests, Encoder, Key, RowDigest, Section, SectionHostDigest};

#[test]
#[ignore = "a measurement, for a quiet machine and a release build"]
#[expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]
fn cost_of_a_changed_row() {
    const ROUNDS: u32 = 10_000;
    let key = Key::new([7; 32]);
    let mut encoder = Encoder::new();
    let mut row = |target: &str| {
        encoder.start_row(Section::RoutePaths, "tickets.example");
        encoder.text("paulca").text(target).text("tickets").text("go").absent().text("routed");
        RowDigest::of(&key, &encoder)
    };
    // The best of many: everything else that the machine does only adds.
    let time = |what: &str, mut each: Box<dyn FnMut() + '_>| {
        let mut round = || {
            let start = std::time::Instant::now();
            (0..ROUNDS).for_each(|_| each());
            start.elapsed()
        };
        let best = (0..200).map(|_| round()).min().unwrap_or_default();
        println!("{what}: {:.0} ns", best.as_nanos() as f64 / f64::from(ROUNDS));
    };

    let mut host = SectionHostDigest::EMPTY;
    let (from, to) = (row("tickets.example"), row("next.tickets.example"));
    time(
        "two additions",
        Box::new(|| {
            host.remove(black_box(from));
            host.add(black_box(to));
        }),
    );
    time(
        "encode and hash one row",
        Box::new(|| {
            black_box(row(black_box("next.tickets.example")));
        }),
    );
    time(
        "a changed row (two hashes, two additions)",
        Box::new(|| {
            host.remove(row(black_box("tickets.example")));
            host.add(row(black_box("next.tickets.example")));
        }),
    );

    for hosts in [100, 1_000_000] {
        let mut digests = Digests::new(key.clone());
        for at in 0..hosts {
            digests.add(Section::RoutePaths, &format!("h{at}.example"), from);
        }
        let mut changes = SectionHostDigest::EMPTY;
        changes.remove(from);
        changes.add(to);
        time(
            &format!("merge a host and take the fingerprint, {hosts} hosts"),
            Box::new(|| {
                digests.merge(Section::RoutePaths, "h50.example", black_box(changes));
                black_box(digests.fingerprint());
            }),
        );
    }
}
