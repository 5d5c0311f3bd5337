//! The first path segment that a request names, under every spelling that a backend might read.
//!
//! A proxy that moves accounts from an old application to a new one decides by the first segment of
//! the path. The old application decides by its own reading of the same bytes, and readings differ:
//! `//paulca`, `/bob/../paulca`, `/paulca.json` and `/bob/..;/paulca` are each the page of `paulca`
//! to some server. This crate lists every first segment that a request may mean, so that the proxy
//! can refuse to send any of them back.
//!
//! It does not parse requests, know routes or rewrite anything: what is forwarded stays as it came.
//!
//! ```
//! use fingerpost_path::{Preset, Rules};
//!
//! let rules = Rules::new(Preset::Rails.families());
//! let ordinary = rules.spellings(b"/paulca/events", None)?;
//! assert!(ordinary.is_ordinary());
//! assert_eq!(ordinary.iter().next().unwrap().segment(), b"paulca");
//!
//! let odd = rules.spellings(b"//bob/../paulca.json", None)?;
//! let segments: Vec<_> = odd.iter().map(|reading| reading.segment()).collect();
//! assert!(segments.contains(&&b"paulca"[..]) && segments.contains(&&b"bob"[..]));
//! # Ok::<(), fingerpost_path::PathRefused>(())
//! ```
//!
//! # Rules
//! The base candidates are the first segment of the decoded path, and that of its cleaned form. Each
//! [family](Families) adds a rewriting step; the forms of a path are the closure of the path under the
//! steps of the site's families, so that steps combine in any order. [`Preset`]s name the families
//! that measured backends need. Dot segments: RFC 3986 5.2.4; normal form: 6.2.2.
//!
//! # Cost
//! An [ordinary](Rules::ordinary) path is one scan without allocation. Any other path has at most 64
//! forms that hold at most 16 KiB together, or is refused.
//!
//! # Invariants
//! P2 an ordinary path has one reading, borrowed. P3 what a measured backend served is among the
//! readings, or the request is refused. P4 `/paulcarson` never yields `paulca`. P5 more families never
//! lose a reading. P6 an ordinary path yields what the backend served, and only that. Each is a
//! property test of the same name.

mod family;
mod forms;
mod hygiene;
mod ordinary;
mod prefix;
mod rewrite;
mod rules;
mod slug;
mod spellings;
mod whole;

pub use family::{Families, Preset, UnknownPreset};
pub use hygiene::{PathRefused, check_path};
pub use ordinary::is_plain;
pub use prefix::{Prefix, PrefixError};
pub use rules::Rules;
pub use slug::{Slug, SlugError};
pub use spellings::{Reading, Spelling, Spellings};
pub use whole::{PathForm, normal_form, variants};
