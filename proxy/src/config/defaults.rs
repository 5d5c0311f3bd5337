//! Defaults, written as an operator would write them.
//!
//! The schema shows these texts and the checker parses them, so the two can't drift apart.

pub(crate) const BOX: &str = "local";
pub(crate) const HTTP: &str = "127.0.0.1:8080";
pub(crate) const HTTPS_PORT: u16 = 443;
pub(crate) const SQLITE: &str = "fingerpost.db";
pub(crate) const PATH: &str = "/{*rest}";
pub(crate) const RESPOND_STATUS: u16 = 200;
pub(crate) const CONTENT_TYPE: &str = "text/plain; charset=utf-8";
/// Temporary, and keeps the method: the one redirect that a mistake can be taken back from.
pub(crate) const REDIRECT_STATUS: u16 = 307;
pub(crate) const SLUG: &str = "A-Za-z0-9_-";
pub(crate) const FLIP_DRAIN: &str = "30s";
pub(crate) const CONNECT_TIMEOUT: &str = "5s";
pub(crate) const RESPONSE_TIMEOUT: &str = "60s";
pub(crate) const FLEET_BODY_TIMEOUT: &str = "5m";
/// Less than the 5 s after which Node closes, so that the proxy is the one that closes.
pub(crate) const IDLE_TIMEOUT: &str = "4s";
pub(crate) const MAX_FAILS: u32 = 1;
pub(crate) const FAIL_TIMEOUT: &str = "2s";
pub(crate) const SLOW_START: &str = "0s";
pub(crate) const RETRY_BUDGET: u32 = 20;
pub(crate) const QUEUE: u32 = 128;
pub(crate) const QUEUE_TIMEOUT: &str = "5s";
pub(crate) const HEALTH_INTERVAL: &str = "5s";
pub(crate) const HEALTH_TIMEOUT: &str = "2s";
pub(crate) const HEALTHY: u32 = 2;
pub(crate) const UNHEALTHY: u32 = 3;
pub(crate) const HEADER_READ_TIMEOUT: &str = "30s";
pub(crate) const BODY_TIMEOUT: &str = "60s";
pub(crate) const KEEP_ALIVE_TIMEOUT: &str = "75s";
pub(crate) const WEBSOCKET_TIMEOUT: &str = "1h";
pub(crate) const DRAIN_GRACE: &str = "0s";
pub(crate) const DRAIN_DEADLINE: &str = "30s";
pub(crate) const MAX_HEADER_SIZE: u32 = 64 * 1024;
pub(crate) const UPSTREAM_KEEP_ALIVE: u16 = 256;
pub(crate) const MAX_PATHS_PER_CLAIM: u32 = 10_000;
pub(crate) const MAX_WILDCARDS: u32 = 1_000;
pub(crate) const MAX_CONCURRENT_STREAMS: u32 = 128;
pub(crate) const AUTH_TIMEOUT: &str = "5s";
pub(crate) const REALM: &str = "restricted";
pub(crate) const MAX_CONNECTIONS: u32 = 65_536;
pub(crate) const MAX_HEADERS: u16 = 100;
pub(crate) const MAX_RESETS: u32 = 200;
