//! The header and framing of responses.

use super::proxy::{Plan, get};
use super::upstream::Upstream;

struct Case {
    rule: &'static str,
    method: &'static str,
    upstream: &'static str,
    status: u16,
    body: &'static str,
    want: &'static [(&'static str, Option<&'static str>)],
}

const CASES: &[Case] = &[
    Case {
        rule: "hop-by-hop fields go, and what Connection names",
        method: "GET",
        upstream: "HTTP/1.1 200 OK\r\nConnection: X-Internal, keep-alive, Set-Cookie, Content-Length\r\n\
                   Keep-Alive: timeout=5\r\nX-Internal: 1\r\nUpgrade: h2c\r\nProxy-Authenticate: x\r\n\
                   Set-Cookie: a=b\r\nSet-Cookie: c=d\r\nServer: up\r\nContent-Length: 2\r\n\r\nhi",
        status: 200,
        body: "hi",
        want: &[
            ("connection", None),
            ("keep-alive", None),
            ("x-internal", None),
            ("upgrade", None),
            ("proxy-authenticate", None),
            ("set-cookie", Some("a=b|c=d")),
            ("server", Some("up")),
            ("content-length", Some("2")),
            ("via", Some("1.1 fingerpost")),
        ],
    },
    Case {
        rule: "chunks are made anew",
        method: "GET",
        upstream: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhi\r\n0\r\n\r\n",
        status: 200,
        body: "2\r\nhi\r\n0\r\n\r\n",
        want: &[("transfer-encoding", Some("chunked")), ("content-length", None)],
    },
    Case {
        rule: "a length beside a coding never gets out (RFC 9112 6.3)",
        method: "GET",
        upstream: "HTTP/1.1 200 OK\r\nContent-Length: 40\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        status: 200,
        body: "2\r\nhi\r\n0\r\n\r\n",
        want: &[("transfer-encoding", Some("chunked")), ("content-length", None)],
    },
    Case {
        rule: "agreeing lengths become one (RFC 9110 8.6)",
        method: "GET",
        upstream: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
        status: 200,
        body: "hi",
        want: &[("content-length", Some("2"))],
    },
    Case {
        rule: "HEAD has no content, whatever its length says",
        method: "HEAD",
        upstream: "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n",
        status: 200,
        body: "",
        want: &[("content-length", Some("1234"))],
    },
    Case {
        rule: "nor has 304",
        method: "GET",
        upstream: "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n",
        status: 304,
        body: "",
        want: &[("etag", Some("\"x\"")), ("transfer-encoding", None)],
    },
    Case {
        rule: "nor 204",
        method: "DELETE",
        upstream: "HTTP/1.1 204 No Content\r\n\r\n",
        status: 204,
        body: "",
        want: &[("content-length", None), ("transfer-encoding", None)],
    },
    Case {
        rule: "informational responses are not the response",
        method: "GET",
        upstream: "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        status: 200,
        body: "",
        want: &[("link", None)],
    },
    Case {
        rule: "unknown status codes and phrases pass",
        method: "GET",
        upstream: "HTTP/1.1 299 Odd But Fine\r\nContent-Length: 0\r\n\r\n",
        status: 299,
        body: "",
        want: &[],
    },
];

#[test]
fn edits_the_response() {
    for Case { rule, method, upstream, status, body, want } in CASES {
        let server = Upstream::fixed(*upstream);
        let proxy = Plan::to(&[&server]).start();
        let mut client = proxy.client();
        // Twice, so that whatever is left over from the first shows.
        for _ in 0..2 {
            let reply = client.send(get("/", "").replace("GET", method)).reply_to(method);
            assert_eq!((reply.status, reply.text()), (*status, *body), "{rule}");
            for (name, value) in *want {
                assert_eq!(
                    reply.field(name).as_deref(),
                    *value,
                    "{rule}: {name} in {}",
                    reply.head
                );
            }
            assert!(reply.field("date").is_some(), "{rule}");
        }
        let reply = proxy.client().send(get("/", "").replace("GET", method)).reply_to(method);
        assert!(reply.head.lines().next().unwrap().ends_with(reason(upstream)), "{rule}");
    }
}

/// The phrase of the last status line.
fn reason(response: &str) -> &str {
    let line = response.split("\r\n").filter(|line| line.starts_with("HTTP/1.1")).last().unwrap();
    line.splitn(3, ' ').nth(2).unwrap()
}

/// pool-reuse-after-close: none of these upstream connections serves another request.
#[test]
fn does_not_reuse_a_doubtful_connection() {
    for (rule, response) in [
        ("it says close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"),
        (
            "it says so second",
            "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
        ),
        (
            "bytes follow the content",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad",
        ),
        ("it is HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    ] {
        let upstream = Upstream::run(move |peer| {
            while peer.request().is_some() {
                peer.send(response);
            }
        });
        let proxy = Plan::to(&[&upstream]).start();
        let mut client = proxy.client();
        for _ in 0..3 {
            assert_eq!(client.ask(get("/", "")).text(), "hi", "{rule}");
        }
        let mut connections = Vec::new();
        while connections.len() < 3 {
            if let super::upstream::Heard::Request { connection, .. } = upstream.heard() {
                connections.push(connection);
            }
        }
        assert_eq!(connections, [0, 1, 2], "{rule}");
    }
}

/// Content up to the end of the upstream's connection becomes chunks.
#[test]
fn frames_content_without_a_length() {
    let upstream = Upstream::run(|peer| {
        peer.request();
        peer.send("HTTP/1.0 200 OK\r\n\r\nall of it");
    });
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    for _ in 0..2 {
        let reply = client.ask(get("/", ""));
        assert_eq!(reply.text(), "9\r\nall of it\r\n0\r\n\r\n");
        assert_eq!(reply.field("via").as_deref(), Some("1.0 fingerpost"));
    }
}
