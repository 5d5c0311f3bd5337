//! The router against the naive model of its property tests; explained, cached and built in another order too.

#![no_main]

use std::sync::Arc;

use arbitrary::{Arbitrary, Result, Unstructured};
use fingerpost_fuzz::{PATH, words};
use fingerpost_path::PathRefused;
use fingerpost_router::{CachedRouter, PathPattern, Refused};
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/router/tests/support/built.rs"]
mod built;
#[path = "../../crates/router/tests/support/model.rs"]
mod model;
#[path = "../../crates/path/tests/support/slow.rs"]
mod slow;

use built::{Ask, HOSTS, World, answer, build, builder, calls, host, within_reach};
use model::{Answer, Layer, Model, Pattern, Route, Site};
use slow::{FAMILIES, PRESETS, Slow};

#[derive(Debug)]
struct Input {
    world: World,
    asks: Vec<Ask>,
}

const SEGMENTS: &[&str] = &[
    "/a",
    "/b",
    "/admin",
    "/Admin",
    "/paulca",
    "/bob",
    "/x.json",
    "/index.php",
    "/{{a}}",
    "/{p}",
    "/{q}",
    "/a%2Fb",
    "/health",
    "/",
    "/{*rest}",
];
const PREFIXES: &[&str] = &["paulca", "Paulca", "PAULCA", "bob", "a", "x", "admin"];
const EXACT: &[&str] = &["a.test", "b.test", "new.test", "x.a.test"];

fn pattern(u: &mut Unstructured<'_>) -> Result<Pattern> {
    Ok(match u.int_in_range(0..=5)? {
        0 => Pattern::One((*u.choose(&["a.test", "test"])?).into()),
        1 => Pattern::Deep((*u.choose(&["a.test", "test", "x.a.test"])?).into()),
        2 => Pattern::Any,
        _ => Pattern::Exact((*u.choose(EXACT)?).into()),
    })
}

fn route(u: &mut Unstructured<'_>, id: u32) -> Result<Route> {
    let layer = match u.int_in_range(0..=4)? {
        0 => Layer::Shared,
        1 => Layer::EveryHost,
        _ => Layer::Site(pattern(u)?),
    };
    let mut path = String::new();
    for _ in 0..u.int_in_range(1..=3)? {
        path.push_str(u.choose(SEGMENTS)?);
    }
    Ok(Route { id, layer, path, guarded: u.ratio(1, 3)?, forwards: u.arbitrary()? })
}

fn site(u: &mut Unstructured<'_>) -> Result<Site> {
    let set: Vec<_> = match PRESETS.get(u.int_in_range(0..=20)?) {
        Some((_, set)) => set.to_vec(),
        None => {
            let bits: u16 = u.arbitrary()?;
            (0..9).filter(|bit| bits >> bit & 1 == 1).map(|bit| FAMILIES[bit]).collect()
        }
    };
    Ok(Site {
        slow: Slow::new(&set),
        case_sensitive: u.ratio(1, 3)?,
        refuse_ambiguous: u.ratio(1, 3)?,
        refuse_ambiguous_paths: u.ratio(1, 3)?,
        fallback: u.ratio(3, 4)?,
        map: None,
    })
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut model = Model { reject_unknown: u.arbitrary()?, ..Model::default() };
        for id in 0..u.int_in_range(1..=6)? {
            let route = route(u, id)?;
            let Ok(shape) = PathPattern::parse(&route.path) else { continue };
            let taken = |held: &Route| {
                held.layer == route.layer && PathPattern::parse(&held.path).as_ref() == Ok(&shape)
            };
            if !model.routes.iter().any(taken) {
                model.routes.push(route);
            }
        }
        for _ in 0..u.int_in_range(0..=2)? {
            let (pattern, site) = (pattern(u)?, site(u)?);
            if model.sites.iter().all(|(known, _)| *known != pattern) {
                model.sites.push((pattern, site));
            }
        }
        for _ in 0..u.int_in_range(0..=4)? {
            let (of, target): (_, Option<&&str>) =
                (*u.choose(EXACT)?, if u.ratio(4, 5)? { Some(u.choose(EXACT)?) } else { None });
            let prefix = u.choose(PREFIXES)?;
            built::add_prefix(&mut model, of, prefix.as_bytes(), target.copied());
        }
        if u.ratio(1, 3)? {
            built::add_alias(&mut model, u.choose(HOSTS)?, u.choose(HOSTS)?);
        }
        let world = World { model, seed: u.arbitrary()? };
        let mut asks = Vec::new();
        for _ in 0..u.int_in_range(1..=3)? {
            let name = if u.ratio(1, 12)? { None } else { Some(host(u.choose(HOSTS)?)) };
            let text = if u.ratio(1, 8)? {
                u.arbitrary::<Vec<u8>>()?
            } else {
                let mut picks = Vec::new();
                for _ in 0..u.int_in_range(1..=7)? {
                    picks.push(u.arbitrary()?);
                }
                words(&picks, PATH)
            };
            let mut path =
                if text.starts_with(b"/") { text } else { [b"/", text.as_slice()].concat() };
            path.truncate(40);
            asks.push(Ask { host: name, path });
        }
        Ok(Self { world, asks })
    }
}

fuzz_target!(|input: Input| {
    let Input { world, asks } = input;
    let router = Arc::new(build(&world));
    let mut backwards = calls(&world);
    backwards.reverse();
    let other = builder(&world, &backwards).build().expect("R2");
    let mut cached = CachedRouter::new(Arc::clone(&router), 2);
    for ask in &asks {
        drop(cached.lookup(&ask.lookup()));
        let outcome = router.lookup(&ask.lookup());
        let got = answer(&outcome);
        assert_eq!(got, answer(&other.lookup(&ask.lookup())), "R2 {ask:?}");
        assert_eq!(got, answer(&cached.lookup(&ask.lookup())), "R3 {ask:?}");
        assert_eq!(&got, &answer(router.explain(&ask.lookup()).outcome()), "R8 {ask:?}");
        if let Answer::Found { id, .. } = &got {
            assert!(within_reach(&world.model, ask.name()).contains(id), "R7 {ask:?}");
        }
        if matches!(outcome, Err(Refused::Path(PathRefused::Budget))) {
            assert!(!Slow::new(&[]).ordinary(&ask.path));
            continue;
        }
        let want = world.model.lookup(ask.name(), &ask.path);
        assert!(want.contains(&got), "R1 {ask:?}: {got:?}, want {want:?} in {world:?}");
    }
});
