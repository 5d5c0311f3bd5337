//! A map, replaced.

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use fingerpost_authority::Host;
use fingerpost_claims::{Claim, Limits, PathMap, PathsChange, RawPaths, Wanted};
use fingerpost_path::Prefix;
use serde::{Serialize, Serializer};

use super::commit::{Counts, Current, Step};
use super::domain::{Own, no_claim};
use crate::body;
use crate::condition::{self, IfMatch};
use crate::dispatch::{AppCall, json, with_headers};
use crate::prefer;
use crate::preview::{Refused, Warned, preview};
use crate::problem::Problem;
use crate::query::Query;
use crate::record::Action;

/// Replaces the map of a host, whole.
pub(crate) async fn publish(app: AppCall, host: &str, content: Body) -> Result<Response, Problem> {
    let host = AppCall::host(host)?;
    let query = Query::parse(&app.call.parts.uri, &["dry_run", "max_removed"], &[])?;
    let (dry_run, max_removed) = (query.flag("dry_run")?, query.number("max_removed")?);
    let if_match = IfMatch::of(app.call.headers())?;
    let mut limits = Limits::default();
    app.call.control.view.look(&mut |live| limits = *live.facts.limits());
    let content = body::read(app.call.headers(), content, limits.max_body()).await?;
    let raw = RawPaths::parse(&content, &limits)?;
    let (paths, sequence) = (raw.check(&host, &limits)?, raw.sequence());
    let wish = Wish { paths, sequence, limits, if_match, dry_run, max_removed };
    super::carried_out(async move { publish_map(&app, &host, &wish).await }).await
}

/// What a publisher wants.
struct Wish {
    paths: PathMap,
    sequence: Option<u64>,
    limits: Limits,
    if_match: IfMatch,
    dry_run: bool,
    max_removed: Option<u64>,
}

async fn publish_map(app: &AppCall, host: &Host, wish: &Wish) -> Result<Response, Problem> {
    let (control, caller) = (&app.call.control, &app.call.caller);
    let config = control.config_claim(app, host);
    if let Some(config) = &config {
        // The stored claim takes the place of the configured one: it must be able to stand.
        let current = control.current(host).await?;
        if matches!(app.own(&current), Own::Free) {
            control.require_ownership(caller, &Wanted::of(config)).await?;
        }
    }
    let plan = |current: &Current| wish.plan(app, config.as_ref(), current);
    let written = control.write(caller, Action::Paths, host, plan).await?;
    let (claim, change) = &written.answer;
    let waited = if wish.dry_run {
        prefer::Waited::none(written.serial)
    } else {
        prefer::waited(control, app.call.headers(), written.serial).await
    };
    let preview = preview(control, caller, claim);
    let document = Published {
        host: host.as_str(),
        serial: waited.serial,
        dry_run: wish.dry_run,
        changed: !change.is_noop(),
        before: change.before + change.cleared,
        after: change.after,
        added: &change.added,
        moved: &change.moved,
        removed: &change.removed,
        sequence: claim.sequence(),
        code: preview.code.map(|code| code.as_str()),
        refused: &preview.refused,
        warnings: &preview.warnings,
        lagging: waited.lagging.as_deref(),
    };
    let status = if waited.is_applied() { StatusCode::OK } else { StatusCode::ACCEPTED };
    let tag = written.version.as_ref().and_then(condition::field);
    Ok(with_headers(json(status, &document), tag.into_iter().chain(waited.headers())))
}

impl Wish {
    fn plan(
        &self,
        app: &AppCall,
        config: Option<&Claim>,
        current: &Current,
    ) -> Result<Step<(Claim, PathsChange)>, Problem> {
        let stored = app.own(current);
        let mut claim = match (&stored, config) {
            (Own::Claim(claim), _) => (*claim).clone(),
            (Own::Free, Some(config)) => match current {
                Current::Claim { claim: tombstone, .. } => {
                    tombstone.reattach(app.account.clone(), app.app.clone(), config.reach())
                }
                _ => Claim::attach(
                    config.host().clone(),
                    app.account.clone(),
                    app.app.clone(),
                    config.reach(),
                ),
            },
            _ => return Err(no_claim()),
        };
        let is_stored = matches!(stored, Own::Claim(_));
        self.if_match.check(current.version().filter(|_| is_stored))?;
        let mut change = claim.set_paths(self.paths.clone(), self.sequence, &self.limits)?;
        if let (false, Some(config)) = (is_stored, config) {
            let (advanced, cleared) = (change.advanced, config.refused().len());
            change = PathsChange::between(config.paths(), &self.paths);
            (change.advanced, change.cleared) = (advanced, cleared);
        }
        let removed = change.removed.len() + change.cleared;
        if self.max_removed.is_some_and(|most| u64::try_from(removed).is_ok_and(|n| n > most)) {
            let detail = format!("{removed} entries would go; nothing was changed");
            let problem = Problem::conflict("too_many_removed", detail).with("removed", removed);
            let problem = problem.with("max_removed", self.max_removed);
            return Err(problem.with_headers(current.version().and_then(condition::field)));
        }
        if self.dry_run || change.is_noop() {
            return Ok(Step::Keep((claim, change)));
        }
        let counts = Counts { before: change.before + change.cleared, after: change.after };
        Ok(Step::Store(Box::new(claim.clone()), counts, (claim, change)))
    }
}

#[derive(Serialize)]
struct Published<'a> {
    host: &'a str,
    serial: u64,
    dry_run: bool,
    changed: bool,
    before: usize,
    after: usize,
    #[serde(serialize_with = "texts")]
    added: &'a [Prefix],
    #[serde(serialize_with = "texts")]
    moved: &'a [Prefix],
    #[serde(serialize_with = "texts")]
    removed: &'a [Prefix],
    sequence: Option<u64>,
    /// Why the claim as a whole has no effect.
    code: Option<&'static str>,
    /// The entries that are not routed.
    refused: &'a [Refused],
    warnings: &'a [Warned],
    #[serde(skip_serializing_if = "Option::is_none")]
    lagging: Option<&'a [String]>,
}

fn texts<S: Serializer>(prefixes: &[Prefix], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(prefixes.iter().map(Prefix::as_str))
}
