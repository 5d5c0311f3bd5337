//! What a credential grants.

use fingerpost_claims::{Name, NameError};
use serde::{Deserialize, Serialize};

use crate::auth::Role;
use crate::timestamp::timestamp;
use crate::{Ambient, hex};

/// What a credential grants: a role, in an account unless it is an operator's, and in one app if it names one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    role: Role,
    account: Option<Name>,
    app: Option<Name>,
    name: Option<Name>,
}

impl Grant {
    /// Checks what a token is to grant. `name` is for people: who has it, or what for.
    ///
    /// # Errors
    /// [`GrantError`]: an account is missing, or one is given that would confine nothing.
    pub fn new(
        role: Role,
        account: Option<Name>,
        app: Option<Name>,
        name: Option<Name>,
    ) -> Result<Self, GrantError> {
        match (role, &account, &app) {
            (Role::Operator, Some(_), _) | (Role::Operator, _, Some(_)) => {
                Err(GrantError::OperatorConfined)
            }
            (Role::Instance | Role::Person | Role::Publish, None, _) => {
                Err(GrantError::AccountMissing { role })
            }
            _ => Ok(Self { role, account, app, name }),
        }
    }

    /// The kind of caller.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.role
    }

    /// The account that it is confined to.
    #[must_use]
    pub const fn account(&self) -> Option<&Name> {
        self.account.as_ref()
    }

    /// The app that it is confined to.
    #[must_use]
    pub const fn app(&self) -> Option<&Name> {
        self.app.as_ref()
    }

    /// What people call it.
    #[must_use]
    pub const fn name(&self) -> Option<&Name> {
        self.name.as_ref()
    }

    /// The body that is stored.
    pub(super) fn to_json(&self, ambient: &dyn Ambient) -> Vec<u8> {
        let text = |name: &Option<Name>| name.as_ref().map(ToString::to_string);
        let stored = Stored {
            role: self.role.as_str().to_owned(),
            account: text(&self.account),
            app: text(&self.app),
            name: text(&self.name),
            created: Some(timestamp(ambient.now())),
            write_id: hex::encode(&ambient.random()),
        };
        serde_json::to_vec(&stored).unwrap_or_default()
    }

    /// What a stored body grants, and since when. One that can't be read grants nothing, nor does one of a
    /// later version that says more than this one knows: it may be a restriction.
    pub(super) fn from_json(body: &[u8]) -> Option<(Self, Option<String>)> {
        let stored: Stored = serde_json::from_slice(body).ok()?;
        let name = |text: Option<String>| text.map(|text| Name::parse(&text)).transpose();
        let read = || -> Result<_, NameError> {
            Ok((name(stored.account)?, name(stored.app)?, name(stored.name)?))
        };
        let (account, app, name) = read().ok()?;
        let grant = Self::new(stored.role.parse().ok()?, account, app, name).ok()?;
        Some((grant, stored.created))
    }
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    role: String,
    account: Option<String>,
    app: Option<String>,
    name: Option<String>,
    created: Option<String>,
    write_id: String,
}

/// Why a token can't grant that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrantError {
    /// Only operators are confined to no account.
    #[error("a token of the role {role} needs an account")]
    AccountMissing {
        /// The role.
        role: Role,
    },
    /// An operator has every account: one that is named would confine nothing.
    #[error("an operator is confined to no account and no app")]
    OperatorConfined,
}
