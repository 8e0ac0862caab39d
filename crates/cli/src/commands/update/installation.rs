//! The installation of this program, and the command that updates it.

use std::path::{Path, PathBuf};

use gateway::failure::Failure;
use runner::bundle::Bundle;
use serde::Serialize;

use super::release::Release;

/// The file next to the program that names its package. The packages' scripts in `packaging/` write it.
const MARKER: &str = "toolsmith-package";

/// The name of the package on npm.
const NPM: &str = "@toolsmith/cli";

/// The installer of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Package {
    /// npm, globally, in a project, or for one start by `npx`.
    Npm,
    /// The Debian package.
    Deb,
    /// `dist/packaging/install.sh`.
    Script,
    /// An unpacked bundle.
    Bundle,
    /// `cargo install` or `cargo binstall`.
    Cargo,
    /// A build in a clone of the repository, or a program that was copied.
    Program,
}

/// The installation of this program.
#[derive(Debug)]
pub(super) struct Installation {
    pub(super) package: Package,
    /// The folder of the bundle or of the program.
    pub(super) folder: PathBuf,
}

impl Installation {
    /// Finds out how this program was installed.
    ///
    /// # Errors
    /// If the system does not tell the program's path.
    pub(super) fn of_this_program() -> Result<Self, Failure> {
        let program = std::env::current_exe().map_err(Failure::system)?;
        let folder = program.parent().unwrap_or(Path::new("/")).to_owned();
        let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let cargo_home = cargo_home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
        Ok(match Bundle::folder_of_this_program() {
            Some(bundle) => Installation { package: of_bundle(&folder), folder: bundle },
            None if cargo_home.is_some_and(|home| is_same(&home.join("bin"), &folder)) => {
                Installation { package: Package::Cargo, folder }
            }
            None => Installation { package: Package::Program, folder },
        })
    }

    /// The command that installs a release in place of this program, or what to do by hand.
    pub(super) fn command(&self, release: &Release, repository: Option<&str>) -> String {
        let Release { version, page } = release;
        let page = page.as_deref().or(repository).unwrap_or("the page of the releases");
        let folder = self.folder.display();
        match (self.package, repository) {
            (Package::Npm, _) => format!("npm install --global {NPM}@{version}"),
            (Package::Deb, _) => {
                let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
                let file = format!("toolsmith_{version}_{architecture}.deb");
                format!("download {file} from {page}, then: sudo apt install ./{file}")
            }
            (Package::Script, Some(repository)) => {
                format!("curl -fsSL {repository}/releases/download/v{version}/install.sh | sh")
            }
            (Package::Script, None) => format!("run install.sh from {page}"),
            (Package::Bundle, _) => format!("replace {folder} by the bundle from {page}"),
            (Package::Cargo, Some(repository)) => {
                format!("cargo install --locked --git {repository} --tag v{version} toolsmith")
            }
            (Package::Cargo, None) => {
                format!("check out v{version} in your clone, then: cargo install --locked --path crates/cli")
            }
            (Package::Program, _) => format!("replace the program in {folder} by the one from {page}"),
        }
    }
}

/// The package that a bundle's program in this folder is from.
fn of_bundle(folder: &Path) -> Package {
    match std::fs::read_to_string(folder.join(MARKER)).as_deref().map(str::trim) {
        Ok("npm") => Package::Npm,
        Ok("deb") => Package::Deb,
        Ok("script") => Package::Script,
        _ => Package::Bundle,
    }
}

fn is_same(left: &Path, right: &Path) -> bool {
    left.canonicalize().is_ok_and(|left| right.canonicalize().is_ok_and(|right| left == right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marker_next_to_a_bundles_program_names_its_package() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(of_bundle(folder.path()), Package::Bundle);
        for (text, package) in [
            ("npm\n", Package::Npm),
            ("deb\n", Package::Deb),
            ("script\n", Package::Script),
            ("?", Package::Bundle),
        ] {
            std::fs::write(folder.path().join(MARKER), text).unwrap();
            assert_eq!(of_bundle(folder.path()), package);
        }
    }

    #[test]
    fn every_package_is_updated_in_its_own_way() {
        let release = Release { version: "1.2.3".parse().unwrap(), page: Some("https://h/r/1".to_owned()) };
        let packages =
            [Package::Npm, Package::Deb, Package::Script, Package::Bundle, Package::Cargo, Package::Program];
        let commands = |repository| {
            let command =
                |package| Installation { package, folder: "/f".into() }.command(&release, repository);
            packages.map(command).join("\n").replace("_arm64", "_amd64")
        };
        insta::assert_snapshot!(commands(Some("https://h/r")), @r"
        npm install --global @toolsmith/cli@1.2.3
        download toolsmith_1.2.3_amd64.deb from https://h/r/1, then: sudo apt install ./toolsmith_1.2.3_amd64.deb
        curl -fsSL https://h/r/releases/download/v1.2.3/install.sh | sh
        replace /f by the bundle from https://h/r/1
        cargo install --locked --git https://h/r --tag v1.2.3 toolsmith
        replace the program in /f by the one from https://h/r/1
        ");
        let without = commands(None);
        assert!(without.contains("\nrun install.sh from https://h/r/1\n"), "{without}");
        assert!(without.contains("cargo install --locked --path crates/cli"), "{without}");
    }
}
