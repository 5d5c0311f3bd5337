//! The fields of a request's header.

use super::client::field;
use super::proxy::{Plan, get};
use super::upstream::Upstream;

/// One request's header lines, and what the upstream gets of the fields named.
struct Case {
    rule: &'static str,
    lines: &'static str,
    want: &'static [(&'static str, Option<&'static str>)],
}

const CASES: &[Case] = &[
    Case {
        rule: "hop-by-hop fields go (RFC 9110 7.6.1)",
        lines: "Connection: keep-alive\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\n\
                Proxy-Authorization: x\r\nAccept: */*\r\n",
        want: &[
            ("connection", None),
            ("keep-alive", None),
            ("proxy-connection", None),
            ("proxy-authorization", None),
            ("accept", Some("*/*")),
        ],
    },
    Case {
        rule: "and what Connection names, in any case, over several lines",
        lines: "Connection: close, X-One\r\nconnection: x-TWO ,, \r\nX-One: 1\r\nx-two: 2\r\nX-Three: 3\r\n",
        want: &[("x-one", None), ("x-two", None), ("x-three", Some("3"))],
    },
    Case {
        rule: "hop-connection-strips-forwarded: ours are set afterwards",
        lines: "Connection: X-Forwarded-Host, x-forwarded-for, X-Forwarded-Proto, via\r\nVia: 1.1 x\r\n",
        want: &[
            ("x-forwarded-for", Some("127.0.0.1")),
            ("x-forwarded-host", Some("a.example")),
            ("x-forwarded-proto", Some("http")),
            ("via", Some("1.1 x|1.1 fingerpost")),
        ],
    },
    Case {
        rule: "hop-connection-strips-forwarded: end-to-end fields stay",
        lines: "Connection: Authorization, Cookie, Content-Type, If-None-Match\r\n\
                Authorization: Basic x\r\nCookie: a=b\r\nContent-Type: text/x\r\nIf-None-Match: \"x\"\r\n",
        want: &[
            ("authorization", Some("Basic x")),
            ("cookie", Some("a=b")),
            ("content-type", Some("text/x")),
            ("if-none-match", Some("\"x\"")),
        ],
    },
    Case {
        rule: "set from the connection, whatever an untrusted client says",
        lines: "X-Forwarded-For: 10.0.0.1\r\nX-Forwarded-For: 10.0.0.2\r\nX-Forwarded-Host: evil\r\n\
                X-Forwarded-Proto: https\r\nX-Forwarded-Port: 1\r\nX-Forwarded-Ssl: on\r\n\
                X-Real-IP: 10.0.0.3\r\nForwarded: for=10.0.0.4\r\nX-Original-URL: /x\r\n",
        want: &[
            ("x-forwarded-for", Some("127.0.0.1")),
            ("x-forwarded-host", Some("a.example")),
            ("x-forwarded-proto", Some("http")),
            ("x-forwarded-ssl", None),
            ("x-real-ip", None),
            ("forwarded", None),
            ("x-original-url", None),
        ],
    },
    Case {
        rule: "fwd-underscore-alias: no name with an underscore gets through",
        lines: "X_Forwarded_Host: evil\r\nX-Forwarded_For: 127.0.0.2\r\nX_Original_URL: /alpha\r\n\
                a_b: c\r\nX-A-B: d\r\n",
        want: &[
            ("x_forwarded_host", None),
            ("x-forwarded_for", None),
            ("x_original_url", None),
            ("a_b", None),
            ("x-a-b", Some("d")),
            ("x-forwarded-for", Some("127.0.0.1")),
        ],
    },
    Case {
        rule: "TE: trailers passes, with its connection option (RFC 9110 10.1.4)",
        lines: "TE: gzip, Trailers;q=0.5, trailers\r\nConnection: TE\r\n",
        want: &[("te", Some("trailers")), ("connection", Some("te"))],
    },
    Case {
        rule: "other TE goes",
        lines: "TE: gzip\r\n",
        want: &[("te", None), ("connection", None)],
    },
    Case {
        rule: "the trace goes on, Via grows",
        lines: "Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\nTracestate: a=b\r\n",
        want: &[
            ("traceparent", Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")),
            ("tracestate", Some("a=b")),
            ("via", Some("1.1 fingerpost")),
        ],
    },
    Case {
        rule: "an expectation without content is not passed on",
        lines: "Expect: 100-continue\r\n",
        want: &[("expect", None)],
    },
    Case {
        rule: "fields of the same name keep their order; values keep their bytes",
        lines: "X-A: 1\r\nX-B: \x7e\"\r\nX-A: 2\r\nX-A:   3  \r\n",
        want: &[("x-a", Some("1|2|3")), ("x-b", Some("~\""))],
    },
    Case {
        rule: "path-override-headers: a client says its path in the request line only",
        lines: "X-Script-Name: /a\r\nX-Original-URI: /a\r\nX-Original-Path: /a\r\n\
                X-Envoy-Original-Path: /a\r\nX-WAWS-Unencoded-URL: /a\r\nX-Rewrite-URL: /a\r\n\
                X-Forwarded-Prefix: /a\r\nX-Forwarded-Uri: /a\r\nX-Original-Filename: a\r\n",
        want: &[
            ("x-script-name", None),
            ("x-original-uri", None),
            ("x-original-path", None),
            ("x-envoy-original-path", None),
            ("x-waws-unencoded-url", None),
            ("x-rewrite-url", None),
            ("x-forwarded-prefix", None),
            ("x-forwarded-uri", None),
            ("x-original-filename", Some("a")),
        ],
    },
    Case {
        rule: "method overrides pass: no route is chosen by the method",
        lines: "X-HTTP-Method-Override: PUT\r\nX-HTTP-Method: PUT\r\nX-Method-Override: PUT\r\n",
        want: &[
            ("x-http-method-override", Some("PUT")),
            ("x-http-method", Some("PUT")),
            ("x-method-override", Some("PUT")),
        ],
    },
];

#[test]
fn edits_the_header() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    for Case { rule, lines, want } in CASES {
        let reply = proxy.ask(get("/", lines));
        assert_eq!(reply.status, 200, "{rule}");
        for (name, value) in *want {
            assert_eq!(field(reply.text(), name).as_deref(), *value, "{rule}: {name}");
        }
        let port = proxy.address.port().to_string();
        assert_eq!(field(reply.text(), "x-forwarded-port"), Some(port), "{rule}");
    }
}

/// hop-connection-strips-forwarded: the fields that frame and route can't be nominated.
#[test]
fn refuses_to_drop_framing() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    for nominated in ["Host", "content-length", "Transfer-Encoding", "close, x, HOST"] {
        let mut client = proxy.client();
        let reply = client.ask(get("/", &format!("Connection: {nominated}\r\n")));
        assert_eq!((reply.status, reply.closes()), (400, true), "{nominated}");
        assert!(client.is_closed(), "{nominated}");
    }
    assert!(upstream.is_silent());
}

#[test]
fn believes_a_trusted_proxy() {
    let upstream = Upstream::echo();
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    plan.settings.forwarded = true;
    let proxy = plan.start();
    let reply = proxy.ask(get(
        "/",
        "X-Forwarded-For: 10.0.0.1, 10.0.0.2\r\nX-Forwarded-For: 10.0.0.3\r\n\
         X-Forwarded-Proto: https\r\nForwarded: for=10.0.0.1\r\nX_Forwarded_Proto: ftp\r\n",
    ));
    for (name, want) in [
        ("x-forwarded-for", "10.0.0.1, 10.0.0.2, 10.0.0.3, 127.0.0.1"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "a.example"),
        ("forwarded", "for=10.0.0.1, for=127.0.0.1;proto=http;host=\"a.example\""),
    ] {
        assert_eq!(field(reply.text(), name).as_deref(), Some(want), "{name}");
    }
    let reply = proxy.ask(get("/", ""));
    let forwarded = field(reply.text(), "forwarded");
    assert_eq!(forwarded.as_deref(), Some("for=127.0.0.1;proto=http;host=\"a.example\""));
}

/// smuggle-obs-fold-space-colon, header-nul-bytes: hyper refuses these by itself, without content.
#[test]
fn refuses_malformed_fields() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    for lines in [
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding\t: chunked\r\n",
        "X: a\r\n Transfer-Encoding: chunked\r\n",
        "X: a\0b\r\n",
        "X\0: a\r\n",
        ": a\r\n",
        "Content-Length: +1\r\n",
        "Content-Length: 1, 2\r\n",
        "Content-Length: 1\r\nContent-Length: 2\r\n",
    ] {
        let mut client = proxy.client();
        client.send(get("/", lines));
        // hyper says nothing at all about a bad Content-Length.
        let rest = String::from_utf8(client.rest()).unwrap();
        assert!(rest.is_empty() || rest.starts_with("HTTP/1.1 400"), "{lines:?}: {rest}");
    }
    assert!(upstream.is_silent());
}

/// RFC 9110 7.6.2
#[test]
fn counts_the_hops_of_options() {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    for (method, sent, want) in [
        ("OPTIONS", "1", Some("0")),
        ("OPTIONS", "10", Some("9")),
        ("OPTIONS", "x", Some("x")),
        ("OPTIONS", "0", None),
        ("GET", "0", Some("0")),
    ] {
        let request = get("/", &format!("Max-Forwards: {sent}\r\n")).replace("GET", method);
        let reply = client.ask(request);
        assert_eq!(reply.status, 200);
        assert_eq!(field(reply.text(), "max-forwards").as_deref(), want, "{method} {sent}");
        assert_eq!(reply.field("allow").is_some(), want.is_none(), "{method} {sent}");
    }
}
