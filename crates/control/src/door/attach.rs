//! A claim, attached.

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::Response;
use fingerpost_authority::Host;
use fingerpost_claims::{AttachBody, Claim, Reach, Source, Wanted};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use super::answer::ClaimBody;
use super::commit::{Counts, Current, Step};
use crate::body;
use crate::condition;
use crate::dispatch::{AppCall, json, with_headers};
use crate::prefer::Waited;
use crate::preview::preview;
use crate::problem::{Fault, Problem, words};
use crate::query::Query;
use crate::record::Action;

/// Attaches a claim: a new one has no map, but for the one that the configuration has given it until now.
pub(crate) async fn attach(app: AppCall, content: Body) -> Result<Response, Problem> {
    Query::parse(&app.call.parts.uri, &[], &[])?;
    let content = body::read(app.call.headers(), content, LONGEST).await?;
    let wish = AttachBody::parse(&content)?;
    let host = wish.host().map_err(|error| {
        let detail = words(&error);
        let fault = Fault { pointer: "/host".to_owned(), code: "host_invalid", detail };
        Problem::unprocessable("the host is none; nothing was changed", vec![fault])
    })?;
    super::carried_out(async move { attach_host(&app, &host, wish.reach()).await }).await
}

async fn attach_host(app: &AppCall, host: &Host, reach: Reach) -> Result<Response, Problem> {
    let (control, caller) = (&app.call.control, &app.call.caller);
    let wanted = Wanted { host, account: &app.account, reach };
    control.require_ownership(caller, &wanted).await?;
    require_app(app, host)?;
    let config = control.config_claim(app, host);
    let written = control
        .write(caller, Action::Attach, host, |current| {
            plan(app, host, reach, config.as_ref(), current)
        })
        .await?;
    let (claim, is_new) = &written.answer;
    let waited = Waited::none(written.serial);
    #[derive(Serialize)]
    struct Attached<'a> {
        #[serde(flatten)]
        claim: ClaimBody<'a>,
        serial: u64,
        code: Option<&'static str>,
    }
    let code = preview(control, caller, claim).code.map(|code| code.as_str());
    let claim = ClaimBody::new(claim, Source::Stored);
    let document = Attached { claim, serial: waited.serial, code };
    let tag = written.version.as_ref().and_then(condition::field);
    if !is_new {
        return Ok(with_headers(json(StatusCode::OK, &document), tag));
    }
    let location = location(app, host).parse().ok().map(|at| (LOCATION, at));
    Ok(with_headers(json(StatusCode::CREATED, &document), tag.into_iter().chain(location)))
}

/// The claim as it is to be, with whether it is new.
fn plan(
    app: &AppCall,
    host: &Host,
    reach: Reach,
    config: Option<&Claim>,
    current: &Current,
) -> Result<Step<(Claim, bool)>, Problem> {
    let (account, app_name) = (app.account.clone(), app.app.clone());
    let (mut claim, is_new) = match current {
        Current::Unreadable { .. } => return Err(held()),
        Current::Claim { claim, .. } if !claim.is_deleted() => {
            if !app.has(claim) {
                return Err(held());
            }
            (Claim::clone(claim), false)
        }
        // The stored claim takes the place of the configured one, so that it begins with its map.
        Current::Absent if config.is_some() => (
            config
                .cloned()
                .unwrap_or_else(|| Claim::attach(host.clone(), account, app_name, reach)),
            true,
        ),
        Current::Absent => (Claim::attach(host.clone(), account, app_name, reach), true),
        Current::Claim { claim: tombstone, .. } => {
            let claim = tombstone.reattach(account, app_name, reach);
            (with_config_map(claim, config)?, true)
        }
    };
    if !is_new && claim.reach() == reach {
        return Ok(Step::Keep((claim, false)));
    }
    claim.set_reach(reach);
    let entries = claim.entry_count();
    let counts = Counts { before: entries, after: entries };
    Ok(Step::Store(Box::new(claim.clone()), counts, (claim, is_new)))
}

/// A tombstone's sequence is its publisher's: no map can be put under it here.
fn with_config_map(claim: Claim, config: Option<&Claim>) -> Result<Claim, Problem> {
    let Some(config) = config.filter(|config| config.entry_count() > 0) else { return Ok(claim) };
    if claim.sequence().is_none() {
        return Ok(config.clone());
    }
    let detail = "the configuration has a map for this host, and the deleted claim has a sequence: publish \
                  the map, which attaches the claim";
    Err(Problem::conflict("config_map", detail))
}

/// The host's own route belongs to the app, if it has one.
fn require_app(app: &AppCall, host: &Host) -> Result<(), Problem> {
    let mut other = false;
    app.call.control.view.look(&mut |live| {
        let route = live.facts.route(host);
        let config = live.facts.config_claim(host).filter(|claim| !claim.is_deleted());
        other = route.is_some_and(|route| route.app.as_ref() != Some(&app.app))
            || config.is_some_and(|claim| !app.has(claim));
    });
    if other { Err(held()) } else { Ok(()) }
}

fn held() -> Problem {
    Problem::conflict("host_held", "the host is held by another account or another app")
}

fn location(app: &AppCall, host: &Host) -> String {
    let text = |text| utf8_percent_encode(text, SEGMENT);
    let (account, app) = (text(app.account.as_str()), text(app.app.as_str()));
    format!("/api/cli/apps/{account}/{app}/domains/{}", text(host.as_str()))
}

/// What a path segment need not escape (RFC 3986 2.3).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A host of 253 bytes, every character escaped, with room to spare.
const LONGEST: usize = 4096;
