//! TLS as it is written.

use schemars::JsonSchema;
use serde::Deserialize;

/// How HTTPS is spoken.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Tls", title = "Tls")]
pub(crate) struct RawTls {
    /// The oldest version of TLS that clients may use.
    #[schemars(extend("default" = "1.2"))]
    pub(crate) min_version: Option<RawTlsVersion>,
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "TlsVersion", title = "TlsVersion")]
pub(crate) enum RawTlsVersion {
    /// TLS 1.2.
    #[serde(rename = "1.2")]
    Tls12,
    /// TLS 1.3.
    #[serde(rename = "1.3")]
    Tls13,
}

/// A certificate for HTTPS. It serves the hosts in its subjectAltName: an exact name comes before a wildcard,
/// and of two certificates with the same name the first serves it. Both files are read again when they change.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Certificate", title = "Certificate")]
pub(crate) struct RawCertificate {
    /// The PEM file of the certificate, followed by those that lead to the issuer's root. A relative path
    /// starts where the proxy is started.
    #[schemars(required, extend("x-type" = "file path"))]
    pub(crate) cert: Option<String>,
    /// The PEM file of the certificate's private key.
    #[schemars(required, extend("x-type" = "file path"))]
    pub(crate) key: Option<String>,
    /// Also serves clients that ask for no host, or for one that no certificate names; requests for a host that
    /// this one doesn't name are 421 all the same. Without such a certificate their handshakes are refused.
    #[schemars(extend("default" = false))]
    pub(crate) default: Option<bool>,
}
