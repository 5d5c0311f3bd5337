//! A configuration that has passed every check.
//!
//! Everything here is parsed: hosts, patterns, prefixes, durations and networks are values of
//! their own types, and fleets are named by index.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use fingerpost_authority::{Host, HostPattern};
use fingerpost_path::Prefix;
use fingerpost_router::UnknownHost;

pub use self::fleet::{Fleet, Server, ServerError};
pub use self::route::{Route, Scope};
pub use self::site::{OnUnresolved, Site, SiteOptions};
pub use self::tuning::{Forwarding, Limits, Log, LogFormat, LogLevel, Timeouts};
use super::diagnostics::Diagnostics;
use crate::entry::FleetId;
use crate::snapshot::{Admission, Http2};
use crate::tls::{Identity, MinVersion};

mod fleet;
mod route;
mod site;
mod tuning;

/// A checked configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The name of this box.
    pub box_name: Arc<str>,
    /// What a request gets whose host no route names.
    pub unknown_host: UnknownHost,
    /// Where the proxy listens.
    pub listen: Listen,
    /// How HTTP/2 is spoken with clients.
    pub http2: Http2,
    /// How much clients may ask for.
    pub admission: Admission,
    /// The port that HTTP is redirected to.
    pub https_redirect: Option<u16>,
    /// The oldest version of TLS that clients may use.
    pub min_tls: MinVersion,
    /// The certificates for HTTPS in the order of the file. At most one is the default.
    pub certificates: Vec<Certificate>,
    /// Where the box keeps what it knows; `None` where it keeps nothing, since nobody can publish to it.
    pub store: Option<Store>,
    /// The fleets in the order of their names; [`FleetId`] is an index of it.
    pub fleets: Vec<Fleet>,
    /// The sites, one for each host pattern, in matching order (H6).
    pub sites: Vec<Site>,
    /// The routes without hosts, in the order of the file.
    pub shared: Vec<Route>,
    /// The claims in the order of the file. No two have the same host.
    pub claims: Vec<Claim>,
    /// The accounts in the order of their names.
    pub accounts: Vec<Account>,
    /// How much a claim, or all of them, may ask for.
    pub claim_limits: fingerpost_claims::Limits,
    /// What is logged.
    pub log: Log,
    /// How long the proxy waits for clients.
    pub timeouts: Timeouts,
    /// How much of the machine the proxy uses.
    pub limits: Limits,
    /// What upstream servers are told about the client.
    pub forwarding: Forwarding,
    /// What may not do what was meant.
    pub warnings: Diagnostics,
}

impl Config {
    /// Returns the site of a pattern. Takes logarithmic time.
    pub fn site(&self, pattern: &HostPattern) -> Option<&Site> {
        let found = self.sites.binary_search_by(|site| site.pattern.cmp(pattern)).ok()?;
        self.sites.get(found)
    }

    /// Returns the claim of a host. Takes linear time in the number of claims.
    pub fn claim(&self, host: &Host) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.host == *host)
    }

    /// Returns the fleet of an id that this configuration gave out.
    pub fn fleet(&self, id: FleetId) -> Option<&Fleet> {
        self.fleets.get(id.index())
    }
}

/// Where the proxy listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// Addresses for plain HTTP; none only where there is one for HTTPS.
    pub http: Vec<SocketAddr>,
    /// Addresses for HTTPS.
    pub https: Vec<SocketAddr>,
    /// Those of the addresses on which a PROXY protocol header comes first.
    pub proxy_protocol: Vec<SocketAddr>,
    /// Address of the admin listener.
    pub admin: Option<SocketAddr>,
}

impl Listen {
    /// Positions of the addresses on which a PROXY protocol header comes first, counted over both lists.
    pub fn announced(&self) -> Vec<usize> {
        let all = self.http.iter().chain(&self.https).enumerate();
        let announced = all.filter(|(_, address)| self.proxy_protocol.contains(address));
        announced.map(|(position, _)| position).collect()
    }
}

/// A certificate and the files that it was read from.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The file of the certificate, as written.
    pub cert: PathBuf,
    /// The file of its key, as written.
    pub key: PathBuf,
    /// Whether it also serves clients that ask for no host, or for one that no certificate names.
    pub default: bool,
    /// What the files held.
    pub identity: Arc<Identity>,
    /// The digests of the texts of both files.
    pub(crate) digests: [u64; 2],
}

/// Digests a text, to be compared with what stands in a file later: a key is not kept for that.
pub(crate) fn digest(text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Where the box keeps what it knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The SQLite file of the claims, as written.
    pub sqlite: PathBuf,
}

impl Store {
    /// The SQLite file of the rows that the box routes by: beside the claims, `.registry` added to its name.
    pub fn registry(&self) -> PathBuf {
        let mut name = self.sqlite.as_os_str().to_owned();
        name.push(".registry");
        name.into()
    }
}

/// A claim of one hostname.
#[derive(Clone, Debug)]
pub struct Claim {
    /// An exact host of a route of this account and app.
    pub host: Host,
    /// The account that owns the host.
    pub account: Arc<str>,
    /// The app of the account.
    pub app: Arc<str>,
    /// Whether `*.host` is claimed as a name too.
    pub wildcard: bool,
    /// Whether `*.host` is routed to the app too.
    pub catchall: bool,
    /// The prefix map in the order of its keys. No prefix is reserved, and every target is an
    /// exact host of a route of the same account and not this claim's host.
    pub paths: Vec<PathEntry>,
}

/// One entry of a prefix map.
#[derive(Clone, Debug)]
pub struct PathEntry {
    /// The first path segment.
    pub prefix: Prefix,
    /// The host whose site serves it.
    pub target: Host,
}

/// What one account may do.
#[derive(Clone, Debug)]
pub struct Account {
    /// The name of the account.
    pub name: Arc<str>,
    /// Hosts that it may claim although no route of its own names them.
    pub may_claim: Vec<HostPattern>,
}
