//! Sockets of every family with a reachable peer: the network, other processes of the machine, its
//! hypervisor, its kernel.

use std::io::{self, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};

use crate::Arguments;
use crate::numbers;
use crate::system::{address, call, number, quiet};

pub(crate) fn attempt(name: &str, argument: Arguments<'_>) -> Option<io::Result<String>> {
    Some(match name {
        "tcp" => TcpStream::connect(argument(0)).and_then(|mut stream| without_value(stream.write_all(b"x"))),
        "udp" => UdpSocket::bind("127.0.0.1:0").and_then(|socket| without_value(socket.send_to(b"x", argument(0)))),
        "unix" => UnixStream::connect(argument(0)).and_then(|mut stream| without_value(stream.write_all(b"x"))),
        "abstract" => {
            let name = SocketAddr::from_abstract_name(argument(0));
            name.and_then(|name| UnixStream::connect_addr(&name))
                .and_then(|mut stream| without_value(stream.write_all(b"x")))
        }
        "vsock" => vsock(),
        "kernel-cipher" => kernel_cipher(),
        // The key management of tunnels, also as a protocol of netlink, and RxRPC over IPv4.
        "tunnel-keys" => quiet(numbers::SOCKET, [15, 3, 2]),
        "tunnel-routes" => quiet(numbers::SOCKET, [16, 3, 6]),
        "remote-calls" => quiet(numbers::SOCKET, [33, 2, 2]),
        "send-urgent" => urgent(numbers::SENDTO, number(argument(0)), MSG_OOB),
        "receive-urgent" => urgent(numbers::RECVFROM, number(argument(0)), MSG_OOB | MSG_DONTWAIT),
        "send-descriptor" => send_descriptor(number(argument(0))),
        "netlink" => netlink(),
        _ => return None,
    })
}

fn without_value<T>(result: io::Result<T>) -> io::Result<String> {
    result.map(|_| String::new())
}

/// `struct sockaddr_vm`: any port of any context (vsock(7)).
fn vsock() -> io::Result<String> {
    let socket = call(numbers::SOCKET, [40, 1, 0])?;
    let name = [40_u32, u32::MAX, u32::MAX, 0];
    quiet(numbers::BIND, [socket, address(&name), 16])
}

/// `struct sockaddr_nl`: the kernel's interfaces and routes (netlink(7)).
fn netlink() -> io::Result<String> {
    let socket = call(numbers::SOCKET, [16, 3, 0])?;
    let name = [16_u32, 0, 0];
    quiet(numbers::BIND, [socket, address(&name), 12])
}

/// `struct sockaddr_alg` of a hash: the kernel's ciphers as sockets (linux/if_alg.h).
fn kernel_cipher() -> io::Result<String> {
    let socket = call(numbers::SOCKET, [38, 5, 0])?;
    let mut name = [0_u8; 88];
    name[0] = 38;
    name[2..6].copy_from_slice(b"hash");
    name[24..30].copy_from_slice(b"sha256");
    quiet(numbers::BIND, [socket, address(&name), 88])
}

const MSG_OOB: i64 = 1;
const MSG_DONTWAIT: i64 = 0x40;

/// One byte of urgent data.
fn urgent(direction: i64, socket: i64, flags: i64) -> io::Result<String> {
    let byte = [0_u8];
    quiet(direction, [socket, address(&byte), 1, flags, 0, 0])
}

/// Sends the socket through itself in control data (`struct msghdr` and `struct cmsghdr` of cmsg(3); SCM_RIGHTS).
fn send_descriptor(socket: i64) -> io::Result<String> {
    let byte = [0_u8];
    let part = [address(&byte), 1];
    let control = [20_i64, 1 | 1 << 32, socket];
    let message = [0, 0, address(&part), 1, address(&control), 24, 0];
    quiet(numbers::SENDMSG, [socket, address(&message), 0])
}
