//! The one list of the fields that only proxies set.

/// What a field that only proxies set speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Managed {
    /// The client's connection and what it was asked for.
    Connection,
    /// A path: some applications answer for it instead of the target's.
    Path,
}

impl Managed {
    /// Finds `name`, in lower case; `None` for a field that a client may set.
    ///
    /// Fields that override the method are none of these: no route is chosen by the method, and
    /// clients behind strict firewalls live from them.
    pub(crate) fn of(name: &str) -> Option<Self> {
        if name == "forwarded" {
            return Some(Self::Connection);
        }
        let rest = name.strip_prefix("x-")?;
        if PATHS.contains(&name) {
            Some(Self::Path)
        } else if rest.starts_with("forwarded-") || matches!(rest, "original-host" | "real-ip") {
            Some(Self::Connection)
        } else {
            None
        }
    }
}

/// All fields of [`Managed::Path`]. Each is read as the path, or as its beginning, by a server, a
/// framework or a middleware that is in use; all begin with `x-`.
pub(super) const PATHS: [&str; 19] = [
    "x-envoy-original-path",
    "x-forwarded-path",
    "x-forwarded-pathbase",
    "x-forwarded-prefix",
    "x-forwarded-script-name",
    "x-forwarded-uri",
    "x-forwarded-url",
    "x-http-destinationurl",
    "x-ingress-path",
    "x-original-path",
    "x-original-uri",
    "x-original-url",
    "x-override-url",
    "x-replaced-path",
    "x-rewrite-uri",
    "x-rewrite-url",
    "x-rewritten-url",
    "x-script-name",
    "x-waws-unencoded-url",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_proxies_set() {
        for path in PATHS {
            assert_eq!(Managed::of(path), Some(Managed::Path), "{path}");
        }
        for (name, want) in [
            ("forwarded", Some(Managed::Connection)),
            ("x-forwarded-for", Some(Managed::Connection)),
            ("x-forwarded-anything", Some(Managed::Connection)),
            ("x-original-host", Some(Managed::Connection)),
            ("x-real-ip", Some(Managed::Connection)),
            ("forwarded-for", None),
            ("x-forwarded", None),
            ("x-original-filename", None),
            ("x-script", None),
            ("script-name", None),
            ("x-http-method-override", None),
            ("x-http-method", None),
            ("x-method-override", None),
        ] {
            assert_eq!(Managed::of(name), want, "{name}");
        }
    }
}
