//! Sockets of every family with a reachable peer: the network, other processes of the machine, its
//! hypervisor, its kernel.

use std::io::{self, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};

use crate::Arguments;
use crate::numbers;
use crate::system::{address, call, quiet};

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
