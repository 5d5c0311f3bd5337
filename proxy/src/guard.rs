//! Who may use a route, and how much.
//!
//! Guards belong to the entry that a request matches, whichever host or prefix led to it. They are looked at
//! in the same step that takes the decision, so that no snapshot comes between the two; a guard that has to
//! ask somebody is asked in between, and the request is then decided anew.

mod address;
mod basic;
mod forward_auth;
mod gate;
mod networks;
mod password;
mod rate;
mod refusal;
mod visitor;

use std::sync::Arc;

pub use basic::Basic;
pub use forward_auth::{AuthUrlError, ForwardAuth};
pub(crate) use gate::Gate;
pub use networks::Networks;
pub use password::{PasswordHash, PasswordHashError};
pub use rate::RateLimit;
pub(crate) use rate::block;
pub(crate) use refusal::Refusal;
pub(crate) use visitor::{Halt, Visitor};

/// The guards of a route, in the order in which they are looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Guards {
    /// The only clients that it answers; others get 403.
    pub internal_only: Option<Arc<Networks>>,
    /// How many requests one client may make; more get 429.
    ///
    /// Before [`auth`](Self::auth), so that passwords can't be tried faster.
    pub rate_limit: Option<RateLimit>,
    /// Who its clients have to prove to be.
    pub auth: Option<Auth>,
}

impl Guards {
    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.internal_only.is_none() && self.rate_limit.is_none() && self.auth.is_none()
    }
}

/// Who the clients of a route have to prove to be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Auth {
    /// One of a list of users (RFC 7617).
    Basic(Arc<Basic>),
    /// Somebody that another server lets pass.
    Forward(Arc<ForwardAuth>),
}
