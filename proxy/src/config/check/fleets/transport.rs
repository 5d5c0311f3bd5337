//! How a fleet's servers are spoken to.

use std::sync::Arc;

use fingerpost_authority::HostKind;
use rustls_pki_types::ServerName;

use crate::config::check::value;
use crate::config::model::Server;
use crate::config::place::Place;
use crate::config::raw::{RawFleetTls, RawFleetTlsTable, RawHttp};
use crate::config::report::Report;
use crate::snapshot::{Http, Transport};
use crate::tls::{Roots, UpstreamTls};

pub(super) fn check(
    fleet: &Place,
    http: Option<RawHttp>,
    tls: Option<RawFleetTls>,
    servers: &[Server],
    report: &mut Report<'_>,
) -> Transport {
    let http = http.map_or(Http::One, |http| match http {
        RawHttp::One => Http::One,
        RawHttp::Two => Http::Two,
        RawHttp::Auto => Http::Auto,
    });
    let place = fleet.key("tls");
    let table = match tls {
        Some(RawFleetTls::On(true)) => RawFleetTlsTable::default(),
        Some(RawFleetTls::Table(table)) => table,
        Some(RawFleetTls::On(false)) | None => {
            if http == Http::Auto && !report.is_broken(&place) {
                let message = "without tls nobody chooses: write \"1.1\" or \"2\"";
                report.error(&fleet.key("http"), message);
            }
            return plain(http);
        }
    };
    let name = value::optional(&place.key("server_name"), table.server_name.as_ref(), report, name);
    if table.server_name.is_none() {
        unnamed(fleet, servers, report);
    }
    let Some(roots) = roots(&place, table.ca.as_ref(), report) else { return plain(http) };
    Transport { tls: Some(Arc::new(UpstreamTls::new(Arc::new(roots), name, http))), http }
}

fn plain(http: Http) -> Transport {
    Transport { http, ..Transport::default() }
}

fn name(text: &str) -> Result<ServerName<'static>, String> {
    let host = value::host(text)?;
    let bare = host.as_str().trim_start_matches('[').trim_end_matches(']').to_owned();
    ServerName::try_from(bare)
        .map_err(|_| format!("{text:?} is no name that a certificate can have"))
}

/// A certificate can have an address as its name, but few do.
fn unnamed(fleet: &Place, servers: &[Server], report: &mut Report<'_>) {
    if let Some(server) = servers.iter().find(|server| server.host().kind() != HostKind::Name) {
        let message = format_args!(
            "the certificate of {server} has to have this address as a name, since the fleet has no \
             tls.server_name"
        );
        report.warn(&fleet.key("tls"), message);
    }
}

fn roots(place: &Place, ca: Option<&String>, report: &mut Report<'_>) -> Option<Roots> {
    let (place, roots) = match ca {
        None => (place.clone(), Roots::of_system().map_err(|error| error.to_string())),
        Some(path) => {
            let read =
                std::fs::read(path).map_err(|error| format!("{path:?} can't be read: {error}"));
            let roots = read.and_then(|pem| {
                Roots::read(&pem).map_err(|error| format!("{path:?} {}", value::chain(&error)))
            });
            (place.key("ca"), roots)
        }
    };
    roots.map_err(|error| report.error(&place, error)).ok()
}
