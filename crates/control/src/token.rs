//! Credentials, of which the store holds hashes.

mod grant;
mod secret;

use fingerpost_claims::{
    Change, ClaimStore, Collection, Commit, Committed, Journal, PageQuery, StoreError,
};

pub use self::grant::{Grant, GrantError};
pub use self::secret::Secret;
pub(crate) use self::secret::is_in;
use crate::Ambient;
use crate::record::{Action, AuditRow};

/// Makes a token, and stores its hash with what it grants.
///
/// The token is shown once: nothing can bring it back. Every box that shares the store knows it at once.
///
/// # Errors
/// [`CreateError`]; there may be a hash of a token that nobody has then.
pub async fn create(
    store: &dyn ClaimStore,
    ambient: &dyn Ambient,
    grant: &Grant,
) -> Result<Created, CreateError> {
    let secret = Secret::new(ambient.random());
    let key = secret.key();
    let id = id_of(&key);
    let body = grant.to_json(ambient);
    let row = AuditRow::of_token(Action::TokenCreate, ambient, &id, grant).to_json();
    let commit = Commit::of(Change::create(Collection::Tokens, &key, body));
    match store.commit(commit.with_row(Journal::Audit, AUDIT_TOPIC, row)).await {
        Ok(Committed::Stored { .. }) => Ok(Created { id, secret }),
        Ok(Committed::Conflict { .. }) => Err(CreateError::Taken),
        // Nobody else can have stored this hash.
        Err(StoreError::Unknown { .. }) if store.get(Collection::Tokens, &key).await?.is_some() => {
            Ok(Created { id, secret })
        }
        Err(error) => Err(error.into()),
    }
}

/// Lists the tokens, in the order of their ids.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub async fn list(store: &dyn ClaimStore) -> Result<Vec<Listed>, StoreError> {
    let (mut listed, mut after) = (Vec::new(), None::<String>);
    loop {
        let query = PageQuery { after: after.as_deref(), ..PageQuery::default() };
        let page = store.list(Collection::Tokens, query).await?;
        listed.extend(page.records.into_iter().map(|(key, record)| {
            let read = Grant::from_json(&record.body);
            let (grant, created) = read.map_or((None, None), |(grant, at)| (Some(grant), at));
            Listed { id: id_of(&key), grant, created }
        }));
        after = page.next;
        if after.is_none() {
            return Ok(listed);
        }
    }
}

/// Removes a token by its id, or by enough of the beginning of it. It is worth nothing from then on.
///
/// # Errors
/// [`RevokeError`]; the token is as it was, unless the store did not say.
pub async fn revoke(
    store: &dyn ClaimStore,
    ambient: &dyn Ambient,
    id: &str,
) -> Result<Listed, RevokeError> {
    // An id is printable, and no prefix of everything.
    if id.len() < MIN_ID {
        return Err(RevokeError::TooShort { least: MIN_ID });
    }
    let query = PageQuery { prefix: id, after: None, limit: 2 };
    let mut records = store.list(Collection::Tokens, query).await?.records.into_iter();
    let (key, record) = records.next().ok_or(RevokeError::NotFound)?;
    if records.next().is_some() {
        return Err(RevokeError::Ambiguous);
    }
    let id = id_of(&key);
    let read = Grant::from_json(&record.body);
    let (grant, created) = read.map_or((None, None), |(grant, at)| (Some(grant), at));
    let mut commit = Commit::of(Change::remove(Collection::Tokens, &key, record.version));
    if let Some(grant) = &grant {
        let row = AuditRow::of_token(Action::TokenRevoke, ambient, &id, grant).to_json();
        commit = commit.with_row(Journal::Audit, AUDIT_TOPIC, row);
    }
    match store.commit(commit).await {
        Ok(Committed::Stored { .. }) => {}
        // Tokens are never changed: somebody else has removed it.
        Ok(Committed::Conflict { .. }) => return Err(RevokeError::NotFound),
        Err(error) => return Err(error.into()),
    }
    Ok(Listed { id, grant, created })
}

/// Finds a token that was sent.
///
/// It is found by its hash, so that comparing in constant time would protect nothing.
pub(crate) async fn find(
    store: &dyn ClaimStore,
    text: &str,
) -> Result<Option<(String, Grant)>, StoreError> {
    let Some(secret) = Secret::parse(text) else { return Ok(None) };
    let key = secret.key();
    let Some(record) = store.get(Collection::Tokens, &key).await? else { return Ok(None) };
    let Some((grant, _)) = Grant::from_json(&record.body) else {
        tracing::warn!(token = id_of(&key), "a stored token can't be read: it grants nothing");
        return Ok(None);
    };
    Ok(Some((id_of(&key), grant)))
}

/// What people call a token: the beginning of its hash, 64 bits of it.
fn id_of(key: &str) -> String {
    key.chars().take(ID).collect()
}

const ID: usize = 16;
const MIN_ID: usize = 4;

/// The topic of audit rows about tokens: no hostname.
const AUDIT_TOPIC: &str = ":tokens";

/// A token that was made.
#[derive(Debug)]
#[non_exhaustive]
pub struct Created {
    /// What people call it.
    pub id: String,
    /// The token itself, to be shown once.
    pub secret: Secret,
}

/// A token as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// What people call it.
    pub id: String,
    /// What it grants; `None` where the record can't be read, and so grants nothing.
    pub grant: Option<Grant>,
    /// When it was made, as RFC 3339 writes it.
    pub created: Option<String>,
}

/// Why no token was made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The store did not take it.
    #[error("the claim store did not take the token")]
    Store(#[from] StoreError),
    /// A token like it exists: random numbers are not random.
    #[error("the same random token was made before: the source of random numbers is broken")]
    Taken,
}

/// Why a token was not removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RevokeError {
    /// More than one token has such an id.
    #[error("more than one token has an id that begins so")]
    Ambiguous,
    /// No token has such an id.
    #[error("no token has an id that begins so")]
    NotFound,
    /// The store did not answer.
    #[error("the claim store did not answer")]
    Store(#[from] StoreError),
    /// So short a beginning names no token.
    #[error("at least {least} characters of an id are needed")]
    TooShort {
        /// How many are needed.
        least: usize,
    },
}
