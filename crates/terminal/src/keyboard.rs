//! The user's keyboard: `/dev/tty`, because standard input may be the snippet.
//!
//! Anything typed before the user could read a question does not answer it. An answer is accepted only after nothing
//! was typed for [`GRACE`]; earlier input is dropped, including a partly typed line.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::Duration;

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcsetattr,
};
use tokio::net::unix::pipe::Receiver;
use tokio::sync::watch;
use tokio::time::timeout;

/// The time for which the keyboard must be silent before an answer is accepted. Reading a question takes longer, and
/// the pauses between the keys of a word are shorter. Browsers delay clicks in their security dialogs by the same time
/// (`security.dialog_enable_delay` of Firefox).
pub const GRACE: Duration = Duration::from_secs(1);

/// Maximum size of a line, in bytes: the limit of terminals (termios(3), "Canonical and noncanonical mode").
pub(crate) const MAX_LINE: usize = 4096;

/// Reads typed lines. Dropping it restores the terminal's mode.
pub struct Keyboard {
    typed: Receiver,
    before: Termios,
}

impl Keyboard {
    /// Opens the keyboard. Needs a tokio runtime.
    pub(crate) fn open() -> io::Result<Self> {
        Keyboard::of(open()?)
    }

    fn of(terminal: File) -> io::Result<Self> {
        // A terminal signals that it is readable like a pipe does.
        let typed = Receiver::from_file_unchecked(terminal)?;
        let before = tcgetattr(&typed)?;
        Ok(Keyboard { typed, before })
    }

    /// Whether this process has a terminal.
    pub fn is_there() -> bool {
        open().is_ok()
    }

    /// Returns when nothing was typed for [`GRACE`]. Until then, input is dropped and not echoed.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub(crate) async fn settle(&self) -> io::Result<()> {
        // In line mode, a partly typed line would be noticed only at its end.
        self.begin(&self.key_mode())?;
        while let Ok(ready) = timeout(GRACE, self.typed.readable()).await {
            ready?;
            self.forget()?;
        }
        let mut lines = self.before.clone();
        lines.local_modes.insert(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        lines.input_modes.insert(InputModes::ICRNL);
        lines.input_modes.remove(InputModes::IGNCR | InputModes::INLCR);
        self.begin(&lines)
    }

    /// Takes each key as it is typed, without echo, until the end of this keyboard. Keeps earlier input.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub(crate) fn take_keys(&self) -> io::Result<()> {
        Ok(tcsetattr(&self.typed, OptionalActions::Now, &self.key_mode())?)
    }

    /// The mode in which each key is read as it is typed, without echo. Ctrl-C is still a signal.
    fn key_mode(&self) -> Termios {
        let mut keys = self.before.clone();
        keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL);
        keys.local_modes.insert(LocalModes::ISIG);
        keys.special_codes[SpecialCodeIndex::VMIN] = 1;
        keys.special_codes[SpecialCodeIndex::VTIME] = 0;
        keys
    }

    /// Stops showing what is typed, until the end of this keyboard.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub(crate) fn hide(&self) -> io::Result<()> {
        let mut hidden = tcgetattr(&self.typed)?;
        hidden.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL);
        self.begin(&hidden)
    }

    /// Switches to these settings and drops earlier input.
    fn begin(&self, how: &Termios) -> io::Result<()> {
        // `Drain` would wait until all output is written; a stopped terminal (Ctrl-S) would block this process.
        tcsetattr(&self.typed, OptionalActions::Now, how)?;
        Ok(tcflush(&self.typed, QueueSelector::IFlush)?)
    }

    /// Drops pending input.
    fn forget(&self) -> io::Result<()> {
        let mut bytes = [0; MAX_LINE];
        loop {
            match self.typed.try_read(&mut bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads keys whenever no question is open, which reads its own answers.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub(crate) async fn keys_between(&self, questions: &mut watch::Receiver<usize>) -> io::Result<Vec<u8>> {
        let mut keys = Vec::new();
        loop {
            // Fails only when the terminal of this process is dropped.
            let _ = questions.wait_for(|open| *open == 0).await;
            self.typed.readable().await?;
            if *questions.borrow() > 0 {
                continue;
            }
            match self.read_into(&mut keys)? {
                Some(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Some(_) => return Ok(keys),
                None => {}
            }
        }
    }

    /// Reads one line; `None` at the end of the terminal's input.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub(crate) async fn line(&self) -> io::Result<Option<String>> {
        let mut typed = Vec::new();
        loop {
            self.typed.readable().await?;
            if let Some(line) = self.read_part(&mut typed)? {
                return Ok(line);
            }
        }
    }

    /// Adds available input to `typed`. Returns the line once it is complete; the inner `None` is the end of input.
    fn read_part(&self, typed: &mut Vec<u8>) -> io::Result<Option<Option<String>>> {
        match self.read_into(typed)? {
            None => return Ok(None),
            Some(0) => return Ok(Some(None)),
            Some(_) => {}
        }
        let is_whole = typed.contains(&b'\n') || typed.len() > MAX_LINE;
        Ok(is_whole.then(|| Some(String::from_utf8_lossy(typed).trim().to_owned())))
    }

    /// Adds available input to `typed`, and returns its size; `None` if there is none.
    fn read_into(&self, typed: &mut Vec<u8>) -> io::Result<Option<usize>> {
        let mut bytes = [0; MAX_LINE];
        match self.typed.try_read(&mut bytes) {
            Ok(read) => {
                typed.extend_from_slice(bytes.get(..read).unwrap_or_default());
                Ok(Some(read))
            }
            // A spurious wakeup.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.typed, OptionalActions::Now, &self.before);
    }
}

/// Opens the process's terminal a second time, so that reading does not interfere with other descriptors.
fn open() -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open("/dev/tty")
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use futures::FutureExt as _;
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    /// A keyboard on a pseudo-terminal, and the side that types.
    fn keyboard() -> (Keyboard, File) {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        let terminal =
            OpenOptions::new().read(true).write(true).custom_flags(flags.bits().cast_signed()).open(name);
        (Keyboard::of(terminal.unwrap()).unwrap(), controller.into())
    }

    /// Types on a terminal in raw mode, and returns when the keys have arrived.
    fn types(controller: &mut File, terminal: &File, keys: &[u8]) {
        controller.write_all(keys).unwrap();
        poll(&mut [PollFd::new(terminal, PollFlags::IN)], None).unwrap();
    }

    #[tokio::test]
    async fn earlier_input_is_dropped_whole_and_in_part() {
        let all =
            ["y\n", "y\r", "y", "hurr", "y\ny\ny\n", "\x04", "y\x04", "\x1b[A"].map(|before| async move {
                let (keyboard, mut controller) = keyboard();
                controller.write_all(before.as_bytes()).unwrap();
                keyboard.settle().await.unwrap();
                assert!(keyboard.line().now_or_never().is_none(), "{before:?}");
                controller.write_all(b"n\n").unwrap();
                assert_eq!(keyboard.line().await.unwrap().as_deref(), Some("n"), "{before:?}");
            });
        futures::future::join_all(all).await;
    }

    #[tokio::test(start_paused = true)]
    async fn no_answer_is_accepted_while_keys_are_typed() {
        let (keyboard, mut controller) = keyboard();
        let terminal = keyboard.typed.as_raw();
        let started = tokio::time::Instant::now();
        let typing = async {
            for key in "yes, hurry\n".repeat(3).bytes() {
                types(&mut controller, &terminal, &[key]);
                tokio::time::sleep(GRACE - Duration::from_millis(1)).await;
            }
        };
        let (settled, ()) = tokio::join!(keyboard.settle(), typing);
        settled.unwrap();
        assert!(started.elapsed() > GRACE * 30, "{:?}", started.elapsed());
        assert!(keyboard.line().now_or_never().is_none());
        controller.write_all(b"y\r").unwrap();
        assert_eq!(keyboard.line().await.unwrap().as_deref(), Some("y"));
    }

    #[tokio::test(start_paused = true)]
    async fn only_accepted_keys_are_echoed_and_the_mode_is_restored() {
        let (keyboard, mut controller) = keyboard();
        let (terminal, before) = (keyboard.typed.as_raw(), keyboard.before.clone());
        let typing = async { types(&mut controller, &terminal, b"early\n") };
        let (settled, ()) = tokio::join!(keyboard.settle(), typing);
        settled.unwrap();
        controller.write_all(b"late\n").unwrap();
        assert_eq!(keyboard.line().await.unwrap().as_deref(), Some("late"));
        let mut seen = Vec::new();
        while !seen.ends_with(b"\n") {
            let mut bytes = [0; 64];
            let read = controller.read(&mut bytes).unwrap();
            seen.extend_from_slice(&bytes[..read]);
        }
        assert_eq!(seen, b"late\r\n");
        drop(keyboard);
        assert_eq!(tcgetattr(&terminal).unwrap().local_modes, before.local_modes);
    }

    #[tokio::test(start_paused = true)]
    async fn a_hidden_line_is_read_and_not_echoed() {
        let (keyboard, mut controller) = keyboard();
        keyboard.settle().await.unwrap();
        keyboard.hide().unwrap();
        controller.write_all(b"hunter2\n").unwrap();
        assert_eq!(keyboard.line().await.unwrap().as_deref(), Some("hunter2"));
        let mut echoed = [PollFd::new(&controller, PollFlags::IN)];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        assert_eq!(poll(&mut echoed, Some(&now)).unwrap(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_terminal_in_raw_mode_returns_a_line() {
        let (first, mut controller) = keyboard();
        let (terminal, mut raw) = (first.typed.as_raw(), first.before.clone());
        raw.make_raw();
        tcsetattr(&terminal, OptionalActions::Now, &raw).unwrap();
        types(&mut controller, &terminal, b"y\r");
        let keyboard = Keyboard::of(terminal).unwrap();
        keyboard.settle().await.unwrap();
        controller.write_all(b"n\r").unwrap();
        assert_eq!(keyboard.line().await.unwrap().as_deref(), Some("n"));
    }

    /// Duplicates the descriptor of the terminal.
    trait AsRaw {
        fn as_raw(&self) -> File;
    }

    impl AsRaw for Receiver {
        fn as_raw(&self) -> File {
            use std::os::fd::AsFd as _;
            self.as_fd().try_clone_to_owned().unwrap().into()
        }
    }
}
