//! The body that attaches a claim.

use fingerpost_authority::{Host, WrittenHostError};

use super::BodyError;
use super::paths::twice;
use crate::Reach;
use crate::json;

/// The body of a `POST` that attaches a claim: `{"host": "...", "wildcard": false, "catchall": false}`.
///
/// The host is left as it was written: who may not write at all learns nothing of hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachBody {
    host: String,
    reach: Reach,
}

impl AttachBody {
    /// Reads a body.
    ///
    /// # Errors
    /// [`BodyError`], as [`RawPaths::parse`](crate::RawPaths::parse).
    pub fn parse(body: &[u8]) -> Result<Self, BodyError> {
        let members = json::object(body, KNOWN.len() + 1)?.members;
        if let Some(key) = twice(&members) {
            return Err(BodyError::DuplicateKey { pointer: json::pointer("", key) });
        }
        let (mut host, mut reach) = (None, Reach::default());
        for member in &members {
            let pointer = json::pointer("", &member.key);
            let flag = match &*member.key {
                "host" => {
                    let expected = "a string";
                    let text = member.text().ok_or(BodyError::WrongType { pointer, expected })?;
                    host = Some(text.into_owned());
                    continue;
                }
                "wildcard" => &mut reach.wildcard,
                "catchall" => &mut reach.catchall,
                _ => return Err(BodyError::UnknownMember { pointer }),
            };
            let expected = "true or false";
            *flag = member.boolean().ok_or(BodyError::WrongType { pointer, expected })?;
        }
        let missing = || BodyError::Missing { pointer: "/host".to_owned() };
        Ok(Self { host: host.ok_or_else(missing)?, reach })
    }

    /// The host: bare and exact.
    ///
    /// # Errors
    /// [`WrittenHostError`] says which part is wrong: 422, with the pointer `/host`.
    pub fn host(&self) -> Result<Host, WrittenHostError> {
        Host::from_written(&self.host)
    }

    /// What is to be covered besides the host.
    #[must_use]
    pub const fn reach(&self) -> Reach {
        self.reach
    }
}

const KNOWN: [&str; 3] = ["host", "wildcard", "catchall"];
