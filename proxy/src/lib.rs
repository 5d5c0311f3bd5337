//! A reverse proxy that routes by host and path prefix.

mod access;
pub mod apply;
pub mod cli;
pub mod config;
pub mod demo;
pub mod entry;
pub mod explain;
mod forward;
mod headers;
pub mod logging;
pub mod network;
mod problem;
pub mod redirect;
mod request;
pub mod run;
pub mod server;
pub mod snapshot;
mod upstream;
