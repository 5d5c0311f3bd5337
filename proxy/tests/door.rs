//! Flips through the write door, over sockets.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a step that fails ends the test"
)]

#[path = "door/app.rs"]
mod app;
#[path = "door/claims.rs"]
mod claims;
#[path = "door/client.rs"]
mod client;
#[path = "door/files.rs"]
mod files;
#[path = "door/healing.rs"]
mod healing;
#[path = "door/http.rs"]
mod http;
#[path = "door/killed.rs"]
mod killed;
#[path = "door/measure.rs"]
mod measure;
#[path = "door/metrics.rs"]
mod metrics;
#[path = "door/process.rs"]
mod process;
#[path = "door/verbs.rs"]
mod verbs;
#[path = "door/world.rs"]
mod world;
#[path = "door/writers.rs"]
mod writers;
