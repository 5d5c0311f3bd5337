//! Hosts and patterns in documents.
#![cfg(feature = "serde")]

use fingerpost_authority::{Host, HostPattern};

#[test]
fn what_is_written_is_read_canonically() {
    for (json, want) in [
        (r#""A.com""#, r#""a.com""#),
        (r#""b\u00fccher.example""#, r#""xn--bcher-kva.example""#),
        (r#""[2001:DB8:0::1]""#, r#""[2001:db8::1]""#),
    ] {
        let host: Host = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&host).unwrap(), want);
        let pattern: HostPattern = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&pattern).unwrap(), want);
    }
    for text in [r#""*""#, r#""*.a.com""#, r#""**.a.com""#] {
        let pattern: HostPattern = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&pattern).unwrap(), text);
    }
}

#[test]
fn errors_carry_their_causes() {
    for (json, want) in [
        (r#""a.com:80""#, "a port begins at byte 5; a bare host is wanted"),
        (r#""a..b""#, "not a host: empty label at byte 2"),
        ("7", "invalid type: integer `7`, expected a host"),
    ] {
        let error = serde_json::from_str::<Host>(json).unwrap_err().to_string();
        assert!(error.starts_with(want), "{error}");
    }
    for (json, want) in [
        (r#""*.a..b""#, "no host at byte 2: not a host: empty label at byte 2"),
        (r#""a.*.b""#, "the wildcard at byte 2 is neither the whole pattern nor its first label"),
        ("null", "invalid type: null, expected a host, `*.name`, `**.name` or `*`"),
    ] {
        let error = serde_json::from_str::<HostPattern>(json).unwrap_err().to_string();
        assert!(error.starts_with(want), "{error}");
    }
}
