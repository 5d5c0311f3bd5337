//! One line for the log.

use std::collections::BTreeMap;
use std::fmt;

use super::ClaimReport;

/// How many prefixes of each code are named.
const NAMED: usize = 3;

impl ClaimReport {
    /// What has no effect, on one line: the count and the first few of each code. `None` if everything has.
    #[must_use]
    pub fn summary(&self) -> Option<impl fmt::Display> {
        let quiet = self.entries.is_empty() && self.wildcard.is_none();
        (self.verdict.code().is_some() || !quiet).then_some(Summary(self))
    }
}

struct Summary<'a>(&'a ClaimReport);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let claim = self.0;
        if let Some(code) = claim.verdict.code() {
            return write!(f, "{}: the claim has no effect: {code}", claim.host);
        }
        write!(f, "{}:", claim.host)?;
        if let Some(code) = claim.wildcard {
            write!(f, " the wildcard has no effect: {code};")?;
        }
        let (refused, all) = (claim.entries.len(), claim.entry_count());
        write!(f, " {refused} of {all} entries are not routed")?;
        let mut by_code: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for entry in &claim.entries {
            by_code.entry(entry.code).or_default().push(&entry.prefix);
        }
        for (at, (code, prefixes)) in by_code.into_iter().enumerate() {
            let separator = if at == 0 { ": " } else { ", " };
            write!(f, "{separator}{} {code} (", prefixes.len())?;
            for (at, prefix) in prefixes.iter().take(NAMED).enumerate() {
                // Escaped, since a prefix that is none may hold a line break.
                let comma = if at == 0 { "" } else { ", " };
                write!(f, "{comma}{}", prefix.escape_debug())?;
            }
            f.write_str(if prefixes.len() > NAMED { ", ...)" } else { ")" })?;
        }
        Ok(())
    }
}
