//! Values that a column holds.

use std::borrow::Cow;
use std::time::Duration;

use fingerpost_authority::{Host, HostPattern};
use fingerpost_claims::Name;
use fingerpost_fingerprint::Encoder;
use fingerpost_path::Prefix;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};

/// A type that a column holds: how it is stored, read back and digested.
pub(crate) trait Column: Sized {
    /// Its declaration in SQL, as the tables have it.
    const DECLARED: &'static str;

    fn store(&self) -> ToSqlOutput<'_>;

    fn load(value: ValueRef<'_>) -> Result<Self, BadValue>;

    fn encode(&self, row: &mut Encoder);
}

/// The first column of a table: what its rows are digested and listed under.
pub(crate) trait Owner: Column {
    fn owner(&self) -> Cow<'_, str>;
}

/// A value that was never stored by us.
#[derive(Debug, thiserror::Error)]
#[error("not a value of this column")]
pub(crate) struct BadValue;

pub(crate) fn text<'a>(value: ValueRef<'a>) -> Result<&'a str, BadValue> {
    value.as_str().map_err(|_| BadValue)
}

pub(crate) fn stored_text(text: &str) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))
}

/// A column of text; the value that is read back has to be spelled as it was stored.
macro_rules! text_column {
    ($type:ty, $value:ident => $as_text:expr, $text:ident => $parsed:expr) => {
        impl Column for $type {
            const DECLARED: &'static str = "TEXT NOT NULL";

            fn store(&self) -> ToSqlOutput<'_> {
                match self.owner() {
                    Cow::Borrowed(text) => stored_text(text),
                    Cow::Owned(text) => ToSqlOutput::Owned(Value::Text(text)),
                }
            }

            fn load(value: ValueRef<'_>) -> Result<Self, BadValue> {
                let $text = text(value)?;
                let parsed: Option<Self> = $parsed;
                parsed.filter(|parsed| parsed.owner() == $text).ok_or(BadValue)
            }

            fn encode(&self, row: &mut Encoder) {
                row.text(&self.owner());
            }
        }

        impl Owner for $type {
            fn owner(&self) -> Cow<'_, str> {
                let $value = self;
                $as_text
            }
        }
    };
}

text_column!(String, text => Cow::Borrowed(text.as_str()), text => Some(text.to_owned()));
text_column!(Host, host => Cow::Borrowed(host.as_str()), text => Self::parse(text).ok());
text_column!(HostPattern, pattern => Cow::Owned(pattern.to_string()), text => {
    Self::from_written(text).ok()
});
text_column!(Prefix, prefix => Cow::Borrowed(prefix.as_str()), text => Self::parse(text).ok());
text_column!(Name, name => Cow::Borrowed(name.as_str()), text => Self::parse(text).ok());

/// A column of one of a few words.
macro_rules! word_column {
    ($type:ty: $($word:ident),+) => {
        impl $crate::column::Column for $type {
            const DECLARED: &'static str = "TEXT NOT NULL";

            fn store(&self) -> rusqlite::types::ToSqlOutput<'_> {
                $crate::column::stored_text(self.as_str())
            }

            fn load(
                value: rusqlite::types::ValueRef<'_>,
            ) -> Result<Self, $crate::column::BadValue> {
                let text = $crate::column::text(value)?;
                let words = [$(Self::$word),+];
                let word = words.into_iter().find(|word| word.as_str() == text);
                word.ok_or($crate::column::BadValue)
            }

            fn encode(&self, row: &mut fingerpost_fingerprint::Encoder) {
                row.text(self.as_str());
            }
        }
    };
}
pub(crate) use word_column;

/// A column of a whole number.
macro_rules! number_column {
    ($($type:ty),+) => {$(
        impl Column for $type {
            const DECLARED: &'static str = "INTEGER NOT NULL";

            fn store(&self) -> ToSqlOutput<'_> {
                // SQLite's integers have a sign: the greatest numbers are stored as negative ones.
                ToSqlOutput::Owned(Value::Integer(u64::from(*self).cast_signed()))
            }

            fn load(value: ValueRef<'_>) -> Result<Self, BadValue> {
                let number = value.as_i64().map_err(|_| BadValue)?;
                Self::try_from(number.cast_unsigned()).map_err(|_| BadValue)
            }

            fn encode(&self, row: &mut Encoder) {
                row.number(u64::from(*self));
            }
        }
    )+};
}
number_column!(u16, u32, u64);

impl Column for bool {
    const DECLARED: &'static str = "INTEGER NOT NULL";

    fn store(&self) -> ToSqlOutput<'_> {
        ToSqlOutput::Owned(Value::Integer(i64::from(*self)))
    }

    fn load(value: ValueRef<'_>) -> Result<Self, BadValue> {
        match value {
            ValueRef::Integer(0) => Ok(false),
            ValueRef::Integer(1) => Ok(true),
            _ => Err(BadValue),
        }
    }

    fn encode(&self, row: &mut Encoder) {
        row.flag(*self);
    }
}

/// In whole milliseconds.
impl Column for Duration {
    const DECLARED: &'static str = "INTEGER NOT NULL";

    fn store(&self) -> ToSqlOutput<'_> {
        ToSqlOutput::Owned(Value::Integer(millis(*self).cast_signed()))
    }

    fn load(value: ValueRef<'_>) -> Result<Self, BadValue> {
        u64::load(value).map(Self::from_millis)
    }

    fn encode(&self, row: &mut Encoder) {
        row.number(millis(*self));
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Column for Vec<u8> {
    const DECLARED: &'static str = "BLOB NOT NULL";

    fn store(&self) -> ToSqlOutput<'_> {
        ToSqlOutput::Borrowed(ValueRef::Blob(self))
    }

    fn load(value: ValueRef<'_>) -> Result<Self, BadValue> {
        value.as_blob().map(<[u8]>::to_vec).map_err(|_| BadValue)
    }

    fn encode(&self, row: &mut Encoder) {
        row.bytes(self);
    }
}

/// As a JSON array, which people can read and SQLite can take apart.
impl Column for Vec<String> {
    const DECLARED: &'static str = "TEXT NOT NULL";

    fn store(&self) -> ToSqlOutput<'_> {
        let strings = self.iter().map(String::as_str).collect::<serde_json::Value>();
        ToSqlOutput::Owned(Value::Text(strings.to_string()))
    }

    fn load(value: ValueRef<'_>) -> Result<Self, BadValue> {
        let array: serde_json::Value = serde_json::from_str(text(value)?).map_err(|_| BadValue)?;
        let serde_json::Value::Array(elements) = array else { return Err(BadValue) };
        let strings = elements.into_iter().map(|element| match element {
            serde_json::Value::String(text) => Ok(text),
            _ => Err(BadValue),
        });
        strings.collect()
    }

    fn encode(&self, row: &mut Encoder) {
        row.list(self.len());
        for text in self {
            row.text(text);
        }
    }
}

impl<T: Column + Nullable> Column for Option<T> {
    const DECLARED: &'static str = T::DECLARED_NULL;

    fn store(&self) -> ToSqlOutput<'_> {
        self.as_ref().map_or(ToSqlOutput::Owned(Value::Null), T::store)
    }

    fn load(value: ValueRef<'_>) -> Result<Self, BadValue> {
        if value == ValueRef::Null { Ok(None) } else { T::load(value).map(Some) }
    }

    fn encode(&self, row: &mut Encoder) {
        match self {
            Some(value) => value.encode(row),
            None => {
                row.absent();
            }
        }
    }
}

/// A column that may be NULL.
pub(crate) trait Nullable {
    const DECLARED_NULL: &'static str;
}

macro_rules! nullable {
    ($declared:literal: $($type:ty),+) => {
        $(impl Nullable for $type { const DECLARED_NULL: &'static str = $declared; })+
    };
}
nullable!("TEXT": String, Name, Host, Vec<String>);
nullable!("INTEGER": u16, u64, Duration);
nullable!("BLOB": Vec<u8>);
