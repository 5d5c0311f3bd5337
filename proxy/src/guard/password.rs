//! A password as it may be written down: its hash.

use std::fmt;
use std::str::FromStr;

use argon2::password_hash::phc;
use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use thiserror::Error;

/// The hash of a password, made by Argon2 (`$argon2id$...`) or bcrypt (`$2y$...`).
///
/// It is not shown in logs: whoever has it can try passwords at leisure.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash {
    text: Box<str>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Argon2,
    Bcrypt,
}

/// Why a text is no hash of a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PasswordHashError {
    /// It doesn't begin as a hash does.
    #[error("not a hash, but perhaps the password itself")]
    NoHash,
    /// It is made in a way that is too quick to be guessed.
    #[error("a kind of hash that is guessed too fast")]
    Weak,
    /// It begins as a hash does, and is malformed.
    #[error("a malformed hash")]
    Malformed,
}

impl PasswordHash {
    /// Hashes a password with Argon2id, as OWASP recommends it (19 MiB, 2 passes).
    ///
    /// # Errors
    ///
    /// [`PasswordHashError::Malformed`] for a password of more than 4 GiB.
    pub fn make(password: &[u8], salt: &[u8; 16]) -> Result<Self, PasswordHashError> {
        let made: phc::PasswordHash = Argon2::default()
            .hash_password_with_salt(password, salt)
            .map_err(|_| PasswordHashError::Malformed)?;
        made.to_string().parse()
    }

    /// The hash as it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is the hash of `password`. Takes as long as whoever made it chose, and that is long.
    pub(super) fn verify(&self, password: &[u8]) -> bool {
        match self.kind {
            Kind::Argon2 => phc::PasswordHash::new(&self.text)
                .is_ok_and(|hash| Argon2::default().verify_password(password, &hash).is_ok()),
            Kind::Bcrypt => bcrypt::verify(password, &self.text).unwrap_or(false),
        }
    }
}

impl FromStr for PasswordHash {
    type Err = PasswordHashError;

    fn from_str(text: &str) -> Result<Self, PasswordHashError> {
        let is = |beginnings: &[&str]| beginnings.iter().any(|begin| text.starts_with(begin));
        let kind = if is(&["$argon2id$", "$argon2i$", "$argon2d$"]) {
            let hash = phc::PasswordHash::new(text).map_err(|_| PasswordHashError::Malformed)?;
            argon2::Params::try_from(&hash).map_err(|_| PasswordHashError::Malformed)?;
            if hash.hash.is_none() || hash.salt.is_none() {
                return Err(PasswordHashError::Malformed);
            }
            Kind::Argon2
        } else if is(&["$2a$", "$2b$", "$2x$", "$2y$"]) {
            if !is_bcrypt(text) {
                return Err(PasswordHashError::Malformed);
            }
            Kind::Bcrypt
        } else if is(&["$apr1$", "$1$", "{SHA}", "$5$", "$6$"]) {
            return Err(PasswordHashError::Weak);
        } else {
            return Err(PasswordHashError::NoHash);
        };
        Ok(Self { text: text.into(), kind })
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(..)")
    }
}

/// Two digits of cost, 22 characters of salt, 31 of hash: the crate looks at them only when a password comes.
fn is_bcrypt(text: &str) -> bool {
    let after = text.get(4..).and_then(|rest| rest.split_once('$'));
    let Some((cost, rest)) = after else { return false };
    let digits = cost.len() == 2 && cost.bytes().all(|byte| byte.is_ascii_digit());
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/');
    digits
        && cost.parse().is_ok_and(|cost: u8| (4..=31).contains(&cost))
        && rest.len() == 53
        && rest.bytes().all(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_told_from_passwords() {
        let bcrypt = "$2y$04$DgAUeGo.7bEmjfhdXnrKCOVvWEDxxCkOgMYmMXMJ1WM6KOmgzlUXu";
        for (text, want) in [
            (bcrypt, None),
            ("hunter2", Some(PasswordHashError::NoHash)),
            ("", Some(PasswordHashError::NoHash)),
            ("$2y$04$short", Some(PasswordHashError::Malformed)),
            (
                "$2y$99$DgAUeGo.7bEmjfhdXnrKCOVvWEDxxCkOgMYmMXMJ1WM6KOmgzlUXu",
                Some(PasswordHashError::Malformed),
            ),
            ("$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ", Some(PasswordHashError::Malformed)),
            ("$argon2id$nonsense", Some(PasswordHashError::Malformed)),
            ("$apr1$abc$def", Some(PasswordHashError::Weak)),
            ("{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk=", Some(PasswordHashError::Weak)),
        ] {
            assert_eq!(text.parse::<PasswordHash>().err(), want, "{text}");
        }
    }

    #[test]
    fn a_hash_is_that_of_its_password_only() {
        let hash = PasswordHash::make(b"hunter2", b"sixteen bytes...").unwrap();
        assert!(hash.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.as_str());
        assert!(hash.verify(b"hunter2"));
        assert!(!hash.verify(b"hunter3") && !hash.verify(b""));
        assert!(!format!("{hash:?}").contains("argon2"));
    }
}
