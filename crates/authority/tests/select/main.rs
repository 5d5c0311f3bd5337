//! Which host a request names.

mod http1;
mod http2;

use std::error::Error;

use fingerpost_authority::HostFields::{self, Many, One};
use fingerpost_authority::HttpVersion::{Http2, Http11};
use fingerpost_authority::{
    AuthorityError, Head, HostError, HostPattern, HttpVersion, Selected, Target, TransferEncoding,
    select,
};

/// What a row expects: a host, nothing, the server itself, or a refusal.
#[derive(Debug, PartialEq)]
enum Want<'a> {
    Host(&'a str),
    NoHost,
    Asterisk,
    No(u16, Then, &'static str),
}

#[derive(Debug, PartialEq)]
enum Then {
    Close,
    Live,
}

use Then::{Close, Live};
use Want::{Asterisk, Host, No, NoHost};

struct Case {
    rfc: &'static str,
    version: HttpVersion,
    method: &'static str,
    target: &'static str,
    hosts: HostFields<'static>,
    more: More,
    want: Want<'static>,
}

/// What most rows leave alone.
struct More {
    authority: Option<&'static str>,
    scheme: Option<&'static str>,
    websocket: bool,
    transfer_encoding: TransferEncoding,
    tls_names: Option<&'static [&'static str]>,
}

const PLAIN: More = More {
    authority: None,
    scheme: None,
    websocket: false,
    transfer_encoding: TransferEncoding::None,
    tls_names: None,
};

const NONE: HostFields<'static> = HostFields::None;
const A: HostFields<'static> = One(b"a.com");

const fn tls(names: &'static [&'static str]) -> More {
    More { tls_names: Some(names), ..PLAIN }
}

const fn coded(transfer_encoding: TransferEncoding) -> More {
    More { transfer_encoding, ..PLAIN }
}

const fn row(
    rfc: &'static str,
    version: HttpVersion,
    request: (&'static str, &'static str, HostFields<'static>),
    more: More,
    want: Want<'static>,
) -> Case {
    Case { rfc, version, method: request.0, target: request.1, hosts: request.2, more, want }
}

/// The refusals, each with the words that it is known by.
const NO_HOST: Want<'static> = No(400, Close, "no Host field");
const MANY_HOSTS: Want<'static> = No(400, Close, "more than one Host field");
const BAD_HOST: Want<'static> = No(400, Close, "invalid Host field");
const NOT_CHUNKED: Want<'static> = No(400, Close, "Transfer-Encoding is not exactly one chunked");
const UNKNOWN: Want<'static> = No(501, Close, "unknown transfer coding");
const BAD_TARGET: Want<'static> = No(400, Live, "invalid request-target");
const SCHEME: Want<'static> =
    No(400, Live, "scheme of the request-target is neither http nor https");
const USERINFO: Want<'static> = No(400, Live, "user information in the request-target");
const TARGET_HOST: Want<'static> = No(400, Live, "invalid authority in the request-target");
const NOT_CONNECT: Want<'static> = No(400, Live, "authority-form without CONNECT");
const NOT_OPTIONS: Want<'static> = No(400, Live, "asterisk-form without OPTIONS");
const IN_PATH: Want<'static> = No(400, Live, "absolute-form in :path");
const BAD_AUTHORITY: Want<'static> = No(400, Live, "invalid :authority");
const NOBODY: Want<'static> = No(400, Live, "neither :authority nor a Host field");
const DIFFER: Want<'static> = No(400, Live, ":authority and Host field differ");
const METHOD: Want<'static> = No(405, Live, "method not served");
const MISDIRECTED: Want<'static> =
    No(421, Live, "host is not among the names of this connection's certificate");
const H2_BAD_HOST: Want<'static> = No(400, Live, "invalid Host field");
const H2_MANY_HOSTS: Want<'static> = No(400, Live, "more than one Host field");
const H2_CODED: Want<'static> = No(400, Live, "Transfer-Encoding is not exactly one chunked");

#[test]
fn requests_name_what_was_decided() {
    for case in http1::CASES.iter().chain(http2::CASES) {
        let Case { rfc, version, method, target, hosts, more, want } = case;
        let names: Option<Vec<HostPattern>> =
            more.tls_names.map(|names| names.iter().map(|name| name.parse().unwrap()).collect());
        let selected = select(&Head {
            version: *version,
            method: method.as_bytes(),
            target: Target::parse(target.as_bytes()),
            authority: more.authority.map(str::as_bytes),
            scheme: more.scheme.map(str::as_bytes),
            websocket: more.websocket,
            hosts: *hosts,
            transfer_encoding: more.transfer_encoding,
            tls_names: names.as_deref(),
        });
        let got = match &selected {
            Ok(Selected::Host(host)) => Host(host.as_str()),
            Ok(Selected::NoHost) => NoHost,
            Ok(Selected::Asterisk) => Asterisk,
            Err(rejected) => {
                let then = if rejected.close() { Close } else { Live };
                No(rejected.status(), then, rejected.reason())
            }
        };
        assert_eq!(got, *want, "{rfc}: {version:?} {method} {target} {hosts:?}");
    }
}

#[test]
fn the_cause_says_which_part_is_wrong_and_where() {
    let head = |hosts, target: &'static [u8]| Head {
        version: Http11,
        method: b"GET",
        target: Target::parse(target),
        authority: None,
        scheme: None,
        websocket: false,
        hosts,
        transfer_encoding: TransferEncoding::None,
        tls_names: None,
    };
    for (hosts, target, want) in [
        (
            One(&b"a..com"[..]),
            &b"/"[..],
            Some(AuthorityError::Host(HostError::EmptyLabel { offset: 2 })),
        ),
        (One(b"a.com"), b"http://a.com:x/", Some(AuthorityError::Port { offset: 6 })),
        (NONE, b"/", None),
    ] {
        let rejected = select(&head(hosts, target)).unwrap_err();
        let cause = rejected.source().map(|cause| *cause.downcast_ref::<AuthorityError>().unwrap());
        assert_eq!(cause, want, "{rejected}");
        assert_eq!(rejected.to_string(), rejected.reason());
    }
    let http2 = Head { version: Http2, authority: Some(b"a.com:x"), ..head(NONE, b"/") };
    let cause = select(&http2).unwrap_err();
    assert_eq!(cause.source().unwrap().to_string(), "byte 6 of the port is not a digit");
}

#[test]
fn host_fields_are_counted() {
    for (values, want) in [
        (&[][..], HostFields::None),
        (&[&b""[..]][..], One(b"")),
        (&[&b"a.com"[..]][..], One(b"a.com")),
        (&[&b"a.com"[..], b"a.com"][..], Many),
        (&[&b"a.com"[..], b"b.com", b"c.com"][..], Many),
    ] {
        assert_eq!(HostFields::from_values(values.iter().copied()), want);
    }
}
