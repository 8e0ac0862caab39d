//! `toolsmith update --check`: compares this version with the newest release, and prints how to update. It changes
//! nothing: whatever installed Toolsmith (npm, dpkg, cargo, …) also updates it.
//!
//! `release` requests the newest release, `installation` finds out how this program was installed.

mod installation;
mod release;

use gateway::exit_code;
use gateway::failure::Failure;
use semver::Version;
use serde::Serialize;
use terminal::Terminal;

use self::installation::{Installation, Package};
use self::release::Release;
use crate::arguments::UpdateArguments;

/// The address of the repository that this program was released from: `repository` in Cargo.toml, or the one that
/// `.ci/release` passes to the build. Programs of other builds have none.
fn repository() -> Option<&'static str> {
    match env!("CARGO_PKG_REPOSITORY") {
        "" => option_env!("TOOLSMITH_REPOSITORY").filter(|address| !address.is_empty()),
        address => Some(address),
    }
}

/// The result of the comparison, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Comparison {
    /// This program's version.
    current: Version,
    /// The version of the newest release.
    newest: Version,
    /// Whether the newest release is newer than this program.
    is_available: bool,
    /// The way in which this program was installed.
    package: Package,
    /// The command that installs the newest release.
    command: String,
    /// The page of the newest release, if its address is known.
    page: Option<String>,
}

/// Runs the command and returns the exit code.
pub(crate) async fn update(arguments: &UpdateArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let release = Release::newest(repository()).await?;
    let current = Version::parse(env!("CARGO_PKG_VERSION")).map_err(Failure::system)?;
    let comparison = compare(current, release, &Installation::of_this_program()?);
    if arguments.output.json {
        terminal.print_json(&serde_json::to_string(&comparison).map_err(Failure::system)?);
    } else {
        lines(&comparison).iter().for_each(|line| terminal.print(line));
    }
    terminal.flush().await.map_err(Failure::output)?;
    Ok(exit_code::OK)
}

fn compare(current: Version, release: Release, installation: &Installation) -> Comparison {
    let command = installation.command(&release, repository());
    Comparison {
        // Metadata of builds does not count (Semantic Versioning 2.0.0, section 10).
        is_available: release.version.cmp_precedence(&current).is_gt(),
        current,
        newest: release.version,
        package: installation.package,
        command,
        page: release.page,
    }
}

/// The comparison as text.
fn lines(comparison: &Comparison) -> Vec<String> {
    let Comparison { current, newest, .. } = comparison;
    if !comparison.is_available {
        return vec![match newest.cmp_precedence(current) {
            std::cmp::Ordering::Less => format!("{current} is newer than the newest release, {newest}"),
            _ => format!("{current} is the newest release"),
        }];
    }
    let mut lines = vec![
        format!("version {newest} is available; this is {current}"),
        format!("update  {}", comparison.command),
    ];
    lines.extend(comparison.page.iter().map(|page| format!("changes {page}")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(current: &str, newest: &str) -> Comparison {
        let release = Release {
            version: Version::parse(newest).unwrap(),
            page: Some("https://example.com/releases/1".to_owned()),
        };
        let installation = Installation { package: Package::Npm, folder: "/usr/lib".into() };
        compare(Version::parse(current).unwrap(), release, &installation)
    }

    #[test]
    fn versions_are_compared_by_their_precedence() {
        let newer = |current, newest| comparison(current, newest).is_available;
        assert!(newer("0.2.0", "0.10.0"));
        assert!(newer("1.0.0-rc.1", "1.0.0"));
        assert!(!newer("0.2.0", "0.2.0+build.2"));
        assert!(!newer("0.3.0", "0.2.9"));
        assert!(!newer("1.0.0", "1.0.0-rc.1"));
    }

    #[test]
    fn the_text_has_both_versions_and_the_command() {
        assert_eq!(
            lines(&comparison("0.2.0", "0.3.1")),
            [
                "version 0.3.1 is available; this is 0.2.0",
                "update  npm install --global @toolsmith/cli@0.3.1",
                "changes https://example.com/releases/1",
            ]
        );
        assert_eq!(lines(&comparison("0.2.0", "0.2.0")), ["0.2.0 is the newest release"]);
        assert_eq!(lines(&comparison("0.3.0", "0.2.0")), ["0.3.0 is newer than the newest release, 0.2.0"]);
    }
}
