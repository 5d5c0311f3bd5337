//! The codes that refusals carry.

use std::fmt;

/// Why a claim or an entry has no effect. The text never changes: programs compare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The claim's host has no route, and its app has none that it could point at.
    AppUnroutable,
    /// The claim does not parse.
    ClaimInvalid,
    /// The claim's host is served by another box, from its own routes.
    HostElsewhere,
    /// The claim's host is not its account's and app's, or another account's names cover it.
    HostNotOwned,
    /// There are more of them than the limit allows.
    OverLimit,
    /// The prefix is written more than once.
    PrefixDuplicate,
    /// The prefix is no first path segment.
    PrefixInvalid,
    /// The prefix can't be claimed on this host.
    Reserved,
    /// The target is served by another box, and this one knows no way there.
    TargetElsewhere,
    /// The target is no host.
    TargetInvalid,
    /// The target is the claim's own host, aliases resolved.
    TargetIsHost,
    /// No route has the target as its exact host. An alias is no target.
    TargetMissing,
    /// The target's routes are marked as not ready.
    TargetNotReady,
    /// The target belongs to another account, or to none.
    TargetOtherAccount,
    /// What tenants see of the four above where the target is not their own account's.
    TargetUnavailable,
    /// A route has the wildcard as its host already.
    WildcardRouted,
}

impl Code {
    /// Every code, in the order of their texts.
    pub const ALL: [Self; 16] = [
        Self::AppUnroutable,
        Self::ClaimInvalid,
        Self::HostElsewhere,
        Self::HostNotOwned,
        Self::OverLimit,
        Self::PrefixDuplicate,
        Self::PrefixInvalid,
        Self::Reserved,
        Self::TargetElsewhere,
        Self::TargetInvalid,
        Self::TargetIsHost,
        Self::TargetMissing,
        Self::TargetNotReady,
        Self::TargetOtherAccount,
        Self::TargetUnavailable,
        Self::WildcardRouted,
    ];

    /// The stable text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AppUnroutable => "app_unroutable",
            Self::ClaimInvalid => "claim_invalid",
            Self::HostElsewhere => "host_elsewhere",
            Self::HostNotOwned => "host_not_owned",
            Self::OverLimit => "over_limit",
            Self::PrefixDuplicate => "prefix_duplicate",
            Self::PrefixInvalid => "prefix_invalid",
            Self::Reserved => "reserved",
            Self::TargetElsewhere => "target_elsewhere",
            Self::TargetInvalid => "target_invalid",
            Self::TargetIsHost => "target_is_host",
            Self::TargetMissing => "target_missing",
            Self::TargetNotReady => "target_not_ready",
            Self::TargetOtherAccount => "target_other_account",
            Self::TargetUnavailable => "target_unavailable",
            Self::WildcardRouted => "wildcard_routed",
        }
    }

    /// Whether it tells something of the target that only the target's account may know.
    #[must_use]
    pub const fn is_private_to_target(self) -> bool {
        matches!(
            self,
            Self::TargetElsewhere
                | Self::TargetMissing
                | Self::TargetNotReady
                | Self::TargetOtherAccount
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
