//! The verbs that read a configuration.

use std::process::{Command, Output};

fn fingerpost(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fingerpost"));
    let command = command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/check"));
    let Output { status, stdout, stderr } =
        command.args(arguments).output().expect("the binary was built for this test");
    let text = |bytes| String::from_utf8(bytes).expect("everything printed here is UTF-8");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn check_prints_diagnostics_to_stderr_and_a_summary_to_stdout() {
    let (code, out, err) = fingerpost(&["check", "example.toml"]);
    assert_eq!(code, Some(0));
    let summary = "2 fleets, 4 routes on 4 hosts, 1 shared route, 1 prefix of 1 claim, 1 warning";
    assert_eq!(out, format!("example.toml: ok: {summary}\n"));
    assert!(err.starts_with("example.toml:49:40: warning: site[0].routes[0].fleet: "), "{err}");

    let (code, out, err) = fingerpost(&["check", "cases.rs"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.lines().last().unwrap().ends_with(" errors"), "{err}");

    let (code, _, err) = fingerpost(&["check", "missing.toml"]);
    assert_eq!(code, Some(1));
    assert!(err.starts_with("missing.toml: can't be read: "), "{err}");
}

#[test]
fn routes_indents_paths_and_prefixes_under_their_host() {
    let (code, out, _) = fingerpost(&["routes", "--config", "example.toml"]);
    assert_eq!(code, Some(0));
    let want = "\
every host, first
  /healthz  respond 200  health
docs.example.com (no fallback)
  /{*rest}  fleet classic  docs.example.com /{*rest}
next.tickets.example (account tickets, app go)
  /{*rest}  fleet go  go
tickets.example (account tickets, app classic)
  /{*rest}  fleet classic            classic
  paulca    -> next.tickets.example
*.docs.example.com (no fallback)
  /{*rest}  fleet classic  *.docs.example.com /{*rest}
";
    assert_eq!(out, want);

    let (_, out, _) = fingerpost(&["routes", "--config", "example.toml", "--json"]);
    let routes: serde_json::Value = serde_json::from_str(&out).unwrap();
    let site = &routes["sites"][2];
    assert_eq!(site["host"], "tickets.example");
    assert_eq!(site["routes"][0]["action"]["fleet"], "classic");
    let entry = serde_json::json!({"prefix": "paulca", "target": "next.tickets.example"});
    assert_eq!(site["paths"][0], entry);
    assert_eq!(routes["shared"][0]["scope"], "every-host");
}

#[test]
fn domains_paths_lists_the_map_of_a_host() {
    let paths = |host, json: &[&str]| {
        let arguments = [&["domains", "paths", host, "--config", "example.toml"], json].concat();
        fingerpost(&arguments)
    };
    let (code, out, _) = paths("Tickets.Example", &[]);
    assert_eq!((code, out.as_str()), (Some(0), "paulca  next.tickets.example\n"));
    let (code, out, _) = paths("next.tickets.example", &[]);
    assert_eq!((code, out.as_str()), (Some(0), ""));
    let (_, out, _) = paths("tickets.example", &["--json"]);
    let map: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(map["paths"]["paulca"], "next.tickets.example");
    for host in ["unknown.example", "tickets.example:80"] {
        let (code, out, err) = paths(host, &[]);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{host}");
        assert!(err.contains(host), "{err}");
    }
}

#[test]
fn a_wrong_command_line_exits_with_2() {
    for arguments in [&["frobnicate"][..], &["check", "a", "b"], &["explain"], &["domains"]] {
        assert_eq!(fingerpost(arguments).0, Some(2), "{arguments:?}");
    }
}
