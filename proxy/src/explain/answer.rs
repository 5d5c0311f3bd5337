//! The answer to one request.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// What routing alone answers to a request; the names are those of the JSON.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Value>,
    /// 200 where a route was selected, whatever it does; else 400, 404, 405, 421 or 503.
    pub status: u16,
    /// The canonical host that the request names.
    pub host: Option<String>,
    /// Where the route came from; on a miss, the tier of the site.
    pub tier: Option<&'static str>,
    /// The pattern that the host resolved to.
    pub site: Option<String>,
    /// The id of the route.
    pub route: Option<String>,
    /// The prefix that selected it.
    pub prefix: Option<String>,
    /// The reading of the path that selected it.
    pub spelling: Option<&'static str>,
    /// The host whose site the prefix selected.
    pub target: Option<String>,
    /// The steps that led there.
    pub reason: String,
}

impl Answer {
    pub(super) fn refused(status: u16, reason: &str) -> Self {
        Self { status, reason: reason.to_owned(), ..Self::default() }
    }

    pub(super) fn with_id(self, id: Value) -> Self {
        Self { id: Some(id), ..self }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.status)?;
        let rows = [
            ("host", self.host.as_deref()),
            ("site", self.site.as_deref()),
            ("tier", self.tier),
            ("route", self.route.as_deref()),
            ("prefix", self.prefix.as_deref()),
            ("spelling", self.spelling),
            ("target", self.target.as_deref()),
        ];
        for (name, value) in rows {
            if let Some(value) = value {
                writeln!(f, "  {name:<9} {value}")?;
            }
        }
        for step in self.reason.split("; ") {
            writeln!(f, "  - {step}")?;
        }
        Ok(())
    }
}
