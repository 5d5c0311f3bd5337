//! From a request to the function that answers it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use fingerpost_authority::Host;
use fingerpost_claims::Name;
use serde::Serialize;

use crate::auth::Caller;
use crate::control::Control;
use crate::endpoint::Operation;
use crate::problem::Problem;
use crate::{door, openapi, query, read};

/// Answers one request.
pub(crate) async fn serve(
    control: Arc<Control>,
    operation: Operation,
    request: Request,
) -> Response {
    let answered = match operation {
        Operation::Health => Ok(json(StatusCode::OK, &Status { status: "ok" })),
        Operation::OpenApi => Ok(openapi::response()),
        Operation::Ready if control.view.is_ready() => {
            Ok(json(StatusCode::OK, &Status { status: "ready" }))
        }
        Operation::Ready => Err(Problem::unavailable("not_ready", "this box serves nothing now")),
        _ => known(control, operation, request).await,
    };
    answered.unwrap_or_else(IntoResponse::into_response)
}

/// Answers one request of somebody with a credential.
async fn known(
    control: Arc<Control>,
    operation: Operation,
    request: Request,
) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let caller = Caller::of(&parts.headers, &*control.store).await?;
    let params = RawPathParams::from_request_parts(&mut parts, &()).await;
    let params = params.map_err(|_| invalid_path("the path is not UTF-8".to_owned()))?;
    let param = |key| {
        let found = params.iter().find(|(name, _)| *name == key);
        found.map(|(_, value)| value.to_owned()).unwrap_or_default()
    };
    let call = Call { control, caller, parts };
    match operation {
        Operation::Audit => read::audit(&call).await,
        Operation::Explain => read::explain(&call),
        Operation::History => read::history(&call).await,
        Operation::Nodes => read::nodes(&call).await,
        Operation::Report => read::report(&call),
        Operation::Routes => read::routes(&call),
        Operation::Snapshot => read::snapshot(&call),
        Operation::Health | Operation::OpenApi | Operation::Ready => {
            Err(Problem::not_found("there is nothing at this path"))
        }
        Operation::Attach
        | Operation::Delete
        | Operation::Domain
        | Operation::Domains
        | Operation::Paths => {
            let app = call.app(&param("account"), &param("app"), operation.is_write())?;
            match operation {
                Operation::Attach => door::attach(app, body).await,
                Operation::Delete => door::delete(app, &param("host")).await,
                Operation::Domain => door::domain(&app, &param("host")).await,
                Operation::Paths => door::publish(app, &param("host"), body).await,
                _ => door::domains(&app).await,
            }
        }
    }
}

/// A request of somebody with a credential.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) control: Arc<Control>,
    pub(crate) caller: Caller,
    pub(crate) parts: Parts,
}

impl Call {
    /// Goes on where the caller may see, or write, what this app has.
    fn app(self, account: &str, app: &str, write: bool) -> Result<AppCall, Problem> {
        let name = |text| {
            Name::parse(text).map_err(|error| invalid_path(format!("{text:?} is no name: {error}")))
        };
        let (account, app) = match (name(account), name(app)) {
            (Ok(account), Ok(app)) => (account, app),
            // What is no name is not the caller's either, and only operators are told more.
            (Err(problem), _) | (_, Err(problem)) => {
                self.caller.require_operator()?;
                return Err(problem);
            }
        };
        let control_plane = write && self.control.view.is_control_plane(&account, &app);
        self.caller.require_app(&account, &app, control_plane)?;
        Ok(AppCall { call: self, account, app })
    }

    pub(crate) const fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }
}

/// A request about what one app has, of somebody who may make it.
#[derive(Debug)]
pub(crate) struct AppCall {
    pub(crate) call: Call,
    pub(crate) account: Name,
    pub(crate) app: Name,
}

impl AppCall {
    /// The hostname of the path. Read late: who may not ask learns nothing of hosts.
    pub(crate) fn host(text: &str) -> Result<Host, Problem> {
        query::host(text)
    }
}

#[derive(Serialize)]
struct Status {
    status: &'static str,
}

fn invalid_path(detail: String) -> Problem {
    Problem::bad_request("path_invalid", detail)
}

/// An answer with a JSON document.
pub(crate) fn json(status: StatusCode, document: &impl Serialize) -> Response {
    let body = serde_json::to_vec(document).unwrap_or_default();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Adds fields to an answer.
pub(crate) fn with_headers(
    mut response: Response,
    headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
) -> Response {
    response.headers_mut().extend(headers);
    response
}
