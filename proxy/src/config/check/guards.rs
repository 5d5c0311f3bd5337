//! The guards of routes: each says its own, and what it doesn't say is that of its host's site.

use std::num::NonZeroU32;
use std::sync::Arc;

use fingerpost_authority::HostPattern;
use http::header::{self, HeaderName};

use super::options::{Contradictions, agree};
use super::value;
use crate::config::place::Place;
use crate::config::raw::{
    RawAuth, RawAuthTable, RawBasic, RawForwardAuth, RawGuards, RawInternalOnly, RawRate,
    RawRateLimit,
};
use crate::config::report::Report;
use crate::config::{defaults, duration};
use crate::guard::{
    Auth, Basic, ForwardAuth, Guards, Networks, PasswordHash, PasswordHashError, RateLimit,
};
use crate::headers::Managed;

/// What one place says of guards. `Some(None)` says that there is none, whatever others say.
#[derive(Clone, Debug, Default)]
pub(super) struct Declared {
    internal_only: Option<Said<Option<Arc<Networks>>>>,
    rate_limit: Option<Said<Option<RateLimit>>>,
    auth: Option<Said<Option<Auth>>>,
    /// No guard, but a limit that is inherited like one.
    body_size: Option<Said<u64>>,
}

/// Guards are told apart by their places: how one is written may be a secret.
type Said<T> = super::options::Said<T, ()>;

impl Declared {
    /// Checks the guards that stand at one place of the file.
    pub(super) fn check(place: &Place, raw: &RawGuards, report: &mut Report<'_>) -> Self {
        let at = |key: &str| place.key(key);
        Self {
            internal_only: said(at("internal_only"), raw.internal_only.as_ref(), |place, raw| {
                internal_only(place, raw, report)
            }),
            rate_limit: said(at("rate_limit"), raw.rate_limit.as_ref(), |place, raw| {
                rate_limit(place, raw, report)
            }),
            auth: said(at("auth"), raw.auth.as_ref(), |place, raw| auth(place, raw, report)),
            body_size: said(at("max_body_size"), raw.max_body_size.as_ref(), |_, size| *size),
        }
    }

    /// Takes in what another `[[site]]` says of the same host.
    pub(super) fn merge(
        &mut self,
        host: &HostPattern,
        other: &Self,
        known: &mut Contradictions,
        report: &mut Report<'_>,
    ) {
        agree(&mut self.internal_only, &other.internal_only, known, report, |_, _, cited| {
            otherwise(host, cited)
        });
        agree(&mut self.rate_limit, &other.rate_limit, known, report, |_, _, cited| {
            otherwise(host, cited)
        });
        agree(&mut self.auth, &other.auth, known, report, |_, _, cited| otherwise(host, cited));
        agree(&mut self.body_size, &other.body_size, known, report, |_, _, cited| {
            otherwise(host, cited)
        });
    }

    /// These guards, and in the place of those that are not mentioned the site's.
    pub(super) fn or(&self, site: &Self) -> Self {
        Self {
            internal_only: self.internal_only.clone().or_else(|| site.internal_only.clone()),
            rate_limit: self.rate_limit.clone().or_else(|| site.rate_limit.clone()),
            auth: self.auth.clone().or_else(|| site.auth.clone()),
            body_size: self.body_size.clone().or_else(|| site.body_size.clone()),
        }
    }

    /// Whether there is a guard among them, or would be but for an error.
    pub(super) fn close(&self) -> bool {
        !self.complete().is_empty()
    }

    pub(super) fn body_size(&self) -> Option<u64> {
        self.body_size.as_ref().map(|said| said.value)
    }

    pub(super) fn complete(&self) -> Guards {
        Guards {
            internal_only: self.internal_only.as_ref().and_then(|said| said.value.clone()),
            rate_limit: self.rate_limit.as_ref().and_then(|said| said.value),
            auth: self.auth.as_ref().and_then(|said| said.value.clone()),
        }
    }
}

fn said<R, T>(
    place: Place,
    raw: Option<&R>,
    check: impl FnOnce(&Place, &R) -> T,
) -> Option<Said<T>> {
    let value = check(&place, raw?);
    Some(Said { value, place, written: () })
}

fn otherwise(host: &HostPattern, cited: &str) -> String {
    format!("{cited} says otherwise for the same host {host}")
}

fn internal_only(
    place: &Place,
    raw: &RawInternalOnly,
    report: &mut Report<'_>,
) -> Option<Arc<Networks>> {
    let networks = match raw {
        RawInternalOnly::Flag(false) => return None,
        RawInternalOnly::Flag(true) => Networks::internal(),
        RawInternalOnly::Networks(texts) => {
            if texts.is_empty() {
                let message = "is empty, and would answer nobody: true stands for private networks";
                report.error(place, message);
            }
            let parsed = value::list(place, Some(texts), report, value::network);
            Networks::new(parsed.into_iter().map(|(network, _)| network).collect())
        }
    };
    Some(Arc::new(networks))
}

fn rate_limit(place: &Place, raw: &RawRateLimit, report: &mut Report<'_>) -> Option<RateLimit> {
    let RawRate { requests, per, burst } = match raw {
        RawRateLimit::Flag(false) => return None,
        RawRateLimit::Flag(true) => {
            report.error(place, "say how many: { requests = 100, per = \"1s\" }");
            return None;
        }
        RawRateLimit::Table(rate) => rate,
    };
    let per = value::optional(&place.key("per"), per.as_ref(), report, duration::parse);
    if per.is_some_and(|per| per.is_zero()) {
        report.error(&place.key("per"), "must be longer than nothing");
    }
    let requests = requests.and_then(NonZeroU32::new)?;
    let burst = burst.and_then(NonZeroU32::new).unwrap_or(requests);
    Some(RateLimit::new(requests, per?, burst))
}

fn auth(place: &Place, raw: &RawAuth, report: &mut Report<'_>) -> Option<Auth> {
    let rule = "auth has exactly one of basic and forward";
    match raw {
        RawAuth::Flag(false) => None,
        RawAuth::Flag(true) => {
            report.error(place, format_args!("{rule}, or is false"));
            None
        }
        RawAuth::Table(RawAuthTable { basic: Some(raw), forward: None }) => {
            let basic = basic(&place.key("basic"), raw, report)?;
            Some(Auth::Basic(Arc::new(basic)))
        }
        RawAuth::Table(RawAuthTable { basic: None, forward: Some(raw) }) => {
            let forward = forward(&place.key("forward"), raw, report)?;
            Some(Auth::Forward(Arc::new(forward)))
        }
        RawAuth::Table(_) => {
            if !report.is_broken(place) {
                report.error(place, rule);
            }
            None
        }
    }
}

fn basic(place: &Place, raw: &RawBasic, report: &mut Report<'_>) -> Option<Basic> {
    let realm = raw.realm.as_deref().unwrap_or(defaults::REALM);
    if !realm.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        report.error(&place.key("realm"), "holds what is not printable ASCII");
    }
    let all = place.key("users");
    let written = raw.users.as_ref()?;
    if written.is_empty() {
        report.error(&all, "names nobody: nobody could pass");
    }
    let mut users = Vec::new();
    for (name, text) in written {
        let place = all.key(name);
        if report.is_broken(&place) {
            continue;
        }
        if name.is_empty() || name.contains(':') || name.contains(char::is_control) {
            let message = "a user's name is not empty and holds no colon or control character";
            report.error(&place, message);
        }
        match text.parse::<PasswordHash>() {
            Ok(hash) => users.push((name.as_str().into(), hash)),
            // The text may be a password: it isn't shown.
            Err(error) => {
                let what = match error {
                    PasswordHashError::NoHash => "this is no hash, but perhaps the password itself",
                    PasswordHashError::Weak => "passwords under this kind of hash are guessed fast",
                    _ => "this hash is malformed",
                };
                let how = "write what `fingerpost hash-password` or `htpasswd -nB NAME` prints";
                report.error(&place, format_args!("{what}; {how}"));
            }
        }
    }
    Basic::new(realm, users)
}

fn forward(place: &Place, raw: &RawForwardAuth, report: &mut Report<'_>) -> Option<ForwardAuth> {
    let names = place.key("copy_headers");
    let copied = value::list(&names, raw.copy_headers.as_ref(), report, copied);
    let copied = copied.into_iter().map(|(name, _)| name).collect();
    let default = defaults::AUTH_TIMEOUT;
    let timeout = value::timeout(place, "timeout", raw.timeout.as_ref(), default, report);
    let url = raw.url.as_deref()?;
    match ForwardAuth::new(url, copied, timeout) {
        Ok(auth) => Some(auth),
        Err(error) => {
            report.error(&place.key("url"), format_args!("{url:?}: {error}"));
            None
        }
    }
}

fn copied(text: &str) -> Result<HeaderName, String> {
    let name: HeaderName =
        text.parse().map_err(|_| format!("{text:?} is not the name of a header field"))?;
    if FRAMING.contains(&name) || Managed::of(name.as_str()).is_some() {
        return Err(format!("{text:?} is a field that the proxy sets itself"));
    }
    if name.as_str().contains('_') {
        let dashes = text.replace('_', "-");
        return Err(format!("{text:?} would be taken for {dashes:?}: write that"));
    }
    Ok(name)
}

/// Fields that frame or route a message.
const FRAMING: [HeaderName; 11] = [
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::EXPECT,
    header::HOST,
    header::MAX_FORWARDS,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::VIA,
    HeaderName::from_static("keep-alive"),
];
