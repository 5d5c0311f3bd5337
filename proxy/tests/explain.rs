//! `explain --jsonl`: one line for each line, in the form that is documented.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const CONFIG: &str = r#"
unknown_host = "reject"
[listen]
http = ["127.0.0.1:0"]
[fleets.classic]
servers = ["127.0.0.1:1"]
[fleets.go]
servers = ["127.0.0.1:2"]
[[routes]]
id = "classic"
hosts = ["tickets.example"]
fleet = "classic"
account = "tickets"
app = "classic"
legacy = "rails"
[[routes]]
id = "go"
hosts = ["next.tickets.example"]
path = "/paulca/{*rest}"
fleet = "go"
account = "tickets"
app = "go"
[[routes]]
id = "health"
path = "/healthz"
scope = "every-host"
respond = { status = 200, body = "ok" }
[[routes]]
id = "common"
path = "/common"
respond = { status = 200, body = "ok" }
[[site]]
hosts = ["docs.example.com", "*.docs.example.com"]
fallback = "none"
routes = [{ path = "/a", redirect = "https://docs.example.com/" }]
[[claims]]
host = "tickets.example"
account = "tickets"
app = "classic"
paths = { paulca = "next.tickets.example" }
"#;

struct Case {
    ask: Value,
    want: Value,
}

/// A case with its answer's fields in order: status, host, tier, site, route, prefix, spelling, target.
fn case(ask: Value, want: [Value; 8]) -> Case {
    let names = ["status", "host", "tier", "site", "route", "prefix", "spelling", "target"];
    let want = names.into_iter().map(str::to_owned).zip(want).collect();
    Case { ask, want: Value::Object(want) }
}

fn cases() -> Vec<Case> {
    let null = || Value::Null;
    let (tickets, next) = (|| json!("tickets.example"), || json!("next.tickets.example"));
    let to_go = |spelling: &str| {
        [
            json!(200),
            tickets(),
            json!("exact"),
            tickets(),
            json!("go"),
            json!("paulca"),
            json!(spelling),
            next(),
        ]
    };
    let to_classic = || {
        [
            json!(200),
            tickets(),
            json!("exact"),
            tickets(),
            json!("classic"),
            null(),
            json!("normalised"),
            null(),
        ]
    };
    let only = |status: u16, host: Value| {
        [json!(status), host, null(), null(), null(), null(), null(), null()]
    };
    let at_tickets = |status: u16| {
        [json!(status), tickets(), json!("exact"), tickets(), null(), null(), null(), null()]
    };
    let h1 = |target: &str, host: &str| json!({"version":"1.1","target":target,"host":[host]});
    vec![
        case(h1("/paulca/foo", "tickets.example"), to_go("normalised")),
        case(h1("/paulca", "TICKETS.example.:8080"), to_go("normalised")),
        case(h1("http://Tickets.example/paulca", "other.example"), to_go("normalised")),
        case(
            json!({"version":"2","authority":"tickets.example","target":"/paulca"}),
            to_go("normalised"),
        ),
        case(
            json!({"version":"1.1","target_hex":"2f7061756c6361","host_hex":["7469636b6574732e6578616d706c65"]}),
            to_go("normalised"),
        ),
        case(h1("/other/foo", "tickets.example"), to_classic()),
        case(h1("/paulcarson", "tickets.example"), to_classic()),
        // The path is looked up in the target's own tree, and never comes back from there.
        case(h1("/paulca.json", "tickets.example"), at_tickets(404)),
        case(h1("/x%zz", "tickets.example"), at_tickets(400)),
        case(h1("/x#y", "tickets.example"), at_tickets(400)),
        case(
            h1("/healthz", "nobody.example"),
            [
                json!(200),
                json!("nobody.example"),
                json!("every-host"),
                null(),
                json!("health"),
                null(),
                json!("normalised"),
                null(),
            ],
        ),
        case(h1("/x", "nobody.example"), only(421, json!("nobody.example"))),
        case(
            json!({"version":"1.0","target":"/common"}),
            [
                json!(200),
                null(),
                json!("shared"),
                null(),
                json!("common"),
                null(),
                json!("normalised"),
                null(),
            ],
        ),
        case(
            h1("/a", "x.docs.example.com"),
            [
                json!(200),
                json!("x.docs.example.com"),
                json!("wildcard"),
                json!("*.docs.example.com"),
                json!("*.docs.example.com /a"),
                null(),
                json!("normalised"),
                null(),
            ],
        ),
        case(
            h1("/common", "docs.example.com"),
            [
                json!(404),
                json!("docs.example.com"),
                json!("exact"),
                json!("docs.example.com"),
                null(),
                null(),
                null(),
                null(),
            ],
        ),
        case(json!({"version":"1.1","target":"/","host":[]}), only(400, null())),
        case(json!({"version":"1.1","target":"/","host":["a","a"]}), only(400, null())),
        case(
            json!({"version":"1.1","method":"CONNECT","target":"a:80","host":["a"]}),
            only(405, null()),
        ),
        case(
            json!({"version":"1.1","target":"/","host":["tickets.example"],"tls_names":["a.example"]}),
            only(421, tickets()),
        ),
        case(
            json!({"version":"1.1","target":"/x","host":["tickets.example"],"tls_names":["*.example","tickets.example"]}),
            to_classic(),
        ),
    ]
}

#[test]
fn every_line_is_answered_in_order_and_in_full() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fingerpost.toml");
    std::fs::write(&file, CONFIG).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fingerpost"))
        .args(["explain", "--jsonl", "--config"])
        .arg(&file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    // One at a time: an answer does not wait for the next question.
    let mut ask = |line: &str| {
        writeln!(input, "{line}").unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        serde_json::from_str::<Value>(&answer).unwrap()
    };
    for (number, Case { ask: mut question, want }) in cases().into_iter().enumerate() {
        question["id"] = json!(number.to_string());
        let mut answer = ask(&question.to_string());
        assert_eq!(answer["id"], json!(number.to_string()));
        assert!(answer["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{answer}");
        let fields = answer.as_object_mut().unwrap();
        fields.retain(|name, _| name != "id" && name != "reason");
        assert_eq!(answer, want, "{question}");
    }
    for (line, id) in [
        ("", Value::Null),
        ("nonsense", Value::Null),
        (r#"{"id":7,"target":"/"}"#, json!(7)),
        (r#"{"id":"x","version":"9","target":"/"}"#, json!("x")),
        (r#"{"id":"x","version":"1.1"}"#, json!("x")),
        (r#"{"id":"x","version":"1.1","target_hex":"2"}"#, json!("x")),
        (r#"{"id":"x","version":"1.1","target":"/","target_hex":"2f"}"#, json!("x")),
        (r#"{"id":"x","version":"1.1","target":"/","host":"a"}"#, json!("x")),
    ] {
        let answer = ask(line);
        assert_eq!(answer["id"], id, "{line}");
        assert!(answer["error"].is_string() && answer["status"].is_null(), "{answer}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}
