//! A digest of everything that routing depends on, kept up to date row by row.
//!
//! A box has to know whether the rows it routes by have changed, and for which hosts. Hashing a
//! million rows to find out takes half a second; here a changed row costs two additions, and the
//! answer comes with the list of hosts whose rows moved. It stores no rows and compares no values: it
//! says *that* something changed under a host, never what.
//!
//! ```
//! use fingerpost_fingerprint::{Digests, Encoder, Key, RowDigest, Section};
//!
//! let key = Key::new([7; 32]); // random, one for each registry
//! let row = |prefix: &str, target: &str| {
//!     let mut row = Encoder::row(Section::RoutePaths, "tickets.example");
//!     row.text(prefix).text(target);
//!     RowDigest::of(&key, &row)
//! };
//!
//! let mut digests = Digests::new(key.clone());
//! digests.add(Section::RoutePaths, "tickets.example", row("paulca", "next.tickets.example"));
//! let before = digests.clone();
//!
//! digests.add(Section::RoutePaths, "tickets.example", row("bigcorp", "next.tickets.example"));
//! assert_ne!(digests.fingerprint(), before.fingerprint());
//! assert_eq!(digests.changed_hosts(&before), [(Section::RoutePaths, "tickets.example")]);
//!
//! digests.remove(Section::RoutePaths, "tickets.example", row("bigcorp", "next.tickets.example"));
//! assert_eq!(digests.fingerprint(), before.fingerprint());
//! ```
//!
//! # How it is built
//! 1. A row is encoded with a tag and a length before every field ([`Encoder`]), behind its section and
//!    host, and hashed with keyed BLAKE3 ([`RowDigest`]).
//! 2. The digest of a host in a section is the number of its rows with the sum of their digests modulo
//!    2^256 ([`SectionHostDigest`]).
//! 3. Each of those is hashed with its section and host, and the [`Fingerprint`] is a hash of the number
//!    and the sum of these: its cost does not depend on how many hosts there are.
//!
//! Sums because a row can be taken out of one again. Keyed, because whoever chooses rows (tenants do)
//! could otherwise search for a set of rows with the sum of another; with XOR even without a search, by
//! linear algebra. The three hashes have keys of their own, derived from the one key and [`VERSION`].
//!
//! # Cost
//! A row is one BLAKE3 of its encoding (about 0.1 µs for 100 bytes); adding it is an addition of 256
//! bits. See [`Digests`] for the rest.
//!
//! # Invariants
//! F1 framing is injective. F2 golden vectors never change within a version tag. F3 the order of rows does
//! not matter, the order of fields does. F4 incremental equals from scratch. F5 any change that would
//! change a look-up moves the fingerprint: here, any change of a row. Each is a test of the same name.

mod digest;
mod digests;
mod encoder;
mod fingerprint;
mod key;
mod section;

pub use digest::{RowDigest, SectionHostDigest};
pub use digests::Digests;
pub use encoder::Encoder;
pub use fingerprint::Fingerprint;
pub use key::{Key, VERSION};
pub use section::Section;
