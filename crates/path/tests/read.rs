//! P2, P4 and P5, and the candidates against a slow model of the family table.

#![expect(clippy::indexing_slicing, reason = "a row that cannot be read fails the test")]

use std::collections::BTreeSet;

use fingerpost_path::{Families, PathRefused, Preset, Rules};
use proptest::prelude::*;

#[path = "support/paths.rs"]
mod paths;
#[path = "support/slow.rs"]
mod slow;
#[path = "support/tally.rs"]
mod tally;

use slow::{Family, Slow};
use tally::prove;

fn families(set: &[Family]) -> Families {
    set.iter().fold(Families::BASE, |all, family| {
        all | match family {
            Family::Merge => Families::MERGE,
            Family::Dots => Families::DOTS,
            Family::Cut => Families::CUT,
            Family::Params => Families::PARAMS,
            Family::Bslash => Families::BSLASH,
            Family::Auth => Families::AUTH,
            Family::Double => Families::DOUBLE,
            Family::Frontc => Families::FRONTC,
            Family::Nextdata => Families::NEXTDATA,
        }
    })
}

fn read(rules: &Rules, path: &[u8]) -> Result<BTreeSet<Vec<u8>>, PathRefused> {
    let spellings = rules.spellings(path, None)?;
    let segments = spellings.iter().map(|reading| reading.segment().to_vec());
    Ok(segments.filter(|segment| !segment.is_empty()).collect())
}

fn shown(set: &BTreeSet<Vec<u8>>) -> String {
    set.iter().map(|text| format!("{} ", text.escape_ascii())).collect()
}

/// Sets of families: every preset, and any other combination.
fn sets() -> impl Strategy<Value = Vec<Family>> {
    let preset = prop::sample::select(slow::PRESETS.to_vec()).prop_map(|(_, set)| set.to_vec());
    let any = prop::sample::subsequence(slow::FAMILIES.to_vec(), 0..=slow::FAMILIES.len());
    prop_oneof![preset, any]
}

#[test]
fn presets_are_the_ones_of_the_table() {
    assert_eq!(slow::PRESETS.len(), Preset::ALL.len());
    for (name, set) in slow::PRESETS {
        assert_eq!(name.parse::<Preset>().unwrap().families(), families(set), "{name}");
    }
}

#[test]
fn every_reading_of_one_pass_is_a_candidate_and_no_candidate_is_made_up() {
    let kinds = [("refused", 5), ("ordinary", 50), ("several", 250), ("within bounds", 20)];
    prove((sets(), paths::any_path(7)), &kinds, |(set, path), tally| {
        let model = Slow::new(set);
        let rules = Rules::new(families(set));
        let got = read(&rules, path);
        tally.count("refused", slow::unclean(path));
        let got = match got {
            Err(PathRefused::Budget) => {
                tally.count("budget", true);
                prop_assert!(!slow::unclean(path));
                return Ok(());
            }
            other => other,
        };
        prop_assert_eq!(got.is_err(), slow::unclean(path), "{:?}", got);
        let Ok(got) = got else { return Ok(()) };
        let (must, may) = (model.must(path), model.may(path));
        tally.count("ordinary", model.ordinary(path));
        tally.count("several", got.len() > 1);
        tally.count("within bounds", got != must);
        let lost: BTreeSet<_> = must.difference(&got).cloned().collect();
        // no prefix holds a percent sign
        let made_up = got.difference(&may).filter(|text| !text.contains(&b'%')).cloned().collect();
        prop_assert!(
            lost.is_empty(),
            "{} loses {}; got {}",
            path.escape_ascii(),
            shown(&lost),
            shown(&got)
        );
        prop_assert!(
            BTreeSet::is_empty(&made_up),
            "{} makes up {}",
            path.escape_ascii(),
            shown(&made_up)
        );
        Ok(())
    });
}

#[test]
fn p2_an_ordinary_path_has_exactly_one_candidate_and_borrows() {
    let kinds = [("ordinary", 200), ("odd", 200)];
    let path = prop_oneof![paths::usual(), paths::odd(3)];
    prove((sets(), path), &kinds, |(set, path), tally| {
        let (model, rules) = (Slow::new(set), Rules::new(families(set)));
        let fast = rules.ordinary(path, None);
        tally.count(if fast.is_some() { "ordinary" } else { "odd" }, true);
        prop_assert_eq!(fast.is_some(), model.ordinary(path));
        let Some(segment) = fast else { return Ok(()) };
        prop_assert!(path.as_ptr_range().contains(&segment.as_ptr()) || segment.is_empty());
        let spellings = rules.spellings(path, None).unwrap();
        prop_assert!(spellings.is_ordinary());
        prop_assert_eq!(
            spellings.iter().map(|reading| reading.segment()).collect::<Vec<_>>(),
            [segment]
        );
        // the closure, which knows no shortcut, finds the same
        let all: Vec<_> = model.may(path).into_iter().collect();
        prop_assert_eq!(all.concat(), segment);
        Ok(())
    });
}

#[test]
fn p4_paulcarson_never_yields_paulca() {
    prove((sets(), paths::near(4)), &[("read", 800), ("several", 300)], |(set, path), tally| {
        let Ok(got) = read(&Rules::new(families(set)), path) else { return Ok(()) };
        tally.count("read", true);
        tally.count("several", got.len() > 1);
        prop_assert!(
            !got.iter().any(|text| text.eq_ignore_ascii_case(b"paulca")),
            "{}",
            shown(&got)
        );
        Ok(())
    });
}

#[test]
fn p5_more_families_never_lose_a_candidate() {
    let sets = (sets(), sets());
    prove(
        (sets, paths::any_path(7)),
        &[("compared", 800), ("more", 50)],
        |((set, more), path), tally| {
            let both: Vec<Family> = set.iter().chain(more).copied().collect();
            let few = read(&Rules::new(families(set)), path);
            let many = read(&Rules::new(families(&both)), path);
            let (Ok(few), Ok(many)) = (few, many) else { return Ok(()) };
            tally.count("compared", true);
            tally.count("more", few.len() < many.len());
            let lost: BTreeSet<_> = few.difference(&many).cloned().collect();
            prop_assert!(lost.is_empty(), "lost {}", shown(&lost));
            Ok(())
        },
    );
}

/// Family sets, a path, and whether `paulca` is read out of it.
const READ: &[(&[Family], &str, bool)] = {
    use Family::{Auth, Bslash, Cut, Dots, Double, Frontc, Merge, Nextdata, Params};
    &[
        // base: the decoded path, and its cleaned form
        (&[], "/paulca", true),
        (&[], "/paulca/x", true),
        (&[], "/%70aulca", true),
        (&[], "/%2570aulca", false),
        (&[], "/bob/../paulca", true),
        (&[], "/bob/%2e%2e/paulca", true),
        (&[], "/paulca/../bob", true),
        (&[], "/bob/paulca", false),
        (&[], "/paulcarson", false),
        (&[], "/paulca%2fx", true),
        (&[], "//paulca", true),
        (&[], "//paulca/../bob", false),
        (&[Merge], "//paulca/../bob", true),
        (&[Merge], "//bob/../paulca", true),
        (&[Merge], "//bob/paulca", false),
        (&[Dots], "/bob/..//paulca/../x", false),
        (&[Merge, Dots], "/bob/..//paulca/x", true),
        (&[Dots], "/%2e%2e/bob/%2E./paulca", true),
        (&[Dots], "/bob%2f..%2fpaulca", true),
        (&[Dots], "/bob/.../paulca", false),
        (&[Cut], "/paulca.json", true),
        (&[Cut], "/paulca;x", true),
        (&[Cut], "/paulca%2ejson", true),
        (&[Cut], "/paulca~", true),
        (&[Cut], "/%20paulca", true),
        (&[Cut], "/%c3%a9paulca", true),
        (&[Cut], "/paul%e2%80%8bca", true),
        (&[Cut], "/~paulca", false),
        (&[Cut], "/paulca-2", false),
        (&[Cut], "/paulca_", false),
        (&[Cut], "/paulca2.json", false),
        (&[Merge, Dots], "/paulca.json", false),
        // cut comes before decoding too, so that a name that is spelled with an escape is also read short
        (&[Cut], "/paulca%72son", true),
        (&[Params], "/paulca;v=1", true),
        (&[Params, Merge, Dots], "/bob/..;/paulca", true),
        (&[Params], "/bob/..;x/paulca", true),
        (&[Merge, Dots], "/bob/..;/paulca", false),
        (&[Params, Merge, Dots], "/;x/paulca", true),
        (&[Params], "/bob;paulca", false),
        (&[Params], "/paulca%3bx", true),
        (&[Bslash], "/\\paulca", true),
        (&[Bslash], "/paulca\\x", true),
        (&[Bslash], "/%5cpaulca", true),
        (&[Bslash], "/bob\\..\\paulca", true),
        (&[Bslash], "/bob\\paulca", false),
        (&[Merge, Dots], "/\\paulca", false),
        (&[Auth], "//bob/paulca", true),
        (&[Auth], "//bob/x/paulca", false),
        (&[Merge, Dots], "//bob/paulca", false),
        (&[Auth, Bslash], "/\\bob/paulca", true),
        (&[Double], "/%2570aulca", true),
        (&[Double], "/%252570aulca", true),
        (&[Double], "/%25252570aulca", false),
        (&[Double, Dots], "/bob/%252e%252e/paulca", true),
        (&[Merge, Dots], "/bob/%252e%252e/paulca", false),
        (&[Frontc], "/index.php/paulca", true),
        (&[Frontc], "/a/INDEX.PHP/paulca/x", true),
        (&[Frontc], "/index.ph/paulca", false),
        (&[Frontc], "/index.php/bob/paulca", false),
        (&[Merge, Dots, Cut], "/index.php/paulca", false),
        (&[Nextdata, Cut], "/_next/data/b1/paulca.json", true),
        (&[Nextdata], "/_next/data/b1/paulca", true),
        (&[Nextdata], "/_next/data/paulca", false),
        (&[Nextdata], "/_next/static/b1/paulca", false),
        (&[Merge, Dots, Cut], "/_next/data/b1/paulca.json", false),
    ]
};

#[test]
fn each_family_reads_its_own_spelling_and_no_near_miss() {
    for &(set, path, want) in READ {
        let got = read(&Rules::new(families(set)), path.as_bytes()).expect(path);
        assert_eq!(got.contains(&b"paulca"[..]), want, "{set:?} {path}: {}", shown(&got));
    }
}

/// A spelling of each kind, and the presets that read `paulca` out of it.
const PRESETS: &[(&str, &[&str])] = &[
    (
        "/paulca",
        &[
            "generic", "rails", "sinatra", "servlet", "php", "whatwg", "nextjs", "nocase",
            "restify", "dotnet", "python", "any",
        ],
    ),
    (
        "/bob//../../paulca",
        &[
            "generic", "rails", "sinatra", "servlet", "php", "whatwg", "nextjs", "nocase",
            "restify", "dotnet", "python", "any",
        ],
    ),
    (
        "/paulca.json",
        &[
            "rails", "sinatra", "servlet", "php", "nextjs", "nocase", "restify", "dotnet",
            "python", "any",
        ],
    ),
    ("/\\paulca", &["sinatra", "php", "whatwg", "restify", "dotnet", "any"]),
    ("/bob/..;/paulca", &["servlet", "restify", "any"]),
    ("//bob/paulca", &["php", "whatwg", "restify", "python", "any"]),
    ("/%2570aulca", &["php", "dotnet", "any"]),
    ("/index.php/paulca", &["php", "any"]),
    ("/_next/data/b/paulca", &["nextjs", "any"]),
    ("/paulcarson", &[]),
    ("/bob/paulca", &[]),
    ("/bob?paulca", &[]),
];

#[test]
fn each_preset_reads_the_spellings_of_its_families_only() {
    for &(path, want) in PRESETS {
        let reads = |preset: &Preset| {
            read(&Rules::new(preset.families()), path.as_bytes()).unwrap().contains(&b"paulca"[..])
        };
        let got: Vec<_> = Preset::ALL.into_iter().filter(reads).map(Preset::name).collect();
        assert_eq!(got, want, "{path}");
    }
}

#[test]
fn a_slug_with_dots_keeps_john_doe_apart_from_john() {
    const DOTTED: &str = "A-Za-z0-9_.-";
    for (slug, path, name, want) in [
        ("A-Za-z0-9_-", "/john.doe", "john", true),
        ("A-Za-z0-9_-", "/john.doe", "john.doe", true),
        (DOTTED, "/john.doe", "john", false),
        (DOTTED, "/john.doe", "john.doe", true),
        (DOTTED, "/john;x", "john", true),
        (DOTTED, "/john.doe.json", "john.doe", false),
        (DOTTED, "/john.doe~x", "john.doe", true),
        ("a-z", "/john2", "john", true),
        ("a-z0-9", "/john2", "john", false),
    ] {
        let rules = Rules::new(Preset::Rails.families()).with_slug(slug.parse().unwrap());
        let got = read(&rules, path.as_bytes()).unwrap();
        assert_eq!(got.contains(name.as_bytes()), want, "{slug} {path} {name}: {}", shown(&got));
    }
    // the slug takes part in what is ordinary: a byte outside of it is cut
    let rules = Rules::default().with_slug("a-z".parse().unwrap());
    assert_eq!(rules.ordinary(b"/john2", None), None);
    assert_eq!(rules.ordinary(b"/john", None), Some(&b"john"[..]));
}

#[test]
fn a_query_parameter_is_a_path_only_where_it_is_named() {
    let plain = Rules::new(Preset::Php.families());
    let named = plain.clone().with_query(["q", "r"]);
    for (path, query, want) in [
        ("/index.php", Some("q=paulca"), true),
        ("/index.php", Some("q=/paulca/x"), true),
        ("/index.php", Some("a=1&r=paulca"), true),
        ("/index.php", Some("%71=%70aulca"), true),
        ("/index.php", Some("q=bob/../paulca"), true),
        ("/index.php", Some("qq=paulca"), false),
        ("/index.php", Some("Q=paulca"), false),
        ("/index.php", Some("q=paulcarson"), false),
        ("/index.php", Some("paulca"), false),
        ("/index.php", None, false),
        ("/bob", Some("q=paulca"), true),
    ] {
        let reads = |rules: &Rules| {
            let spellings = rules.spellings(path.as_bytes(), query.map(str::as_bytes)).unwrap();
            spellings.iter().any(|reading| reading.segment() == b"paulca")
        };
        assert_eq!(reads(&named), want, "{path}?{query:?}");
        assert!(!reads(&plain), "{path}?{query:?}");
    }
    assert_eq!(named.ordinary(b"/bob", Some(b"x=1")), None);
    assert_eq!(plain.ordinary(b"/bob", Some(b"x=1")), Some(&b"bob"[..]));
}

#[test]
fn only_a_first_segment_next_is_odd() {
    let rules = Rules::new(Preset::Nextjs.families());
    for (path, want) in [
        ("/_next", None),
        ("/_next/data", None),
        ("/_nextx", Some("_nextx")),
        ("/a/_next", Some("a")),
    ] {
        assert_eq!(rules.ordinary(path.as_bytes(), None), want.map(str::as_bytes), "{path}");
    }
}

#[test]
fn hostile_paths_are_refused_and_long_ones_are_not() {
    let any = Rules::default();
    let of = |piece: &str, length: usize| format!("/{}", piece.repeat(length / piece.len()));
    for piece in [
        "%25252e%25252e%25252f",
        "/..;/a.php/%5c%252f",
        "//%5c;x/..",
        "\\a;b/%2e%2e",
        "%2525",
        "a.php/",
        "..%2f",
    ] {
        for length in [8 << 10, 64 << 10] {
            let path = of(piece, length);
            assert_eq!(read(&any, path.as_bytes()), Err(PathRefused::Budget), "{piece} x {length}");
        }
    }
    // an ordinary path has no budget to exceed
    for length in [8 << 10, 64 << 10] {
        let path = of("abcdefg/", length);
        assert_eq!(read(&any, path.as_bytes()).unwrap(), BTreeSet::from([b"abcdefg".to_vec()]));
    }
    // an odd one has: twice its bytes fit in 16 KiB, or not
    assert!(read(&any, of("%61bcdef/", 8000).as_bytes()).is_ok());
    assert_eq!(read(&any, of("%61bcdef/", 9000).as_bytes()), Err(PathRefused::Budget));
    // refusals of other kinds come first
    assert!(matches!(
        read(&any, format!("{} ", of("%25", 64 << 10)).as_bytes()),
        Err(PathRefused::Space { .. })
    ));
}
