//! What was used, summed up.

use std::ops::Range;

use fingerpost_claims::Name;
use rusqlite::{TransactionBehavior, params};

use super::Registry;
use crate::fault::Fault;

/// What one route has used in one period.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the columns of a table")]
pub struct Usage {
    /// When the period began, in seconds since 1970.
    pub period: u64,
    /// The route's id.
    pub route: String,
    /// Whom it is charged to.
    pub account: Option<Name>,
    /// The app of that account.
    pub app: Option<Name>,
    /// Requests.
    pub requests: u64,
    /// Bytes received from clients.
    pub bytes_in: u64,
    /// Bytes sent to clients.
    pub bytes_out: u64,
}

impl Registry {
    /// Adds to what is stored for the same period, route, account and app; all of it or none.
    ///
    /// Usage is no part of the fingerprint.
    ///
    /// # Errors
    /// [`Fault`]: nothing was added, unless it is [unsettled](crate::FaultKind::Unsettled).
    pub fn add_usage(&mut self, batch: &[Usage]) -> Result<(), Fault> {
        self.in_transaction(TransactionBehavior::Immediate, |registry| {
            let fault = |error| registry.fault(&error);
            let add = "INSERT INTO usage (period, route, account, app, requests, bytes_in, bytes_out) \
                VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (period, route, account, app) DO UPDATE SET \
                requests = requests + excluded.requests, bytes_in = bytes_in + excluded.bytes_in, \
                bytes_out = bytes_out + excluded.bytes_out";
            let mut statement = registry.connection.prepare(add).map_err(fault)?;
            for one in batch {
                let Usage { period, route, account, app, requests, bytes_in, bytes_out } = one;
                let numbers = [period, requests, bytes_in, bytes_out].map(|n| n.cast_signed());
                let [period, requests, bytes_in, bytes_out] = numbers;
                // A key has no NULL: the empty text, which is no name, stands for none.
                let name = |name: &Option<Name>| name.as_ref().map_or("", Name::as_str).to_owned();
                let values =
                    params![period, route, name(account), name(app), requests, bytes_in, bytes_out];
                statement.execute(values).map_err(fault)?;
            }
            Ok(())
        })
    }

    /// What was used in the periods that began within `periods`, in order.
    ///
    /// # Errors
    /// [`Fault`] when it can't be read.
    pub fn usage(&mut self, periods: Range<u64>) -> Result<Vec<Usage>, Fault> {
        self.in_transaction(TransactionBehavior::Deferred, |registry| {
            let fault = |error| registry.fault(&error);
            let read = "SELECT period, route, account, app, requests, bytes_in, bytes_out FROM usage \
                WHERE period >= ? AND period < ? ORDER BY period, route, account, app";
            let mut statement = registry.connection.prepare(read).map_err(fault)?;
            let bounds = [periods.start.cast_signed(), periods.end.min(i64::MAX.cast_unsigned()).cast_signed()];
            let found = statement.query_map(bounds, |row| {
                let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
                let name = |at| row.get::<_, String>(at).map(|text| Name::parse(&text).ok());
                Ok(Usage {
                    period: number(0)?,
                    route: row.get(1)?,
                    account: name(2)?,
                    app: name(3)?,
                    requests: number(4)?,
                    bytes_in: number(5)?,
                    bytes_out: number(6)?,
                })
            });
            found.and_then(Iterator::collect).map_err(fault)
        })
    }
}
