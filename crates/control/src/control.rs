//! The door as a service.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use fingerpost_claims::ClaimStore;

use crate::dispatch::serve;
use crate::endpoint::{ENDPOINTS, Endpoint};
use crate::problem::Problem;
use crate::query;
use crate::{Ambient, LiveView};

/// What the door works with.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "filled in by whoever serves it")]
pub struct Control {
    /// Where claims, tokens, audit and history are.
    pub store: Arc<dyn ClaimStore>,
    /// What this box knows.
    pub view: Arc<dyn LiveView>,
    /// The time, and chance.
    pub ambient: Arc<dyn Ambient>,
    /// The longest that a client may wait with `Prefer: wait`; one that would wait longer waits this long.
    pub max_wait: Duration,
}

/// Serves the write door and the read API.
///
/// It needs a tokio runtime with time enabled. Other paths, such as that of metrics, can be merged in. Who logs
/// requests asks [`holds_token`](crate::holds_token) first. Time limits for headers and bodies are the server's.
pub fn router(control: Control) -> Router {
    let control = Arc::new(control);
    let mut router = Router::new();
    for endpoint in ENDPOINTS {
        router = router.route(endpoint.path, method(endpoint, &control));
    }
    router
        .method_not_allowed_fallback(async || {
            let status = StatusCode::METHOD_NOT_ALLOWED;
            Problem::new(status, "method_not_allowed", "this path has other methods: see Allow")
        })
        .fallback(async || Problem::not_found("there is nothing at this path"))
        .layer(from_fn(around))
}

fn method(endpoint: &Endpoint, control: &Arc<Control>) -> MethodRouter {
    let (operation, control) = (endpoint.operation, Arc::clone(control));
    let filter = MethodFilter::try_from(endpoint.method.clone());
    // Every method of the table is one of the standard ones.
    on(filter.unwrap_or(MethodFilter::GET), move |request: Request| {
        serve(control, operation, request)
    })
}

/// What every request and answer goes through.
async fn around(request: Request, next: Next) -> Response {
    let mut response = if query::holds_token(request.uri()) {
        let detail = "a token in a URL ends up in logs: send it as Authorization: Bearer, and revoke this one";
        Problem::bad_request("token_in_url", detail).into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
