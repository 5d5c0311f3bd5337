//! The readings of a path against the slow model of the family table; and their work within the budget.

#![no_main]

use std::collections::BTreeSet;

use arbitrary::Arbitrary;
use fingerpost_fuzz::{PATH, words};
use fingerpost_path::{Families, PathRefused, Rules};
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/path/tests/support/slow.rs"]
mod slow;

use slow::{FAMILIES, PRESETS, Slow};

#[derive(Arbitrary, Debug)]
struct Input {
    set: u16,
    picks: Vec<u8>,
    raw: Option<Vec<u8>>,
}

const NAMES: [Families; 9] = [
    Families::MERGE,
    Families::DOTS,
    Families::CUT,
    Families::PARAMS,
    Families::BSLASH,
    Families::AUTH,
    Families::DOUBLE,
    Families::FRONTC,
    Families::NEXTDATA,
];

fuzz_target!(|input: Input| {
    let set: Vec<_> = match PRESETS.get(usize::from(input.set)) {
        Some((_, set)) => set.to_vec(),
        None => (0..9).filter(|bit| input.set >> bit & 1 == 1).map(|bit| FAMILIES[bit]).collect(),
    };
    let families = set.iter().fold(Families::BASE, |all, &family| all | NAMES[family as usize]);
    let text = input.raw.unwrap_or_else(|| words(&input.picks, PATH));
    let path = if text.starts_with(b"/") { text } else { [b"/", text.as_slice()].concat() };
    let (model, rules) = (Slow::new(&set), Rules::new(families));
    let unclean = slow::unclean(&path);
    assert_eq!(rules.ordinary(&path, None).is_some(), model.ordinary(&path));
    let spellings = match rules.spellings(&path, None) {
        // rewriting costs nothing where nothing is rewritten
        Err(PathRefused::Budget) => {
            assert!(!unclean && !model.ordinary(&path));
            if path.len() <= 256 {
                let forms = model.may_forms(&path).len();
                assert!(forms > 32, "refused with {forms} forms of {} bytes", path.len());
            }
            return;
        }
        Err(_) => return assert!(unclean),
        Ok(spellings) => spellings,
    };
    assert!(!unclean);
    let readings: Vec<_> = spellings.iter().map(|reading| reading.segment().to_vec()).collect();
    let got: BTreeSet<_> = readings.iter().filter(|text| !text.is_empty()).cloned().collect();
    let forms = rules.whole(&path, None).expect("the budget is the same");
    // the budget: 64 forms, forms x bytes within 16 KiB; and the nine that every site is matched under
    let work: usize = forms.iter().map(|form| form.bytes().len()).sum();
    assert!(
        model.ordinary(&path) || forms.len() <= 64 + 9 && work <= 16 * 1024 + 9 * path.len(),
        "{} {work}",
        forms.len()
    );
    assert!(readings.len() <= 64 * 8, "each form has a few views");
    if path.len() > 48 {
        return;
    }
    let may = model.may(&path);
    let made_up = got.difference(&may).find(|text| !text.contains(&b'%'));
    assert!(
        made_up.is_none(),
        "{} makes up {:?}",
        path.escape_ascii(),
        made_up.map(|text| text.escape_ascii().to_string())
    );
    for text in model.must(&path) {
        assert!(got.contains(&text), "{} loses {}", path.escape_ascii(), text.escape_ascii());
    }
});
