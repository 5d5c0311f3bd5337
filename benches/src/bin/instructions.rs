//! Runs one scenario a number of times, to be counted: `valgrind --tool=callgrind instructions NAME COUNT`.
//! The difference between two counts, divided by their distance, is the cost of one look-up.

use std::hint::black_box;

use fingerpost_authority::Host;
use fingerpost_benches::corpora::{
    host, matching_paths, ordinary_paths, path_routes, prefix, router,
};
use fingerpost_benches::peers::{HostsAndMatchit, Segments};
use fingerpost_router::Lookup;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(count)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: instructions ordinary|ordinary-peer|prefix|prefix-peer|select COUNT");
        std::process::exit(2);
    };
    let count: usize = count.parse().expect("a count");
    let asked = Host::parse(host(0)).expect("a host");
    let routes = path_routes(50);
    let (paths, prefixes) = match &*name {
        "prefix" | "prefix-peer" => (ordinary_paths(64, 10_000), 10_000),
        _ => (matching_paths(50), 10_000),
    };
    let ask = |at: usize| Lookup {
        host: Some(&asked),
        path: paths[at % paths.len()].as_bytes(),
        query: None,
    };
    match &*name {
        "ordinary" => {
            let router = router(10, prefixes, &routes);
            for at in 0..count {
                black_box(router.lookup(&ask(at)).map(|found| found.map(|found| *found.value())))
                    .ok();
            }
        }
        "prefix" => {
            let router = router(10, prefixes, &[]);
            for at in 0..count {
                black_box(router.lookup(&ask(at)).map(|found| found.map(|found| *found.value())))
                    .ok();
            }
        }
        "ordinary-peer" => {
            let peer = HostsAndMatchit::new((0..10).map(host), &routes);
            for at in 0..count {
                black_box(peer.lookup(asked.as_str(), &paths[at % paths.len()]));
            }
        }
        "prefix-peer" => {
            let peer = HostsAndMatchit::new((0..10).map(host), &["/{*rest}".to_owned()]);
            let map = Segments::new((0..prefixes).map(prefix));
            for at in 0..count {
                let path = &paths[at % paths.len()];
                black_box((map.lookup(path), peer.lookup(asked.as_str(), path)));
            }
        }
        "parse" => {
            for _ in 0..count {
                black_box(Host::parse(black_box(asked.as_bytes()))).ok();
            }
        }
        other => panic!("no scenario {other}"),
    }
}
