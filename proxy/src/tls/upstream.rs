//! TLS with upstream servers: always verified.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use thiserror::Error;

use crate::snapshot::Http;

/// How a fleet's servers prove who they are.
///
/// Two are equal where they ask for the same name, trust the same roots and offer the same protocols:
/// only then do fleets share connections.
#[derive(Clone, Debug)]
pub struct UpstreamTls {
    server_name: Option<ServerName<'static>>,
    roots: Arc<Roots>,
    pub(crate) config: Arc<ClientConfig>,
    /// The same, where only HTTP/1.1 will do.
    pub(crate) config_one: Arc<ClientConfig>,
}

/// Certificates that servers' certificates have to lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots(Vec<CertificateDer<'static>>);

/// Why there are no roots.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RootsError {
    /// The file is no PEM.
    #[error("not PEM: {0}")]
    Pem(String),
    /// There is no certificate.
    #[error("holds no certificate: there is no BEGIN CERTIFICATE")]
    None,
    /// A certificate is none that can be trusted.
    #[error("certificate {number} can't be used: {reason}")]
    Certificate {
        /// Which one, from 1.
        number: usize,
        /// Why.
        reason: String,
    },
    /// The system has none.
    #[error("the system has no root certificates; name a file in ca")]
    System,
}

impl Roots {
    /// Reads PEM text.
    ///
    /// # Errors
    ///
    /// One variant of [`RootsError`] for each reason, but for the last.
    pub fn read(pem: &[u8]) -> Result<Self, RootsError> {
        let all = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
        let all = all.map_err(|error| RootsError::Pem(error.to_string()))?;
        if all.is_empty() {
            return Err(RootsError::None);
        }
        let mut store = RootCertStore::empty();
        for (index, certificate) in all.iter().enumerate() {
            store.add(certificate.clone()).map_err(|error| RootsError::Certificate {
                number: index + 1,
                reason: error.to_string(),
            })?;
        }
        Ok(Self(all))
    }

    /// Those that the system trusts.
    ///
    /// # Errors
    ///
    /// [`RootsError::System`] where it has none.
    pub fn of_system() -> Result<Self, RootsError> {
        // What can't be read is as good as not there: servers that need it are refused.
        let mut found = rustls_native_certs::load_native_certs().certs;
        found.sort_by(|one, other| one.as_ref().cmp(other.as_ref()));
        found.dedup();
        if found.is_empty() { Err(RootsError::System) } else { Ok(Self(found)) }
    }

    fn store(&self) -> RootCertStore {
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(self.0.iter().cloned());
        store
    }
}

impl UpstreamTls {
    /// Trusts `roots`, and asks for `server_name`, or else for the host of the server's address.
    ///
    /// # Panics
    ///
    /// Never: the cryptography that is compiled in has suites for every version of TLS.
    #[must_use]
    pub fn new(roots: Arc<Roots>, server_name: Option<ServerName<'static>>, http: Http) -> Self {
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has suites for all versions")
            .with_root_certificates(roots.store())
            .with_no_client_auth();
        let protocols: &[&[u8]] = match http {
            Http::One => &[b"http/1.1"],
            Http::Two => &[b"h2"],
            Http::Auto => &[b"h2", b"http/1.1"],
        };
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let mut one = config.clone();
        one.alpn_protocols = vec![b"http/1.1".to_vec()];
        Self { server_name, roots, config: Arc::new(config), config_one: Arc::new(one) }
    }

    /// The name that the certificate of the server at `address` has to have; `None` where `address` holds no
    /// name that a certificate can have.
    pub(crate) fn name_of(&self, address: &str) -> Option<ServerName<'static>> {
        self.server_name.clone().or_else(|| {
            let (host, _) = address.rsplit_once(':')?;
            let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
            ServerName::try_from(bare.unwrap_or(host).to_owned()).ok()
        })
    }
}

impl PartialEq for UpstreamTls {
    fn eq(&self, other: &Self) -> bool {
        self.server_name == other.server_name
            && self.config.alpn_protocols == other.config.alpn_protocols
            && (Arc::ptr_eq(&self.roots, &other.roots) || self.roots == other.roots)
    }
}

impl Eq for UpstreamTls {}

impl Hash for UpstreamTls {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Few differ in what is left out.
        self.server_name.hash(state);
    }
}
