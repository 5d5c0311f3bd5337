//! A duration as people write it.

use std::time::Duration;

use thiserror::Error;

/// The longest duration: longer ones overflow timers, and no one waits for them.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Reads whole numbers with a unit each, largest unit first: `500ms`, `5s`, `1m30s`, `2h`, `1d`.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    let mut unit_before = u64::MAX;
    if text.is_empty() {
        return Err(DurationError::Form(text.to_owned()));
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = rest.split_at(digits);
        let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, after) = after.split_at(letters);
        let unit = match unit {
            "ms" => 1,
            "s" => 1000,
            "m" => 60 * 1000,
            "h" => 60 * 60 * 1000,
            "d" => 24 * 60 * 60 * 1000,
            "" if !number.is_empty() && after.is_empty() => {
                return Err(DurationError::NoUnit(text.to_owned()));
            }
            _ => return Err(DurationError::Form(text.to_owned())),
        };
        if number.is_empty() || unit >= unit_before {
            return Err(DurationError::Form(text.to_owned()));
        }
        let millis = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
        let part = millis.map(Duration::from_millis).filter(|part| *part <= LONGEST);
        total = total.saturating_add(part.ok_or_else(|| DurationError::TooLong(text.to_owned()))?);
        unit_before = unit;
        rest = after;
    }
    if total > LONGEST { Err(DurationError::TooLong(text.to_owned())) } else { Ok(total) }
}

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum DurationError {
    #[error("{0:?} is not a duration; write numbers with ms, s, m, h or d, such as \"1m30s\"")]
    Form(String),
    #[error("{0:?} has no unit; write \"{0}s\" for seconds")]
    NoUnit(String),
    #[error("{0:?} is longer than a year")]
    TooLong(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_written() {
        let rows = [
            ("0s", Some(0)),
            ("500ms", Some(500)),
            ("5s", Some(5000)),
            ("1m30s", Some(90_000)),
            ("2h", Some(7_200_000)),
            ("1d", Some(86_400_000)),
            ("366d", Some(366 * 86_400_000)),
            ("", None),
            ("5", None),
            ("s", None),
            ("-5s", None),
            ("5 s", None),
            ("1.5s", None),
            ("5S", None),
            ("30s1m", None),
            ("1s1s", None),
            ("367d", None),
            ("366d1ms", None),
            ("99999999999999999999s", None),
            ("5µs", None),
        ];
        for (text, want) in rows {
            assert_eq!(parse(text).ok(), want.map(Duration::from_millis), "{text}");
        }
    }
}
