//! The keyboard of the person at the terminal: `/dev/tty`, because standard input may be the snippet.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;

use tokio::net::unix::pipe::Receiver;

/// Most bytes of a line.
const LONGEST_LINE: usize = 4096;

/// Reads what is typed.
pub(crate) struct Keyboard(Receiver);

impl Keyboard {
    /// The keyboard, with what was typed before dropped: it is no answer to what is asked now. Needs a tokio runtime.
    pub(crate) fn open() -> io::Result<Self> {
        // A terminal becomes readable as a pipe does.
        let keyboard = Receiver::from_file_unchecked(open()?)?;
        let mut bytes = [0; LONGEST_LINE];
        while matches!(keyboard.try_read(&mut bytes), Ok(1..)) {}
        Ok(Keyboard(keyboard))
    }

    /// Whether there is a keyboard.
    pub(crate) fn is_there() -> bool {
        open().is_ok()
    }

    /// One line; `None` at the end of the terminal's input.
    pub(crate) async fn line(&self) -> io::Result<Option<String>> {
        let mut typed = Vec::new();
        loop {
            self.0.readable().await?;
            let mut bytes = [0; LONGEST_LINE];
            let read = match self.0.try_read(&mut bytes) {
                Ok(read) => read,
                // It was not ready after all.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error),
            };
            if read == 0 {
                return Ok(None);
            }
            typed.extend_from_slice(bytes.get(..read).unwrap_or_default());
            if typed.contains(&b'\n') || typed.len() > LONGEST_LINE {
                return Ok(Some(String::from_utf8_lossy(&typed).trim().to_owned()));
            }
        }
    }
}

/// The terminal that this process belongs to; a description of its own, so that reading from it waits for nobody else.
fn open() -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open("/dev/tty")
}
