//! Finds the program of a command, and the smallest folders that it needs to run: its installation, that of its
//! interpreter, and the package of the script that it is given.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use mcp::SpawnError;

use crate::{package_managers, system_paths};

/// Maximum number of links and interpreters on the way to a program, as in the kernel (path_resolution(7)).
const STEPS: usize = 40;

/// Maximum length of the first line of a script, in bytes (execve(2)).
const FIRST_LINE: usize = 256;

/// The interpreter of files without an executable format, as in execvp(3).
const SHELL: &str = "/bin/sh";

/// Folders of an installation by which it is recognised: those beside its `bin`.
const BESIDE_BIN: &[&str] = &["lib", "lib64", "libexec", "pyvenv.cfg", "tools", "install", "installs"];

/// Files by which the folder of a package is recognised.
const PACKAGE_FILES: &[&str] = &[
    "package.json",
    "pyproject.toml",
    "setup.py",
    "requirements.txt",
    "deno.json",
    "deno.jsonc",
    "go.mod",
    "Gemfile",
    "composer.json",
    "pom.xml",
];

/// The folder of the packages of Node.js.
const NODE_MODULES: &str = "node_modules";

/// The beginnings of the names of interpreters: programs whose first argument is a script.
const INTERPRETERS: &[&str] = &[
    "python", "pypy", "node", "bun", "deno", "ts-node", "tsx", "ruby", "perl", "php", "bash", "sh", "dash",
    "zsh", "java", "lua", "dotnet", "Rscript",
];

/// Arguments after which an interpreter takes no script: a module or a text follows.
const NO_SCRIPT: &[&str] = &["-m", "-c", "-e", "--eval"];

/// A program as it is executed, and what it needs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Installation {
    /// The program, at a path that is visible with the folders.
    pub(crate) program: PathBuf,
    /// Whether the shell executes it.
    pub(crate) by_shell: bool,
    /// The files and folders that it needs besides those of the system.
    pub(crate) paths: BTreeSet<PathBuf>,
}

impl Installation {
    /// The words that execute the program: itself, or the shell with it.
    pub(crate) fn words(&self) -> impl Iterator<Item = &Path> {
        self.by_shell.then_some(Path::new(SHELL)).into_iter().chain([self.program.as_path()])
    }
}

/// The surroundings in which a command is looked up.
pub(crate) struct Lookup<'a> {
    pub(crate) path: &'a str,
    pub(crate) folder: &'a Path,
    pub(crate) home: Option<&'a Path>,
}

impl Lookup<'_> {
    /// Finds the program of a command, and what it needs.
    ///
    /// # Errors
    /// If there is none, or it may not be executed.
    pub(crate) fn find(&self, command: &str, args: &[String]) -> Result<Installation, SpawnError> {
        let found = self.locate(command)?;
        let mut needs = Needs { lookup: self, paths: BTreeSet::new() };
        let (program, by_shell) = needs.follow(&found, STEPS);
        needs.script(command, args);
        needs.paths.extend(package_managers::projects(args, self.folder));
        if !package_managers::caches(command).is_empty() {
            let pythons = self.home.map(package_managers::pythons).filter(|folder| folder.is_dir());
            needs.paths.extend(pythons);
        }
        let paths = needs.paths.into_iter().filter(|path| !system_paths::are_visible(path)).collect();
        Ok(Installation { program, by_shell, paths })
    }

    /// The file that a command's name means, as in execvp(3).
    fn locate(&self, command: &str) -> Result<PathBuf, SpawnError> {
        let is_executable = |file: &PathBuf| {
            fs_err::metadata(file)
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        if command.contains('/') {
            let file = self.folder.join(command);
            return match (is_executable(&file), file.exists()) {
                (true, _) => Ok(file),
                (false, true) => Err(SpawnError::NotExecutable(command.to_owned())),
                (false, false) => Err(SpawnError::Missing(command.to_owned())),
            };
        }
        let mut files = std::env::split_paths(self.path).map(|folder| self.folder.join(folder).join(command));
        files.find(is_executable).ok_or_else(|| SpawnError::NotInPath(command.to_owned()))
    }

    /// Whether a folder is the user's home, or contains it.
    fn contains_home(&self, folder: &Path) -> bool {
        self.home.is_some_and(|home| home.starts_with(folder)) || folder.parent().is_none()
    }

    /// The installation that a program in it belongs to.
    fn prefix<'b>(&self, program: &'b Path) -> Option<&'b Path> {
        let folder = program.parent()?;
        let prefix = folder.parent().filter(|prefix| !self.contains_home(prefix))?;
        let is_the_users = self.home.is_some_and(|home| prefix == home.join(".local"));
        let is_whole = match folder.file_name()?.to_str()? {
            "shims" | ".bin" => true,
            "bin" | "sbin" => BESIDE_BIN.iter().any(|name| prefix.join(name).exists()),
            _ => false,
        };
        (is_whole && !is_the_users).then_some(prefix)
    }
}

/// Collects what a program needs.
struct Needs<'a> {
    lookup: &'a Lookup<'a>,
    paths: BTreeSet<PathBuf>,
}

impl Needs<'_> {
    /// Adds what a program needs. Returns the path to execute: the given one, or where a link leads to that is not visible
    /// as a link; and whether the shell executes it.
    fn follow(&mut self, program: &Path, steps: usize) -> (PathBuf, bool) {
        let mut executed = None;
        let mut at = without_links_above(program);
        for left in (0..steps).rev() {
            let is_whole = self.installed(&at);
            match fs_err::read_link(&at) {
                Ok(target) => {
                    if is_whole {
                        executed.get_or_insert_with(|| at.clone());
                    }
                    at = without_links_above(&at.with_file_name(target));
                }
                Err(_) => {
                    let by_shell = self.interpreter(&at, left);
                    return (executed.unwrap_or(at), by_shell);
                }
            }
        }
        (program.to_owned(), false)
    }

    /// Adds the installation of a program. Returns whether everything beside it is visible.
    fn installed(&mut self, program: &Path) -> bool {
        let is_within = |folder: &PathBuf| program != folder && program.starts_with(folder);
        if system_paths::are_visible(program) || self.paths.iter().any(is_within) {
            return true;
        }
        if let Some(prefix) = self.lookup.prefix(program) {
            self.paths.insert(prefix.to_owned());
            return true;
        }
        if !program.is_symlink() {
            self.paths.insert(program.to_owned());
        }
        false
    }

    /// Adds the interpreter of a script. Returns whether it is a script for the shell, without a first line that says so.
    fn interpreter(&mut self, file: &Path, steps: usize) -> bool {
        let Some(start) = start_of(file) else { return false };
        if start.starts_with(b"\x7fELF") {
            return false;
        }
        let Some(line) = start.strip_prefix(b"#!") else { return true };
        let line = String::from_utf8_lossy(line.split(|byte| *byte == b'\n').next().unwrap_or_default());
        let mut words = line.split_ascii_whitespace();
        let Some(interpreter) = words.next() else { return false };
        if steps > 0 {
            self.follow(Path::new(interpreter), steps - 1);
        }
        // What `pip install --user` has installed is beside its scripts.
        let packages = self.lookup.home.map(|home| home.join(".local/lib"));
        let is_the_users = self.lookup.home.is_some_and(|home| file.starts_with(home.join(".local/bin")));
        self.paths.extend(packages.filter(|folder| is_the_users && folder.is_dir()));
        if interpreter.ends_with("/env")
            && steps > 0
            && let Some(name) = words.find(|word| !word.starts_with('-') && !word.contains('='))
            && let Ok(found) = self.lookup.locate(name)
        {
            self.follow(&found, steps - 1);
        }
        false
    }

    /// Adds the package of the script that an interpreter is given.
    fn script(&mut self, command: &str, args: &[String]) {
        let name = Path::new(command).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !INTERPRETERS.iter().any(|known| name.starts_with(known)) {
            return;
        }
        let before = args.iter().take_while(|arg| !NO_SCRIPT.contains(&arg.as_str()));
        let mut files = before.filter(|arg| !arg.starts_with('-')).map(|arg| self.lookup.folder.join(arg));
        let Some(script) = files.find(|file| file.is_file()) else { return };
        let script = without_links_above(&script);
        if let Ok(real) = fs_err::canonicalize(&script) {
            let package = self.package(&real);
            self.paths.extend(package);
            if real != script {
                self.paths.insert(script);
            }
        }
    }

    /// The smallest folders with what a script imports.
    fn package(&self, script: &Path) -> Vec<PathBuf> {
        let within: Vec<&Path> =
            script.ancestors().skip(1).take_while(|folder| !self.lookup.contains_home(folder)).collect();
        // In a folder of packages, each imports others.
        let packages =
            within.iter().rev().find(|folder| folder.file_name().is_some_and(|name| name == NODE_MODULES));
        if let Some(packages) = packages {
            return vec![packages.to_path_buf()];
        }
        let is_package = |folder: &&&Path| PACKAGE_FILES.iter().any(|name| folder.join(name).exists());
        let own = within.iter().find(is_package).or(within.first());
        let own = own.map_or_else(|| script.to_owned(), |folder| folder.to_path_buf());
        let modules = within.iter().map(|folder| folder.join(NODE_MODULES)).find(|folder| folder.is_dir());
        let modules = modules.filter(|modules| !modules.starts_with(&own));
        std::iter::once(own).chain(modules).collect()
    }
}

/// The path without links on the way to its last part.
fn without_links_above(path: &Path) -> PathBuf {
    let parent = path.parent().and_then(|parent| fs_err::canonicalize(parent).ok());
    match (parent, path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

/// The first bytes of a file.
fn start_of(file: &Path) -> Option<Vec<u8>> {
    let mut start = vec![0; FIRST_LINE];
    let length = fs_err::File::open(file).ok()?.read(&mut start).ok()?;
    start.truncate(length);
    Some(start)
}

#[cfg(test)]
mod tests;
