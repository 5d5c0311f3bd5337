//! What nginx yields as `$host`.

use fingerpost_authority::{
    Head, HostFields, HttpVersion, Selected, Target, TransferEncoding, select,
};

use super::{Otherwise, Row, compare, list, must, read, text};

static OTHERWISE: Otherwise<'_> = &[(
    "RFC 5952: only mapped addresses keep the dotted form, every other has one spelling",
    &[
        "h1 Host header [::123.45.67.89]:4321",
        "h1 absolute-form target [::123.45.67.89]",
        "h2 Host header [::123.45.67.89]:4321",
        "h2 :authority [::123.45.67.89]",
    ],
)];

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn hosts_are_those_of_nginx() {
    let suite = read("nginx_host_cases.json");
    let rows: Vec<Row> = list(&suite, "cases")
        .iter()
        .map(|case| {
            let protocol = must(case, "protocol");
            let carrier = must(case, "carrier");
            let authority = must(case, "authority");
            Row {
                input: format!("{protocol} {carrier} {authority}"),
                want: text(case, "expect_host").map(str::to_owned),
                got: host(protocol, carrier, authority),
            }
        })
        .collect();
    compare(&rows, OTHERWISE);
}

fn host(protocol: &str, carrier: &str, authority: &str) -> Option<String> {
    let absolute = format!("http://{authority}/");
    let field = HostFields::One(authority.as_bytes());
    let (target, hosts, pseudo) = match carrier {
        "Host header" => ("/", field, None),
        "absolute-form target" => (absolute.as_str(), HostFields::One(b"other.example"), None),
        ":authority" => ("/", HostFields::None, Some(authority.as_bytes())),
        other => panic!("{other}"),
    };
    let head = Head {
        version: if protocol == "h1" { HttpVersion::Http11 } else { HttpVersion::Http2 },
        method: b"GET",
        target: Target::parse(target.as_bytes()),
        authority: pseudo,
        scheme: Some(b"http"),
        websocket: false,
        hosts,
        transfer_encoding: TransferEncoding::None,
        tls_names: None,
    };
    match select(&head) {
        Ok(Selected::Host(host)) => Some(host.to_string()),
        Ok(other) => panic!("{other:?}"),
        Err(rejected) => {
            assert_eq!(rejected.status(), 400);
            None
        }
    }
}
