//! The HTTP door through which claims are written, with a read API beside it.
//!
//! [`router`] serves it on the admin listener. It decides who may do what, reads bodies strictly, and writes
//! claims by compare-and-swap on a [`ClaimStore`](fingerpost_claims::ClaimStore). It routes nothing: what a
//! box knows and does comes from a [`LiveView`], which is the box's to implement. It opens no socket, reads no
//! clock and makes no random numbers: those come from an [`Ambient`].
//!
//! # Order of a write
//! The credential, the role, the account and app; only then the hostname, the query, the preconditions, the
//! body. What changes something is one commit: the claim, its audit row and its history row, the serial. What
//! changes nothing does none of them. A write goes on when its client has gone.
//!
//! # Credentials
//! 256 random bits, in an `Authorization` field and nowhere else. The store holds their hash only, and finds
//! them by it: an attacker who can time a look-up learns about hashes of guesses, and so nothing that leads to
//! a token. Comparing in constant time would add nothing.
//!
//! ```
//! use fingerpost_claims::{MemoryStore, Name};
//! use fingerpost_control::{Ambient, Grant, Role, create, list};
//!
//! #[derive(Debug)]
//! struct Fixed; // A real one asks the system, for both.
//! impl Ambient for Fixed {
//!     fn now(&self) -> std::time::SystemTime {
//!         std::time::UNIX_EPOCH
//!     }
//!     fn random(&self) -> [u8; 32] {
//!         [7; 32]
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let store = MemoryStore::new();
//! let grant = Grant::new(Role::Publish, Some(Name::parse("tickets")?), None, None)?;
//! let created = create(&store, &Fixed, &grant).await?;
//! assert_eq!(created.secret.to_string(), format!("fpt_{}", "07".repeat(32)));
//! assert_eq!(list(&store).await?[0].grant, Some(grant));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Answers
//! JSON; errors are `application/problem+json` (RFC 9457) with a stable `code`. What is served, with every
//! status, is described by the document at `/api/openapi.json`, which is made of the same table as the router.

mod ambient;
mod auth;
mod body;
mod condition;
mod control;
mod dispatch;
mod door;
mod endpoint;
mod hex;
mod openapi;
mod pointer;
mod prefer;
mod preview;
mod problem;
mod query;
mod read;
mod record;
mod timestamp;
mod token;
mod view;

pub use ambient::Ambient;
pub use auth::{Role, RoleError};
pub use control::{Control, router};
pub use openapi::document as openapi;
pub use query::holds_token;
pub use token::{
    CreateError, Created, Grant, GrantError, Listed, RevokeError, Secret, create, list, revoke,
};
pub use view::{Explained, Live, LiveView, Node, Snapshot};
