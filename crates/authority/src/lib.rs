//! Says which host an HTTP request names.
//!
//! A proxy, its cache, its access rules and its logs must agree on that, or one of them can be walked past by
//! spelling the host another way. This crate has one canonical [`Host`], one function, [`select`], that
//! takes it from the head of a request, and [`HostPattern`]s to match it with.
//!
//! ```
//! use fingerpost_authority::{
//!     Head, Host, HostFields, HostPattern, HttpVersion, Selected, Target, TransferEncoding, select,
//! };
//!
//! // What people write, in a configuration or a claim.
//! let pattern = HostPattern::from_written("*.Bücher.example")?;
//! assert_eq!(pattern.to_string(), "*.xn--bcher-kva.example");
//!
//! // What requests carry.
//! let selected = select(&Head {
//!     version: HttpVersion::Http11,
//!     method: b"GET",
//!     target: Target::parse(b"/events?page=2"),
//!     authority: None,
//!     scheme: None,
//!     websocket: false,
//!     hosts: HostFields::One(b"WWW.xn--bcher-kva.example.:8443"),
//!     transfer_encoding: TransferEncoding::None,
//!     tls_names: None,
//! })?;
//! let Selected::Host(host) = selected else { panic!("the request names a host") };
//! assert_eq!(host, Host::parse("www.xn--bcher-kva.example")?);
//! assert!(pattern.matches(&host));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it does not do
//!
//! It is no URL parser: nothing is percent-decoded, and `127.1` or `ex%61mple.com` are errors and not hosts.
//! It does not parse HTTP, judge `Content-Length`, or look at the bytes of a path. It does no I/O and never
//! resolves a name. It does not read forwarding fields: who may set those is the caller's knowledge.
//!
//! # Rules
//!
//! | subject | rule | from |
//! |---|---|---|
//! | letters | ASCII case is folded, nothing else is | RFC 9110 4.2.3 |
//! | port | digits up to 65535, or empty; never part of a host | RFC 3986 3.2.3, RFC 9110 7.2 |
//! | trailing dot | one is dropped, also before a port; an empty label is an error | RFC 3986 3.2.2 |
//! | labels | 1 to 63 bytes of `[a-z0-9_-]`, names up to 253 | RFC 1035 2.3.4 |
//! | numbers | a numeric last label makes the name a strict dotted quad or an error | RFC 3986 3.2.2 |
//! | IPv6 | in brackets, canonical, without zone | RFC 3986 3.2.2, RFC 5952 |
//! | written names | UTS 46 to checked A-labels; bare | RFC 5891, UTS 46 |
//! | `*.name` | exactly one label, never `name` itself | RFC 9525 6.3 |
//! | `Host` in HTTP/1.1 | exactly one, valid, in every form of the target | RFC 9112 3.2 |
//! | absolute-form | its authority wins over `Host` | RFC 9112 3.2.2 |
//! | HTTP/2 | `:authority`, else `Host`; they may not differ | RFC 9113 8.3.1 |
//! | `Transfer-Encoding` | exactly one `chunked`, in HTTP/1.1 only | RFC 9112 6.1 |
//! | certificate | a host that it does not name is misdirected | RFC 9110 7.4, 15.5.20 |
//!
//! The order in which they are applied is documented at [`select`], the grammar at [`Host`]. The invariants
//! H1 to H6 are stated there and at [`HostPattern`]; each is a property test of that name.
//!
//! # Cost
//!
//! A [`Host`] is 64 bytes and holds up to 62 bytes of text inline: an ordinary request allocates nothing, and
//! parsing a name of 30 bytes takes some 25 ns. Errors on that path are `Copy`.
//!
//! # Features
//!
//! Both are additive and off by default.
//!
//! * `http`: `Target::from_uri` and `Head::from_parts`, for servers that use the `http` crate (hyper).
//! * `serde`: [`Host`] and [`HostPattern`] as strings. Reading follows the rules for what people write.

mod authority;
mod head;
mod host;
mod pattern;
mod rejected;
mod select;
#[cfg(feature = "serde")]
mod serde;
mod target;
mod transfer_encoding;

pub use self::authority::{Authority, AuthorityError};
pub use self::head::{Head, HostFields, HttpVersion};
pub use self::host::{Host, HostError, HostKind, WrittenHostError};
pub use self::pattern::{HostPattern, HostPatternError};
pub use self::rejected::Rejected;
pub use self::select::{Selected, select};
pub use self::target::Target;
pub use self::transfer_encoding::TransferEncoding;
