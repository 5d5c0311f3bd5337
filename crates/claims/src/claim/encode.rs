//! From a claim to the body that is stored.

use super::Claim;
use crate::json::write_text;

impl Claim {
    /// Writes the body that is stored.
    ///
    /// `write_id` has to be new each time, so that no two bodies are equal. Known members come first, in a
    /// fixed order; then what this version does not know, as it was read.
    ///
    /// # Complexity
    /// Linear in the body.
    #[must_use]
    pub fn to_json(&self, write_id: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(256 + 64 * self.paths.len());
        out.extend_from_slice(b"{\"host\":");
        write_text(&mut out, self.host.as_str());
        text_member(&mut out, "account", self.account.as_str());
        text_member(&mut out, "app", self.app.as_str());
        member(&mut out, "wildcard", if self.reach.wildcard { "true" } else { "false" });
        member(&mut out, "catchall", if self.reach.catchall { "true" } else { "false" });
        match &self.raw_paths {
            Some(raw) => member(&mut out, "paths", raw),
            None => self.write_paths(&mut out),
        }
        if let Some(sequence) = self.sequence {
            member(&mut out, "sequence", &sequence.to_string());
        }
        if self.deleted {
            member(&mut out, "deleted", "true");
        }
        text_member(&mut out, "write_id", write_id);
        for unknown in &self.unknown {
            out.push(b',');
            out.extend_from_slice(unknown.raw_key.as_bytes());
            out.push(b':');
            out.extend_from_slice(unknown.raw_value.as_bytes());
        }
        out.push(b'}');
        out
    }

    fn write_paths(&self, out: &mut Vec<u8>) {
        member(out, "paths", "{");
        for (at, (prefix, target)) in self.paths.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_text(out, prefix.as_str());
            out.push(b':');
            write_text(out, target.as_str());
        }
        out.push(b'}');
    }
}

/// Writes a member that is not the first; `key` needs no escapes.
fn member(out: &mut Vec<u8>, key: &str, json: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
    out.extend_from_slice(json.as_bytes());
}

fn text_member(out: &mut Vec<u8>, key: &str, text: &str) {
    member(out, key, "");
    write_text(out, text);
}
