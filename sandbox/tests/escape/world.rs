//! The targets of an attempt: the test's own files, listeners, terminal and victim, new for each run.
//!
//! The user's files are not touched: the home is a planted one. `suite` starts the attempt.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::table::{Argument, Row};

/// The content of the key, the victim's memory and the leaked descriptor.
pub(crate) const SECRET: &str = "planted-secret-0123456789";

/// A program that runs as another user, which root creates for the tests of an ordinary one.
pub(crate) const SET_USER: &str = "SANDBOX_TEST_SET_USER";

/// The observed effects.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effects {
    pub(crate) changed: bool,
    pub(crate) reached: bool,
    pub(crate) ended: bool,
    pub(crate) signalled: bool,
    pub(crate) left: bool,
}

pub(crate) struct World {
    folder: tempfile::TempDir,
    token: String,
    before: BTreeMap<PathBuf, (u64, u32, i64, i64)>,
    tcp: TcpListener,
    udp: UdpSocket,
    unix: UnixListener,
    named: UnixListener,
    victim: Option<Victim>,
    pub(crate) passed: Option<Passed>,
    leaked: OwnedFd,
    set_user: PathBuf,
}

struct Victim {
    process: std::process::Child,
    stdout: BufReader<ChildStdout>,
    stdin: Option<ChildStdin>,
    address: String,
    descriptor: String,
    queue: String,
    has_queue: bool,
}

/// A descriptor that is passed on: the end of a terminal or a socket.
pub(crate) struct Passed {
    _other: OwnedFd,
    pub(crate) end: OwnedFd,
}

impl World {
    pub(crate) fn new(row: &Row, program: &Path) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let token = format!("escape-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = tempfile::Builder::new().prefix(&token).tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("home/.ssh")).unwrap();
        std::fs::create_dir(at("empty")).unwrap();
        std::fs::write(at("home/.ssh/id"), SECRET).unwrap();
        std::fs::write(at("file"), "done here\n").unwrap();
        std::fs::set_permissions(at("file"), std::fs::Permissions::from_mode(0o644)).unwrap();
        let set_user = set_user(row, program, &at("set-user"));
        let unix = UnixListener::bind(at("socket")).unwrap();
        let named = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&token).unwrap()).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        unix.set_nonblocking(true).unwrap();
        named.set_nonblocking(true).unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        let needs = |is_needed: fn(&Argument) -> bool| row.on.iter().any(is_needed);
        let signalled = row.proof == crate::table::Proof::Signalled;
        let has_queue = needs(|on| matches!(on, Argument::Queue));
        let needs_victim = signalled || has_queue || needs(|on| matches!(on, Argument::Victim));
        let victim = needs_victim.then(|| Victim::start(program, has_queue));
        let passed = if needs(|on| matches!(on, Argument::Terminal)) {
            Some(Passed::terminal())
        } else {
            needs(|on| matches!(on, Argument::Socket)).then(Passed::socket)
        };
        let mut world = Self {
            before: BTreeMap::new(),
            leaked: leaked(needs(|on| matches!(on, Argument::Leaked))),
            folder,
            token,
            tcp,
            udp,
            unix,
            named,
            victim,
            passed,
            set_user,
        };
        world.before = world.contents();
        world
    }

    /// An argument as text. `plain` is true without a sandbox, where a passed descriptor has another number.
    pub(crate) fn text(&self, argument: Argument, plain: bool) -> String {
        let path = |name: &str| self.folder.path().join(name).to_str().unwrap().to_owned();
        let victim = || self.victim.as_ref().expect("the row has a victim");
        match argument {
            Argument::Text(text) => text.to_owned(),
            Argument::Home => path("home"),
            Argument::Key => path("home/.ssh/id"),
            Argument::File => path("file"),
            Argument::New => path("new"),
            Argument::Folder => path("empty"),
            Argument::Victim => victim().process.id().to_string(),
            Argument::Address => victim().address.clone(),
            Argument::Descriptor => victim().descriptor.clone(),
            Argument::Queue => victim().queue.clone(),
            Argument::Length => SECRET.len().to_string(),
            Argument::Tcp => self.tcp.local_addr().unwrap().to_string(),
            Argument::Udp => self.udp.local_addr().unwrap().to_string(),
            Argument::Unix => path("socket"),
            Argument::Abstract | Argument::Token => self.token.clone(),
            Argument::Terminal | Argument::Socket => if plain { "0" } else { "3" }.to_owned(),
            Argument::HostName => rustix::system::uname().nodename().to_str().unwrap().to_owned(),
            Argument::Leaked => self.leaked.as_raw_fd().to_string(),
            Argument::SetUser => self.set_user.to_str().unwrap().to_owned(),
        }
    }

    /// The effects since the world was created. Can be read once.
    pub(crate) fn effects(&mut self) -> Effects {
        let mut effects = Effects { changed: self.contents() != self.before, ..Effects::default() };
        effects.reached = self.tcp.accept().is_ok()
            || self.udp.recv(&mut [0; 8]).is_ok()
            || self.unix.accept().is_ok()
            || self.named.accept().is_ok();
        if let Some(victim) = &mut self.victim {
            match victim.status().as_deref() {
                Some("alive") => {}
                Some("urgent") => effects.signalled = true,
                _ => effects.ended = true,
            }
        }
        effects.left = self.end_leftovers();
        effects
    }

    /// Everything in the folder: size, mode, and the time of the last change.
    fn contents(&self) -> BTreeMap<PathBuf, (u64, u32, i64, i64)> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let status = entry.path().symlink_metadata().unwrap();
                if status.is_dir() {
                    folders.push(entry.path());
                }
                found
                    .insert(entry.path(), (status.len(), status.mode(), status.ctime(), status.ctime_nsec()));
            }
        }
        found
    }

    /// Ends processes that were started with this world's token. Returns whether there were any.
    fn end_leftovers(&self) -> bool {
        let mut any = false;
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
                continue;
            };
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let mut words = line.split(|byte| *byte == 0);
            if words.any(|word| word == self.token.as_bytes()) {
                any = true;
                let left = rustix::process::Pid::from_raw(id).unwrap();
                let _ = rustix::process::kill_process(left, rustix::process::Signal::KILL);
            }
        }
        any
    }
}

/// A file of another user that runs with that user's rights. Only root can create one.
fn set_user(row: &Row, program: &Path, path: &Path) -> PathBuf {
    let is_needed = row.on.iter().any(|on| matches!(on, Argument::SetUser));
    if let Some(made) = std::env::var_os(SET_USER) {
        return made.into();
    }
    if is_needed && rustix::process::getuid().is_root() {
        plant_set_user(program, path, 65534);
        let folder = path.parent().unwrap();
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        return path.to_owned();
    }
    PathBuf::from("/nonexistent/set-user")
}

pub(crate) fn plant_set_user(program: &Path, path: &Path, owner: u32) {
    crate::common::copy_program(program, path);
    std::os::unix::fs::chown(path, Some(owner), None).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o4755)).unwrap();
}

/// A secret at a descriptor, without close-on-exec if `open`.
fn leaked(open: bool) -> OwnedFd {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(SECRET.as_bytes()).unwrap();
    rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(0)).unwrap();
    let copy = rustix::io::fcntl_dupfd_cloexec(&file, 40).unwrap();
    if open {
        rustix::io::fcntl_setfd(&copy, rustix::io::FdFlags::empty()).unwrap();
    }
    copy
}

impl Passed {
    fn terminal() -> Self {
        let options = std::fs::OpenOptions::new().read(true).write(true).open("/dev/ptmx").unwrap();
        let master = OwnedFd::from(options);
        rustix::pty::unlockpt(&master).unwrap();
        let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
        let slave = rustix::fs::open(name.as_c_str(), flags, rustix::fs::Mode::empty()).unwrap();
        Self { _other: master, end: slave }
    }

    /// A socket that has received text and, if the kernel can, a byte of urgent data.
    fn socket() -> Self {
        let (mut other, end) = UnixStream::pair().unwrap();
        other.write_all(b"done ").unwrap();
        let _ = rustix::net::send(&other, b"!", rustix::net::SendFlags::OOB);
        Self { _other: other.into(), end: end.into() }
    }
}

impl Victim {
    fn start(program: &Path, has_queue: bool) -> Self {
        let mut process = std::process::Command::new(program)
            .arg(if has_queue { "victim-with-queue" } else { "victim" })
            .env("SECRET", SECRET)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = process.stdin.take().unwrap();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let [address, descriptor, queue] =
            <[String; 3]>::try_from(words).expect("an address and two numbers");
        Self { address, descriptor, queue, has_queue, process, stdout, stdin: Some(stdin) }
    }

    /// Its answer, or `None` if it has ended. A signal sent before arrives before the answer.
    fn status(&mut self) -> Option<String> {
        self.stdin.as_mut()?.write_all(b"?\n").ok()?;
        let mut line = String::new();
        let mut limited = self.stdout.by_ref().take(64);
        (limited.read_line(&mut line).ok()? > 0).then(|| line.trim().to_owned())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // A victim with a queue deletes the queue when its input closes, so it is not killed.
        if !self.has_queue {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}
