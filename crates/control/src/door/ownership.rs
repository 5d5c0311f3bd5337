//! Stored claims, as new as the store has them.

use std::sync::Arc;

use fingerpost_claims::{ClaimSet, Collection, PageQuery, Wanted};

use crate::auth::Caller;
use crate::control::Control;
use crate::problem::Problem;
use crate::view::Live;
use axum::http::StatusCode;

impl Control {
    /// Shows the claims of the store, with what this box knows besides.
    ///
    /// The box's own claims may be some moments behind the store: what has changed since is read.
    ///
    /// # Complexity
    /// Nothing is copied where the box is not behind.
    pub(super) async fn fresh<T>(
        &self,
        look: impl FnOnce(&Live<'_>, &ClaimSet) -> T,
    ) -> Result<T, Problem> {
        let mut seen = 0;
        self.view.look(&mut |live| seen = live.serial);
        let overlay = match self.store.changed_since(seen).await?.keys {
            None => Overlay::Everything(self.list_claims().await?),
            Some(keys) => {
                let mut changed = Vec::new();
                for (collection, key) in keys {
                    if collection == Collection::Claims {
                        let record = self.store.get(collection, &key).await?;
                        changed.push((key, record.map(|record| record.body)));
                    }
                }
                Overlay::Changed(changed)
            }
        };
        let (mut look, mut answer) = (Some(look), None);
        self.view.look(&mut |live| {
            let Some(look) = look.take() else { return };
            answer = Some(match &overlay {
                Overlay::Everything(claims) => look(live, claims),
                Overlay::Changed(changed) if changed.is_empty() => look(live, live.claims),
                Overlay::Changed(changed) => {
                    let mut claims = live.claims.clone();
                    for (key, body) in changed {
                        claims.set(key, body.as_deref());
                    }
                    look(live, &claims)
                }
            });
        });
        answer.ok_or_else(|| Problem::unavailable("not_ready", "this box has read no claims yet"))
    }

    async fn list_claims(&self) -> Result<ClaimSet, Problem> {
        let (mut claims, mut after) = (ClaimSet::new(), None::<String>);
        loop {
            let query = PageQuery { after: after.as_deref(), ..PageQuery::default() };
            let page = self.store.list(Collection::Claims, query).await?;
            for (key, record) in &page.records {
                claims.set(key, Some(&record.body));
            }
            after = page.next;
            if after.is_none() {
                return Ok(claims);
            }
        }
    }

    /// Fails where an account may not claim this. Who is told why: operators, since it names what others have.
    pub(super) async fn require_ownership(
        &self,
        caller: &Caller,
        wanted: &Wanted<'_>,
    ) -> Result<(), Problem> {
        let checked = self.fresh(|live, claims| live.facts.may_claim(claims, wanted)).await?;
        checked.map_err(|why| {
            let detail = "the account may not claim this: no route of its own has the host, nor does the \
                          operator's may_claim allow it, or somebody else has it";
            let detail = if caller.is_operator() { why.to_string() } else { detail.to_owned() };
            Problem::new(StatusCode::FORBIDDEN, "host_not_owned", detail)
        })
    }
}

enum Overlay {
    Everything(ClaimSet),
    Changed(Vec<(String, Option<Arc<[u8]>>)>),
}
