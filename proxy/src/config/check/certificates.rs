//! Certificates, with what their files hold.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use fingerpost_authority::HostPattern;

use crate::config::model::{Certificate, Listen, digest};
use crate::config::place::Place;
use crate::config::raw::{RawCertificate, RawTls, RawTlsVersion};
use crate::config::report::Report;
use crate::tls::{Identity, MinVersion};

/// Reads every certificate, and reports what clients would not take.
pub(super) fn check(
    raw: Option<Vec<RawCertificate>>,
    listen: &Listen,
    report: &mut Report<'_>,
) -> Vec<Certificate> {
    let all = Place::root().key("certificates");
    let written = raw.is_some() || report.is_broken(&all);
    let mut certificates = Vec::new();
    let mut names = BTreeMap::new();
    let mut default = None;
    for (index, raw) in raw.into_iter().flatten().enumerate() {
        let place = all.index(index);
        let is_default = raw.default == Some(true);
        if let Some(first) = default.filter(|_| is_default) {
            let first = report.cite(&all.index(first));
            report.error(&place.key("default"), format_args!("{first} is the default already"));
        } else if is_default {
            default = Some(index);
        }
        let (Some(cert), Some(key)) = (raw.cert, raw.key) else { continue };
        let (cert, key) = (PathBuf::from(cert), PathBuf::from(key));
        let Some((identity, digests)) = read(&place, &cert, &key, report) else { continue };
        expiry(&place, &identity, report);
        duplicates(&place, &identity, &mut names, report);
        let identity = Arc::new(identity);
        certificates.push(Certificate { cert, key, default: is_default, identity, digests });
    }
    let https = Place::root().key("listen").key("https");
    if !listen.https.is_empty() && !written {
        report.error(&https, "HTTPS needs a certificate: there are no [[certificates]]");
    }
    if listen.https.is_empty() && !certificates.is_empty() && !report.is_broken(&https) {
        report.warn(&all.index(0), "certificates are not used: [listen] https is empty");
    }
    certificates
}

pub(super) fn min_version(raw: Option<RawTls>) -> MinVersion {
    match raw.and_then(|raw| raw.min_version) {
        Some(RawTlsVersion::Tls13) => MinVersion::Tls13,
        Some(RawTlsVersion::Tls12) | None => MinVersion::Tls12,
    }
}

fn read(
    place: &Place,
    cert: &Path,
    key: &Path,
    report: &mut Report<'_>,
) -> Option<(Identity, [u64; 2])> {
    let mut file = |name, path: &Path| match std::fs::read(path) {
        Ok(text) => Some(text),
        Err(error) => {
            let path = path.display();
            report.error(&place.key(name), format_args!("{path} can't be read: {error}"));
            None
        }
    };
    let (cert_text, key_text) = (file("cert", cert), file("key", key));
    let (cert_text, key_text) = (cert_text?, key_text?);
    match Identity::read(&cert_text, &key_text) {
        Ok(identity) => Some((identity, [digest(&cert_text), digest(&key_text)])),
        Err(error) => {
            let (name, path) = if error.is_about_key() { ("key", key) } else { ("cert", cert) };
            report.error(&place.key(name), format_args!("{}: {error}", path.display()));
            None
        }
    }
}

/// Clients refuse it, but so they would any other.
fn expiry(place: &Place, identity: &Identity, report: &mut Report<'_>) {
    #[expect(clippy::disallowed_methods, reason = "a certificate ends at a time of the day")]
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    if identity.expires() <= now {
        let end = identity.expires_text();
        report.warn(&place.key("cert"), format_args!("the certificate ended on {end}"));
    }
}

fn duplicates(
    place: &Place,
    identity: &Identity,
    names: &mut BTreeMap<HostPattern, Place>,
    report: &mut Report<'_>,
) {
    for name in identity.names() {
        match names.get(name) {
            Some(first) if first != place => {
                let first = report.cite(first);
                let message = format!("{name} is served by {first}, which names it too");
                report.warn(&place.key("cert"), message);
            }
            Some(_) => (),
            None => drop(names.insert(name.clone(), place.clone())),
        }
    }
}
