//! Users with passwords (RFC 7617).

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use base64ct::{Base64, Encoding};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

use super::gate::Gate;
use super::{PasswordHash, Refusal};

/// A realm and its users.
///
/// Two are equal if they have the same realm, users and hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basic {
    challenge: HeaderValue,
    users: BTreeMap<Box<str>, PasswordHash>,
}

/// What a client says that it is.
struct Credentials {
    user: Box<str>,
    password: Vec<u8>,
}

impl Basic {
    /// Names the users of a realm; `None` if there are none, or the realm is not printable ASCII.
    pub fn new(
        realm: &str,
        users: impl IntoIterator<Item = (Box<str>, PasswordHash)>,
    ) -> Option<Self> {
        let users: BTreeMap<_, _> = users.into_iter().collect();
        if users.is_empty() || !realm.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return None;
        }
        let realm = realm.replace('\\', "\\\\").replace('"', "\\\"");
        let challenge = format!("Basic realm=\"{realm}\", charset=\"UTF-8\"");
        Some(Self { challenge: challenge.try_into().ok()?, users })
    }

    /// Lets a request pass that names a user with the right password.
    ///
    /// A name that nobody has costs as much time as a wrong password: it is checked against the hash of
    /// somebody, always the same for the same name.
    pub(super) async fn ask(
        self: &Arc<Self>,
        headers: &HeaderMap,
        gate: &Gate,
    ) -> Result<(), Box<Refusal>> {
        let stranger = || Refusal::unknown(self.challenge.clone());
        let Credentials { user, password } = credentials(headers).ok_or_else(stranger)?;
        let Some((hash, exists)) = self.hash_of(&user) else { return Err(stranger()) };
        let digest = gate.accepted.digest([user.as_bytes(), hash.as_str().as_bytes(), &password]);
        if gate.accepted.knows(digest) {
            return Ok(());
        }
        let Some(turn) = gate.turn().await else {
            return Err(Refusal::undecided("too many passwords are being checked"));
        };
        let hash = hash.clone();
        let checked = tokio::task::spawn_blocking(move || hash.verify(&password));
        let right = checked.await.unwrap_or(false) && exists;
        drop(turn);
        if !right {
            return Err(stranger());
        }
        gate.accepted.remember(digest);
        Ok(())
    }

    /// The hash to check a user's password against, and whether it is the user's.
    fn hash_of(&self, user: &str) -> Option<(&PasswordHash, bool)> {
        if let Some(hash) = self.users.get(user) {
            return Some((hash, true));
        }
        let position = STRANGERS.with(|hasher| hasher.hash_one(user)) as usize % self.users.len();
        self.users.values().nth(position).map(|hash| (hash, false))
    }
}

thread_local! {
    static STRANGERS: RandomState = RandomState::new();
}

/// What stands in the one `Authorization` field.
fn credentials(headers: &HeaderMap) -> Option<Credentials> {
    let mut fields = headers.get_all(AUTHORIZATION).iter();
    // An application may read another of two.
    let (Some(field), None) = (fields.next(), fields.next()) else { return None };
    let (scheme, token) = field.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = Base64::decode_vec(token.trim_matches(' ')).ok()?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    let (user, password) = decoded.split_at_checked(colon)?;
    Some(Credentials {
        user: str::from_utf8(user).ok()?.into(),
        password: password.get(1..)?.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_stand_in_one_field() {
        for (fields, want) in [
            (&["Basic dXNlcjpwYXNz"][..], Some(("user", "pass"))),
            (&["bASIC  dXNlcjpwYXNz"], Some(("user", "pass"))),
            (&["Basic dXNlcjpwOmE6cw=="], Some(("user", "p:a:s"))),
            (&["Basic Og=="], Some(("", ""))),
            (&[], None),
            (&["Basic dXNlcjpwYXNz", "Basic dXNlcjpwYXNz"], None),
            (&["Basic"], None),
            (&["Basic "], None),
            (&["BasicdXNlcjpwYXNz"], None),
            (&["Bearer dXNlcjpwYXNz"], None),
            (&["Basic dXNlcnBhc3M="], None),
            (&["Basic dXNlcjpwYXNz="], None),
            (&["Basic dXNlcjpwYXNz, Basic x"], None),
            (&["Basic /zpwYXNz"], None),
        ] {
            let mut headers = HeaderMap::new();
            for field in fields {
                headers.append(AUTHORIZATION, field.parse().unwrap());
            }
            let found = credentials(&headers);
            let found = found.map(|it| (it.user, String::from_utf8(it.password).unwrap()));
            let want = want.map(|(user, password)| (user.into(), password.to_owned()));
            assert_eq!(found, want, "{fields:?}");
        }
    }

    #[test]
    fn a_realm_is_quoted() {
        let hash = PasswordHash::make(b"x", b"sixteen bytes...").unwrap();
        let of = |realm: &str| {
            let basic = Basic::new(realm, [("a".into(), hash.clone())])?;
            Some(basic.challenge.to_str().unwrap().to_owned())
        };
        let want = r#"Basic realm="a \"b\" \\", charset="UTF-8""#;
        assert_eq!(of(r#"a "b" \"#).as_deref(), Some(want));
        assert_eq!(of("ä"), None);
        assert_eq!(of("a\nb"), None);
        assert_eq!(Basic::new("a", []), None);
    }
}
