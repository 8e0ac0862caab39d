//! The deny-list of a server: that of a compiler, without what servers need. They use sockets, and within namespaces also
//! sessions, objects of the machine, and the owners, modes and times of paths.

use seccompiler::SeccompAction;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};

use super::compiler::{CONTAINED, conditions, denied, refusing};
use super::filters::{Context, Deciding, Filters};
use super::rules::{always, answering, int, unavailable, watching, when};
use super::search::{Built, Rules};
use super::{old, traced};
use crate::Network;

/// Calls that are denied to a compiler and that every server may make. `socket` has conditions.
pub(super) const NEEDED: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_setsockopt,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    // A server executes what it wants of its own.
    libc::SYS_memfd_create,
];

/// Calls with large parts of the kernel behind them, without which programs copy. Programs know that a kernel may lack
/// them, and do not know that they may be refused.
const REPLACEABLE: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_splice,
    libc::SYS_vmsplice,
    libc::SYS_tee,
    libc::SYS_sendfile,
];

/// What a server's calls can reach.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    /// Whether it is in namespaces.
    pub(super) namespaces: bool,
    /// Whether it has sockets of the internet protocols.
    pub(super) internet: bool,
    /// Whether UNIX sockets reach only its own processes and granted paths.
    pub(super) unix: bool,
}

impl Reach {
    /// `scopes`: whether Landlock keeps connections to abstract sockets inside.
    pub(super) fn new(network: Network, namespaces: bool, scopes: bool) -> Self {
        // The root keeps sockets with a path inside; abstract ones belong to a network.
        let unix = namespaces && (network != Network::Full || scopes);
        Reach { namespaces, internet: network != Network::None, unix }
    }

    /// Whether sockets that ask for interfaces and routes tell nothing about a network that it does not have.
    fn routes(self) -> bool {
        self.namespaces || self.internet
    }
}

/// The filters. If it `records`, the supervisor refuses calls, and watches those with paths and addresses.
pub(super) fn filters(context: &Context, reach: Reach, records: bool) -> Built<Filters> {
    let mut rules = denied(!reach.namespaces);
    let is_contained = |call: &i64| CONTAINED.contains(call) || old::DENIED.contains(call);
    rules.retain(|call, _| !(NEEDED.contains(call) || reach.namespaces && is_contained(call)));
    sockets(&mut rules, reach)?;
    conditions(&mut rules, context, !reach.namespaces)?;
    if records { recording(rules) } else { refusing(rules, REPLACEABLE) }
}

fn recording(mut rules: Rules) -> Built<Filters> {
    let watched: Vec<i64> = traced::ALL.iter().map(|traced| traced.call).collect();
    // The supervisor would let them continue.
    let refused: Rules = rules.extract_if(.., |call, _| watched.contains(call)).collect();
    rules.extend(always(watched));
    let after = answering(refused, &SeccompAction::Errno(libc::EPERM as u32))?;
    Ok(Filters {
        common: unavailable(REPLACEABLE),
        deciding: Deciding::Recording { filter: watching(rules)?, after },
    })
}

/// Protocols of the internet: the default one of a type, TCP, UDP, and the echoes of ICMP. Others are other large parts of
/// the kernel.
const PROTOCOLS: [libc::c_int; 5] =
    [0, libc::IPPROTO_TCP, libc::IPPROTO_UDP, libc::IPPROTO_ICMP, libc::IPPROTO_ICMPV6];

fn sockets(rules: &mut Rules, reach: Reach) -> Built<()> {
    let families = [
        (libc::AF_UNIX, reach.unix),
        (libc::AF_INET, reach.internet),
        (libc::AF_INET6, reach.internet),
        (libc::AF_NETLINK, reach.routes()),
    ];
    let allowed = families.iter().filter(|(_, is_allowed)| *is_allowed);
    let none_of: Vec<_> = allowed.map(|(family, _)| int(0, Ne, *family as u32)).collect::<Built<_>>()?;
    if none_of.is_empty() {
        rules.insert(libc::SYS_socket, Vec::new());
    } else {
        protocols(rules)?;
        when(rules, libc::SYS_socket, none_of)?;
    }
    when(rules, libc::SYS_socketpair, vec![int(0, Ne, libc::AF_UNIX as u32)?])?;
    // Urgent data of UNIX sockets: holes of the kernel.
    for (call, flags) in
        [(libc::SYS_sendto, 3), (libc::SYS_recvfrom, 3), (libc::SYS_sendmsg, 2), (libc::SYS_recvmsg, 2)]
    {
        when(rules, call, vec![int(flags, MaskedEq(libc::MSG_OOB as u64), libc::MSG_OOB as u32)?])?;
    }
    Ok(())
}

/// Denies other protocols of the families.
fn protocols(rules: &mut Rules) -> Built<()> {
    for family in [libc::AF_INET, libc::AF_INET6] {
        let mut others = vec![int(0, Eq, family as u32)?];
        for protocol in PROTOCOLS {
            others.push(int(2, Ne, protocol as u32)?);
        }
        when(rules, libc::SYS_socket, others)?;
    }
    let other = vec![int(0, Eq, libc::AF_NETLINK as u32)?, int(2, Ne, libc::NETLINK_ROUTE as u32)?];
    when(rules, libc::SYS_socket, other)
}
