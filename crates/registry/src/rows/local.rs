//! Rows that come from what the box itself knows: its configuration, and routes that were pushed to it.

use std::borrow::Cow;
use std::time::Duration;

use fingerpost_authority::HostPattern;
use fingerpost_claims::Name;
use fingerpost_fingerprint::Encoder;
use rusqlite::types::{ToSqlOutput, ValueRef};

use super::row;
use crate::column::{BadValue, Column, Owner, word_column};

row! {
    /// A path route of a host pattern, or a shared one. A route that is written with several hosts is one
    /// row for each.
    pub struct RouteRow in Routes {
        key {
            /// Whose route it is.
            host: RouteHost,
            /// When it is tried.
            scope: RouteScope,
            /// The path pattern, as written.
            path: String,
        }
        says {
            /// The route's id.
            id: String,
            /// What it does.
            action: RouteAction,
            /// The fleet that it forwards to.
            fleet: Option<String>,
            /// The status that it answers or redirects with.
            status: Option<u16>,
            /// Where it redirects to.
            location: Option<String>,
            /// The header fields of its answer, each `name: value`.
            headers: Vec<String>,
            /// The content of its answer.
            body: Vec<u8>,
            /// Whom it is charged to.
            account: Option<Name>,
            /// The app of that account.
            app: Option<Name>,
            /// The version of the app, as it is reported to clients.
            version: Option<String>,
            /// The box that serves it; `None` is this one.
            home: Option<Name>,
            /// Whether the app's other hostnames point at it.
            primary_route: bool,
            /// Whether spellings that could mean it and another route are refused.
            guarded: bool,
            /// Whether it may be a target: registered, and not marked otherwise.
            ready: bool,
            /// Where it comes from.
            source: RouteSource,
        }
        checked {
            /// What DNS said of the host when it was last asked.
            dns_status: Option<String>,
            /// When the host's certificate ends, in seconds since 1970.
            cert_expires_at: Option<u64>,
        }
    }
}

row! {
    /// A pool of upstream servers.
    pub struct FleetRow in Fleets {
        key {
            /// Its name.
            name: String,
        }
        says {
            /// How long connecting may take; stored in milliseconds, as all durations.
            connect_timeout: Duration,
            /// How long the header of a response may take.
            response_timeout: Duration,
            /// How long the content of a response may pause.
            body_timeout: Duration,
            /// How long an unused connection is kept.
            idle_timeout: Duration,
            /// How many unused connections are kept for each server.
            max_idle: u32,
        }
        checked {}
    }
}

row! {
    /// A server of a fleet.
    pub struct FleetBoxRow in FleetBoxes {
        key {
            /// The fleet.
            fleet: String,
            /// Its place in the fleet's list, from 0.
            position: u32,
        }
        says {
            /// Where it listens: `host:port`.
            address: String,
            /// The box that it is on; `None` where that is not known.
            home: Option<Name>,
        }
        checked {
            /// When it last answered, in seconds since 1970.
            heartbeat_at: Option<u64>,
        }
    }
}

row! {
    /// The options of one host pattern.
    pub struct SiteRow in Sites {
        key {
            /// The pattern.
            host: HostPattern,
        }
        says {
            /// The account that it belongs to.
            account: Option<Name>,
            /// The app of that account.
            app: Option<Name>,
            /// What runs behind the origin: names of presets, or of families; `None` is the default.
            legacy: Option<Vec<String>>,
            /// The query parameters that the backend routes on.
            legacy_query: Vec<String>,
            /// The bytes that account names are made of; `None` is the default.
            slug: Option<String>,
            /// Whether names that differ by ASCII case are different accounts.
            case_sensitive: bool,
            /// What happens where readings of a first segment disagree.
            ambiguous: Choice,
            /// What happens where spellings of a path disagree.
            ambiguous_paths: Choice,
            /// Where a request goes that no route of the site matches.
            fallback: SiteFallback,
            /// Whether the app is part of the control plane.
            control_plane: bool,
            /// First segments that can't be claimed.
            reserved: Vec<String>,
            /// How long WebSockets and event streams on the old route live on after a flip.
            flip_drain: Duration,
            /// What a prefix gets whose target is not there.
            on_unresolved: OnUnresolved,
        }
        checked {}
    }
}

/// Whose a route is: a host pattern's; with `None` it is a shared one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a pattern or none, and nothing else")]
pub struct RouteHost(pub Option<HostPattern>);

/// The empty text is a shared route's: no pattern is empty, and a key has no NULL.
impl Column for RouteHost {
    const DECLARED: &'static str = "TEXT NOT NULL";

    fn store(&self) -> ToSqlOutput<'_> {
        match &self.0 {
            Some(pattern) => pattern.store(),
            None => ToSqlOutput::Borrowed(ValueRef::Text(b"")),
        }
    }

    fn load(value: ValueRef<'_>) -> Result<Self, BadValue> {
        if value == ValueRef::Text(b"") {
            return Ok(Self(None));
        }
        HostPattern::load(value).map(|pattern| Self(Some(pattern)))
    }

    fn encode(&self, row: &mut Encoder) {
        row.text(&self.owner());
    }
}

impl Owner for RouteHost {
    fn owner(&self) -> Cow<'_, str> {
        self.0.as_ref().map_or(Cow::Borrowed(""), Owner::owner)
    }
}

/// Declares an enum of words.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name { $($(#[$variant_meta])* $variant,)+ }

        impl $name {
            /// The word that is stored.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        word_column!($name: $($variant),+);
    };
}

words! {
    /// When a route is tried.
    RouteScope {
        /// Shared: before the routes of any host.
        EveryHost = "every-host",
        /// Shared: after the routes of the host.
        Fallback = "fallback",
        /// For the requests of its host.
        Site = "site",
    }
}

words! {
    /// What a route does.
    RouteAction {
        /// Passes requests on to a fleet.
        Forward = "forward",
        /// Sends clients elsewhere.
        Redirect = "redirect",
        /// Answers by itself.
        Respond = "respond",
    }
}

words! {
    /// Where a route comes from.
    RouteSource {
        /// The configuration of this box.
        Config = "config",
        /// The store, at run time.
        Pushed = "pushed",
    }
}

words! {
    /// What happens where readings disagree.
    Choice {
        /// The most normalised one decides.
        Select = "select",
        /// The request is refused.
        Refuse = "refuse",
    }
}

words! {
    /// Where a request goes that no route of its site matches.
    SiteFallback {
        /// Nowhere.
        None = "none",
        /// To the shared routes.
        Shared = "shared",
    }
}

words! {
    /// What a prefix gets whose target is not there.
    OnUnresolved {
        /// The host's own routes.
        Origin = "origin",
        /// 503.
        Refuse = "refuse",
        /// 503 where this box has served it before, else the host's own routes.
        Sticky = "sticky",
    }
}
