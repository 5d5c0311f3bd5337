//! HTTPS: which certificate, and which hosts on it.

use std::io::Read;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use fingerpost::tls::{Certificates, MinVersion};
use rustls::version::{TLS12, TLS13};
use rustls::{AlertDescription, Error};

use super::proxy::{Plan, get};
use super::secure::{Pem, Trust};
use super::upstream::Upstream;

/// Serves `served` and says which of them a client is given that asks for `name`.
fn given(served: &[&Pem], default: Option<usize>, name: &str, sni: bool) -> Result<usize, String> {
    let upstream = Upstream::echo();
    let proxy = Plan::to(&[&upstream]).secure(served, default).start();
    let trust = Trust::in_these(served);
    let trust = if sni { trust } else { trust.without_sni() };
    let stream = trust.connect(proxy.https, name).map_err(|error| error.to_string())?;
    let first = stream.conn.peer_certificates().unwrap()[0].clone();
    Ok(served.iter().position(|pem| pem.der() == first).unwrap())
}

#[test]
fn the_name_that_is_asked_for_chooses_the_certificate() {
    let wildcard = Pem::of(&["*.w.example"]);
    let exact = Pem::of(&["a.w.example", "x.y.w.example"]);
    let again = Pem::of(&["a.w.example"]);
    let served = [&wildcard, &exact, &again];
    for (name, sni, want) in [
        ("a.w.example", true, Some(1)),
        ("A.W.EXAMPLE", true, Some(1)),
        ("x.y.w.example", true, Some(1)),
        ("b.w.example", true, Some(0)),
        ("b.y.w.example", true, None),
        ("w.example", true, None),
        ("other.test", true, None),
        ("a.w.example", false, None),
    ] {
        let got = given(&served, None, name, sni);
        match want {
            Some(want) => assert_eq!(got, Ok(want), "{name}"),
            None => {
                let alert = Error::AlertReceived(AlertDescription::UnrecognisedName);
                assert_eq!(got, Err(alert.to_string()), "{name}");
            }
        }
    }
}

#[test]
fn the_default_serves_who_names_nothing_known() {
    let (first, default) = (Pem::of(&["b.example"]), Pem::of(&["a.example", "127.0.0.1"]));
    let served = [&first, &default];
    for (name, sni, want) in
        [("a.example", false, 1), ("127.0.0.1", true, 1), ("b.example", true, 0)]
    {
        assert_eq!(given(&served, Some(1), name, sni), Ok(want), "{name}");
    }
    // The client refuses it then, not we.
    let refused = given(&served, Some(1), "c.example", true).unwrap_err();
    assert!(refused.contains("certificate"), "{refused}");
}

#[test]
fn a_host_that_the_certificate_does_not_name_is_misdirected() {
    let upstream = Upstream::echo();
    let (one, many) = (Pem::of(&["a.example"]), Pem::of(&["b.example", "*.b.example"]));
    let proxy = Plan::to(&[&upstream]).secure(&[&one, &many], None).start();
    let trust = Trust::in_these(&[&one, &many]);
    let mut client = proxy.secure_client(&trust, "a.example");
    for (host, want) in [
        ("a.example", 200),
        ("b.example", 421),
        ("A.EXAMPLE.:443", 200),
        ("x.b.example", 421),
        ("a.example:1", 200),
    ] {
        let reply = client.ask(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(reply.status, want, "{host}");
        assert!(!reply.closes(), "{host}");
    }
    // Every-host routes are asked for on some host too.
    let mut client = proxy.secure_client(&trust, "x.b.example");
    for (host, want) in [("x.b.example", 200), ("b.example", 200), ("a.example", 421)] {
        let reply = client.ask(format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(reply.status, want, "{host}");
    }
    // The target's authority is the host that counts.
    let absolute = "GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n";
    assert_eq!(client.ask(absolute).status, 421);
}

#[test]
fn an_upstream_hears_of_https() {
    let upstream = Upstream::echo();
    let pem = Pem::of(&["a.example"]);
    let mut plan = Plan::to(&[&upstream]).secure(&[&pem], None);
    plan.settings.forwarded = true;
    let proxy = plan.start();
    let mut client = proxy.secure_client(&Trust::in_these(&[&pem]), "a.example");
    let request = get("/", "X-Forwarded-Proto: http\r\nX-Forwarded-Port: 80\r\n");
    let text = client.ask(request).text().to_owned();
    assert!(text.contains("x-forwarded-proto: https\r\n"), "{text}");
    assert!(text.contains(&format!("x-forwarded-port: {}\r\n", proxy.https.port())), "{text}");
    assert!(text.contains("proto=https;host=\"a.example\""), "{text}");
    let text = proxy.ask(get("/", "")).text().to_owned();
    assert!(text.contains("x-forwarded-proto: http\r\n"), "{text}");
}

#[test]
fn old_versions_are_spoken_unless_they_are_refused() {
    let upstream = Upstream::echo();
    let pem = Pem::of(&["a.example"]);
    for (least, version, want) in [
        (MinVersion::Tls12, &TLS12, true),
        (MinVersion::Tls12, &TLS13, true),
        (MinVersion::Tls13, &TLS12, false),
        (MinVersion::Tls13, &TLS13, true),
    ] {
        let mut plan = Plan::to(&[&upstream]).secure(&[&pem], None);
        let all = Certificates::new([pem.identity()], None, least);
        plan.settings.certificates = Some(Arc::new(all));
        let proxy = plan.start();
        let trust = Trust::in_versions(&[&pem], &[version]);
        let connected = trust.connect(proxy.https, "a.example");
        assert_eq!(connected.is_ok(), want, "{least:?} {version:?}");
    }
}

#[test]
fn a_handshake_has_an_end() {
    let upstream = Upstream::echo();
    let pem = Pem::of(&["a.example"]);
    let mut plan = Plan::to(&[&upstream]).secure(&[&pem], None);
    plan.settings.header_timeout = Duration::from_millis(100);
    let proxy = plan.start();
    // Nothing at all, and the beginning of a record.
    for sent in [&b""[..], &[22, 3, 1, 2, 0, 1]] {
        let mut socket = TcpStream::connect(proxy.https).unwrap();
        socket.set_read_timeout(Some(super::client::PATIENCE)).unwrap();
        std::io::Write::write_all(&mut socket, sent).unwrap();
        assert!(matches!(socket.read(&mut [0; 64]), Ok(0) | Err(_)), "{sent:?}");
    }
    // One who speaks no TLS is told so and let go.
    let mut socket = TcpStream::connect(proxy.https).unwrap();
    std::io::Write::write_all(&mut socket, get("/", "").as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer);
    assert_eq!(answer.first(), Some(&21), "an alert: {answer:?}");
}

#[test]
fn certificates_are_replaced_under_open_connections() {
    let upstream = Upstream::echo();
    let (old, new) = (Pem::of(&["a.example"]), Pem::of(&["a.example"]));
    let proxy = Plan::to(&[&upstream]).secure(&[&old], None).start();
    let before = Trust::in_these(&[&old]);
    let mut client = proxy.secure_client(&before, "a.example");
    assert_eq!(client.ask(get("/", "")).status, 200);

    let next = Plan::to(&[&upstream]).secure(&[&new], None).generation(2);
    proxy.snapshots.publish(next.snapshot());
    assert_eq!(client.ask(get("/", "")).status, 200);
    assert_eq!(client.ask(get("/", "")).status, 200);
    let after = Trust::in_these(&[&new]);
    assert_eq!(proxy.secure_client(&after, "a.example").ask(get("/", "")).status, 200);
    // Without a session of the old one, the old one is not trusted any more.
    assert!(Trust::in_these(&[&old]).connect(proxy.https, "a.example").is_err());
}

#[test]
fn large_contents_pass_whole_both_ways() {
    let upstream = Upstream::run(|peer| {
        while let Some((_, body)) = peer.request() {
            peer.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
        }
    });
    let pem = Pem::of(&["a.example"]);
    let proxy = Plan::to(&[&upstream]).secure(&[&pem], None).start();
    let mut client = proxy.secure_client(&Trust::in_these(&[&pem]), "a.example");
    let content = "0123456789abcdef".repeat(64 * 1024);
    for _ in 0..2 {
        let head = format!(
            "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: {}\r\n\r\n",
            content.len()
        );
        let reply = client.ask(head + &content);
        assert_eq!(reply.body.len(), content.len());
        assert!(reply.body == content.as_bytes());
    }
}

#[test]
fn an_answer_is_not_lost_when_the_client_is_still_sending() {
    let upstream = Upstream::echo();
    let pem = Pem::of(&["a.example"]);
    let proxy = Plan::to(&[&upstream]).secure(&[&pem], None).start();
    let mut client = proxy.secure_client(&Trust::in_these(&[&pem]), "a.example");
    client.send("POST /healthz HTTP/1.1\r\nHost: a.example\r\nContent-Length: 1000000\r\n\r\n");
    for _ in 0..64 {
        if !client.try_send([0; 8192]) {
            break;
        }
    }
    let reply = client.reply();
    assert_eq!((reply.status, reply.text(), reply.closes()), (200, "ok", true));
}
