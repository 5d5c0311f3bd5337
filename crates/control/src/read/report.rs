//! What the last pass says of every claim.

use axum::http::StatusCode;
use axum::response::Response;
use fingerpost_authority::Host;
use fingerpost_claims::{ClaimReport, EntryReport, Report, Verdict, Warning};
use serde::Serialize;

use crate::auth::Caller;
use crate::dispatch::{Call, json};
use crate::door::source_word;
use crate::preview::Warned;
use crate::problem::Problem;
use crate::query::Query;
use crate::view::Live;

/// Shows every claim that the caller may see, and each entry that is not routed with its code.
pub(crate) fn report(call: &Call) -> Result<Response, Problem> {
    let query = Query::parse(&call.parts.uri, &["host"], &[])?;
    let host = query.host("host")?;
    let mut answer = None;
    call.control.view.look(&mut |live| {
        answer = Some(json(StatusCode::OK, &document(live, &call.caller, host.as_ref())));
    });
    answer.ok_or_else(|| Problem::unavailable("not_ready", "this box has read no claims yet"))
}

fn document(live: &Live<'_>, caller: &Caller, only: Option<&Host>) -> Document {
    let of_account;
    let report = match caller.grant.account() {
        None => live.report,
        Some(account) => {
            of_account = live.report.view_for(account);
            &of_account
        }
    };
    let wanted = |host: &Host| only.is_none_or(|only| only == host);
    let claims = report.claims().filter(|claim| {
        wanted(&claim.host) && caller.sees(claim.account.as_ref(), claim.app.as_ref())
    });
    let claims: Vec<_> =
        claims.map(|claim| ClaimDocument::new(claim, live, report, caller)).collect();
    let strays = if caller.is_operator() && only.is_none() {
        report.strays().map(str::to_owned).collect()
    } else {
        Vec::new()
    };
    Document { serial: live.serial, claims, strays }
}

#[derive(Serialize)]
struct Document {
    serial: u64,
    claims: Vec<ClaimDocument>,
    /// Keys of the store that are no hosts.
    strays: Vec<String>,
}

#[derive(Serialize)]
struct ClaimDocument {
    host: String,
    source: &'static str,
    account: Option<String>,
    app: Option<String>,
    /// `standing`, `replaced`, `refused`.
    verdict: &'static str,
    code: Option<&'static str>,
    /// For operators.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// Why `*.host` has no effect, though it is wanted.
    wildcard: Option<&'static str>,
    routed: usize,
    /// The entries that are not routed.
    refused: Vec<Entry>,
    warnings: Vec<Warned>,
}

impl ClaimDocument {
    fn new(claim: &ClaimReport, live: &Live<'_>, report: &Report, caller: &Caller) -> Self {
        let (verdict, detail) = match &claim.verdict {
            Verdict::Refused { detail, .. } => ("refused", detail.as_ref()),
            Verdict::Replaced => ("replaced", None),
            Verdict::Standing => ("standing", None),
        };
        let over = || {
            report
                .wildcards_over_limit()
                .any(|host| *host == claim.host)
                .then_some(fingerpost_claims::Code::OverLimit)
        };
        let around = (caller.is_operator() && matches!(claim.verdict, Verdict::Standing))
            .then(|| Warning::of_fleets(live.facts, live.claims, &claim.host));
        let warnings = claim.warnings.iter().chain(around.as_ref().and_then(Option::as_ref));
        Self {
            host: claim.host.to_string(),
            source: source_word(claim.source),
            account: claim.account.as_ref().map(ToString::to_string),
            app: claim.app.as_ref().map(ToString::to_string),
            verdict,
            code: claim.verdict.code().map(|code| code.as_str()),
            detail: detail.filter(|_| caller.is_operator()).map(ToString::to_string),
            wildcard: claim.wildcard.or_else(over).map(|code| code.as_str()),
            routed: claim.routed,
            refused: claim.entries.iter().map(Entry::new).collect(),
            warnings: warnings.map(Warned::new).collect(),
        }
    }
}

#[derive(Serialize)]
struct Entry {
    prefix: String,
    target: Option<String>,
    code: &'static str,
    /// Whether its requests get 503 instead of the origin.
    held: bool,
}

impl Entry {
    fn new(entry: &EntryReport) -> Self {
        Self {
            prefix: entry.prefix.to_string(),
            target: entry.target.as_deref().map(str::to_owned),
            code: entry.code.as_str(),
            held: entry.held,
        }
    }
}
