//! Hosts and patterns in documents: their text, read as people write it.

use core::fmt;
use std::error::Error;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::{Host, HostPattern};

impl Serialize for Host {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Host {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HostVisitor;

        impl Visitor<'_> for HostVisitor {
            type Value = Host;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a host")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Host, E> {
                Host::from_written(text).map_err(whole)
            }
        }

        deserializer.deserialize_str(HostVisitor)
    }
}

impl Serialize for HostPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HostPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PatternVisitor;

        impl Visitor<'_> for PatternVisitor {
            type Value = HostPattern;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a host, `*.name`, `**.name` or `*`")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<HostPattern, E> {
                HostPattern::from_written(text).map_err(whole)
            }
        }

        deserializer.deserialize_str(PatternVisitor)
    }
}

/// Serde keeps a message only, so the causes go into it.
fn whole<E: de::Error>(error: impl Error) -> E {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message.push_str(": ");
        message.push_str(&cause.to_string());
        source = cause.source();
    }
    E::custom(message)
}
