//! What is written down: one line a failure, one line an exchange, and none while it is off.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail as tests do"
)]

mod wire {
    #[expect(dead_code, reason = "shared with the wire tests")]
    pub(crate) mod client;
    #[expect(dead_code, reason = "shared with the wire tests")]
    pub(crate) mod proxy;
    #[expect(dead_code, reason = "shared with the wire tests")]
    pub(crate) mod secure;
    #[expect(dead_code, reason = "shared with the wire tests")]
    pub(crate) mod upstream;
}

use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::Value;

use wire::client::PATIENCE;
use wire::proxy::{Plan, get};
use wire::upstream::Upstream;

/// A line at a time.
#[derive(Clone)]
struct Lines(Sender<Value>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let _ = self.0.send(serde_json::from_slice(bytes).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn next(lines: &Receiver<Value>) -> Value {
    lines.recv_timeout(PATIENCE).expect("a line")
}

/// One test, because a process has one log.
#[test]
fn writes_what_happened() {
    let (sender, lines) = channel();
    let sender = Lines(sender);
    let writer = move || sender.clone();
    let log = tracing_subscriber::fmt().json().flatten_event(true).with_writer(writer);
    tracing::subscriber::set_global_default(log.finish()).unwrap();

    // Off: exchanges leave no trace; a failure leaves one, whether or not it was seen by a client.
    let upstream = Upstream::run(|peer| {
        let (head, _) = peer.request().unwrap();
        match head.split(' ').nth(1).unwrap() {
            "/cut" => peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhal"),
            "/garbage" => peer.send("SSH-2.0-x\r\n"),
            _ => {
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
            }
        }
    });
    let proxy = Plan::to(&[&upstream]).start();
    assert_eq!(proxy.ask(get("/", "")).status, 200);
    assert_eq!(proxy.ask(get("/garbage", "")).status, 502);
    let line = next(&lines);
    assert_eq!(line["level"], "WARN");
    assert_eq!(line["fleet"], "main");
    assert_eq!(line["server"], upstream.address.to_string());
    assert_eq!(line["error"], "http_protocol_error");
    let mut client = proxy.client();
    client.send(get("/cut", ""));
    client.rest();
    assert_eq!(next(&lines)["error"], "connection_terminated");
    assert_eq!(proxy.ask(get("/", "")).status, 200);
    drop(proxy);
    assert!(lines.try_recv().is_err());

    // On: a line an exchange, ours included.
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.access_log = true;
    let proxy = plan.start();
    for (request, want) in [
        (
            get("/x?y=%20", "").replace("a.example", "A.example:80"),
            r#"{"host":"a.example","method":"GET","path":"/x","query":"y=%20","status":200,"bytes":5,"route":"a.example","complete":true}"#,
        ),
        (
            get("http://a.example:80/x/%2F?", ""),
            r#"{"host":"a.example","method":"GET","path":"/x/%2F","query":"","status":200}"#,
        ),
        (
            get("/healthz", "").replace("GET", "HEAD"),
            r#"{"host":"a.example","method":"HEAD","path":"/healthz","query":null,"status":200,"bytes":0,"route":"/healthz","complete":true}"#,
        ),
        (
            "GET / HTTP/1.1\r\nHost: nobody.example\r\n\r\n".into(),
            r#"{"host":"nobody.example","method":"GET","path":"/","status":421,"route":null,"complete":true}"#,
        ),
        (
            "GET /x HTTP/1.1\r\n\r\n".into(),
            r#"{"host":null,"path":"/x","status":400,"route":null}"#,
        ),
        (get("/cut", ""), r#"{"status":200,"bytes":3,"complete":false}"#),
    ] {
        let mut client = proxy.client();
        client.send(&request);
        client.head();
        let line = loop {
            let line = next(&lines);
            if line["target"] == "fingerpost::access" {
                break line;
            }
        };
        let want: Value = serde_json::from_str(want).unwrap();
        for (name, value) in want.as_object().unwrap() {
            assert_eq!(
                line.get(name).unwrap_or(&Value::Null),
                value,
                "{name} of {request:?}: {line}"
            );
        }
        assert_eq!(line["client"], "127.0.0.1");
        assert!(line["seconds"].as_f64().unwrap() < 10.0);
    }
}
