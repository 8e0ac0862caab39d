//! Tests a new base: a program linked both ways must do the same.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::compilation::{Creation, unusable};
use crate::base::Base;
use crate::base_layer::BaseLayer;
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

/// What a run did.
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
pub(super) async fn run(creation: Creation<'_>, layer: &BaseLayer, base: &Arc<Base>) -> Result<()> {
    let arguments = ["--crate-name=program"];
    let whole = creation.compile(layer, &[SOURCE], Linker::Rust, &arguments).await?;
    let linked = creation.compile(layer, &[SOURCE], Linker::Program(base), &arguments).await?;
    if !base.is_needed_by(&linked) {
        return Err(unusable("a test program does not link against it"));
    }
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
    if let Some(executable) = base.executable(file.clone()).await? {
        command = command.image(executable);
    }
    let policy = sandbox_policies::program(&Limits::default(), &Grants::default());
    let mut process = Confined::spawn(policy, creation.confinement, command)?;
    let (mut stdout, mut stderr) = (Captured::default(), Captured::default());
    let (out, err) = (&mut process.stdout, &mut process.stderr);
    let output = async {
        tokio::join!(stdout.read(out, OUTPUT, true, |_| {}), stderr.read(err, OUTPUT, true, |_| {}))
    };
    timeout(TIMEOUT, output).await.map_err(|_| unusable("a test program does not end"))?;
    // A panic's message has the thread's number in the system, which differs from run to run.
    let stderr = stderr.text().replace(|letter: char| letter.is_ascii_digit(), "");
    Ok(Behaviour { status: process.wait().await?, stdout: stdout.text(), stderr })
}
