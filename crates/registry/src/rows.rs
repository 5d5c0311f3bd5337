//! Rows of tables, each declared once.
//!
//! The declaration of a row makes its struct, its columns, how it is bound and read, and what of it is
//! digested: a field that is added to one is added to all.

mod derived;
mod local;

use std::borrow::Cow;
use std::fmt;

use fingerpost_fingerprint::{Encoder, Section};
use rusqlite::types::ValueRef;
use rusqlite::{Statement, ToSql};

use crate::column::{BadValue, Column};

pub(crate) use self::derived::{RouteAlias, RoutePath, WildcardDomain};
pub use self::local::{
    Choice, FleetBoxRow, FleetRow, OnUnresolved, RouteAction, RouteHost, RouteRow, RouteScope,
    RouteSource, SiteFallback, SiteRow,
};

/// A row of a table, and what identifies it. Implemented by the rows of this crate only.
pub trait Row: Sealed + Sized + PartialEq {
    /// Its primary key.
    type Key: Clone + Ord + fmt::Debug;

    /// The key of this row.
    fn key(&self) -> Self::Key;
}

/// Keeps [`Row`] to this crate.
#[expect(unnameable_types, reason = "nobody else is to name it")]
pub trait Sealed {}

/// The columns of a table: the primary key, then the others.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) section: Section,
    pub(crate) keys: &'static [ColumnInfo],
    pub(crate) values: &'static [ColumnInfo],
}

/// The name and the declaration of a column.
#[derive(Debug)]
pub(crate) struct ColumnInfo {
    pub(crate) name: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "compared with the tables in a test"))]
    pub(crate) declared: &'static str,
}

/// How a row is bound, read and digested.
pub(crate) trait Bind: Row {
    const TABLE: Table;

    fn owner_of(key: &Self::Key) -> Cow<'_, str>;

    fn bind_key(key: &Self::Key, statement: &mut Statement<'_>) -> Result<(), rusqlite::Error>;

    /// Binds all columns in order.
    fn bind(&self, statement: &mut Statement<'_>) -> Result<(), rusqlite::Error>;

    /// Reads all columns in order; an error names the column.
    fn read(row: &rusqlite::Row<'_>) -> Result<Self, BadColumn>;

    /// Starts the encoding of this row and writes every column but those that say when something was last
    /// checked.
    fn encode(&self, encoder: &mut Encoder);
}

/// A column that holds nothing of ours.
#[derive(Debug)]
pub(crate) struct BadColumn(pub(crate) &'static str);

impl Table {
    pub(crate) fn name(&self) -> &'static str {
        self.section.name()
    }

    /// All rows, in the order of their keys.
    pub(crate) fn select_all(&self) -> String {
        let keys = join(self.keys, ", ", |key| key.to_owned());
        format!("SELECT {} FROM {} ORDER BY {keys}", self.columns(), self.name())
    }

    pub(crate) fn select(&self) -> String {
        format!("SELECT {} FROM {} WHERE {}", self.columns(), self.name(), self.by_key())
    }

    pub(crate) fn delete(&self) -> String {
        format!("DELETE FROM {} WHERE {}", self.name(), self.by_key())
    }

    pub(crate) fn upsert(&self) -> String {
        let places = vec!["?"; self.keys.len() + self.values.len()].join(", ");
        let keys = join(self.keys, ", ", |key| key.to_owned());
        let set = join(self.values, ", ", |name| format!("{name} = excluded.{name}"));
        let (table, columns) = (self.name(), self.columns());
        format!(
            "INSERT INTO {table} ({columns}) VALUES ({places}) ON CONFLICT ({keys}) DO UPDATE SET {set}"
        )
    }

    fn columns(&self) -> String {
        let keys = join(self.keys, ", ", |name| name.to_owned());
        format!("{keys}, {}", join(self.values, ", ", |name| name.to_owned()))
    }

    fn by_key(&self) -> String {
        join(self.keys, " AND ", |key| format!("{key} = ?"))
    }
}

fn join(columns: &[ColumnInfo], by: &str, each: impl Fn(&str) -> String) -> String {
    columns.iter().map(|column| each(column.name)).collect::<Vec<_>>().join(by)
}

/// Binds the next value and counts it.
pub(crate) fn bind<T: Column>(
    statement: &mut Statement<'_>,
    at: &mut usize,
    value: &T,
) -> Result<(), rusqlite::Error> {
    struct Bound<'a, T>(&'a T);
    impl<T: Column> ToSql for Bound<'_, T> {
        fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
            Ok(self.0.store())
        }
    }
    *at += 1;
    statement.raw_bind_parameter(*at, Bound(value))
}

/// Reads the next value and counts it.
pub(crate) fn load<T: Column>(
    row: &rusqlite::Row<'_>,
    at: &mut usize,
    name: &'static str,
) -> Result<T, BadColumn> {
    let value: ValueRef<'_> = row.get_ref(*at).map_err(|_| BadColumn(name))?;
    *at += 1;
    T::load(value).map_err(|BadValue| BadColumn(name))
}

/// Declares a row: its key, whose first column is what rows are grouped by; then what it says; then what
/// says when something was last checked, which is no part of the fingerprint.
macro_rules! row {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident in $section:ident {
            key {
                $(#[$owner_meta:meta])* $owner:ident: $owner_type:ty,
                $($(#[$key_meta:meta])* $key:ident: $key_type:ty,)*
            }
            says { $($(#[$field_meta:meta])* $field:ident: $field_type:ty,)* }
            checked { $($(#[$check_meta:meta])* $check:ident: $check_type:ty,)* }
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        $vis struct $name {
            $(#[$owner_meta])* $vis $owner: $owner_type,
            $($(#[$key_meta])* $vis $key: $key_type,)*
            $($(#[$field_meta])* $vis $field: $field_type,)*
            $($(#[$check_meta])* $vis $check: $check_type,)*
        }

        impl $crate::rows::Row for $name {
            #[allow(unused_parens, reason = "a key of one column is that column")]
            type Key = ($owner_type $(, $key_type)*);

            fn key(&self) -> Self::Key {
                (self.$owner.clone() $(, self.$key.clone())*)
            }
        }

        impl $crate::rows::Sealed for $name {}

        impl $crate::rows::Bind for $name {
            const TABLE: $crate::rows::Table = $crate::rows::Table {
                section: fingerpost_fingerprint::Section::$section,
                keys: &[
                    $crate::rows::row!(@info $owner: $owner_type),
                    $($crate::rows::row!(@info $key: $key_type),)*
                ],
                values: &[
                    $($crate::rows::row!(@info $field: $field_type),)*
                    $($crate::rows::row!(@info $check: $check_type),)*
                ],
            };

            fn owner_of(key: &Self::Key) -> std::borrow::Cow<'_, str> {
                #[allow(unused_parens, unused_variables, reason = "only the first column is needed")]
                let ($owner $(, $key)*) = key;
                $crate::column::Owner::owner($owner)
            }

            fn bind_key(
                key: &Self::Key,
                statement: &mut rusqlite::Statement<'_>,
            ) -> Result<(), rusqlite::Error> {
                #[allow(unused_parens, reason = "a key of one column is that column")]
                let ($owner $(, $key)*) = key;
                let at = &mut 0;
                $crate::rows::bind(statement, at, $owner)?;
                $($crate::rows::bind(statement, at, $key)?;)*
                Ok(())
            }

            fn bind(
                &self,
                statement: &mut rusqlite::Statement<'_>,
            ) -> Result<(), rusqlite::Error> {
                let at = &mut 0;
                $crate::rows::bind(statement, at, &self.$owner)?;
                $($crate::rows::bind(statement, at, &self.$key)?;)*
                $($crate::rows::bind(statement, at, &self.$field)?;)*
                $($crate::rows::bind(statement, at, &self.$check)?;)*
                Ok(())
            }

            fn read(row: &rusqlite::Row<'_>) -> Result<Self, $crate::rows::BadColumn> {
                let at = &mut 0;
                Ok(Self {
                    $owner: $crate::rows::load(row, at, stringify!($owner))?,
                    $($key: $crate::rows::load(row, at, stringify!($key))?,)*
                    $($field: $crate::rows::load(row, at, stringify!($field))?,)*
                    $($check: $crate::rows::load(row, at, stringify!($check))?,)*
                })
            }

            fn encode(&self, encoder: &mut fingerpost_fingerprint::Encoder) {
                use $crate::column::{Column as _, Owner as _};
                let section = <Self as $crate::rows::Bind>::TABLE.section;
                encoder.start_row(section, &self.$owner.owner());
                $(self.$key.encode(encoder);)*
                $(self.$field.encode(encoder);)*
            }
        }
    };
    (@info $name:ident: $type:ty) => {
        $crate::rows::ColumnInfo {
            name: stringify!($name),
            declared: <$type as $crate::column::Column>::DECLARED,
        }
    };
}
pub(crate) use row;

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::registry::FORMAT;

    /// Names and declarations are those of the tables that the migrations make.
    #[test]
    fn rows_are_declared_as_their_tables_are() {
        let file = Connection::open_in_memory().unwrap();
        FORMAT.migrations.iter().for_each(|sql| file.execute_batch(sql).unwrap());
        let tables = [
            RouteRow::TABLE,
            FleetRow::TABLE,
            FleetBoxRow::TABLE,
            RouteAlias::TABLE,
            WildcardDomain::TABLE,
            RoutePath::TABLE,
            SiteRow::TABLE,
        ];
        assert_eq!(tables.each_ref().map(|table| table.section), Section::ALL);
        for table in tables {
            let read = "SELECT name, type || iif(\"notnull\", ' NOT NULL', ''), pk > 0 \
                FROM pragma_table_info(?)";
            let mut statement = file.prepare(read).unwrap();
            let columns = statement
                .query_map([table.name()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .unwrap()
                .collect::<Result<Vec<(String, String, bool)>, _>>()
                .unwrap();
            let own = |columns: &[ColumnInfo], key| -> Vec<_> {
                let own = columns.iter();
                own.map(|one| (one.name.to_owned(), one.declared.to_owned(), key)).collect()
            };
            assert_eq!(columns, [own(table.keys, true), own(table.values, false)].concat());
        }
    }
}
