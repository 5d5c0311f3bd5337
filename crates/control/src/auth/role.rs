//! What kind of caller holds a credential.

use std::fmt;
use std::str::FromStr;

/// What kind of caller holds a credential.
///
/// | | publish, instance | person | operator |
/// |---|---|---|---|
/// | read claims, report, audit, history, explain | own account and app | own account | all |
/// | attach, delete, publish | the same, but never for an app marked `control_plane` | own account | all |
/// | snapshot, boxes | no | no | yes |
///
/// A credential with an app is confined to that app, whatever its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "complete: the table has these four columns")]
pub enum Role {
    /// A running instance of an app.
    Instance,
    /// Whoever runs the boxes.
    Operator,
    /// Somebody of an account.
    Person,
    /// A service that publishes maps.
    Publish,
}

impl Role {
    /// Every role, in the order of their names.
    pub const ALL: [Self; 4] = [Self::Instance, Self::Operator, Self::Person, Self::Publish];

    /// The name, as it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Instance => "instance",
            Self::Operator => "operator",
            Self::Person => "person",
            Self::Publish => "publish",
        }
    }

    /// Whether it is held by programs of the account.
    #[must_use]
    pub const fn is_service(self) -> bool {
        matches!(self, Self::Instance | Self::Publish)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Role {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Self, RoleError> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or(RoleError)
    }
}

/// Why a text is no role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a role is one of instance, operator, person, publish")]
#[non_exhaustive]
pub struct RoleError;
