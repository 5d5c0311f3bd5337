//! The claims of an app, listed.

use axum::http::StatusCode;
use axum::response::Response;
use fingerpost_claims::{Source, Verdict};
use serde::Serialize;

use super::answer::ClaimLine;
use crate::dispatch::{AppCall, json};
use crate::problem::Problem;
use crate::query::Query;

/// Lists the claims of an app in the order of their hosts, without their maps.
pub(crate) async fn domains(app: &AppCall) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Listed {
        domains: Vec<ClaimLine>,
    }
    Query::parse(&app.call.parts.uri, &[], &[])?;
    let mut domains = app
        .call
        .control
        .fresh(|live, claims| {
            let stored = claims.hosts().filter_map(|host| claims.live(host));
            let own = stored.filter(|claim| app.has(claim));
            let mut lines: Vec<_> =
                own.map(|claim| ClaimLine::new(claim, Source::Stored)).collect();
            let config = live.report.claims().filter(|claim| {
                claim.source == Source::Config && claim.verdict != Verdict::Replaced
            });
            let config = config.filter_map(|claim| live.facts.config_claim(&claim.host));
            let standing = |claim: &&fingerpost_claims::Claim| {
                app.has(claim) && claims.live(claim.host()).is_none_or(|stored| !app.has(stored))
            };
            lines
                .extend(config.filter(standing).map(|claim| ClaimLine::new(claim, Source::Config)));
            lines
        })
        .await?;
    domains.sort_by(|a, b| a.host.cmp(&b.host));
    Ok(json(StatusCode::OK, &Listed { domains }))
}
