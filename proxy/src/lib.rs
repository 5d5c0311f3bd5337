//! A reverse proxy that routes by host and path prefix.

mod access;
pub mod cli;
pub mod config;
pub mod entry;
mod forward;
mod headers;
pub mod network;
mod problem;
pub mod redirect;
mod request;
pub mod server;
pub mod snapshot;
mod upstream;
