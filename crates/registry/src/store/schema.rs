//! The tables of a claim store.

use crate::file::Format;

/// `FPcl`.
pub(super) const FORMAT: Format = Format { application_id: 0x4650_636c, migrations: &[V1] };

// Bodies can be a megabyte, so that `records` and `journals` have row ids. `changes` keeps the keys of
// records that were removed.
const V1: &str = "
    CREATE TABLE state (
        only INTEGER NOT NULL PRIMARY KEY CHECK (only = 1),
        serial INTEGER NOT NULL,
        counter INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE records (
        collection TEXT NOT NULL,
        key TEXT NOT NULL,
        version TEXT NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (collection, key)
    ) STRICT;

    CREATE TABLE changes (
        collection TEXT NOT NULL,
        key TEXT NOT NULL,
        serial INTEGER NOT NULL,
        PRIMARY KEY (collection, key)
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX changes_by_serial ON changes (serial);

    CREATE TABLE journals (
        number INTEGER NOT NULL PRIMARY KEY,
        journal TEXT NOT NULL,
        topic TEXT NOT NULL,
        body BLOB NOT NULL
    ) STRICT;

    CREATE INDEX journals_by_topic ON journals (journal, topic, number);

    CREATE INDEX journals_by_number ON journals (journal, number);

    INSERT INTO state (only, serial, counter) VALUES (1, 0, 0);
";
