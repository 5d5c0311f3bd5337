//! What a route does.

use bytes::Bytes;
use fingerpost_router::PathPattern;
use http::{HeaderName, HeaderValue, StatusCode, header};

use super::value;
use crate::config::defaults;
use crate::config::model::Fleet;
use crate::config::place::Place;
use crate::config::raw::{RawRedirect, RawRedirectTable, RawRespond, RawRoute};
use crate::config::report::Report;
use crate::config::suggest::did_you_mean;
use crate::entry::{Action, FleetId, Redirect, Response};
use crate::redirect::Template;

/// Fields of a response that the proxy sets itself.
const MANAGED: [HeaderName; 8] = [
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::DATE,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::VIA,
];

/// Checks that the route does exactly one thing, and what that is.
pub(super) fn check(
    place: &Place,
    raw: &RawRoute,
    path: Option<&PathPattern>,
    fleets: &[Fleet],
    report: &mut Report<'_>,
) -> Option<Action> {
    let written = [
        ("fleet", raw.fleet.is_some()),
        ("respond", raw.respond.is_some()),
        ("redirect", raw.redirect.is_some()),
    ];
    let has: Vec<_> = written.iter().filter(|(_, is)| *is).map(|(key, _)| *key).collect();
    let rule = "a route has exactly one of fleet, respond and redirect";
    match has.as_slice() {
        // What looks missing may be the thing that was misspelled or had the wrong type.
        [] if report.is_broken(place) => {}
        [] => report.error(place, format_args!("{rule}; this one has none")),
        [_] => {}
        several => {
            report.error(place, format_args!("{rule}; this one has {}", several.join(" and ")))
        }
    }
    let forward = raw.fleet.as_ref().and_then(|name| forward(place, name, fleets, report));
    let respond = raw.respond.as_ref().map(|raw| respond(&place.key("respond"), raw, report));
    let redirect =
        raw.redirect.as_ref().and_then(|raw| redirect(&place.key("redirect"), raw, path, report));
    let actions = [
        forward.map(Action::Forward),
        respond.map(Action::Respond),
        redirect.map(Action::Redirect),
    ];
    actions.into_iter().flatten().next()
}

fn forward(
    place: &Place,
    name: &str,
    fleets: &[Fleet],
    report: &mut Report<'_>,
) -> Option<FleetId> {
    // The fleets are in the order of their names.
    if let Ok(index) = fleets.binary_search_by(|fleet| (*fleet.name).cmp(name)) {
        return Some(FleetId::new(index));
    }
    let names = || fleets.iter().map(|fleet| &*fleet.name);
    let listed = match fleets {
        [] => "there are no fleets".to_owned(),
        _ if fleets.len() > 12 => format!("there are {} fleets", fleets.len()),
        _ => format!("fleets are: {}", names().collect::<Vec<_>>().join(", ")),
    };
    let near = did_you_mean(name, names());
    let message = format!("there is no fleet named {name:?}; {listed}{near}");
    report.error(&place.key("fleet"), message);
    None
}

fn respond(place: &Place, raw: &RawRespond, report: &mut Report<'_>) -> Response {
    let status = status(raw.status, defaults::RESPOND_STATUS);
    let body = raw.body.clone().unwrap_or_default();
    if !body.is_empty() && [204, 205, 304].contains(&status.as_u16()) {
        let message = format!("a response with status {} has no body", status.as_u16());
        report.error(&place.key("body"), message);
    }
    let mut response = Response::new(status, Bytes::from(body));
    let content_type = raw.content_type.as_deref();
    let default = (!response.body.is_empty()).then_some(defaults::CONTENT_TYPE);
    if let Some(text) = content_type.or(default) {
        match HeaderValue::from_str(text) {
            Ok(value) => _ = response.headers.insert(header::CONTENT_TYPE, value),
            Err(_) => report.error(
                &place.key("content_type"),
                format_args!("{text:?} can't be the value of a header field"),
            ),
        }
    }
    let fields = place.key("headers");
    for (name, text) in raw.headers.iter().flatten() {
        let place = fields.key(name);
        let Ok(field) = HeaderName::from_bytes(name.as_bytes()) else {
            report.error(&place, format_args!("{name:?} is not the name of a header field"));
            continue;
        };
        if MANAGED.contains(&field) {
            report.error(&place, "the proxy sets this field itself");
            continue;
        }
        if field == header::CONTENT_TYPE && content_type.is_some() {
            report.error(&place, "content_type says this already");
            continue;
        }
        match HeaderValue::from_str(text) {
            Ok(value) => _ = response.headers.insert(field, value),
            Err(_) => {
                report.error(&place, format_args!("{text:?} can't be the value of a header field"))
            }
        }
    }
    response
}

fn redirect(
    place: &Place,
    raw: &RawRedirect,
    path: Option<&PathPattern>,
    report: &mut Report<'_>,
) -> Option<Redirect> {
    let (to, at, code) = match raw {
        RawRedirect::To(to) => (to, place.clone(), None),
        RawRedirect::Table(RawRedirectTable { to, status }) => {
            (to.as_ref()?, place.key("to"), *status)
        }
    };
    let code = code.unwrap_or(defaults::REDIRECT_STATUS);
    if ![301, 302, 303, 307, 308].contains(&code) {
        let message = format!("{code} is not a redirect; one is 301, 302, 303, 307 or 308");
        report.error(&place.key("status"), message);
    }
    let template = match Template::parse(to) {
        Ok(template) => template,
        Err(error) => {
            report.error(&at, format_args!("{to:?}: {}", value::chain(&error)));
            return None;
        }
    };
    if let Some(path) = path {
        for name in template.params().filter(|name| !has_parameter(path, name)) {
            let message = format!("{{{name}}} is not a parameter of the path {:?}", path.as_str());
            report.error(&at, message);
        }
    }
    let mut redirect = Redirect::new(template);
    redirect.status = status(Some(code), defaults::REDIRECT_STATUS);
    Some(redirect)
}

fn has_parameter(path: &PathPattern, name: &str) -> bool {
    path.as_str().split('/').any(|segment| {
        let inner = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        inner.is_some_and(|inner| inner.strip_prefix('*').unwrap_or(inner) == name)
    })
}

fn status(written: Option<u16>, default: u16) -> StatusCode {
    StatusCode::from_u16(written.unwrap_or(default)).unwrap_or_default()
}
