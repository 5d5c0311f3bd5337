//! `select` against the table of the design, row by row; H5 above all.

#![no_main]

use arbitrary::Arbitrary;
use fingerpost_authority::{
    Authority, Head, HostFields, HostPattern, HttpVersion, Selected, Target, TransferEncoding,
    select,
};
use fingerpost_fuzz::words;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    version: u8,
    method: u8,
    target: Vec<u8>,
    raw_target: Option<Vec<u8>>,
    authority: Option<Vec<u8>>,
    scheme: u8,
    websocket: bool,
    hosts: Vec<Vec<u8>>,
    coding: u8,
    names: Option<u8>,
}

const METHODS: &[&[u8]] = &[b"GET", b"OPTIONS", b"CONNECT", b"TRACE", b"POST", b"connect"];
const TARGETS: &[&[u8]] = &[
    b"/",
    b"*",
    b"http://",
    b"https://",
    b"HTTP://",
    b"ftp://",
    b"a.com",
    b"b.com",
    b":80",
    b":443",
    b"?q",
    b"/x",
    b"@",
    b"#",
    b" ",
    b"",
    b"A.com.",
];
const HOSTS: &[&[u8]] = &[
    b"a.com", b"b.com", b"A.COM", b".", b":80", b":443", b":", b"[::1]", b"@", b",", b" ",
    b"127.1", b"*.",
];

fuzz_target!(|input: Input| {
    let version = [HttpVersion::Http10, HttpVersion::Http11, HttpVersion::Http2]
        [usize::from(input.version % 3)];
    let raw = input.raw_target.unwrap_or_else(|| words(&input.target, TARGETS));
    let hosts: Vec<Vec<u8>> = input.hosts.iter().take(3).map(|picks| words(picks, HOSTS)).collect();
    let authority = input.authority.map(|picks| words(&picks, HOSTS));
    let scheme: Option<&[u8]> =
        [None, Some(&b"http"[..]), Some(b"https")][usize::from(input.scheme % 3)];
    let names = input.names.map(|pick| {
        vec![HostPattern::from_written(["a.com", "*.com", "b.com"][usize::from(pick % 3)]).unwrap()]
    });
    let head = Head {
        version,
        method: METHODS[usize::from(input.method) % METHODS.len()],
        target: Target::parse(&raw),
        authority: authority.as_deref(),
        scheme,
        websocket: input.websocket,
        hosts: HostFields::from_values(hosts.iter().map(Vec::as_slice)),
        transfer_encoding: [
            TransferEncoding::None,
            TransferEncoding::Chunked,
            TransferEncoding::NotChunked,
            TransferEncoding::Unknown,
        ][usize::from(input.coding % 4)],
        tls_names: names.as_deref(),
    };
    let got = match select(&head) {
        Ok(Selected::Host(host)) => Ok(host.to_string()),
        Ok(Selected::NoHost) => Ok("no host".into()),
        Ok(Selected::Asterisk) => Ok("*".into()),
        Err(rejected) => Err(rejected.status()),
    };
    let want = model(&head, &raw, &hosts);
    assert!(want.contains(&got), "{head:?}: {got:?}, want one of {want:?}");
});

type Answer = Result<String, u16>;

/// Every rule that refuses, each on its own, else the one answer: of two refusals no order is asked for.
fn model(head: &Head<'_>, raw: &[u8], hosts: &[Vec<u8>]) -> Vec<Answer> {
    let http2 = head.version == HttpVersion::Http2;
    let parse =
        |text: &[u8]| Authority::parse(text).ok().map(|it| (it.host().to_string(), it.port()));
    let mut refused: Vec<u16> = Vec::new();
    // Host fields
    let field = hosts.first().and_then(|value| parse(value));
    if hosts.len() > 1
        || (hosts.len() == 1 && field.is_none())
        || (hosts.is_empty() && head.version == HttpVersion::Http11)
    {
        refused.push(400);
    }
    match head.transfer_encoding {
        TransferEncoding::NotChunked => refused.push(400),
        TransferEncoding::Unknown => refused.push(501),
        _ => {}
    }
    // the target
    let clean = !raw.is_empty() && raw.iter().all(|&byte| byte > b' ' && byte != 0x7f);
    let upgrade = http2 && head.websocket && head.method == b"CONNECT";
    let connect = head.method == b"CONNECT" && !upgrade;
    let mut named = None;
    if !clean {
        refused.push(400);
    } else if raw == b"*" {
        if head.method != b"OPTIONS" {
            refused.push(400);
        }
    } else if !raw.starts_with(b"/") {
        let lower = raw.to_ascii_lowercase();
        let rest =
            [&b"http://"[..], b"https://"].iter().find_map(|scheme| lower.strip_prefix(*scheme));
        match rest {
            Some(rest) if !http2 => {
                let end = rest.iter().position(|byte| b"/?".contains(byte)).unwrap_or(rest.len());
                named = parse(&rest[..end]);
                if named.is_none() {
                    refused.push(400);
                }
            }
            // authority-form is CONNECT's, which is 405
            _ if connect && parse(raw).is_some() => {}
            _ => refused.push(400),
        }
    }
    let mut pseudo = None;
    if http2 {
        pseudo = head.authority.and_then(parse);
        if head.authority.is_some() && pseudo.is_none()
            || (head.authority.is_none() && hosts.is_empty())
        {
            refused.push(400);
        }
        if let (Some(one), Some(other)) = (&pseudo, &field) {
            let port = |port: Option<u16>| match (port, head.scheme) {
                (Some(80), Some(b"http")) | (Some(443), Some(b"https")) => None,
                (port, _) => port,
            };
            let unknown = head.scheme.is_none()
                && matches!((one.1, other.1), (None, Some(80 | 443)) | (Some(80 | 443), None));
            if one.0 != other.0 || (port(one.1) != port(other.1) && !unknown) {
                refused.push(400);
            }
        }
    }
    if connect || head.method == b"TRACE" {
        refused.push(405);
    }
    // H5: the target, then the pseudo header, then the field
    let host = named.or(pseudo).or(field).map(|(host, _)| host);
    if refused.is_empty()
        && let (Some(names), Some(host)) = (head.tls_names, &host)
        && !names.iter().any(|name| name.matches(&host.parse().unwrap()))
    {
        refused.push(421);
    }
    if !refused.is_empty() {
        return refused.into_iter().map(Err).collect();
    }
    vec![Ok(match (raw, host) {
        (b"*", _) => "*".into(),
        (_, Some(host)) => host,
        (_, None) => "no host".into(),
    })]
}
