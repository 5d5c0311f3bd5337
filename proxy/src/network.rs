//! A block of IP addresses in CIDR notation.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use thiserror::Error;

/// A network such as `10.0.0.0/8`, `2001:db8::/32`, or a single address.
///
/// An IPv4 address mapped into IPv6 (`::ffff:10.0.0.1`) is the IPv4 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: u128,
    bits: u8,
}

/// Why a text is no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The part before the slash is no IP address.
    #[error("not an IP address")]
    Address,
    /// The part behind the slash is no number up to 32 or 128.
    #[error("prefix length out of range")]
    Length,
    /// Bits are set behind the prefix.
    #[error("address has bits set outside its prefix")]
    HostBits,
}

impl Network {
    /// Whether `address` lies in the network.
    pub fn contains(&self, address: IpAddr) -> bool {
        (widen(address) ^ self.address) & self.mask() == 0
    }

    const fn mask(&self) -> u128 {
        match self.bits {
            0 => 0,
            bits => u128::MAX << (128 - bits),
        }
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| NetworkError::Address)?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let length = match length {
            Some(length) if length.bytes().all(|byte| byte.is_ascii_digit()) => {
                length.parse().map_err(|_| NetworkError::Length)?
            }
            Some(_) => return Err(NetworkError::Length),
            None => width,
        };
        if length > width {
            return Err(NetworkError::Length);
        }
        let network = Self { address: widen(address), bits: 128 - width + length };
        if network.address & !network.mask() != 0 {
            return Err(NetworkError::HostBits);
        }
        Ok(network)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = Ipv6Addr::from(self.address);
        match address.to_ipv4_mapped() {
            Some(v4) if self.bits >= 96 => write!(f, "{v4}/{}", self.bits - 96),
            _ => write!(f, "{address}/{}", self.bits),
        }
    }
}

fn widen(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().into(),
        IpAddr::V6(v6) => v6.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contains() {
        for (network, address, want) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/8", "::ffff:10.1.1.1", true),
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("0.0.0.0/0", "1.2.3.4", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("::/0", "1.2.3.4", true),
            ("2001:db8::/32", "2001:db8:1::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
        ] {
            let parsed: Network = network.parse().unwrap();
            assert_eq!(parsed.contains(address.parse().unwrap()), want, "{network} {address}");
            assert_eq!(parsed.to_string().parse(), Ok(parsed), "{network}");
        }
    }

    #[test]
    fn refuses() {
        for (network, want) in [
            ("10.0.0/8", NetworkError::Address),
            ("10.0.0.0/33", NetworkError::Length),
            ("10.0.0.0/+8", NetworkError::Length),
            ("10.0.0.0/", NetworkError::Length),
            ("10.0.0.1/8", NetworkError::HostBits),
        ] {
            assert_eq!(network.parse::<Network>(), Err(want), "{network}");
        }
    }
}
