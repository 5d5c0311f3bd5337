//! Certificates, and clients that verify them.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use fingerpost::tls::Identity;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
};

use super::client::PATIENCE;

/// A certificate and its key, in PEM.
pub(crate) struct Pem {
    pub(crate) cert: String,
    pub(crate) key: String,
}

impl Pem {
    pub(crate) fn of(names: &[&str]) -> Self {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        Self { cert: made.cert.pem(), key: made.signing_key.serialize_pem() }
    }

    pub(crate) fn identity(&self) -> Arc<Identity> {
        Arc::new(Identity::read(self.cert.as_bytes(), self.key.as_bytes()).unwrap())
    }

    pub(crate) fn der(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(self.cert.as_bytes()).unwrap()
    }
}

/// How a client shakes hands.
#[derive(Clone)]
pub(crate) struct Trust {
    pub(crate) config: ClientConfig,
}

impl Trust {
    /// Trusts these certificates only.
    pub(crate) fn in_these(pems: &[&Pem]) -> Self {
        Self::in_versions(pems, rustls::ALL_VERSIONS)
    }

    pub(crate) fn in_versions(
        pems: &[&Pem],
        versions: &[&'static SupportedProtocolVersion],
    ) -> Self {
        let mut roots = RootCertStore::empty();
        for pem in pems {
            roots.add(pem.der()).unwrap();
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self { config }
    }

    pub(crate) fn without_sni(mut self) -> Self {
        self.config.enable_sni = false;
        self
    }

    pub(crate) fn alpn(mut self, protocols: &[&str]) -> Self {
        let protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec());
        self.config.alpn_protocols = protocols.collect();
        self
    }

    /// Shakes hands; the error of one that fails.
    pub(crate) fn connect(
        &self,
        address: SocketAddr,
        name: &str,
    ) -> std::io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let session = ClientConnection::new(Arc::new(self.config.clone()), name).unwrap();
        let socket = TcpStream::connect(address)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let mut stream = StreamOwned::new(session, socket);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(stream)
    }
}
