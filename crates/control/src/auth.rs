//! Who asks, with what they may do.

mod role;

use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use fingerpost_claims::{ClaimStore, Name};

pub use self::role::{Role, RoleError};
use crate::problem::Problem;
use crate::token::{self, Grant};

/// Who asks: a credential that the store knows.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The id of the token, for the audit.
    pub(crate) id: String,
    pub(crate) grant: Grant,
}

impl Caller {
    /// Finds who sent a request, by its one `Authorization` field (RFC 6750 2.1).
    pub(crate) async fn of(headers: &HeaderMap, store: &dyn ClaimStore) -> Result<Self, Problem> {
        let mut fields = headers.get_all(AUTHORIZATION).iter();
        let Some(field) = fields.next() else {
            return Err(unauthorized("a bearer token is needed", CHALLENGE));
        };
        if fields.next().is_some() {
            let detail = "there is more than one Authorization field";
            let problem = Problem::bad_request("authorization_invalid", detail);
            return Err(problem.with_headers([(WWW_AUTHENTICATE, challenge(INVALID_REQUEST))]));
        }
        let Some(text) = bearer(field) else {
            return Err(unauthorized("the Authorization field holds no bearer token", CHALLENGE));
        };
        match token::find(store, text).await? {
            Some((id, grant)) => Ok(Self { id, grant }),
            None => Err(unauthorized("the bearer token is not known here", INVALID_TOKEN)),
        }
    }

    pub(crate) const fn is_operator(&self) -> bool {
        matches!(self.grant.role(), Role::Operator)
    }

    /// Fails for everybody but operators.
    pub(crate) fn require_operator(&self) -> Result<(), Problem> {
        if self.is_operator() { Ok(()) } else { Err(Problem::forbidden()) }
    }

    /// Whether something of this account and app may be shown. What is nobody's is for operators.
    pub(crate) fn sees(&self, account: Option<&Name>, app: Option<&Name>) -> bool {
        let own = || self.grant.account().is_some_and(|own| account == Some(own));
        let narrowed = || self.grant.app().is_some_and(|own| app != Some(own));
        self.is_operator() || own() && !narrowed()
    }

    /// Fails where the claims of an app may not be seen, or where they are to be written by a service and the app
    /// is marked `control_plane`. The answer is the same for every reason.
    pub(crate) fn require_app(
        &self,
        account: &Name,
        app: &Name,
        barred_to_services: bool,
    ) -> Result<(), Problem> {
        let barred = barred_to_services && self.grant.role().is_service();
        if self.sees(Some(account), Some(app)) && !barred {
            Ok(())
        } else {
            Err(Problem::forbidden())
        }
    }
}

/// The token of a field: `Bearer`, in any case, and one word.
fn bearer(field: &HeaderValue) -> Option<&str> {
    let (scheme, rest) = field.to_str().ok()?.split_once(' ')?;
    let token = rest.trim_matches(' ');
    let word = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    (scheme.eq_ignore_ascii_case("bearer") && word).then_some(token)
}

fn unauthorized(detail: &str, with: &'static str) -> Problem {
    let problem = Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail);
    problem.with_headers([(WWW_AUTHENTICATE, challenge(with))])
}

const fn challenge(text: &'static str) -> HeaderValue {
    HeaderValue::from_static(text)
}

const CHALLENGE: &str = "Bearer realm=\"fingerpost\"";
const INVALID_REQUEST: &str = "Bearer realm=\"fingerpost\", error=\"invalid_request\"";
const INVALID_TOKEN: &str = "Bearer realm=\"fingerpost\", error=\"invalid_token\"";
