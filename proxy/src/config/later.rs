//! Keys that are planned, so that they get a better answer than "unknown key".

/// Returns what to say of a key of a table of the schema that this version can't act on.
pub(super) fn message(table: &str, key: &str) -> Option<&'static str> {
    Some(match (table, key) {
        ("Route" | "Site", "cache") => "not available yet: take it out; nothing is cached",
        ("Route" | "Site", "home") | ("Configuration", "boxes") => {
            "not available yet: take it out; every route is served by this box"
        }
        ("Fleet", "activate") => {
            "not available yet: take it out; the servers of a fleet have to be running"
        }
        ("Account", "may_reach") => {
            "not available yet: take it out; routes come from this file only"
        }
        _ => return None,
    })
}
