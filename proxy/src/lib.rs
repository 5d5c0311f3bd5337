//! A reverse proxy that routes by host and path prefix.

mod access;
pub mod admin;
pub mod agent;
pub mod apply;
pub mod cli;
mod client;
pub mod config;
pub mod demo;
pub mod entry;
pub mod explain;
mod forward;
pub mod guard;
mod headers;
mod listing;
pub mod logging;
pub mod network;
mod problem;
pub mod random;
pub mod redirect;
mod request;
pub mod run;
pub mod server;
pub mod snapshot;
pub mod tls;
mod upstream;
