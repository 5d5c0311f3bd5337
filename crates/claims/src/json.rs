//! JSON objects taken apart without losing a byte.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

/// One member of an object, as it was written.
#[derive(Debug)]
pub(crate) struct Member<'a> {
    /// The key with its quotes and escapes.
    pub(crate) raw_key: &'a str,
    /// What the key means.
    pub(crate) key: Cow<'a, str>,
    /// The value.
    pub(crate) value: &'a RawValue,
}

impl<'a> Member<'a> {
    /// The value if it is a string.
    pub(crate) fn text(&self) -> Option<Cow<'a, str>> {
        text(self.value.get())
    }

    pub(crate) fn boolean(&self) -> Option<bool> {
        serde_json::from_str(self.value.get()).ok()
    }

    pub(crate) fn number(&self) -> Option<u64> {
        serde_json::from_str(self.value.get()).ok()
    }
}

/// Why a text has no members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoObject {
    /// It is no JSON.
    Syntax { line: usize, column: usize },
    /// It is JSON, but no object.
    Other,
}

/// The members of an object, as far as they were wanted.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    /// The first members in their order, duplicates included.
    pub(crate) members: Vec<Member<'a>>,
    /// How many there are.
    pub(crate) count: usize,
}

/// Takes an object apart, and keeps the first `keep` members. Nesting costs no stack.
pub(crate) fn object(json: &[u8], keep: usize) -> Result<Object<'_>, NoObject> {
    let (members, count) = read(json, keep).map_err(|error| match error.classify() {
        Category::Data => NoObject::Other,
        _ => NoObject::Syntax { line: error.line(), column: error.column() },
    })?;
    Ok(Object { members: members.into_iter().map(member).collect::<Result<_, _>>()?, count })
}

fn member<'a>((key, value): (&'a RawValue, &'a RawValue)) -> Result<Member<'a>, NoObject> {
    let raw_key = key.get();
    // A lone surrogate is JSON by its grammar, but no text.
    let key = text(raw_key).ok_or(NoObject::Syntax { line: 1, column: 0 })?;
    Ok(Member { raw_key, key, value })
}

fn read(json: &[u8], keep: usize) -> serde_json::Result<(RawMembers<'_>, usize)> {
    match std::str::from_utf8(json) {
        // Checked once, it is not checked again string by string.
        Ok(text) => collect(serde_json::Deserializer::from_str(text), keep),
        // This says where.
        Err(_) => collect(serde_json::Deserializer::from_slice(json), keep),
    }
}

fn collect<'de, R: serde_json::de::Read<'de>>(
    mut deserializer: serde_json::Deserializer<R>,
    keep: usize,
) -> serde_json::Result<(RawMembers<'de>, usize)> {
    let members = deserializer.deserialize_map(Collect { keep })?;
    deserializer.end()?;
    Ok(members)
}

/// Writes a JSON string.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("a str is a JSON string, and a Vec takes every byte");
}

/// Appends a reference token to a JSON Pointer (RFC 6901 3).
pub(crate) fn pointer(parent: &str, token: &str) -> String {
    format!("{parent}/{}", token.replace('~', "~0").replace('/', "~1"))
}

fn text(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str(json).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

type RawMembers<'a> = Vec<(&'a RawValue, &'a RawValue)>;

/// Keeps the first members of an object and counts all.
struct Collect {
    keep: usize,
}

impl<'de> Visitor<'de> for Collect {
    type Value = (RawMembers<'de>, usize);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut members, mut count) = (Vec::new(), 0);
        while let Some(member) = map.next_entry()? {
            count += 1;
            if members.len() < self.keep {
                members.push(member);
            }
        }
        Ok((members, count))
    }
}
