//! One claim, read.

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use fingerpost_authority::Host;
use fingerpost_claims::{Claim, Source};

use super::answer::ClaimBody;
use super::commit::Current;
use crate::condition;
use crate::control::Control;
use crate::dispatch::{AppCall, json, with_headers};
use crate::problem::Problem;
use crate::query::Query;

/// Shows a claim with its map; the `ETag` is what `If-Match` takes.
pub(crate) async fn domain(app: &AppCall, host: &str) -> Result<Response, Problem> {
    let host = AppCall::host(host)?;
    Query::parse(&app.call.parts.uri, &[], &[])?;
    let control = &app.call.control;
    let current = control.current(&host).await?;
    let config;
    let (claim, source) = match app.own(&current) {
        Own::Claim(claim) => (claim, Source::Stored),
        Own::Other => return Err(no_claim()),
        Own::Free => {
            config = control.config_claim(app, &host).ok_or_else(no_claim)?;
            (&config, Source::Config)
        }
    };
    // A tombstone has a version, and what the configuration says has none.
    let version = current.version().filter(|_| source == Source::Stored);
    let tag = version.and_then(condition::field);
    if condition::is_fresh(app.call.headers(), version)? {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(with_headers(response, tag));
    }
    Ok(with_headers(json(StatusCode::OK, &ClaimBody::new(claim, source)), tag))
}

pub(super) fn no_claim() -> Problem {
    Problem::not_found("this app has no claim of this host")
}

/// What an app has of a host.
pub(super) enum Own<'a> {
    /// A stored claim.
    Claim(&'a Claim),
    /// Nothing is stored, or a tombstone.
    Free,
    /// What is stored is somebody else's, or unreadable and so perhaps somebody else's.
    Other,
}

impl AppCall {
    pub(super) fn own<'a>(&self, current: &'a Current) -> Own<'a> {
        match current {
            Current::Absent => Own::Free,
            Current::Claim { claim, .. } if claim.is_deleted() => Own::Free,
            Current::Claim { claim, .. } if self.has(claim) => Own::Claim(claim),
            Current::Claim { .. } | Current::Unreadable { .. } => Own::Other,
        }
    }

    pub(super) fn has(&self, claim: &Claim) -> bool {
        claim.account() == &self.account && claim.app() == &self.app
    }
}

impl Control {
    /// The claim that the configuration gives to this app.
    pub(super) fn config_claim(&self, app: &AppCall, host: &Host) -> Option<Claim> {
        let mut found = None;
        self.view.look(&mut |live| found = live.facts.config_claim(host).cloned());
        found.filter(|claim| app.has(claim) && !claim.is_deleted())
    }
}
