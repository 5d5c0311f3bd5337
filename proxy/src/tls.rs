//! Which certificate a connection is served with.

mod identity;
mod upstream;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use fingerpost_authority::{Host, HostKind, HostPattern};
use rustls::ServerConfig;
use rustls::crypto::ring::{self, Ticketer};
use rustls::server::{NoServerSessionStorage, ProducesTickets};
use rustls::sign::SingleCertAndKey;

pub use identity::{Identity, IdentityError};
pub use upstream::{Roots, RootsError, UpstreamTls};

/// The oldest version of TLS that is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MinVersion {
    /// TLS 1.2 (RFC 5246).
    #[default]
    Tls12,
    /// TLS 1.3 (RFC 8446).
    Tls13,
}

/// The certificates of all listeners, by the names that they serve.
///
/// Names are matched as routes are: an exact one first, then a wildcard, which stands for one label.
#[derive(Debug)]
pub struct Certificates {
    exact: HashMap<Host, Arc<Served>>,
    wildcard: HashMap<Host, Arc<Served>>,
    default: Option<Arc<Served>>,
}

/// A certificate, ready for handshakes.
#[derive(Debug)]
pub(crate) struct Served {
    identity: Arc<Identity>,
    pub(crate) config: Arc<ServerConfig>,
}

impl Served {
    fn new(identity: Arc<Identity>, min_version: MinVersion) -> Arc<Self> {
        let versions: &[_] = match min_version {
            MinVersion::Tls12 => &[&rustls::version::TLS13, &rustls::version::TLS12],
            MinVersion::Tls13 => &[&rustls::version::TLS13],
        };
        let resolver = Arc::new(SingleCertAndKey::from(Arc::clone(identity.key())));
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .expect("the provider has suites for both versions")
            .with_no_client_auth()
            .with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // Tickets keep nothing here, so that ten thousand certificates cost no memory for sessions.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        if let Some(tickets) = &*TICKETS {
            config.ticketer = Arc::clone(tickets);
        }
        Arc::new(Self { identity, config: Arc::new(config) })
    }

    /// What the certificate names.
    pub(crate) fn names(&self) -> &[HostPattern] {
        self.identity.names()
    }
}

/// One key for the tickets of the process, so that sessions outlive a reload. rustls takes up a session
/// only under the server name that it began with.
static TICKETS: LazyLock<Option<Arc<dyn ProducesTickets>>> = LazyLock::new(|| Ticketer::new().ok());

impl Certificates {
    /// Puts certificates together. Of two that name the same host the first serves it.
    ///
    /// `default` is the position of the one for clients that name no host, or one that no certificate
    /// names; without it their handshakes are refused.
    #[must_use]
    pub fn new(
        identities: impl IntoIterator<Item = Arc<Identity>>,
        default: Option<usize>,
        min_version: MinVersion,
    ) -> Self {
        let mut all = Self { exact: HashMap::new(), wildcard: HashMap::new(), default: None };
        for (position, identity) in identities.into_iter().enumerate() {
            let served = Served::new(identity, min_version);
            for name in served.names() {
                let (map, host) = match name {
                    HostPattern::Exact(host) => (&mut all.exact, host),
                    HostPattern::Wildcard(host) => (&mut all.wildcard, host),
                    _ => continue,
                };
                map.entry(host.clone()).or_insert_with(|| Arc::clone(&served));
            }
            if default == Some(position) {
                all.default = Some(served);
            }
        }
        all
    }

    /// The certificate for a client that asks for `name`.
    pub(crate) fn choose(&self, name: Option<&str>) -> Option<&Arc<Served>> {
        let host = name.and_then(|name| Host::parse(name).ok());
        host.and_then(|host| self.naming(&host)).or(self.default.as_ref())
    }

    /// Whether a certificate names `host`.
    pub(crate) fn names(&self, host: &Host) -> bool {
        self.naming(host).is_some()
    }

    fn naming(&self, host: &Host) -> Option<&Arc<Served>> {
        self.exact.get(host).or_else(|| {
            let (_, parent) = host.as_str().split_once('.')?;
            let parent = Host::parse(parent).ok().filter(|_| host.kind() == HostKind::Name)?;
            self.wildcard.get(&parent)
        })
    }
}
