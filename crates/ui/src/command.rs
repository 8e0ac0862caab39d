//! Runs this program's own commands for the page: the same code as on the command line, with the same configuration as
//! the page's process, and without a terminal. So what would need an answer there is refused.

use std::ffi::OsString;
use std::io;
use std::process::Stdio;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::sync::Semaphore;

use crate::error::PageError;

/// Limit on commands at the same time; further ones are refused.
const COMMANDS: usize = 4;

/// Maximum length of each output that is shown (256 KiB); the rest is read and dropped.
const OUTPUT: usize = 256 << 10;

/// The commands of one page.
#[derive(Debug)]
pub(crate) struct Commands {
    /// The options that choose the configuration.
    options: Vec<OsString>,
    turns: Arc<Semaphore>,
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Done {
    /// Its exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    /// The beginning of its standard output.
    pub(crate) output: String,
    /// The beginning of its standard error.
    pub(crate) messages: String,
}

impl Commands {
    /// Commands with these options, which choose the configuration.
    pub(crate) fn new(options: Vec<OsString>) -> Self {
        Commands { options, turns: Arc::new(Semaphore::new(COMMANDS)) }
    }

    /// Runs a command, the words before and after its options, with this standard input to its end. The command ends
    /// with the future.
    ///
    /// # Errors
    /// If too many commands run, or it can't be started.
    pub(crate) fn run(
        &self,
        words: &[&str],
        operands: &[&str],
        input: String,
    ) -> Result<impl Future<Output = Result<Done, PageError>> + Send + use<>, PageError> {
        let turn = self.turns.clone().try_acquire_owned().map_err(|_| {
            PageError::busy(format!(
                "{COMMANDS} commands of this page are running; wait for one of them to end"
            ))
        })?;
        let failed =
            |error: io::Error| PageError::failed(format!("a command of Toolsmith can't be run: {error}"));
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.args(words).args(&self.options).arg("--").args(operands);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(failed)?;
        Ok(async move {
            let _turn = turn;
            let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
            let feed = async {
                if let Some(mut stdin) = stdin {
                    // A command that ends early need not read it.
                    let _ = stdin.write_all(input.as_bytes()).await;
                }
            };
            let ((), output, messages, ended) =
                tokio::join!(feed, beginning(stdout), beginning(stderr), child.wait());
            Ok(Done {
                code: ended.map_err(failed)?.code(),
                output: output.map_err(failed)?,
                messages: messages.map_err(failed)?,
            })
        })
    }
}

/// Reads everything, and returns the beginning.
async fn beginning(stream: Option<impl AsyncRead + Unpin>) -> io::Result<String> {
    let Some(mut stream) = stream else { return Ok(String::new()) };
    let mut kept = Vec::new();
    (&mut stream).take(OUTPUT as u64).read_to_end(&mut kept).await?;
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
    Ok(String::from_utf8_lossy(&kept).into_owned())
}
