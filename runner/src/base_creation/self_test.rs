//! Tests a new base: a program linked both ways must do the same.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::compilation::{Creation, unusable};
use crate::base::{Base, ImageError};
use crate::base_layer::Crates;
use crate::compiler::Linker;
use crate::confined::{Captured, Confined};
use crate::error::{Error, Result};
use crate::sandbox_policies::{self, Grants, Limits};

/// The program: everything that two images could do differently from one.
pub(super) const SOURCE: (&str, &str) = ("self_test.rs", include_str!("../../layer/self_test.rs"));
/// Time limit of each run; it takes a few milliseconds.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of the output, in bytes.
const OUTPUT: usize = 1 << 20;

/// The effects of a run.
#[derive(Debug, PartialEq, Eq)]
struct Behaviour {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

/// Runs the program both ways.
///
/// # Errors
/// If it could not be linked against the base, or behaves differently.
pub(super) async fn run(creation: Creation<'_>, crates: &Crates, base: &Arc<Base>) -> Result<()> {
    let arguments = ["--crate-name=program"];
    let whole = creation.compile(crates, SOURCE, Linker::Rust, &arguments).await?;
    let object = creation.compile(crates, SOURCE, Linker::Base, &arguments).await?;
    let linked = base.link(&object, &[], &creation.toolchain.entry_point());
    let linked =
        linked.map_err(|error| unusable(format!("a test program does not link against it: {error}")))?;
    let expected = behaviour(creation, base, &whole).await?;
    let found = behaviour(creation, base, &linked).await?;
    // A failing test program would compare nothing.
    if expected.status.code() == Some(EXIT_CODE) && expected == found {
        return Ok(());
    }
    Err(unusable(format!("a test program behaves differently: {found:?} instead of {expected:?}")))
}

/// The exit code with which the program ends after its last test.
const EXIT_CODE: i32 = 7;

async fn behaviour(creation: Creation<'_>, base: &Arc<Base>, program: &[u8]) -> Result<Behaviour> {
    let folder = creation.cache.temporary()?;
    let file = folder.path().join("program");
    fs_err::write(&file, program).map_err(Error::cache(folder.path()))?;
    fs_err::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .map_err(Error::cache(folder.path()))?;
    let mut command = sandbox::Command::new(&file);
    let image = base.image(&file).await.map_err(|error| match error {
        ImageError::Damaged(error) => unusable(error),
        ImageError::NotInMemory(error) => error,
    })?;
    let mut base_size = 0;
    if let Some(image) = image {
        base_size = image.base_size;
        command = command.image(image.file);
    }
    let policy = sandbox_policies::program(&Limits::default(), &Grants::default(), base_size);
    let mut process = Confined::spawn(policy, creation.confinement, command)?;
    let (mut stdout, mut stderr) = (Captured::default(), Captured::default());
    let ended = async {
        let (out, err) = (&mut process.stdout, &mut process.stderr);
        // What is above the maximum is read as well, so that the program does not wait for a reader.
        tokio::join!(stdout.read(out, OUTPUT, false, |_| {}), stderr.read(err, OUTPUT, false, |_| {}));
        process.wait().await
    };
    let status = timeout(TIMEOUT, ended).await.map_err(|_| unusable("a test program does not end"))??;
    // A panic's message has the thread's number in the system, which differs from run to run.
    let stderr = stderr.text().replace(|letter: char| letter.is_ascii_digit(), "");
    Ok(Behaviour { status, stdout: stdout.text(), stderr })
}
