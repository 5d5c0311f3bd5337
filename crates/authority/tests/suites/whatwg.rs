//! What browsers read out of the authority of a URL.

use fingerpost_authority::{Authority, Host};

use super::{Otherwise, Row, compare, list, must, read, text};

static OTHERWISE: Otherwise<'_> = &[
    (
        "a numeric last label is a strict dotted quad or an error",
        &[
            "192.0x00A80001",
            "０Ｘｃ０．０２５０．０１",
            "192.168.257",
            "192.168.257.",
            "256",
            "999999999",
            "999999999.",
            "4294967295",
            "0xffffffff",
            "0x.0x.0",
        ],
    ),
    (
        "nothing is percent-decoded",
        &[
            "%30%78%63%30%2e%30%32%35%30.01",
            "%30%78%63%30%2e%30%32%35%30.01%2e",
            "%e2%98%83",
            "a%C2%ADb",
        ],
    ),
    ("an empty label is an error", &[".", "..", "foo.09.."]),
    ("a name holds [a-z0-9_-] only", &["!\"$&'()*+,-.;=_`{}~"]),
    (
        "the A-labels of requests are not decoded: one that is none equals nothing that was written",
        &[
            "a.b.c.xn--pokxncvks",
            "10.0.0.xn--pokxncvks",
            "a.b.c.XN--pokxncvks",
            "a.b.c.Xn--pokxncvks",
            "10.0.0.XN--pokxncvks",
            "10.0.0.xN--pokxncvks",
            "xn--",
        ],
    ),
];

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn hosts_are_those_of_browsers() {
    let suite = read("whatwg_host_cases.json");
    let rows: Vec<Row> = list(&suite, "cases")
        .iter()
        .map(|case| {
            let input = must(case, "authority");
            let requested = Authority::parse(input.as_bytes());
            // A browser converts before it sends, as we do with what people write: a request holds ASCII.
            let got = if input.is_ascii() {
                requested.ok().map(Authority::into_host)
            } else {
                assert!(requested.is_err(), "{input}");
                Host::from_written(input).ok()
            };
            Row {
                input: input.to_owned(),
                want: text(case, "host").map(str::to_owned),
                got: got.map(|host| host.to_string()),
            }
        })
        .collect();
    compare(&rows, OTHERWISE);
}
