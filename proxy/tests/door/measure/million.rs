//! A million entries over a hundred hosts.

use std::fmt::Write as _;

use fingerpost_claims::{Change, Collection, Commit};

use crate::world::{Files, block_on};

pub(super) const HOSTS: usize = 100;
pub(super) const ENTRIES: usize = 10_000;

/// The routes: what the hundred sites do, and what the target does.
pub(super) fn routes([old, new]: [&str; 2]) -> String {
    let mut text = String::from("[limits]\nmax_paths_per_claim = 10_001\n");
    for host in 0..HOSTS {
        _ = writeln!(
            text,
            "[[routes]]\nhosts = [\"h{host}.example\"]\n{old}\naccount = \"a\"\napp = \"old{host}\"\n\
             legacy = \"rails\""
        );
    }
    text + "[[routes]]\nhosts = [\"new.example\"]\n" + new + "\naccount = \"a\"\napp = \"new\"\n"
}

/// A map of ten thousand entries, and one more where it is flipped.
pub(super) fn paths(flipped: Option<usize>) -> String {
    let mut text = String::from("{");
    for entry in 0..ENTRIES {
        let comma = if entry == 0 { "" } else { "," };
        _ = write!(text, "{comma}\"account-{entry}\":\"new.example\"");
    }
    if let Some(flipped) = flipped {
        _ = write!(text, ",\"flipped-{flipped}\":\"new.example\"");
    }
    text + "}"
}

pub(super) fn claim(host: usize, flipped: Option<usize>, id: usize) -> String {
    format!(
        "{{\"host\":\"h{host}.example\",\"account\":\"a\",\"app\":\"old{host}\",\"paths\":{},\"write_id\":\"{id}\"}}",
        paths(flipped)
    )
}

/// Puts the million into the claim store of a box.
pub(super) fn fill(files: &Files) {
    let store = files.store();
    for host in 0..HOSTS {
        let body = claim(host, None, host).into_bytes();
        let change = Change::create(Collection::Claims, &format!("h{host}.example"), body);
        block_on(store.commit(Commit::of(change).with_bump())).unwrap();
    }
}
