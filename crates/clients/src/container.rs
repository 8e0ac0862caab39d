//! The command line that starts `toolsmith serve` in a container, as clients start it. docs/container.md describes the
//! image.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use config::Error;
use rustix::process::{getgid, getuid};

/// The volumes of the cache and the state, as `NAME:FOLDER`. All clients share them. Entries are recognized by the
/// first one.
const VOLUMES: [&str; 2] = ["toolsmith-cache:/cache", "toolsmith-state:/state"];
/// The folder of the user's own configuration in the image: `$XDG_CONFIG_HOME/toolsmith`.
const CONFIG_FOLDER: &str = "/config/toolsmith";
/// The folder of a configuration that `--config` names.
const NAMED_FOLDER: &str = "/config/named";
/// A variable that is passed on, so that configurations that start each other are still detected.
const DEPTH: &str = "TOOLSMITH_DEPTH";

/// A program that starts containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ContainerProgram {
    /// Docker.
    Docker,
    /// podman.
    Podman,
}

impl ContainerProgram {
    /// The program's name.
    fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// A container that serves a client.
#[derive(Debug)]
pub struct Container {
    /// The program that starts the container.
    pub program: ContainerProgram,
    /// The image's name.
    pub image: String,
}

impl Container {
    /// The program's path and its arguments. `config` is an absolute path.
    ///
    /// # Errors
    /// If the program is not installed, or a path can't be mounted.
    pub(crate) fn command(&self, config: Option<&Path>) -> Result<(String, Vec<String>), Error> {
        let word = self.program.word();
        let program = which::which_global(&word).map_err(|error| {
            Error::new(format!("there is no {word} in PATH"))
                .caused_by(error)
                .hint(format!("install {word}, or name another program: --container docker|podman"))
        })?;
        let own = config::user_folder().filter(|folder| folder.is_dir());
        let program = text(&program)?.to_owned();
        Ok((program, self.arguments(getuid().as_raw(), getgid().as_raw(), own, config)?))
    }

    fn arguments(
        &self,
        user: u32,
        group: u32,
        own: Option<PathBuf>,
        config: Option<&Path>,
    ) -> Result<Vec<String>, Error> {
        let mut line = words(&["run", "--interactive", "--rm", "--read-only", "--tmpfs", "/tmp"]);
        // With the user's own number, the configuration can be read and permissions can be written. podman gives the
        // numbers inside another meaning, unless it is told to keep them. For root there is nothing to keep.
        if self.program == ContainerProgram::Podman && user != 0 {
            line.push("--userns=keep-id".to_owned());
        }
        line.extend(["--user".to_owned(), format!("{user}:{group}")]);
        line.extend(["--env", DEPTH].map(str::to_owned));
        line.extend(VOLUMES.iter().flat_map(|volume| words(&["--volume", volume])));
        if let Some(own) = own {
            line.extend(mount(&own, CONFIG_FOLDER, false)?);
        }
        let mut served = words(&["serve"]);
        if let Some(file) = config {
            let name = file.file_name().unwrap_or_default();
            let inside = Path::new(NAMED_FOLDER).join(name);
            let inside = text(&inside)?;
            line.extend(mount(file, inside, true)?);
            served.extend(words(&["--config", inside]));
        }
        line.push(self.image.clone());
        line.extend(served);
        Ok(line)
    }
}

/// Whether a command line is one that [`Container::command`] makes.
pub(crate) fn is_container(line: &[&str]) -> bool {
    let program = line.first().and_then(|command| Path::new(command).file_name()?.to_str());
    matches!(program, Some("docker" | "podman"))
        && line.get(1) == Some(&"run")
        && line.contains(&VOLUMES[0])
        && line.contains(&"serve")
}

/// The option that mounts a path of the user.
fn mount(from: &Path, to: &str, is_read_only: bool) -> Result<[String; 2], Error> {
    let from = text(from)?;
    if let Some(path) = [from, to].into_iter().find(|path| path.contains([',', '"'])) {
        return Err(Error::new(format!(
            "{path} can't be mounted in a container: its name has a comma or a quote"
        ))
        .hint("rename it, or put the configuration elsewhere"));
    }
    let end = if is_read_only { ",readonly" } else { "" };
    Ok(["--mount".to_owned(), format!("type=bind,source={from},target={to}{end}")])
}

fn text(path: &Path) -> Result<&str, Error> {
    path.to_str()
        .ok_or_else(|| Error::new(format!("{} is not UTF-8, and clients can't name it", path.display())))
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().copied().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(program: ContainerProgram) -> Container {
        Container { program, image: "example/toolsmith:1".to_owned() }
    }

    fn line(program: ContainerProgram, user: u32, own: Option<&str>, config: Option<&str>) -> Vec<String> {
        container(program).arguments(user, user, own.map(PathBuf::from), config.map(Path::new)).unwrap()
    }

    #[test]
    fn files_of_the_user_are_mounted_and_the_server_names_them_as_they_are_inside() {
        let line =
            line(ContainerProgram::Docker, 1000, Some("/home/me/.config/toolsmith"), Some("/tools/a.yaml"));
        let expected = "run --interactive --rm --read-only --tmpfs /tmp --user 1000:1000 --env TOOLSMITH_DEPTH \
                        --volume toolsmith-cache:/cache --volume toolsmith-state:/state \
                        --mount type=bind,source=/home/me/.config/toolsmith,target=/config/toolsmith \
                        --mount type=bind,source=/tools/a.yaml,target=/config/named/a.yaml,readonly \
                        example/toolsmith:1 serve --config /config/named/a.yaml";
        assert_eq!(line.join(" "), expected);
    }

    #[test]
    fn podman_keeps_the_number_of_a_user_who_is_not_root() {
        let keeps = |program, user| line(program, user, None, None).contains(&"--userns=keep-id".to_owned());
        assert!(keeps(ContainerProgram::Podman, 1000));
        assert!(!keeps(ContainerProgram::Podman, 0) && !keeps(ContainerProgram::Docker, 1000));
    }

    #[test]
    fn a_path_that_is_no_value_of_a_mount_is_refused() {
        for path in ["/a,b/c.yaml", "/a\"b.yaml"] {
            let container = container(ContainerProgram::Docker);
            let error = container.arguments(1, 1, None, Some(Path::new(path))).unwrap_err();
            assert!(error.to_string().contains("comma"), "{error}");
        }
    }

    #[test]
    fn its_own_lines_are_recognized_and_others_are_not() {
        let line = line(ContainerProgram::Podman, 1000, None, None);
        let whole: Vec<&str> =
            std::iter::once("/usr/bin/podman").chain(line.iter().map(String::as_str)).collect();
        assert!(is_container(&whole));
        assert!(!is_container(&["docker", "run", "-i", "--rm", "mcp/time", "serve"]));
        assert!(!is_container(&["docker", "run", "--volume", VOLUMES[0], "example/other"]));
        assert!(!is_container(&[]));
    }
}
