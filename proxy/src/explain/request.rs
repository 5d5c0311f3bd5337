//! One request, as a line of JSON describes it.

use fingerpost_authority::{HostPattern, HttpVersion};
use serde::Deserialize;
use serde_json::Value;

use super::tls_name;

/// A request to explain.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Value,
    pub(super) version: HttpVersion,
    pub(super) method: String,
    pub(super) target: Vec<u8>,
    pub(super) hosts: Vec<Vec<u8>>,
    pub(super) authority: Option<Vec<u8>>,
    pub(super) tls_names: Option<Vec<HostPattern>>,
}

/// The line as it is written.
#[derive(Deserialize)]
struct RawRequest {
    version: String,
    method: Option<String>,
    target: Option<String>,
    target_hex: Option<String>,
    host: Option<Vec<String>>,
    host_hex: Option<Vec<String>>,
    authority: Option<String>,
    tls_names: Option<Vec<String>>,
    id: Option<Value>,
}

impl Request {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// The id, as far as there is one, with what is wrong.
    pub(super) fn parse(line: &[u8]) -> Result<Self, (Value, String)> {
        let raw: RawRequest = serde_json::from_slice(line).map_err(|error| {
            let whole: Value = serde_json::from_slice(line).unwrap_or_default();
            (whole.get("id").cloned().unwrap_or_default(), error.to_string())
        })?;
        let id = raw.id.clone().unwrap_or_default();
        raw.check().map_err(|error| (id, error))
    }
}

impl RawRequest {
    fn check(self) -> Result<Request, String> {
        let version = match &*self.version {
            "1.0" => HttpVersion::Http10,
            "1.1" => HttpVersion::Http11,
            "2" | "2.0" | "3" => HttpVersion::Http2,
            other => return Err(format!("version: {other:?} is none of 1.0, 1.1, 2")),
        };
        let target = match (self.target, self.target_hex) {
            (Some(target), None) => target.into_bytes(),
            (None, Some(hex)) => bytes(&hex).ok_or("target_hex: not hexadecimal")?,
            (None, None) => return Err("there is neither a target nor a target_hex".into()),
            (Some(_), Some(_)) => return Err("there are both a target and a target_hex".into()),
        };
        let hosts = match (self.host, self.host_hex) {
            (Some(_), Some(_)) => return Err("there are both a host and a host_hex".into()),
            (Some(hosts), None) => hosts.into_iter().map(String::into_bytes).collect(),
            (None, Some(hosts)) => hosts
                .iter()
                .map(|hex| bytes(hex).ok_or("host_hex: not hexadecimal"))
                .collect::<Result<_, _>>()?,
            (None, None) => Vec::new(),
        };
        let names = self.tls_names.map(|names| names.iter().map(|name| tls_name(name)).collect());
        Ok(Request {
            id: self.id.unwrap_or_default(),
            version,
            method: self.method.unwrap_or_else(|| "GET".into()),
            target,
            hosts,
            authority: self.authority.map(String::into_bytes),
            tls_names: names.transpose()?,
        })
    }
}

/// Reads pairs of hexadecimal digits.
fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let value = |digit: u8| char::from(digit).to_digit(16);
    digits
        .chunks_exact(2)
        .map(|pair| match *pair {
            [high, low] => u8::try_from(value(high)? << 4 | value(low)?).ok(),
            _ => None,
        })
        .collect()
}
