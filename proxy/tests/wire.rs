//! The proxy over raw sockets: what comes in and what goes out, byte by byte.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail as tests do"
)]

mod wire {
    pub(crate) mod client;
    pub(crate) mod h2_client;
    pub(crate) mod h2_upstream;
    pub(crate) mod proxy;
    pub(crate) mod secure;
    pub(crate) mod upstream;

    mod admission;
    mod announced;
    mod answers;
    mod balance;
    mod bodies;
    mod drain;
    mod failures;
    mod flips;
    mod forwarding;
    mod guarded;
    mod guards;
    mod headers;
    mod health;
    mod http2;
    mod http2_limits;
    mod https_redirect;
    mod identity;
    mod limits;
    mod multiplexed;
    mod pools;
    mod queues;
    mod responses;
    mod restarts;
    mod retries;
    mod tls;
    mod upstream_tls;
    mod websocket;
}
