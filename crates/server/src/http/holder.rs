//! Whose share of the endpoint a request uses.

use std::net::IpAddr;

/// The subject of a request, or where it comes from if requests have no subjects.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Holder {
    Subject(String),
    Origin(Origin),
}

impl Holder {
    /// The holder of what the current request uses, which comes from `origin`.
    pub(super) fn current(origin: Origin) -> Self {
        identity::current().map_or(Holder::Origin(origin), |subject| Holder::Subject(subject.key()))
    }
}

/// The origin of a connection: an address, or the network of one home (RFC 6177: a /64 at least).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Origin(IpAddr);

impl Origin {
    pub(super) fn of(address: IpAddr) -> Self {
        Origin(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6((u128::from(address) & !u128::from(u64::MAX)).into()),
            address => address,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Origin;

    #[test]
    fn an_address_within_ipv6_is_the_same_origin() {
        assert_eq!(Origin::of("::ffff:192.0.2.7".parse().unwrap()), Origin([192, 0, 2, 7].into()));
    }
}
