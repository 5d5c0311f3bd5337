//! `hash-password`: what stands in a configuration in a password's place.

use std::io::Read as _;

use super::output::Output;
use crate::guard::PasswordHash;
use crate::random;

/// Reads up to the end, so that a password may come from a pipe; one line end behind it is not part of it.
pub(super) fn hash_password() -> Output {
    match hash() {
        Ok(hash) => Output::new(format!("{}\n", hash.as_str())),
        Err(error) => Output::failure(format!("fingerpost: hash-password: {error}\n")),
    }
}

fn hash() -> Result<PasswordHash, String> {
    let mut password = String::new();
    let read = std::io::stdin().lock().read_to_string(&mut password);
    read.map_err(|error| error.to_string())?;
    let password = password.strip_suffix('\n').unwrap_or(&password);
    let password = password.strip_suffix('\r').unwrap_or(password);
    if password.is_empty() {
        return Err("there is no password on standard input".to_owned());
    }
    let salt = random::bytes().map_err(|error| error.to_string())?;
    PasswordHash::make(password.as_bytes(), &salt).map_err(|error| error.to_string())
}
