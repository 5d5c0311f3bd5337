//! The networks that a route answers.

use std::net::IpAddr;

use crate::network::Network;

/// A list of networks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Networks(Vec<Network>);

impl Networks {
    /// Lists networks.
    pub const fn new(networks: Vec<Network>) -> Self {
        Self(networks)
    }

    /// This machine (127.0.0.0/8, ::1) and private networks (RFC 1918, RFC 4193).
    ///
    /// Link-local addresses are not among them: who has one is whoever is plugged in.
    pub fn internal() -> Self {
        Self(INTERNAL.iter().filter_map(|network| network.parse().ok()).collect())
    }

    /// Whether one of them holds `address`.
    pub fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }
}

const INTERNAL: [&str; 6] =
    ["127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1", "fc00::/7"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_networks_are_those_that_nobody_outside_has() {
        let internal = Networks::internal();
        assert_eq!(internal.0.len(), INTERNAL.len());
        for (address, want) in [
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("10.0.0.1", true),
            ("172.31.255.255", true),
            ("192.168.1.1", true),
            ("::ffff:10.0.0.1", true),
            ("::1", true),
            ("fd00::1", true),
            ("126.255.255.255", false),
            ("11.0.0.1", false),
            ("172.32.0.1", false),
            ("169.254.169.254", false),
            ("100.64.0.1", false),
            ("0.0.0.0", false),
            ("::", false),
            ("fe80::1", false),
            ("::ffff:8.8.8.8", false),
            ("2001:db8::1", false),
        ] {
            assert_eq!(internal.contain(address.parse().unwrap()), want, "{address}");
        }
    }
}
