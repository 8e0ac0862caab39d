//! A pseudoterminal whose other end is the test.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// The two ends of a new terminal.
pub(crate) fn pseudoterminal() -> (fs::File, fs::File) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = fs::File::options().read(true).write(true).custom_flags(O_NOCTTY).open(name).unwrap();
    (ours.into(), theirs)
}

/// `O_NOCTTY` of open(2): the terminal must not become the tests' controlling terminal.
const O_NOCTTY: i32 = 0o400;

/// Reads from the terminal until the last holder of the other end closes it; `screen` receives the output as it
/// arrives.
pub(crate) fn collect_screen(mut ours: fs::File, screen: Arc<Mutex<Vec<u8>>>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        // Once the other end is closed, reading fails with EIO.
        while let Ok(read @ 1..) = ours.read(&mut bytes) {
            screen.lock().extend_from_slice(&bytes[..read]);
        }
        std::mem::take(&mut *screen.lock())
    })
}
