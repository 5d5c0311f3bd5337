//! From a stored body to a claim.

use fingerpost_authority::{Host, WrittenHostError};

use super::{Claim, Reach, Unknown};
use crate::json::{self, Member, NoObject};
use crate::{Name, NameError, PathMap};

impl Claim {
    /// Parses a stored body.
    ///
    /// `host` is what the body is stored under. Entries of `paths` that are none do not spoil the claim: they
    /// are [`refused`](Self::refused) one by one.
    ///
    /// ```
    /// use fingerpost_authority::Host;
    /// use fingerpost_claims::Claim;
    ///
    /// let body = br#"{ "host": "a.example", "account": "a", "app": "web", "x": 1.50 }"#;
    /// let claim = Claim::parse(&Host::parse("a.example")?, body)?;
    /// let rewritten = String::from_utf8(claim.to_json("9f2c"))?;
    /// assert!(rewritten.contains(r#""x":1.50"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ClaimError`] names the first member that is wrong.
    ///
    /// # Complexity
    /// n log n in the number of entries. Deep nesting costs no stack.
    pub fn parse(host: &Host, body: &[u8]) -> Result<Self, ClaimError> {
        let mut draft = Draft::default();
        for member in json::object(body, usize::MAX)?.members {
            draft.add(host, &member)?;
        }
        let required = |member| ClaimError::Missing { member };
        let named = draft.host.ok_or_else(|| required("host"))?;
        if named != *host {
            return Err(ClaimError::OtherHost { named });
        }
        let (map, refused) = draft.paths.unwrap_or_default();
        Ok(Self {
            host: named,
            account: draft.account.ok_or_else(|| required("account"))?,
            app: draft.app.ok_or_else(|| required("app"))?,
            reach: Reach {
                wildcard: draft.wildcard.unwrap_or_default(),
                catchall: draft.catchall.unwrap_or_default(),
            },
            paths: map,
            raw_paths: draft.raw_paths.filter(|_| !refused.is_empty()).map(Box::from),
            refused,
            sequence: draft.sequence,
            write_id: draft.write_id,
            deleted: draft.deleted.unwrap_or_default(),
            unknown: draft.unknown,
        })
    }
}

#[derive(Default)]
struct Draft<'b> {
    host: Option<Host>,
    account: Option<Name>,
    app: Option<Name>,
    wildcard: Option<bool>,
    catchall: Option<bool>,
    paths: Option<(PathMap, Vec<crate::RefusedEntry>)>,
    raw_paths: Option<&'b str>,
    sequence: Option<u64>,
    write_id: Option<Box<str>>,
    deleted: Option<bool>,
    unknown: Vec<Unknown>,
}

impl<'b> Draft<'b> {
    fn add(&mut self, host: &Host, member: &Member<'b>) -> Result<(), ClaimError> {
        let wrong = |member, expected| ClaimError::Wrong { member, expected };
        match &*member.key {
            "host" => {
                let text = member.text().ok_or_else(|| wrong("host", "a string"))?;
                once("host", &mut self.host, Host::from_written(&text).map_err(ClaimError::Host)?)
            }
            "account" => once("account", &mut self.account, name("account", member)?),
            "app" => once("app", &mut self.app, name("app", member)?),
            "wildcard" => once("wildcard", &mut self.wildcard, boolean("wildcard", member)?),
            "catchall" => once("catchall", &mut self.catchall, boolean("catchall", member)?),
            "paths" => {
                self.raw_paths = Some(member.value.get());
                once("paths", &mut self.paths, paths(host, member)?)
            }
            "sequence" => {
                let number = member.number().ok_or_else(|| wrong("sequence", "a whole number"))?;
                once("sequence", &mut self.sequence, number)
            }
            "write_id" => {
                let id = member.text().ok_or_else(|| wrong("write_id", "a string"))?;
                once("write_id", &mut self.write_id, id.into())
            }
            "deleted" => once("deleted", &mut self.deleted, boolean("deleted", member)?),
            _ => {
                let (raw_key, raw_value) = (member.raw_key.into(), member.value.get().into());
                self.unknown.push(Unknown { raw_key, raw_value });
                Ok(())
            }
        }
    }
}

fn once<T>(member: &'static str, slot: &mut Option<T>, value: T) -> Result<(), ClaimError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(ClaimError::Twice { member }),
    }
}

fn name(key: &'static str, member: &Member<'_>) -> Result<Name, ClaimError> {
    let text = member.text().ok_or(ClaimError::Wrong { member: key, expected: "a string" })?;
    Name::parse(&text).map_err(|source| ClaimError::Name { member: key, source })
}

fn boolean(key: &'static str, member: &Member<'_>) -> Result<bool, ClaimError> {
    member.boolean().ok_or(ClaimError::Wrong { member: key, expected: "true or false" })
}

fn paths(
    host: &Host,
    member: &Member<'_>,
) -> Result<(PathMap, Vec<crate::RefusedEntry>), ClaimError> {
    let entries = json::object(member.value.get().as_bytes(), usize::MAX)
        .map_err(|_| ClaimError::Wrong { member: "paths", expected: "an object" })?;
    Ok(PathMap::check(host, entries.members.iter().map(|entry| (&entry.key, entry.text()))))
}

/// Why a stored body is no claim.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// `host` is no host.
    #[error("the member \"host\" is no host")]
    Host(#[source] WrittenHostError),
    /// A member that every claim has is not there.
    #[error("there is no member {member:?}")]
    Missing {
        /// Its key.
        member: &'static str,
    },
    /// A name is none.
    #[error("the member {member:?} is no name")]
    Name {
        /// Its key.
        member: &'static str,
        /// What is wrong.
        source: NameError,
    },
    /// The body is JSON, but no object.
    #[error("the body is not an object")]
    NotAnObject,
    /// The body is stored under one host, and names another.
    #[error("the body names the host {named}, which is not what it is stored under")]
    OtherHost {
        /// The host in the body.
        named: Host,
    },
    /// The body is not JSON.
    #[error("the body is no JSON: line {line}, column {column}")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// Counted from 1; 0 is the end of the line before.
        column: usize,
    },
    /// A known member is written twice.
    #[error("the member {member:?} is written twice")]
    Twice {
        /// Its key.
        member: &'static str,
    },
    /// A known member is of the wrong type.
    #[error("the member {member:?} is not {expected}")]
    Wrong {
        /// Its key.
        member: &'static str,
        /// What it should be.
        expected: &'static str,
    },
}

impl From<NoObject> for ClaimError {
    fn from(fault: NoObject) -> Self {
        match fault {
            NoObject::Syntax { line, column } => Self::Syntax { line, column },
            NoObject::Other => Self::NotAnObject,
        }
    }
}
