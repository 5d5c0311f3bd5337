//! The document that describes what is served (OpenAPI 3.1).

use std::sync::LazyLock;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value, json};

use crate::endpoint::{ENDPOINTS, Endpoint};

/// The OpenAPI document, as JSON.
///
/// Paths, methods, parameters and statuses come from the table that the router is made of.
#[must_use]
pub fn document() -> &'static str {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| build().to_string());
    &DOCUMENT
}

pub(crate) fn response() -> Response {
    let mut response = Response::new(Body::from(document()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn build() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in ENDPOINTS {
        let path = paths.entry(endpoint.path).or_insert_with(|| path_item(endpoint.path));
        if let Some(path) = path.as_object_mut() {
            path.insert(endpoint.method.as_str().to_ascii_lowercase(), operation(endpoint));
        }
    }
    let schemas: Value =
        serde_json::from_str(include_str!("openapi/schemas.json")).unwrap_or_default();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Fingerpost control",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": env!("CARGO_PKG_LICENSE") },
            "description": DESCRIPTION,
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn path_item(path: &str) -> Value {
    let names = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let parameter = |name: &str| {
        json!({
            "name": name, "in": "path", "required": true, "schema": { "type": "string" },
        })
    };
    json!({ "parameters": names.map(parameter).collect::<Vec<_>>() })
}

fn operation(endpoint: &Endpoint) -> Value {
    let parameter = |place: &'static str| {
        move |(name, description): &(&str, &str)| {
            json!({
                "name": name, "in": place, "description": description,
                "required": description.ends_with("Required."),
                "schema": { "type": "string" },
            })
        }
    };
    let query = endpoint.query.iter().map(parameter("query"));
    let fields = endpoint.fields.iter().map(parameter("header"));
    let mut responses = Map::new();
    for (status, schema, description) in endpoint.answers {
        let mut answer = Map::from_iter([("description".to_owned(), (*description).into())]);
        if let Some(schema) = schema {
            answer.insert("content".to_owned(), content("application/json", schema));
        }
        responses.insert(status.to_string(), answer.into());
    }
    for status in endpoint.problems {
        let status = StatusCode::from_u16(*status).unwrap_or_default();
        let content = content("application/problem+json", "Problem");
        let answer = json!({ "description": status.canonical_reason(), "content": content });
        responses.insert(status.as_str().to_owned(), answer);
    }
    let mut operation = Map::new();
    let mut set = |key: &str, value: Value| operation.insert(key.to_owned(), value);
    set("operationId", endpoint.name.into());
    set("summary", endpoint.summary.into());
    set("parameters", query.chain(fields).collect());
    set("responses", responses.into());
    if let Some(schema) = endpoint.body {
        let content = content("application/json", schema);
        set("requestBody", json!({ "required": true, "content": content }));
    }
    if !endpoint.operation.is_open() {
        set("security", json!([{ "token": [] }]));
    }
    operation.into()
}

fn content(media_type: &str, schema: &str) -> Value {
    let reference = format!("#/components/schemas/{schema}");
    json!({ media_type: { "schema": { "$ref": reference } } })
}

const DESCRIPTION: &str = "Claims of hostnames, with the maps that say which first path segments another \
    application serves. GET also answers HEAD. Errors are problem documents (RFC 9457) with a stable code.";
