//! A certificate with its key, as PEM files hold them.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use fingerpost_authority::{Host, HostPattern};
use rustls::crypto::ring;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use thiserror::Error;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

/// A certificate chain and the key of its first certificate.
#[derive(Clone, Debug)]
pub struct Identity {
    key: Arc<CertifiedKey>,
    names: Vec<HostPattern>,
    expires: Duration,
    expires_text: String,
}

/// Why two files are no identity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// The certificate's file is no PEM.
    #[error("not PEM: {0}")]
    CertificatePem(String),
    /// It holds no certificate.
    #[error("holds no certificate: there is no BEGIN CERTIFICATE")]
    NoCertificate,
    /// The first certificate can't be read.
    #[error("the first certificate is malformed: {0}")]
    Malformed(String),
    /// The first certificate names no host.
    #[error("the first certificate names no host in its subjectAltName")]
    NoName,
    /// The key's file holds no key.
    #[error("holds no private key: {0}")]
    NoKey(String),
    /// The key is of no kind that TLS can use here.
    #[error("the key can't be used: {0}")]
    Key(String),
    /// The key is another certificate's.
    #[error("the key does not belong to the first certificate")]
    Mismatch,
}

impl IdentityError {
    /// Whether it is the key's file that is wrong.
    #[must_use]
    pub const fn is_about_key(&self) -> bool {
        matches!(self, Self::NoKey(_) | Self::Key(_) | Self::Mismatch)
    }
}

impl Identity {
    /// Reads the PEM text of a certificate chain, the host's own first, and of a key.
    ///
    /// # Errors
    ///
    /// One variant of [`IdentityError`] for each reason.
    pub fn read(certificates: &[u8], key: &[u8]) -> Result<Self, IdentityError> {
        let chain = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| IdentityError::CertificatePem(error.to_string()))?;
        let first = chain.first().ok_or(IdentityError::NoCertificate)?;
        let malformed = |error: x509_cert::der::Error| IdentityError::Malformed(error.to_string());
        let first = Certificate::from_der(first).map_err(malformed)?;
        let first = first.tbs_certificate();
        let names = match first.get_extension::<SubjectAltName>().map_err(malformed)? {
            Some((_, names)) => names.0.iter().filter_map(pattern).collect(),
            None => Vec::new(),
        };
        let end = first.validity().not_after;
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|error| IdentityError::NoKey(error.to_string()))?;
        let key =
            CertifiedKey::from_der(chain, key, &ring::default_provider()).map_err(|error| {
                match error {
                    rustls::Error::InconsistentKeys(_) => IdentityError::Mismatch,
                    rustls::Error::InvalidCertificate(error) => {
                        IdentityError::Malformed(format!("{error:?}"))
                    }
                    error => IdentityError::Key(error.to_string()),
                }
            })?;
        if names.is_empty() {
            return Err(IdentityError::NoName);
        }
        Ok(Self {
            key: Arc::new(key),
            names,
            expires: end.to_unix_duration(),
            expires_text: end.to_date_time().to_string(),
        })
    }

    /// What it names: hosts and wildcards of one label. Names of other kinds are left out.
    #[must_use]
    pub fn names(&self) -> &[HostPattern] {
        &self.names
    }

    /// The end of its validity, counted from the beginning of 1970 in UTC.
    #[must_use]
    pub const fn expires(&self) -> Duration {
        self.expires
    }

    /// The end of its validity, to be read.
    #[must_use]
    pub fn expires_text(&self) -> &str {
        &self.expires_text
    }

    pub(super) const fn key(&self) -> &Arc<CertifiedKey> {
        &self.key
    }
}

fn pattern(name: &GeneralName) -> Option<HostPattern> {
    match name {
        GeneralName::DnsName(name) => {
            HostPattern::from_written(name.as_str()).ok().filter(|name| {
                // Our own wildcards of many labels are no names of certificates.
                matches!(name, HostPattern::Exact(_) | HostPattern::Wildcard(_))
            })
        }
        GeneralName::IpAddress(octets) => {
            let octets = octets.as_bytes();
            let address = match (<[u8; 4]>::try_from(octets), <[u8; 16]>::try_from(octets)) {
                (Ok(octets), _) => IpAddr::from(octets).to_string(),
                (_, Ok(octets)) => format!("[{}]", IpAddr::from(octets)),
                _ => return None,
            };
            Host::parse(address).ok().map(HostPattern::Exact)
        }
        _ => None,
    }
}
