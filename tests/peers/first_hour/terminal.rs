//! A user's terminal: types commands, answers questions, and records what is on the screen at the end of each.

use std::{
    fmt::Write as _,
    fs,
    io::{Read as _, Write as _},
    num::NonZero,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

use crate::product::Checked;

/// Size of the screen: wide enough that no line of output wraps, high enough that none scrolls away.
const ROWS: NonZero<u16> = NonZero::new(400).unwrap();
const COLUMNS: NonZero<u16> = NonZero::new(200).unwrap();
/// Time limit for a command, on a warm cache.
const WATCHDOG: Duration = Duration::from_secs(120);
/// `O_NOCTTY` of open(2): the terminal must not become this process's controlling terminal.
const O_NOCTTY: i32 = 0o400;

/// A home folder, its environment, and the record of all commands.
pub(super) struct Terminal {
    home: PathBuf,
    environment: Vec<(String, String)>,
    record: String,
}

/// A question, and what the user types when it appears.
pub(super) type Answer<'a> = (&'a str, &'a str);

impl Terminal {
    /// A terminal in `home` with nothing in the environment but these variables and `HOME`.
    pub(super) fn new(home: &Path, environment: &[(&str, &str)]) -> Self {
        Self {
            home: home.to_owned(),
            environment: environment
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            record: String::new(),
        }
    }

    /// Everything that was typed and shown.
    pub(super) fn into_record(self) -> String {
        self.record
    }

    /// Starts a new part of the record.
    pub(super) fn heading(&mut self, text: &str) {
        let _ = write!(self.record, "\n## {text}\n\n");
    }

    /// Records a file as it is now.
    pub(super) fn shows(&mut self, path: &str) -> Checked<()> {
        let text = fs::read_to_string(self.home.join(path)).map_err(|error| format!("{path}: {error}"))?;
        let _ = write!(self.record, "[{path}]\n{}\n\n", text.trim_end());
        Ok(())
    }

    /// Types a command and records its screen. The user types each answer when its question appears; the command must
    /// exit with `code`.
    pub(super) fn types(&mut self, line: &str, answers: &[Answer<'_>], code: i32) -> Checked<()> {
        let failed = |error: std::io::Error| format!("{line}: {error}");
        let (ours, theirs) = open().map_err(failed)?;
        // The terminal becomes the controlling terminal (setsid(1)), where questions are asked.
        let mut command = Command::new("setsid");
        command
            .args(["--ctty", "--wait", "sh", "-c", line])
            .current_dir(&self.home)
            .env_clear()
            .env("HOME", &self.home);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(theirs.try_clone().map_err(failed)?).stdout(theirs.try_clone().map_err(failed)?);
        let child = command.stderr(theirs).spawn().map_err(failed)?;
        // Closes this process's copies, without which the terminal would never report its end.
        drop(command);
        let (status, screen) = converse(child, ours, answers).map_err(|error| format!("{line}: {error}"))?;
        let _ = writeln!(self.record, "$ {line}");
        let _ = writeln!(self.record, "{screen}\n");
        if status.code() == Some(code) {
            Ok(())
        } else {
            Err(format!("{line}: {status}, expected {code}\n{screen}"))
        }
    }
}

/// The two ends of a new terminal.
fn open() -> std::io::Result<(fs::File, fs::File)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?.into_string().map_err(std::io::Error::other)?;
    let theirs = fs::File::options().read(true).write(true).custom_flags(O_NOCTTY).open(name)?;
    tcsetwinsize(&theirs, Winsize { ws_row: ROWS.get(), ws_col: COLUMNS.get(), ws_xpixel: 0, ws_ypixel: 0 })?;
    Ok((ours.into(), theirs))
}

/// Types each answer after its question, until the command ends. Returns its status and its last screen.
fn converse(mut child: Child, mut ours: fs::File, answers: &[Answer<'_>]) -> Checked<(ExitStatus, String)> {
    let output = read(ours.try_clone().map_err(|error| error.to_string())?);
    let mut screen = vt100::Parser::new(ROWS, COLUMNS, 0);
    let (start, mut seen, mut answers) = (Instant::now(), Vec::new(), answers.iter());
    let mut next = answers.next();
    loop {
        if let Some((question, answer)) = next
            && let Some(end) = end_of(question.as_bytes(), &seen)
        {
            ours.write_all(answer.as_bytes()).map_err(|error| error.to_string())?;
            // What follows may have come at the same time, and contain the next question.
            seen.drain(..end);
            next = answers.next();
            continue;
        }
        match output.recv_timeout(WATCHDOG.saturating_sub(start.elapsed())) {
            Ok(bytes) => {
                screen.process(&bytes);
                seen.extend(bytes);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("has not ended, waits for {next:?}\n{}", text(&screen)));
            }
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    match next {
        None => Ok((status, text(&screen))),
        Some((question, _)) => Err(format!("did not ask {question:?}\n{}", text(&screen))),
    }
}

/// The text on the screen, without trailing spaces.
fn text(screen: &vt100::Parser) -> String {
    let contents = screen.screen().contents();
    let lines: Vec<&str> = contents.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

/// The output as it arrives; ends when the last process closes the terminal.
fn read(mut ours: fs::File) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        // Once the other end is closed, reading fails with EIO.
        while let Ok(count @ 1..) = ours.read(&mut bytes) {
            if sender.send(bytes[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Where the first `part` in the text ends.
fn end_of(part: &[u8], text: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part).map(|start| start + part.len())
}
