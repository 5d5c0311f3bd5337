//! Rows that a pass over the claims owns, as they are stored.

use std::sync::Arc;

use fingerpost_authority::Host;
use fingerpost_claims::{AliasRow, Destination, Name, PathRow, RowState, WildcardRow};
use fingerpost_path::Prefix;

use super::row;
use crate::column::word_column;

row! {
    /// An [`AliasRow`] with its key.
    pub(crate) struct RouteAlias in RouteAliases {
        key { host: Host, }
        says { primary_host: Host, own_map: bool, }
        checked {}
    }
}

row! {
    /// A [`WildcardRow`] with its key.
    pub(crate) struct WildcardDomain in WildcardDomains {
        key { host: Host, }
        says { account: Name, app: Name, catchall: Option<Host>, }
        checked {}
    }
}

row! {
    /// A [`PathRow`] with its key.
    pub(crate) struct RoutePath in RoutePaths {
        key { host: Host, prefix: Prefix, }
        says {
            target: Option<Host>,
            account: Name,
            app: Option<Name>,
            home: Option<Name>,
            state: RowState,
        }
        checked {}
    }
}

// Each of these names every field of both sides, so that a new one does not compile until it is stored.

impl RouteAlias {
    pub(crate) fn new(host: &Host, row: &AliasRow) -> Self {
        let AliasRow { primary, own_map } = row;
        Self { host: host.clone(), primary_host: primary.clone(), own_map: *own_map }
    }

    pub(crate) fn split(self) -> (Host, AliasRow) {
        let Self { host, primary_host, own_map } = self;
        (host, AliasRow { primary: primary_host, own_map })
    }
}

impl WildcardDomain {
    pub(crate) fn new(host: &Host, row: &WildcardRow) -> Self {
        let WildcardRow { account, app, catchall } = row.clone();
        Self { host: host.clone(), account, app, catchall }
    }

    pub(crate) fn split(self) -> (Host, WildcardRow) {
        let Self { host, account, app, catchall } = self;
        (host, WildcardRow { account, app, catchall })
    }
}

impl RoutePath {
    pub(crate) fn new(host: &Host, prefix: &Prefix, row: &PathRow) -> Self {
        let PathRow { to, state } = row;
        let Destination { target, account, app, home } = Destination::clone(to);
        Self {
            host: host.clone(),
            prefix: prefix.clone(),
            target,
            account,
            app,
            home,
            state: *state,
        }
    }

    /// Takes the row apart, sharing the destination of the row before it where they are the same.
    pub(crate) fn split(self, last: &mut Option<Arc<Destination>>) -> (Host, Prefix, PathRow) {
        let Self { host, prefix, target, account, app, home, state } = self;
        let to = Destination { target, account, app, home };
        let to = match last {
            Some(same) if **same == to => Arc::clone(same),
            _ => Arc::clone(last.insert(Arc::new(to))),
        };
        (host, prefix, PathRow { to, state })
    }
}

word_column!(RowState: Routed, Held);
