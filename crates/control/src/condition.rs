//! Entity tags, and what a client makes its request depend on (RFC 9110 8.8.3, 13.1).

use std::fmt::Write as _;

use axum::http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use fingerpost_claims::Version;

use crate::problem::Problem;

/// The strong entity tag of a version, quotes included.
///
/// A version is whatever text an engine gives: bytes that an entity tag can't hold are escaped. Tags are only
/// ever compared with tags made here, so that nothing reads them back.
pub(crate) fn tag(version: &Version) -> String {
    let mut tag = String::from("\"");
    for byte in version.as_str().bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:+/=".contains(&byte) {
            tag.push(char::from(byte));
        } else {
            let _ = write!(tag, "%{byte:02X}");
        }
    }
    tag.push('"');
    tag
}

/// The `ETag` field of a version.
pub(crate) fn field(version: &Version) -> Option<(HeaderName, HeaderValue)> {
    Some((ETAG, HeaderValue::try_from(tag(version)).ok()?))
}

/// What an `If-Match` or `If-None-Match` says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tags {
    Any,
    /// Each tag with whether it is weak.
    Listed(Vec<(bool, String)>),
}

/// What has to be stored for a request to be carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IfMatch(Option<Tags>);

impl IfMatch {
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        Ok(Self(tags(headers, &IF_MATCH)?))
    }

    pub(crate) const fn is_given(&self) -> bool {
        self.0.is_some()
    }

    /// Compares with what is stored (RFC 9110 13.1.1: strongly). There is something to compare with, though
    /// what the configuration holds has no version.
    pub(crate) fn check(&self, current: Option<&Version>) -> Result<(), Problem> {
        let holds = match &self.0 {
            None | Some(Tags::Any) => true,
            Some(Tags::Listed(tags)) => current.is_some_and(|current| {
                let current = tag(current);
                tags.iter().any(|(weak, tag)| !weak && *tag == current)
            }),
        };
        if holds {
            return Ok(());
        }
        let problem = Problem::new(
            StatusCode::PRECONDITION_FAILED,
            "precondition_failed",
            "If-Match names another version than the one that is stored",
        );
        Err(problem.with_headers(current.and_then(field)))
    }
}

/// Whether a client has the current version already (RFC 9110 13.1.2: compared weakly).
pub(crate) fn is_fresh(headers: &HeaderMap, current: Option<&Version>) -> Result<bool, Problem> {
    Ok(match tags(headers, &IF_NONE_MATCH)? {
        None => false,
        Some(Tags::Any) => true,
        Some(Tags::Listed(tags)) => current.is_some_and(|current| {
            let current = tag(current);
            tags.iter().any(|(_, tag)| *tag == current)
        }),
    })
}

fn tags(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Tags>, Problem> {
    let mut found: Option<Tags> = None;
    let invalid = || {
        let detail = format!("{name} is neither * nor a list of entity tags");
        Problem::new(StatusCode::BAD_REQUEST, "condition_invalid", detail)
    };
    for field in headers.get_all(name) {
        let text = field.to_str().map_err(|_| invalid())?;
        let more = parse(text).ok_or_else(invalid)?;
        found = Some(match (found, more) {
            (None, more) => more,
            (Some(Tags::Listed(mut tags)), Tags::Listed(more)) => {
                tags.extend(more);
                Tags::Listed(tags)
            }
            _ => return Err(invalid()),
        });
    }
    Ok(found)
}

/// Reads `*`, or tags between commas.
fn parse(text: &str) -> Option<Tags> {
    let mut rest = text.trim();
    if rest == "*" {
        return Some(Tags::Any);
    }
    let mut tags = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if rest.is_empty() {
            return (!tags.is_empty()).then_some(Tags::Listed(tags));
        }
        let (weak, quoted) = match rest.strip_prefix("W/") {
            Some(quoted) => (true, quoted),
            None => (false, rest),
        };
        let (tag, after) = quoted.strip_prefix('"')?.split_once('"')?;
        if tag.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return None;
        }
        rest = after.trim_start_matches([' ', '\t']);
        if !rest.is_empty() && !rest.starts_with(',') {
            return None;
        }
        tags.push((weak, format!("\"{tag}\"")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let listed = |tags: &[(bool, &str)]| {
            Some(Tags::Listed(tags.iter().map(|(weak, tag)| (*weak, (*tag).to_owned())).collect()))
        };
        let cases = [
            ("*", Some(Tags::Any)),
            (" * ", Some(Tags::Any)),
            ("\"a\"", listed(&[(false, "\"a\"")])),
            ("W/\"a\", \"b,c\"", listed(&[(true, "\"a\""), (false, "\"b,c\"")])),
            (",\"a\",,", listed(&[(false, "\"a\"")])),
            ("\"\"", listed(&[(false, "\"\"")])),
            ("", None),
            (",", None),
            ("a", None),
            ("\"a", None),
            ("\"a\" \"b\"", None),
            ("\"a b\"", None),
            ("w/\"a\"", None),
            ("\"a\", *", None),
        ];
        for (text, want) in cases {
            assert_eq!(parse(text), want, "{text}");
        }
    }

    #[test]
    fn any_version_makes_a_tag() {
        assert_eq!(tag(&Version::new("a-1")), "\"a-1\"");
        assert_eq!(tag(&Version::new("\"x y\" é")), "\"%22x%20y%22%20%C3%A9\"");
    }
}
