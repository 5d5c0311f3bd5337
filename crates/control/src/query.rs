//! The query of a request, read strictly.

use axum::http::Uri;
use fingerpost_authority::Host;
use percent_encoding::percent_decode_str;

use crate::problem::{Problem, words};

/// The parameters of a query: each is known, and there once unless it may be repeated.
///
/// A misspelled parameter is an error: `max_remove=0` must not be read as no guard at all.
#[derive(Debug)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads `application/x-www-form-urlencoded`, with the names of parameters in alphabetical order; those
    /// of `repeatable` may stand more than once.
    pub(crate) fn parse(uri: &Uri, known: &[&str], repeatable: &[&str]) -> Result<Self, Problem> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for pair in uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (key, value) = (decode(key)?, decode(value)?);
            let repeats = repeatable.contains(&&*key);
            if !repeats && !known.contains(&&*key) {
                return Err(invalid(format!("the parameter {key:?} is not known here")));
            }
            if !repeats && pairs.iter().any(|(other, _)| *other == key) {
                return Err(invalid(format!("the parameter {key:?} is written twice")));
            }
            pairs.push((key, value));
        }
        Ok(Self(pairs))
    }

    pub(crate) fn one(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == key).map(|(_, value)| &**value)
    }

    pub(crate) fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(other, _)| other == key).map(|(_, value)| &**value)
    }

    /// A whole number.
    pub(crate) fn number(&self, key: &str) -> Result<Option<u64>, Problem> {
        let Some(text) = self.one(key) else { return Ok(None) };
        let plain = text.bytes().all(|digit| digit.is_ascii_digit());
        match text.parse() {
            Ok(number) if plain => Ok(Some(number)),
            _ => Err(invalid(format!("{key} is not a whole number"))),
        }
    }

    /// `true` or `false`; the latter where there is none.
    pub(crate) fn flag(&self, key: &str) -> Result<bool, Problem> {
        match self.one(key) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(invalid(format!("{key} is neither true nor false"))),
        }
    }

    /// A bare host.
    pub(crate) fn host(&self, key: &str) -> Result<Option<Host>, Problem> {
        self.one(key).map(host).transpose()
    }
}

/// A host that stands in a URL.
pub(crate) fn host(text: &str) -> Result<Host, Problem> {
    Host::from_written(text).map_err(|error| Problem::bad_request("host_invalid", words(&error)))
}

/// Whether a URL holds a credential, or what calls itself one.
///
/// Such a request is refused whoever sent it: the token is in logs and histories by now. It should not be in
/// ours as well: whoever logs requests asks this first.
#[must_use]
pub fn holds_token(uri: &Uri) -> bool {
    let userinfo = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
    let named = uri.query().unwrap_or_default().split('&').any(|pair| {
        let key = pair.split_once('=').map_or(pair, |(key, _)| key);
        let key = percent_decode_str(key).decode_utf8_lossy().to_ascii_lowercase();
        CREDENTIALS.contains(&key.as_str())
    });
    let text = uri.path_and_query().map_or("", |whole| whole.as_str());
    let decoded = percent_decode_str(text).decode_utf8_lossy();
    userinfo || named || [text, &decoded].into_iter().any(crate::token::is_in)
}

/// Names under which clients put credentials into a query; the first is that of RFC 6750 2.3.
const CREDENTIALS: [&str; 8] = [
    "access_token",
    "api-key",
    "api_key",
    "apikey",
    "auth_token",
    "authorization",
    "bearer",
    "token",
];

fn decode(text: &str) -> Result<String, Problem> {
    let spaces = text.replace('+', " ");
    let decoded = percent_decode_str(&spaces).decode_utf8();
    decoded.map(Into::into).map_err(|_| invalid("the query is not UTF-8".to_owned()))
}

fn invalid(detail: String) -> Problem {
    Problem::bad_request("query_invalid", detail)
}
