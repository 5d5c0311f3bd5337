//! What is served: one table for the router and for the document that describes it.

use axum::http::Method;

/// What a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Attach,
    Audit,
    Delete,
    Domain,
    Domains,
    Explain,
    Health,
    History,
    Nodes,
    OpenApi,
    Paths,
    Ready,
    Report,
    Routes,
    Snapshot,
}

impl Operation {
    /// Whether it changes what an app has.
    pub(crate) const fn is_write(self) -> bool {
        matches!(self, Self::Attach | Self::Delete | Self::Paths)
    }

    /// Whether anybody may ask.
    pub(crate) const fn is_open(self) -> bool {
        matches!(self, Self::Health | Self::OpenApi | Self::Ready)
    }
}

/// One method of one path.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) operation: Operation,
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    /// Query parameters, each with a description.
    pub(crate) query: &'static [(&'static str, &'static str)],
    /// Request fields, each with a description.
    pub(crate) fields: &'static [(&'static str, &'static str)],
    /// The schema of the request's body.
    pub(crate) body: Option<&'static str>,
    /// Answers that are no problems: status, schema, description.
    pub(crate) answers: &'static [(u16, Option<&'static str>, &'static str)],
    /// Statuses of problems.
    pub(crate) problems: &'static [u16],
}

const APP: &str = "/api/cli/apps/{account}/{app}/domains";
const HOST: &str = "/api/cli/apps/{account}/{app}/domains/{host}";
const PATHS: &str = "/api/cli/apps/{account}/{app}/domains/{host}/paths";
const IF_MATCH: (&str, &str) = ("If-Match", "The ETag of the claim that is to be changed, or *.");
const WAIT: (&str, &str) = (
    "Prefer",
    "wait=N: answer when every registered box routes new requests by the change, or after N seconds.",
);
const ONLY_HOST: (&str, &str) = ("host", "Only this host.");

const NEW: Endpoint = Endpoint {
    method: Method::GET,
    path: "",
    operation: Operation::Health,
    name: "",
    summary: "",
    query: &[],
    fields: &[],
    body: None,
    answers: &[],
    problems: &[],
};

/// Everything that is served, in the order of the document.
pub(crate) static ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: APP,
        operation: Operation::Domains,
        name: "listDomains",
        summary: "The claims of an app, without their maps.",
        answers: &[(200, Some("Domains"), "The claims in the order of their hosts.")],
        problems: &[400, 401, 403, 503],
        ..NEW
    },
    Endpoint {
        method: Method::POST,
        path: APP,
        operation: Operation::Attach,
        name: "attachDomain",
        summary: "Attaches a claim, or changes what it covers besides its host. The map stays as it was.",
        body: Some("Attach"),
        answers: &[
            (200, Some("Attached"), "The claim was there."),
            (201, Some("Attached"), "The claim is new."),
        ],
        problems: &[400, 401, 403, 409, 413, 415, 422, 503],
        ..NEW
    },
    Endpoint {
        path: HOST,
        operation: Operation::Domain,
        name: "readDomain",
        summary: "A claim with its map, and the ETag that If-Match takes.",
        fields: &[("If-None-Match", "The ETag of the claim that the client has, or *.")],
        answers: &[(200, Some("Claim"), "The claim."), (304, None, "The client has it.")],
        problems: &[400, 401, 403, 404, 503],
        ..NEW
    },
    Endpoint {
        method: Method::DELETE,
        path: HOST,
        operation: Operation::Delete,
        name: "deleteDomain",
        summary: "Deletes a claim. One with a map needs If-Match.",
        fields: &[IF_MATCH, WAIT],
        answers: &[
            (
                202,
                Some("Deleted"),
                "It is deleted; the boxes that are listed do not route by it yet.",
            ),
            (204, None, "It is deleted."),
        ],
        problems: &[400, 401, 403, 404, 412, 428, 503],
        ..NEW
    },
    Endpoint {
        method: Method::PUT,
        path: PATHS,
        operation: Operation::Paths,
        name: "replacePaths",
        summary: "Replaces the map of a claim, whole.",
        query: &[
            (
                "dry_run",
                "true: says what would change and what would not be routed, and writes nothing.",
            ),
            ("max_removed", "409 when more entries than this would go."),
        ],
        fields: &[IF_MATCH, WAIT],
        body: Some("Paths"),
        answers: &[
            (200, Some("Published"), "The map is this one; with wait, every box routes by it."),
            (202, Some("Published"), "The map is this one; the boxes that lag are listed."),
        ],
        problems: &[400, 401, 403, 404, 409, 412, 413, 415, 422, 503],
    },
    Endpoint {
        path: "/api/snapshot",
        operation: Operation::Snapshot,
        name: "readSnapshot",
        summary: "What the snapshot in use holds. For operators.",
        answers: &[(200, Some("Snapshot"), "The snapshot.")],
        problems: &[400, 401, 403, 503],
        ..NEW
    },
    Endpoint {
        path: "/api/report",
        operation: Operation::Report,
        name: "readReport",
        summary: "Every claim, and every entry that is not routed with the reason.",
        query: &[ONLY_HOST],
        answers: &[(200, Some("Report"), "What the last pass says of the caller's claims.")],
        problems: &[400, 401, 503],
        ..NEW
    },
    Endpoint {
        path: "/api/audit",
        operation: Operation::Audit,
        name: "readAudit",
        summary: "Who did what, the newest first.",
        query: &[
            ("before", "Only rows older than the one of this number."),
            ONLY_HOST,
            ("limit", "The most rows of the answer: 100, and no more than 1000."),
        ],
        answers: &[(200, Some("Audit"), "The rows of the caller's account.")],
        problems: &[400, 401, 503],
        ..NEW
    },
    Endpoint {
        path: "/api/history",
        operation: Operation::History,
        name: "readHistory",
        summary: "The last 50 changes of a host's map; with number, the whole map after one of them.",
        query: &[
            ("host", "The host. Required."),
            ("number", "The number of a row: answers with the map as it was after it."),
        ],
        answers: &[(200, Some("History"), "The rows, or the map.")],
        problems: &[400, 401, 404, 503],
        ..NEW
    },
    Endpoint {
        path: "/api/explain",
        operation: Operation::Explain,
        name: "explain",
        summary: "Which route a request takes, and why.",
        query: &[
            ("authority", "The :authority of HTTP/2."),
            ("host", "The Host field; may be repeated."),
            ("host_hex", "The same as hexadecimal bytes."),
            ("id", "Comes back in the answer."),
            ("method", "The method: GET."),
            ("target", "The request-target, as it is sent."),
            ("target_hex", "The same as hexadecimal bytes."),
            ("tls_names", "A name of the connection's certificate; may be repeated."),
            ("version", "1.0, 1.1 or 2: 1.1."),
        ],
        answers: &[(200, Some("Explanation"), "What explain --jsonl answers.")],
        problems: &[400, 401, 403, 503],
        ..NEW
    },
    Endpoint {
        path: "/api/nodes",
        operation: Operation::Nodes,
        name: "readNodes",
        summary: "Every registered box with the serial that it has applied. For operators.",
        answers: &[(200, Some("Nodes"), "The boxes.")],
        problems: &[400, 401, 403, 503],
        ..NEW
    },
    Endpoint {
        path: "/api/routes",
        operation: Operation::Routes,
        name: "readRoutes",
        summary: "What each host serves in the snapshot in use. For operators.",
        answers: &[(200, Some("Document"), "What routes --json prints.")],
        problems: &[400, 401, 403, 503],
        ..NEW
    },
    Endpoint {
        path: "/api/openapi.json",
        operation: Operation::OpenApi,
        name: "readOpenapi",
        summary: "This document.",
        answers: &[(200, Some("Document"), "This document.")],
        problems: &[400],
        ..NEW
    },
    Endpoint {
        path: "/healthz",
        operation: Operation::Health,
        name: "readHealth",
        summary: "Whether the process answers.",
        answers: &[(200, Some("Status"), "It does.")],
        problems: &[400],
        ..NEW
    },
    Endpoint {
        path: "/readyz",
        operation: Operation::Ready,
        name: "readReady",
        summary: "Whether requests are served: a snapshot is loaded, and the box is not about to stop.",
        answers: &[(200, Some("Status"), "They are.")],
        problems: &[400, 503],
        ..NEW
    },
];
