//! Stand-ins until the authority and router crates are merged.
#![allow(missing_docs, missing_debug_implementations, clippy::all, reason = "temporary")]
use std::sync::{Arc, Mutex};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host(String);
impl Host {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
pub enum Selected {
    Host(Host),
    NoHost,
    Asterisk,
}
#[derive(Clone, Copy, Debug)]
pub struct Rejected {
    status: u16,
    close: bool,
    reason: &'static str,
}
impl Rejected {
    pub fn status(&self) -> u16 {
        self.status
    }
    pub fn close(&self) -> bool {
        self.close
    }
    pub fn reason(&self) -> &'static str {
        self.reason
    }
}
pub fn select(parts: &http::request::Parts) -> Result<Selected, Rejected> {
    let bad = |reason| Rejected { status: 400, close: true, reason };
    if parts.method == http::Method::CONNECT || parts.method == http::Method::TRACE {
        return Err(Rejected { status: 405, close: false, reason: "method not allowed" });
    }
    let te: Vec<_> = parts.headers.get_all(http::header::TRANSFER_ENCODING).iter().collect();
    match te.as_slice() {
        [] => (),
        [one] if one.as_bytes().eq_ignore_ascii_case(b"chunked") => (),
        [one] if one.to_str().is_ok_and(|v| v.contains("chunked")) => {
            return Err(bad("transfer-encoding is not exactly chunked"));
        }
        [_] => return Err(Rejected { status: 501, close: true, reason: "unknown coding" }),
        _ => return Err(bad("transfer-encoding is not exactly chunked")),
    }
    if parts.uri.scheme().is_none() && parts.uri.authority().is_some() {
        return Err(bad("authority-form"));
    }
    let hosts: Vec<_> = parts.headers.get_all(http::header::HOST).iter().collect();
    let host = match hosts.as_slice() {
        [] if parts.version == http::Version::HTTP_10 => None,
        [] => return Err(bad("no host")),
        [one] => Some(one.to_str().map_err(|_| bad("invalid host"))?),
        _ => return Err(bad("two hosts")),
    };
    if parts.uri.path() == "*" {
        return if parts.method == http::Method::OPTIONS {
            Ok(Selected::Asterisk)
        } else {
            Err(bad("asterisk"))
        };
    }
    let host = parts.uri.authority().map(|a| a.as_str()).or(host);
    let Some(host) = host else { return Ok(Selected::NoHost) };
    if host.is_empty() || host.contains(['@', ',', ' ']) {
        return Err(bad("invalid host"));
    }
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).trim_end_matches('.');
    Ok(Selected::Host(Host(name.to_ascii_lowercase())))
}

#[derive(Debug)]
pub struct Router<T> {
    pub routes: Vec<(Option<String>, String, T)>,
}
pub struct Lookup<'a> {
    pub host: Option<&'a Host>,
    pub path: &'a [u8],
    pub query: Option<&'a [u8]>,
}
pub struct Match<'a, T>(&'a T, &'a str, bool);
impl<'a, T> Match<'a, T> {
    pub fn value(&self) -> &'a T {
        self.0
    }
    pub fn param(&self, _name: &str) -> Option<&[u8]> {
        Some(self.1.as_bytes())
    }
    pub fn mapped(&self) -> bool {
        self.2
    }
}
impl<T> Router<T> {
    pub fn lookup<'a>(&'a self, lookup: &Lookup<'a>) -> Result<Option<Match<'a, T>>, Rejected> {
        let path = std::str::from_utf8(lookup.path).unwrap_or("");
        Ok(self
            .routes
            .iter()
            .filter(|(host, prefix, _)| {
                host.as_deref().is_none_or(|h| Some(h) == lookup.host.map(Host::as_str))
                    && path.starts_with(prefix.as_str())
            })
            .max_by_key(|(host, prefix, _)| (host.is_some(), prefix.len()))
            .map(|(host, prefix, value)| {
                Match(value, &path[prefix.len()..], host.as_deref() == Some("mapped.example"))
            }))
    }
}

#[derive(Debug)]
pub struct Handle<S>(Arc<Mutex<Arc<S>>>);
#[derive(Debug)]
pub struct Reader<S>(Arc<Mutex<Arc<S>>>, Arc<S>);
impl<S> Handle<S> {
    pub fn new(snapshot: S) -> Self {
        Self(Arc::new(Mutex::new(Arc::new(snapshot))))
    }
    pub fn load_full(&self) -> Arc<S> {
        self.0.lock().expect("x").clone()
    }
    pub fn swap(&self, snapshot: S) -> Arc<S> {
        std::mem::replace(&mut *self.0.lock().expect("x"), Arc::new(snapshot))
    }
    pub fn reader(&self) -> Reader<S> {
        Reader(Arc::clone(&self.0), self.load_full())
    }
}
impl<S> Reader<S> {
    pub fn current(&mut self) -> &Arc<S> {
        self.1 = self.0.lock().expect("x").clone();
        &self.1
    }
}
