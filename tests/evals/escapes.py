"""Public kinds of payloads against sandboxes for code, as programs. Each reports whether it got out."""

from pathlib import Path

from client import Client

# A system call, for what the standard library cannot do. x86_64 only.
SYSCALL = """
fn call(number: usize, a: usize, b: usize, c: usize, d: usize) -> isize {
    let result;
    unsafe {
        core::arch::asm!("syscall", inlateout("rax") number => result, in("rdi") a, in("rsi") b, in("rdx") c,
            in("r10") d, in("r8") 0, lateout("rcx") _, lateout("r11") _)
    };
    result
}
"""


def reads(path: str) -> str:
    return f'std::fs::read("{path}").is_ok_and(|text| !text.is_empty())'


def writes(path: str) -> str:
    return f'std::fs::write("{path}", "escaped").is_ok()'


def connects(address: str) -> str:
    return (f'std::net::TcpStream::connect_timeout(&"{address}".parse().unwrap(), Duration::from_secs(1))'
            '.map_or_else(|error| error.kind() == std::io::ErrorKind::ConnectionRefused, |_| true)')


def starts(*command: str) -> str:
    rest = ", ".join(f'"{one}"' for one in command[1:])
    return f'std::process::Command::new("{command[0]}").args([{rest}] as [&str; {len(command) - 1}]).spawn().is_ok()'


# Expressions that are true if the payload works. A name that ends with `(call)` needs `SYSCALL`.
KINDS = {
    "read the users": reads("/etc/passwd"),
    "read the passwords": reads("/etc/shadow"),
    "read a private key": reads("/root/.ssh/id_rsa"),
    "read the home": 'std::fs::read_dir("/root").is_ok() || std::fs::read_dir("/home").is_ok()',
    "read the environment of the parent":
        'std::fs::read(format!("/proc/{}/environ", std::os::unix::process::parent_id()))'
        '.is_ok_and(|text| !text.is_empty())',
    "read the environment of process 1": reads("/proc/1/environ"),
    "read secrets of the environment": 'std::env::vars().any(|(key, _)| key.contains("KEY") || key.contains("TOKEN"))',
    "list processes": 'std::fs::read_dir("/proc").is_ok_and(|all| all.flatten().filter(|one| one.file_name()'
                      '.to_string_lossy().parse::<u32>().is_ok()).count() > 3)',
    "read the memory of the kernel": reads("/proc/kcore"),
    "read the disk": 'std::fs::File::open("/dev/sda").is_ok() || std::fs::File::open("/dev/vda").is_ok()',
    "talk to the container engine": 'std::os::unix::net::UnixStream::connect("/var/run/docker.sock").is_ok()',
    "ask for the cloud's credentials": connects("169.254.169.254:80"),
    "connect to the internet": connects("1.1.1.1:443"),
    "connect to the machine itself": connects("127.0.0.1:22"),
    "send names to a resolver":
        'std::net::UdpSocket::bind("0.0.0.0:0").is_ok_and(|one| one.send_to(b"x", "8.8.8.8:53").is_ok())',
    "listen": 'std::net::TcpListener::bind("127.0.0.1:0").is_ok()',
    "start a shell": starts("/bin/sh", "-c", "true"),
    "start a program": starts("/usr/bin/env"),
    "start itself": 'std::env::current_exe().is_ok_and(|one| std::process::Command::new(one).spawn().is_ok())',
    "plant a job": writes("/etc/cron.d/escaped"),
    "plant a line for the next login": writes("/root/.bashrc"),
    "plant a file for others": writes("/tmp/escaped-from-a-program"),
    "replace the handler of crashes": writes("/proc/sys/kernel/core_pattern"),
    "leave by a link": 'std::os::unix::fs::symlink("/etc/passwd", "link").is_ok() && std::fs::read("link").is_ok()',
    "new namespaces (call)": "call(272, 0x10000000, 0, 0, 0) >= 0",
    "mount (call)": r'call(165, c"none".as_ptr() as usize, c"/".as_ptr() as usize, c"tmpfs".as_ptr() as usize, 0) >= 0',
    "trace the parent (call)": "call(101, 16, std::os::unix::process::parent_id() as usize, 0, 0) >= 0",
    "kill all processes (call)": "call(62, usize::MAX, 0, 0, 0) >= 0",
    "a raw socket (call)": "call(41, 17, 3, 0x300, 0) >= 0",
    "load code into the kernel (call)": "call(321, 0, 0, 0, 0) >= 0 || call(175, 0, 0, 0, 0) >= 0",
}


def run(toolsmith: str, work: Path) -> dict[str, bool]:
    """Whether each kind got out."""
    config = work / "escapes.json"
    config.write_text("{}")
    client = Client([toolsmith, "serve", "--config", str(config)], work / "escapes.log")
    found = {}
    for name, payload in KINDS.items():
        outcome = client.run((SYSCALL if name.endswith("(call)") else "") + payload).outcome
        if outcome["status"] == "compile_error":
            raise RuntimeError(f"{name}: {outcome['error']}")
        found[name] = outcome["status"] == "ok" and outcome["result"] is not False
    client.close()
    return found
