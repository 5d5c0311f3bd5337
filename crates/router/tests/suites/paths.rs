//! How other programs normalise paths: Go, WHATWG, httprouter, Envoy, nginx.

use fingerpost_authority::Target;
use fingerpost_path::{PathForm, Preset, Rules, check_path, normal_form, variants};
use serde_json::Value;

use super::{Otherwise, Row, compare, list, must, read, rooted};

/// A path's first segment, as it stands.
fn first(path: &str) -> &str {
    let path = path.strip_prefix('/').unwrap_or(path);
    path.split('/').next().unwrap_or_default()
}

/// `want` if it is among the readings, else all of them, or why there are none.
fn reads(rules: &Rules, path: &str, want: &str) -> String {
    match rules.spellings(path.as_bytes(), None) {
        Err(refused) => format!("refused: {refused}"),
        Ok(spellings) => {
            let texts =
                spellings.iter().map(|reading| reading.segment().escape_ascii().to_string());
            let all: Vec<String> = texts.collect();
            if all.iter().any(|text| text == want) { want.to_owned() } else { all.join(" ") }
        }
    }
}

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn the_cleaned_form_is_gos() {
    let suite = read("go_path_clean_cases.json");
    let rows: Vec<Row> = list(&suite, "cases")
        .iter()
        .map(|case| {
            // a request's path begins with a slash: so does what is cleaned
            let path = rooted(must(case, "path"));
            let clean = must(case, "clean");
            let want = first(clean.trim_start_matches("../"));
            let want = if matches!(want, "." | "..") { "" } else { want };
            let base = Rules::new(fingerpost_path::Families::BASE);
            let spellings = base.spellings(path.as_bytes(), None).unwrap();
            let got = spellings.iter().next().unwrap().segment().escape_ascii().to_string();
            Row { input: must(case, "path").to_owned(), want: want.to_owned(), got }
        })
        .collect();
    compare(&rows, GO);
}

static GO: Otherwise = &[];

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn the_first_segment_of_a_whatwg_url_is_a_reading() {
    let suite = read("whatwg_path_cases.json");
    let rules = Rules::new(Preset::Whatwg.families());
    let rows: Vec<Row> = list(&suite, "cases")
        .iter()
        .map(|case| {
            let path = rooted(must(case, "raw_path"));
            let want = decoded(first(must(case, "normal_path")));
            Row { input: must(case, "raw_path").to_owned(), got: reads(&rules, &path, &want), want }
        })
        .collect();
    compare(&rows, WHATWG);
}

static WHATWG: Otherwise = &[
    (
        "a malformed escape is refused",
        &["/foo/%2e%2", "/foo%", "/foo%2", "/foo%2zbar", "/foo%2Â©zbar"],
    ),
    ("an encoded NUL is refused", &["/foo%00%51"]),
    ("a raw control byte is refused", &["/path{\u{7f}path.html", "/\0y", "\0"]),
    ("a raw fragment is refused", &["#", "/#é"]),
    ("a raw space is refused", &[" "]),
];

/// Decoded once, as printable text.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                out.extend(&part.as_bytes()[2..]);
            }
            None => out.extend([b"%", part.as_bytes()].concat()),
        }
    }
    out.escape_ascii().to_string()
}

/// `want` if a spelling of the whole path is that, else all of them.
fn spells(path: &str, want: &str) -> String {
    let forms = variants(path.as_bytes());
    let texts: Vec<String> =
        forms.iter().map(|form: &PathForm<'_>| form.bytes().escape_ascii().to_string()).collect();
    if texts.iter().any(|text| text == want) { want.to_owned() } else { texts.join(" ") }
}

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn a_path_that_httprouter_cleans_is_matched_cleaned() {
    let suite = read("httprouter_clean_path_cases.json");
    let rows: Vec<Row> = list(&suite, "cases")
        .iter()
        .map(|case| {
            let (path, want) = (must(case, "path"), must(case, "clean"));
            Row { input: path.to_owned(), want: want.to_owned(), got: spells(&rooted(path), want) }
        })
        .collect();
    compare(&rows, HTTPROUTER);
}

static HTTPROUTER: Otherwise =
    &[("a `..` at the end leaves the slash before it (RFC 3986 5.2.4)", &["/abc/def/.."])];

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn envoys_normalised_path_is_a_spelling() {
    let suite = read("envoy_path_cases.json");
    let (mut rows, mut unsaid) = (Vec::new(), 0);
    for case in list(&suite, "cases") {
        let (op, path) = (must(case, "op"), must(case, "path"));
        // options that this crate has none of, and what Target::parse does
        if case["options"].is_object() || op == "strip_query_fragment" || path.contains(['?', '#'])
        {
            unsaid += 1;
            continue;
        }
        let input = format!("{op} {path}");
        let Some(want) = case["result"].as_str() else {
            let got = check_path(path.as_bytes())
                .map_or_else(|_| "refused".to_owned(), |()| "accepted".to_owned());
            rows.push(Row { input, want: "refused".to_owned(), got });
            continue;
        };
        let want = rooted(want).as_bytes().escape_ascii().to_string();
        let got = match op {
            "canonical" => normal_form(rooted(path).as_bytes()).escape_ascii().to_string(),
            _ => spells(&rooted(path), &want),
        };
        rows.push(Row { input, want, got });
    }
    assert_eq!(unsaid, 37, "rows about something else");
    compare(&rows, ENVOY);
}

static ENVOY: Otherwise = &[
    ("a backslash is a slash in the bslash family only", &["canonical /a/..\\c"]),
    (
        "escapes are in upper case (RFC 3986 6.2.2.1)",
        &["canonical /%c0%af", "canonical /%5c%25", "canonical /a/%2F%2f/c"],
    ),
    ("dot segments above the root are dropped (RFC 3986 5.2.4)", &["uhv_normalize /.."]),
];

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn the_uri_that_nginx_matches_is_a_spelling() {
    let suite = read("nginx_uri_cases.json");
    let rows: Vec<Row> = list(&suite, "cases")
        .iter()
        .map(|case: &Value| {
            let target = must(case, "target");
            let path = Target::parse(target.as_bytes()).path();
            let got = match path.filter(|path| check_path(path).is_ok()) {
                None => "400".to_owned(),
                Some(path) => {
                    let want = case["expect_path"].as_str().unwrap_or_default();
                    let text = std::str::from_utf8(path).unwrap();
                    spells(text, &want.as_bytes().escape_ascii().to_string())
                }
            };
            let want = case["expect_path"]
                .as_str()
                .map_or_else(|| "400".to_owned(), |path| path.escape_default().to_string());
            Row { input: target.to_owned(), want, got: got.replace("\\x02", "\\u{2}") }
        })
        .collect();
    compare(&rows, NGINX);
}

static NGINX: Otherwise =
    &[("a raw fragment is refused", &["/foo/bar/.#frag", "/foo/bar/..#frag"])];
