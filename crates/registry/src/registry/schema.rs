//! The tables of a registry.

use crate::file::Format;

/// `FPrg`.
pub(crate) const FORMAT: Format = Format { application_id: 0x4650_7267, migrations: &[V1] };

// Tables are keyed by text that is compared byte by byte, as in memory, so that both have one order.
const V1: &str = "
    CREATE TABLE meta (
        name TEXT NOT NULL PRIMARY KEY,
        value ANY NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE digests (
        section TEXT NOT NULL,
        host TEXT NOT NULL,
        rows INTEGER NOT NULL,
        sum BLOB NOT NULL,
        PRIMARY KEY (section, host)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE routes (
        host TEXT NOT NULL,
        scope TEXT NOT NULL,
        path TEXT NOT NULL,
        id TEXT NOT NULL,
        action TEXT NOT NULL,
        fleet TEXT,
        status INTEGER,
        location TEXT,
        headers TEXT NOT NULL,
        body BLOB NOT NULL,
        account TEXT,
        app TEXT,
        version TEXT,
        home TEXT,
        primary_route INTEGER NOT NULL,
        guarded INTEGER NOT NULL,
        ready INTEGER NOT NULL,
        source TEXT NOT NULL,
        dns_status TEXT,
        cert_expires_at INTEGER,
        PRIMARY KEY (host, scope, path)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE fleets (
        name TEXT NOT NULL,
        connect_timeout INTEGER NOT NULL,
        response_timeout INTEGER NOT NULL,
        body_timeout INTEGER NOT NULL,
        idle_timeout INTEGER NOT NULL,
        max_idle INTEGER NOT NULL,
        PRIMARY KEY (name)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE fleet_boxes (
        fleet TEXT NOT NULL,
        position INTEGER NOT NULL,
        address TEXT NOT NULL,
        home TEXT,
        heartbeat_at INTEGER,
        PRIMARY KEY (fleet, position)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE route_aliases (
        host TEXT NOT NULL,
        primary_host TEXT NOT NULL,
        own_map INTEGER NOT NULL,
        PRIMARY KEY (host)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE wildcard_domains (
        host TEXT NOT NULL,
        account TEXT NOT NULL,
        app TEXT NOT NULL,
        catchall TEXT,
        PRIMARY KEY (host)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE route_paths (
        host TEXT NOT NULL,
        prefix TEXT NOT NULL,
        target TEXT,
        account TEXT NOT NULL,
        app TEXT,
        home TEXT,
        state TEXT NOT NULL,
        PRIMARY KEY (host, prefix)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE sites (
        host TEXT NOT NULL,
        account TEXT,
        app TEXT,
        legacy TEXT,
        legacy_query TEXT NOT NULL,
        slug TEXT,
        case_sensitive INTEGER NOT NULL,
        ambiguous TEXT NOT NULL,
        ambiguous_paths TEXT NOT NULL,
        fallback TEXT NOT NULL,
        control_plane INTEGER NOT NULL,
        reserved TEXT NOT NULL,
        flip_drain INTEGER NOT NULL,
        on_unresolved TEXT NOT NULL,
        PRIMARY KEY (host)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE usage (
        period INTEGER NOT NULL,
        route TEXT NOT NULL,
        account TEXT NOT NULL,
        app TEXT NOT NULL,
        requests INTEGER NOT NULL,
        bytes_in INTEGER NOT NULL,
        bytes_out INTEGER NOT NULL,
        PRIMARY KEY (period, route, account, app)
    ) STRICT, WITHOUT ROWID;

    INSERT INTO meta (name, value) VALUES ('key', randomblob(32));
";
