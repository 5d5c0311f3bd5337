//! How long a client would wait (RFC 7240).

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::control::Control;
use crate::problem::words;

/// How far a change has come, as far as the client wanted to know.
#[derive(Debug)]
pub(crate) struct Waited {
    /// The serial that carries the change.
    pub(crate) serial: u64,
    /// The boxes that do not route by it yet; `None` where nobody asked.
    pub(crate) lagging: Option<Vec<String>>,
    applied: Option<Duration>,
}

impl Waited {
    /// Nobody asked.
    pub(crate) const fn none(serial: u64) -> Self {
        Self { serial, lagging: None, applied: None }
    }

    /// Whether nobody asked, or every box routes new requests by it.
    pub(crate) fn is_applied(&self) -> bool {
        self.lagging.as_ref().is_none_or(Vec::is_empty)
    }

    /// The `Preference-Applied` field (RFC 7240 3).
    pub(crate) fn headers(&self) -> Option<(HeaderName, HeaderValue)> {
        let wait = format!("wait={}", self.applied?.as_secs());
        let name = HeaderName::from_static("preference-applied");
        Some((name, HeaderValue::try_from(wait).ok()?))
    }
}

/// Waits until every box routes new requests by a serial, if the client asked for it.
///
/// A change that is stored stays stored: where the boxes can't be asked, that is said of one without a name.
pub(crate) async fn waited(control: &Control, headers: &HeaderMap, serial: u64) -> Waited {
    let Some(wish) = wait(headers) else { return Waited::none(serial) };
    let patience = wish.min(control.max_wait);
    let lagging = match control.view.wait_applied(serial, patience).await {
        Ok(lagging) => lagging,
        Err(error) => {
            tracing::warn!(
                error = words(&error),
                "the boxes can't be asked what they have applied"
            );
            vec![EVERY.to_owned()]
        }
    };
    Waited { serial, lagging: Some(lagging), applied: Some(patience) }
}

/// Stands for every box, while none can be asked.
const EVERY: &str = "*";

/// The `wait` preference: the first one counts, and one that is no number is none (RFC 7240 2).
fn wait(headers: &HeaderMap) -> Option<Duration> {
    let fields = headers.get_all("prefer").iter().filter_map(|field| field.to_str().ok());
    let mut preferences = fields.flat_map(|field| split(field, ','));
    let value = preferences.find_map(|preference| {
        let (name, value) = split(preference, ';').into_iter().next()?.split_once('=')?;
        name.trim().eq_ignore_ascii_case("wait").then_some(value.trim())
    })?;
    let digits = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    // More digits than a number has are still a number.
    plain.then(|| Duration::from_secs(digits.parse().unwrap_or(u64::MAX)))
}

/// Splits at a separator that stands in no quoted string.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(|c| {
        let escape = std::mem::take(&mut escaped);
        match c {
            '\\' if quoted && !escape => escaped = true,
            '"' if !escape => quoted = !quoted,
            _ => return !quoted && c == separator,
        }
        false
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue};

    use super::*;

    #[test]
    fn preferences() {
        let cases: [(&[&str], Option<u64>); 15] = [
            (&[], None),
            (&["wait=5"], Some(5)),
            (&["Wait = \"5\""], Some(5)),
            (&["respond-async, wait=10;x=y"], Some(10)),
            (&["respond-async", "wait=10"], Some(10)),
            (&["wait=1, wait=2"], Some(1)),
            (&["wait=1", "wait=2"], Some(1)),
            (&["wait=0"], Some(0)),
            (&["wait"], None),
            (&["wait="], None),
            (&["wait=-1"], None),
            (&["wait=1.5"], None),
            (&["foo=\"a, wait=5\""], None),
            (&["foo=\"a\\\", wait=5\", wait=6"], Some(6)),
            (&["wait=99999999999999999999999"], Some(u64::MAX)),
        ];
        for (fields, want) in cases {
            let mut headers = HeaderMap::new();
            for field in fields {
                headers.append("prefer", HeaderValue::from_static(field));
            }
            assert_eq!(wait(&headers).map(|wait| wait.as_secs()), want, "{fields:?}");
        }
    }
}
