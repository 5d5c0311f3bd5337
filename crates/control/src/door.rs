//! The claims of one app: read, attached, replaced, deleted.

mod answer;
mod attach;
mod commit;
mod delete;
mod domain;
mod domains;
mod ownership;
mod publish;

use axum::response::Response;

use crate::problem::Problem;

pub(crate) use self::answer::source_word;
pub(crate) use self::attach::attach;
pub(crate) use self::delete::delete;
pub(crate) use self::domain::domain;
pub(crate) use self::domains::domains;
pub(crate) use self::publish::publish;

/// Carries a write out to its end, though the client may go: a store without transactions would be left with
/// a claim and without its audit.
async fn carried_out(
    write: impl Future<Output = Result<Response, Problem>> + Send + 'static,
) -> Result<Response, Problem> {
    match tokio::spawn(write).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::error!(%error, "a write ended early");
            Err(Problem::unavailable(
                "outcome_unknown",
                "the write ended early: read the claim to see",
            ))
        }
    }
}
