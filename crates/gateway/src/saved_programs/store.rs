//! The files of saved programs: `NAME.rs` in the user's folder and in that of a trusted project.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use config::ProgramFolders;
use report::{Kind, Place, Problem, Report};
use runner::limits::SNIPPET_LIMIT;
use snippet::{InvalidProgram, ProgramFile, is_program_name, nearest};
use system::file;

use crate::failure::Failure;

/// Maximum number of programs in a folder.
const PROGRAMS_LIMIT: usize = 1_000;

/// Whose program it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The user's.
    User,
    /// The project's.
    Project,
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Scope::User => "user",
            Scope::Project => "project",
        })
    }
}

/// A saved program.
#[derive(Debug, Clone)]
pub struct SavedProgram {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// Whose it is.
    pub scope: Scope,
    /// The content of the file, or the error in it.
    pub content: Result<ProgramFile, Report>,
}

impl SavedProgram {
    /// Returns the content of the file.
    ///
    /// # Errors
    /// If the file has no program.
    pub fn program(&self) -> Result<&ProgramFile, Failure> {
        self.content.as_ref().map_err(|report| Failure::from(report.clone()))
    }
}

/// The folders with saved programs.
#[derive(Debug, Clone, Default)]
pub struct ProgramStore {
    folders: ProgramFolders,
}

impl ProgramStore {
    /// The programs of the user, and of the project in the working folder if it is trusted.
    ///
    /// # Errors
    /// If the project's configuration or the trust record can't be read.
    pub fn of_working_folder() -> Result<Self, Failure> {
        let folder = std::env::current_dir().map_err(|error| {
            Failure::command_line(format!("the working folder can't be determined: {error}")).caused_by(error)
        })?;
        Ok(ProgramStore { folders: ProgramFolders::of(&folder)? })
    }

    /// The files of all programs, to watch them. Without a readable configuration there are none.
    pub fn files_of_working_folder() -> Vec<PathBuf> {
        let Ok(store) = ProgramStore::of_working_folder() else { return Vec::new() };
        let files = store.folders().into_iter().flat_map(|(_, folder)| {
            let names = names(folder).unwrap_or_default();
            names.into_iter().map(|name| folder.join(format!("{name}.rs"))).collect::<Vec<_>>()
        });
        files.collect()
    }

    /// Returns the reason why the project's programs are left out, if it has any.
    pub fn left_out(&self) -> Option<&str> {
        self.folders.left_out.as_deref()
    }

    /// All programs by name. A project's program replaces the user's of the same name.
    ///
    /// # Errors
    /// If a folder can't be read, or has too many programs.
    pub fn all(&self) -> Result<Vec<SavedProgram>, Failure> {
        let mut programs = BTreeMap::new();
        for (scope, folder) in self.folders() {
            for name in names(folder)? {
                programs.insert(name.clone(), read(&name, scope, folder));
            }
        }
        Ok(programs.into_values().flatten().collect())
    }

    /// The program with this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(&self, name: &str) -> Result<SavedProgram, Failure> {
        check_name(name)?;
        for (scope, folder) in self.folders().into_iter().rev() {
            if let Some(program) = read(name, scope, folder) {
                return Ok(program);
            }
        }
        Err(self.unknown(name))
    }

    /// The file for a program of this name, whether or not it exists.
    ///
    /// # Errors
    /// If there can be no such program.
    pub fn file(&self, name: &str, scope: Scope) -> Result<PathBuf, Failure> {
        check_name(name)?;
        let folder = match scope {
            Scope::User => self.folders.user.as_ref().ok_or_else(|| {
                Failure::command_line("there is no folder for your programs")
                    .hint("set HOME, or XDG_CONFIG_HOME")
            })?,
            Scope::Project => self.folders.project.as_ref().ok_or_else(|| self.untrusted())?,
        };
        Ok(folder.join(format!("{name}.rs")))
    }

    fn untrusted(&self) -> Failure {
        let why = "this project has no programs: it has no configuration that is trusted";
        Failure::new(Kind::Trust, self.left_out().unwrap_or(why))
            .hint("review and trust the project's configuration: toolsmith trust")
            .hint("without one, create toolsmith.yaml first: toolsmith mcp add --scope project")
    }

    /// The existing folders, the weakest first.
    fn folders(&self) -> Vec<(Scope, &Path)> {
        let user = self.folders.user.as_deref().map(|folder| (Scope::User, folder));
        let project = self.folders.project.as_deref().map(|folder| (Scope::Project, folder));
        user.into_iter().chain(project).collect()
    }

    fn unknown(&self, name: &str) -> Failure {
        let failure = Failure::command_line(format!("there is no program {name:?}"));
        let known: Vec<String> =
            self.folders().iter().flat_map(|(_, folder)| names(folder).unwrap_or_default()).collect();
        let failure = match nearest(name, known.iter().map(String::as_str)).first() {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure,
        };
        let failure = match self.left_out() {
            Some(why) => failure.hint(why),
            None => failure,
        };
        failure.hint("`toolsmith program list` lists all programs")
    }
}

/// Refuses a name that no program can have.
fn check_name(name: &str) -> Result<(), Failure> {
    if is_program_name(name) {
        return Ok(());
    }
    let failure = Failure::command_line(format!("{name:?} can't be the name of a program")).hint(
        "use at most 64 lowercase letters, digits and underscores, beginning with a letter; no Rust keyword",
    );
    Err(match name.ends_with(".rs") {
        true => failure.hint("a new program's name is before its file: toolsmith program save NAME FILE"),
        false => failure,
    })
}

/// The names of the programs in a folder, which may be missing.
fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::command_line(format!("the programs in {} can't be listed: {error}", folder.display()))
            .caused_by(error)
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_stem().and_then(std::ffi::OsStr::to_str).filter(|name| is_program_name(name));
        if let Some(name) = name.filter(|_| path.extension().is_some_and(|extension| extension == "rs")) {
            names.push(name.to_owned());
        }
        if names.len() > PROGRAMS_LIMIT {
            let message = format!("{} has more than {PROGRAMS_LIMIT} programs", folder.display());
            return Err(Failure::command_line(message).hint("move some of them elsewhere"));
        }
    }
    names.sort();
    Ok(names)
}

/// The program `name` in `folder`; `None` if it has no file there. A file that can't be read is a program in which
/// something is wrong, so that it does not hide the others.
fn read(name: &str, scope: Scope, folder: &Path) -> Option<SavedProgram> {
    let file = folder.join(format!("{name}.rs"));
    let wrong =
        |what: String| Report::new(Kind::CommandLine, format!("the program {} {what}", file.display()));
    let content = match file::read(&file, SNIPPET_LIMIT as u64) {
        Ok(None) => return None,
        Ok(Some(bytes)) => match String::from_utf8(bytes) {
            Ok(text) => ProgramFile::parse(text).map_err(|error| invalid(&file, error)),
            Err(_) => Err(wrong("is not UTF-8".to_owned())),
        },
        Err(error) => Err(wrong(format!("can't be read: {error}")).caused_by(error)),
    };
    Some(SavedProgram { name: name.to_owned(), file, scope, content })
}

/// The report of a text that is no program.
pub fn invalid(file: &Path, error: InvalidProgram) -> Report {
    let place = Place {
        file: file.display().to_string(),
        line: error.line.into(),
        column: Some(error.column.into()),
        excerpt: None,
    };
    Report::of(Kind::CommandLine, vec![Problem::at(place, error.message)])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//! Does nothing.\nasync fn run() -> Result<()> { Ok(()) }\n";

    fn store(folder: &Path) -> ProgramStore {
        let (user, project) = (Some(folder.join("user")), Some(folder.join("project")));
        ProgramStore { folders: ProgramFolders { user, project, left_out: None } }
    }

    #[test]
    fn missing_folders_have_no_programs() {
        let folder = tempfile::tempdir().unwrap();
        assert!(store(folder.path()).all().unwrap().is_empty());
        let error = store(folder.path()).find("revenue").unwrap_err();
        assert!(error.to_string().contains("there is no program \"revenue\""), "{error}");
    }

    #[test]
    fn a_project_s_program_replaces_the_user_s() {
        let folder = tempfile::tempdir().unwrap();
        for (place, name) in
            [("user", "one"), ("user", "two"), ("project", "two"), ("project", "No"), ("user", "fn")]
        {
            std::fs::create_dir_all(folder.path().join(place)).unwrap();
            std::fs::write(folder.path().join(place).join(format!("{name}.rs")), TEXT).unwrap();
        }
        std::fs::write(folder.path().join("user/notes.md"), "no program").unwrap();
        let all = store(folder.path()).all().unwrap();
        let shown: Vec<String> =
            all.iter().map(|program| format!("{} {}", program.name, program.scope)).collect();
        assert_eq!(shown, ["one user", "two project"]);
        assert_eq!(store(folder.path()).find("two").unwrap().scope, Scope::Project);
        let near = store(folder.path()).find("tow").unwrap_err();
        assert!(near.report.hints.iter().any(|hint| hint.contains("two")), "{near:?}");
        assert!(store(folder.path()).find("../two").is_err());
    }

    #[test]
    fn a_file_without_a_program_is_reported_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("user")).unwrap();
        std::fs::write(folder.path().join("user/odd.rs"), "\nfn run() {}").unwrap();
        let odd = store(folder.path()).find("odd").unwrap();
        let error = odd.program().unwrap_err();
        assert!(error.to_string().contains("odd.rs:2:"), "{error}");
    }

    /// The file of a program, and what is wrong with it.
    #[test]
    fn a_file_that_cannot_be_read_hides_no_other_program() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("right.rs"), "async fn run() -> Result<u8> { Ok(1) }").unwrap();
        std::fs::write(at("binary.rs"), b"\xff").unwrap();
        std::fs::write(at("large.rs"), " ".repeat(SNIPPET_LIMIT + 1)).unwrap();
        std::fs::create_dir(at("folder.rs")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("device.rs")).unwrap();
        std::os::unix::fs::symlink("gone.rs", at("link.rs")).unwrap();
        std::os::unix::fs::symlink("r\u{131}ght.rs", at("r\u{131}ght.rs")).unwrap();
        std::fs::write(at("Upper.rs"), "").unwrap();
        std::fs::write(at("text.txt"), "").unwrap();
        let folders = ProgramFolders { user: Some(folder.path().to_owned()), ..ProgramFolders::default() };
        let store = ProgramStore { folders };
        let programs = store.all().unwrap();
        let found: Vec<(&str, Option<String>)> = programs
            .iter()
            .map(|program| {
                let wrong = program.content.as_ref().err().map(Report::for_model);
                (program.name.as_str(), wrong)
            })
            .collect();
        let says = |name: &str, what: &str| {
            let place = at(&format!("{name}.rs")).display().to_string();
            found.iter().any(|(known, wrong)| {
                *known == name
                    && wrong.as_ref().is_some_and(|wrong| wrong.contains(&place) && wrong.contains(what))
            })
        };
        assert_eq!(found.len(), 5, "{found:?}");
        assert!(found.contains(&("right", None)), "{found:?}");
        assert!(says("binary", "is not UTF-8") && says("folder", "is a directory"), "{found:?}");
        assert!(says("device", "not a regular file") && says("large", "more than"), "{found:?}");
        assert!(store.find("right").is_ok_and(|program| program.program().is_ok()));
        assert!(store.find("folder").is_ok_and(|program| program.program().is_err()));
        for name in ["link", "r\u{131}ght", "Upper", "text", "../right"] {
            assert!(store.find(name).is_err(), "{name}");
        }
    }
}
