//! HTTP/2 from clients, HTTP/1.1 to upstreams.

use http::{HeaderMap, Request};

use super::h2_client::{H2, get, post};
use super::proxy::{Plan, Proxy};
use super::secure::{Pem, Trust};
use super::upstream::{Heard, Upstream};

fn secure(plan: Plan) -> (Proxy, Trust) {
    let pem = Pem::of(&["a.example", "*.w.example"]);
    let trust = Trust::in_these(&[&pem]);
    (plan.secure(&[&pem], None).start(), trust)
}

/// Fields that say something about a connection.
fn hop_by_hop(headers: &HeaderMap) -> Vec<&str> {
    const NAMES: [&str; 5] =
        ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];
    NAMES.into_iter().filter(|name| headers.contains_key(*name)).collect()
}

#[test]
fn the_handshake_chooses_the_version() {
    let upstream = Upstream::echo();
    let (proxy, trust) = secure(Plan::to(&[&upstream]));
    for (offered, want) in [
        (&["h2", "http/1.1"][..], Some(&b"h2"[..])),
        (&["http/1.1", "h2"], Some(b"h2")),
        (&["http/1.1"], Some(b"http/1.1")),
        (&[], None),
    ] {
        let trust = trust.clone().alpn(offered);
        let stream = trust.connect(proxy.https, "a.example").unwrap();
        assert_eq!(stream.conn.alpn_protocol(), want, "{offered:?}");
    }
    assert!(trust.alpn(&["acme-tls/1"]).connect(proxy.https, "a.example").is_err());
}

#[test]
fn a_request_becomes_one_of_http_1() {
    let upstream = Upstream::echo();
    let (proxy, trust) = secure(Plan::to(&[&upstream]));
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    let request = Request::get("https://A.example:443/x?y=%2f")
        .header("cookie", "a=1")
        .header("cookie", "b=2; c=3")
        .header("cookie", "d=\"4\"")
        .header("te", "trailers")
        .header("accept", "x")
        .header("accept", "y")
        .header("x-forwarded-for", "6.6.6.6")
        .body(())
        .unwrap();
    let answer = client.ask(request).unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(hop_by_hop(answer.head.headers()), [""; 0]);
    assert_eq!(answer.head.headers()["via"], "1.1 fingerpost");
    let head = answer.text();
    assert!(head.starts_with("GET /x?y=%2f HTTP/1.1\r\n"), "{head}");
    for line in [
        "host: A.example:443",
        "cookie: a=1; b=2; c=3; d=\"4\"",
        "te: trailers",
        "connection: te",
        "accept: x",
        "accept: y",
        "x-forwarded-for: 127.0.0.1",
        "x-forwarded-proto: https",
        "x-forwarded-host: A.example:443",
        "via: 2.0 fingerpost",
    ] {
        assert_eq!(head.matches(&format!("\r\n{line}\r\n")).count(), 1, "{line} in {head}");
    }
    assert_eq!(head.matches("cookie").count(), 1, "{head}");
    assert!(!head.contains("content-length") && !head.contains("transfer-encoding"), "{head}");
}

#[test]
fn content_goes_both_ways_with_and_without_a_length() {
    let upstream = Upstream::echo();
    let (proxy, trust) = secure(Plan::to(&[&upstream]));
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    for (length, framing, content) in [
        (Some("4"), "content-length: 4", "data"),
        (None, "transfer-encoding: chunked", "2\r\nda\r\n2\r\nta\r\n0\r\n\r\n"),
    ] {
        let mut request = post("https://a.example/up");
        if let Some(length) = length {
            request.headers_mut().insert("content-length", length.parse().unwrap());
        }
        let mut begun = client.begin(request, false).unwrap();
        client.send(&mut begun, "da", false);
        client.pause(std::time::Duration::from_millis(50));
        client.send(&mut begun, "ta", true);
        let answer = client.finish(begun).unwrap();
        let text = answer.text();
        assert!(text.contains(&format!("\r\n{framing}\r\n")), "{text}");
        assert!(text.ends_with(&format!("\r\n\r\n{content}")), "{text}");
    }
    // A length that is not kept is an error of this stream only.
    let mut request = post("https://a.example/up");
    request.headers_mut().insert("content-length", "9".parse().unwrap());
    let mut begun = client.begin(request, false).unwrap();
    client.send(&mut begun, "short", true);
    let refused = client.finish(begun);
    assert!(refused.map_or(true, |answer| answer.status() == 400));
    assert_eq!(client.get("https://a.example/").status(), 200);
}

#[test]
fn a_large_content_passes_whole() {
    let content = "0123456789abcdef".repeat(256 * 1024);
    let length = content.len();
    let upstream = Upstream::run({
        let content = content.clone();
        move |peer| {
            while peer.request().is_some() {
                peer.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{content}"));
            }
        }
    });
    let (proxy, trust) = secure(Plan::to(&[&upstream]));
    let mut builder = h2::client::Builder::new();
    // Room for all of them: they are read one after the other.
    builder.initial_connection_window_size(1 << 20);
    let mut client = H2::secure_with(builder, proxy.https, &trust, "a.example");
    let begun: Vec<_> =
        (0..4).map(|_| client.begin(get("https://a.example/"), true).unwrap()).collect();
    for begun in begun {
        assert!(client.finish(begun).unwrap().body == content.as_bytes());
    }
}

#[test]
fn trailers_arrive() {
    let grpc = "HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\nTransfer-Encoding: chunked\r\n\
                Trailer: grpc-status\r\n\r\n3\r\nabc\r\n0\r\ngrpc-status: 5\r\ncontent-length: 9\r\n\r\n";
    let upstream = Upstream::fixed(grpc);
    let (proxy, trust) = secure(Plan::to(&[&upstream]));
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    let mut request = post("https://a.example/pkg.Service/Call");
    request.headers_mut().insert("te", "trailers".parse().unwrap());
    let mut begun = client.begin(request, false).unwrap();
    client.send(&mut begun, "x", true);
    let answer = client.finish(begun).unwrap();
    assert_eq!(answer.text(), "abc");
    let trailers = answer.trailers.unwrap();
    assert_eq!(trailers["grpc-status"], "5");
    assert_eq!(trailers.len(), 1, "{trailers:?}");
    assert_eq!(hop_by_hop(answer.head.headers()), [""; 0]);
}

#[test]
fn a_response_without_content_ends_with_its_header() {
    let upstream = Upstream::fixed("HTTP/1.1 204 No Content\r\ngrpc-status: 3\r\n\r\n");
    let (proxy, trust) = secure(Plan::to(&[&upstream]));
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    let begun = client.begin(get("https://a.example/"), true).unwrap();
    let response = client.head(begun).unwrap();
    assert_eq!(response.headers()["grpc-status"], "3");
    assert!(response.body().is_end_stream());
}

#[test]
fn what_is_refused_is_refused_for_one_stream() {
    let upstream = Upstream::echo();
    let (proxy, trust) = secure(Plan::to(&[&upstream]).and("*.w.example", &upstream));
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    let with_host = |host: &str| {
        let mut request = get("https://a.example/");
        request.headers_mut().insert("host", host.parse().unwrap());
        request
    };
    let connect = Request::connect("a.example:443").body(()).unwrap();
    let trace = Request::builder().method("TRACE").uri("https://a.example/").body(()).unwrap();
    let mut framed = get("https://a.example/");
    framed.headers_mut().insert("content-length", "0".parse().unwrap());
    for (request, want) in [
        (get("https://a.example/"), 200),
        (get("https://b.w.example/"), 200),
        (get("https://b.example/"), 421),
        (with_host("a.example"), 200),
        (with_host("a.example:443"), 200),
        (with_host("b.w.example"), 400),
        (with_host("a.example:444"), 400),
        (with_host("a..example"), 400),
        (connect, 405),
        (trace, 405),
        (framed, 200),
        (get("https://a.example/healthz"), 200),
        (get("https://a.example/old/x"), 308),
    ] {
        let what = format!("{request:?}");
        let answer = client.ask(request).unwrap();
        assert_eq!(answer.status(), want, "{what}");
        assert_eq!(hop_by_hop(answer.head.headers()), [""; 0], "{what}");
    }
}

#[test]
fn answers_of_our_own_leave_the_content_alone() {
    let upstream = Upstream::echo();
    let (proxy, trust) = secure(Plan::to(&[&upstream]));
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    for _ in 0..3 {
        let begun = client.begin(post("https://a.example/healthz"), false).unwrap();
        let response = client.head(begun).unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(hop_by_hop(response.headers()), [""; 0]);
    }
    assert_eq!(client.get("https://a.example/").status(), 200);
}

#[test]
fn a_response_that_is_cut_short_is_reset() {
    let upstream = Upstream::run(|peer| {
        if peer.request().is_some() {
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        }
    });
    let (proxy, trust) = secure(Plan::to(&[&upstream]));
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    let error = client.ask(get("https://a.example/")).unwrap_err();
    assert!(error.is_reset(), "{error:?}");
    assert_eq!(client.get("https://a.example/healthz").status(), 200);
}

#[test]
fn a_request_that_is_given_up_is_given_up_upstream() {
    let upstream = Upstream::run(|peer| {
        peer.request();
        peer.wait_for_end();
    });
    let (proxy, trust) = secure(Plan::to(&[&upstream]));
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    let begun = client.begin(get("https://a.example/"), true).unwrap();
    assert!(upstream.head().starts_with("GET /"));
    drop(begun);
    assert_eq!(client.get("https://a.example/healthz").status(), 200);
    assert_eq!(upstream.heard(), Heard::End { connection: 0 });
}

#[test]
fn prior_knowledge_is_spoken_where_it_is_wanted() {
    let upstream = Upstream::echo();
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.http2.prior_knowledge = true;
    let proxy = plan.start();
    let mut client = H2::plain(proxy.address);
    let answer = client.get("http://a.example/x");
    assert!(answer.text().contains("\r\nx-forwarded-proto: http\r\n"), "{}", answer.text());

    // HTTP/1.1 as before, also where it begins as a preface does, or comes in pieces.
    let ask = |pieces: &[&str]| {
        let mut client = proxy.client();
        for piece in pieces {
            client.send(piece);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        client.reply().status
    };
    assert_eq!(ask(&["GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"]), 200);
    assert_eq!(ask(&["P", "OST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n"]), 200);
    assert_eq!(ask(&["PRI", "NT / HTTP/1.1\r\nHost: a.example\r\n\r\n"]), 200);
    let mut client = proxy.client();
    for piece in ["PRI * HTTP", "/2.0\r\n\r\nSM\r\n\r", "\n"] {
        client.send(piece);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    client.send([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    // A SETTINGS frame on stream 0.
    assert_eq!(client.take(9)[3..9], [4, 0, 0, 0, 0, 0]);

    let proxy = Plan::to(&[&upstream]).start();
    assert!(proxy.client().send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").is_closed());
}
