//! The verbs that ask a running box, and those about tokens.

use std::fs;
use std::process::Command;

use fingerpost_control::Role;

use super::world::{Files, ROUTES, World};

struct Printed {
    ok: bool,
    out: String,
    err: String,
}

fn fingerpost(arguments: &[&str], token: Option<&str>) -> Printed {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fingerpost"));
    command.args(arguments).env_remove("FINGERPOST_TOKEN");
    if let Some(token) = token {
        command.env("FINGERPOST_TOKEN", token);
    }
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Printed { ok: output.status.success(), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let files = Files::new();
    let file = files.folder.path().join("fingerpost.toml");
    fs::write(&file, files.text(ROUTES)).unwrap();
    let file = file.to_str().unwrap();
    let world = World::start(&files, ROUTES);

    let bad = fingerpost(&["token", "create", "--role", "publish", "--config", file], None);
    assert!(!bad.ok && bad.err.contains("needs an account"), "{}", bad.err);
    let bad = fingerpost(&["token", "create", "--role", "king", "--config", file], None);
    assert!(!bad.ok && bad.err.contains("a role is one of"), "{}", bad.err);

    let made = ["token", "create", "--account", "tickets", "--app", "classic", "--role", "publish"];
    let made = fingerpost(&[&made[..], &["--name", "ci", "--config", file]].concat(), None);
    assert!(made.ok, "{}", made.err);
    let token = made.out.trim();
    let line = "GET /api/cli/apps/tickets/classic/domains";
    assert_eq!(world.ask(token, line, "").status, 200, "a running box knows it at once");

    let listed = fingerpost(&["token", "list", "--config", file], None);
    assert!(listed.out.contains("publish   tickets  classic  ci"), "{}", listed.out);
    assert!(!listed.out.contains(token));
    let id = listed.out.split_whitespace().next().unwrap();
    let revoked = fingerpost(&["token", "revoke", id, "--config", file], None);
    assert!(revoked.ok && revoked.out.starts_with("revoked "), "{}", revoked.err);
    assert_eq!(world.ask(token, line, "").status, 401);
    assert!(!fingerpost(&["token", "revoke", id, "--config", file], None).ok);
    assert_eq!(fingerpost(&["token", "list", "--config", file], None).out, "");
}

#[test]
fn read_verbs_ask_the_live_snapshot() {
    let files = Files::new();
    let token = files.token(Role::Person, Some("tickets"), None);
    let operator = files.token(Role::Operator, None, None);
    let world = World::start(&files, ROUTES);
    let body = "{\"host\": \"tickets.example\"}";
    assert_eq!(world.ask(&token, "POST /api/cli/apps/tickets/classic/domains", body).status, 201);
    let map = "{\"paulca\": \"next.tickets.example\", \"gone\": \"gone.example\"}";
    assert_eq!(world.put(&token, "tickets/classic", "tickets.example", map).status, 200);
    let url = format!("http://{}", world.door);

    let routes = fingerpost(&["routes", "--admin", &url], Some(&operator));
    let want = "tickets.example (account tickets, app classic)\n  \
                /{*rest}  respond 200              classic\n  paulca    -> next.tickets.example\n";
    assert!(routes.out.contains(want), "{}{}", routes.out, routes.err);

    let paths =
        fingerpost(&["domains", "paths", "tickets.example", "--admin", &url], Some(&operator));
    assert_eq!(paths.out, "gone    gone.example  (target_missing)\npaulca  next.tickets.example\n");

    let explained =
        ["explain", "tickets.example", "/x/../paulca", "--admin", &url, "--token", &token];
    let explained = fingerpost(&explained, None);
    assert!(explained.out.starts_with("200\n  host      tickets.example\n"), "{}", explained.out);
    assert!(explained.out.contains("  route     go\n  prefix    paulca\n"), "{}", explained.out);

    let history = fingerpost(&["history", "tickets.example", "--admin", &url], Some(&token));
    assert!(history.out.trim_end().ends_with("0 -> 2 +gone +paulca"), "{}", history.out);
    let number = history.out.split_whitespace().next().unwrap();
    let past = ["history", "tickets.example", "--admin", &url, "--number", number];
    let past = fingerpost(&past, Some(&token));
    assert!(past.out.contains("\"paulca\": \"next.tickets.example\""), "{}{}", past.out, past.err);

    for (arguments, token, want) in [
        (&["domains", "paths", "tickets.example", "--admin", &url][..], None, "a token is needed"),
        (&["history", "x.example", "--admin", "https://127.0.0.1:1"][..], Some("t"), "http://"),
        (&["history", "x.example", "--admin", &url][..], Some("fpt_0"), "answered 401"),
        (&["domains", "paths", "other.example", "--admin", &url][..], Some(&*token), "no claim of"),
        (&["explain", "other.example", "/", "--admin", &url][..], Some(&*token), "answered 403"),
    ] {
        let printed = fingerpost(arguments, token);
        assert!(!printed.ok && printed.err.contains(want), "{arguments:?}: {}", printed.err);
    }
}
