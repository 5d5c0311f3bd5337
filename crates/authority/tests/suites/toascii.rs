//! How browsers convert a domain to ASCII.

use fingerpost_authority::Host;

use super::{Otherwise, Row, compare, list, must, read, text};

static OTHERWISE: Otherwise<'_> = &[
    ("an empty label is an error", &["x..xn--zca", "x..ß"]),
    ("what is written has no trailing dot", &["ي."]),
    (
        "the idna crate applies RFC 5893 2 to every label: in a right-to-left name none begins with a digit",
        &["1.ي"],
    ),
    (
        "RFC 1035 2.3.4: a label of more than 63 bytes",
        &[
            "x01234567890123456789012345678901234567890123456789012345678901x",
            "x01234567890123456789012345678901234567890123456789012345678901†",
            "x01234567890123456789012345678901234567890123456789012345678901x.xn--zca",
            "x01234567890123456789012345678901234567890123456789012345678901x.ß",
        ],
    ),
    (
        "RFC 1035 2.3.4: a name of more than 253 bytes",
        &[
            "01234567890123456789012345678901234567890123456789.01234567890123456789012345678901234567890123456789.01234567890123456789012345678901234567890123456789.01234567890123456789012345678901234567890123456789.0123456789012345678901234567890123456789012345678.x",
            "01234567890123456789012345678901234567890123456789.01234567890123456789012345678901234567890123456789.01234567890123456789012345678901234567890123456789.01234567890123456789012345678901234567890123456789.0123456789012345678901234567890123456789012345678.xn--zca",
            "01234567890123456789012345678901234567890123456789.01234567890123456789012345678901234567890123456789.01234567890123456789012345678901234567890123456789.01234567890123456789012345678901234567890123456789.0123456789012345678901234567890123456789012345678.ß",
        ],
    ),
    ("nothing is percent-decoded", &["a%C2%ADb"]),
];

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn written_hosts_are_converted_like_domains() {
    let suite = read("wpt_toascii_cases.json");
    let rows: Vec<Row> = list(&suite, "cases")
        .iter()
        .map(|case| {
            let input = must(case, "input");
            Row {
                input: input.to_owned(),
                want: text(case, "ascii").map(str::to_owned),
                got: Host::from_written(input).ok().map(|host| host.to_string()),
            }
        })
        .collect();
    compare(&rows, OTHERWISE);
}
