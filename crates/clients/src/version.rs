//! The version of an installed client.

use std::process::Stdio;
use std::time::Duration;

use semver::Version;
use tokio::process::Command;
use tokio::time::timeout;

use super::profile::Profile;

/// Time limit of a program's `--version`: those on Node take seconds on a busy machine.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// The reason why a client's version is not known.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct UnknownVersion(String);

/// The version of a client if it `matters`, as its program in the search path reports it. A desktop application is not
/// asked: it might open a window.
///
/// # Errors
/// If the version is not known.
pub async fn of(profile: &Profile, matters: bool) -> Result<Version, UnknownVersion> {
    if !matters {
        return Err(UnknownVersion("its version does not matter".to_owned()));
    }
    let program = profile.programs.first().copied().unwrap_or_default();
    if profile.is_desktop {
        return Err(UnknownVersion(format!("{program} may open a window")));
    }
    let mut programs = profile.programs.iter();
    let path = programs.find_map(|program| which::which_global(program).ok());
    let path = path.ok_or_else(|| UnknownVersion(format!("{program} is not in PATH")))?;
    let mut command = Command::new(path);
    command.arg("--version").stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(VERSION_TIMEOUT, command.output()).await.map_err(|_| {
        let seconds = VERSION_TIMEOUT.as_secs();
        UnknownVersion(format!("`{program} --version` did not end within {seconds} s"))
    })?;
    let output = output.map_err(|error| UnknownVersion(format!("`{program} --version` failed: {error}")))?;
    version_in(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| UnknownVersion(format!("`{program} --version` printed no version")))
}

/// The first version in a text, such as `codex-cli 0.171.0`.
fn version_in(text: &str) -> Option<Version> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ','));
    words
        .map(|word| word.trim_start_matches('v').trim_end_matches('.'))
        .find_map(|word| Version::parse(word).ok())
}

#[cfg(test)]
mod tests {
    use super::version_in;

    #[test]
    fn a_version_is_found_in_what_clients_print() {
        for (text, expected) in [
            ("codex-cli 0.171.0\n", Some("0.171.0")),
            ("2.1.332 (Claude Code)\n", Some("2.1.332")),
            ("GitHub Copilot CLI 1.0.102.\nRun 'copilot update'", Some("1.0.102")),
            ("crush version v0.30.1", Some("0.30.1")),
            ("kimi, version 1.12.0", Some("1.12.0")),
            ("codex-cli 0.142.0-alpha.3", Some("0.142.0-alpha.3")),
            ("no version", None),
        ] {
            assert_eq!(version_in(text).map(|version| version.to_string()).as_deref(), expected, "{text}");
        }
    }
}
