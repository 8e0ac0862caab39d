//! Installations as package managers and version managers lay them out.

use std::os::unix::fs::symlink;

use super::*;

/// A home with files, each executable, and links.
struct Home(tempfile::TempDir);

impl Home {
    fn new(files: &[(&str, &str)], links: &[(&str, &str)]) -> Self {
        let home = Home(tempfile::tempdir().unwrap());
        for (file, text) in files {
            let path = home.path(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        for (link, target) in links {
            let path = home.path(link);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(target, path).unwrap();
        }
        home
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    /// The program and the paths of a command, relative to the home.
    fn find(&self, path: &[&str], command: &str, args: &[&str]) -> (String, Vec<String>) {
        let path: Vec<String> = path.iter().map(|folder| self.path(folder).display().to_string()).collect();
        let (path, home) = (path.join(":"), self.path(""));
        let lookup = Lookup { path: &path, folder: &home.join("work"), home: Some(&home) };
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let found = lookup.find(command, &args).unwrap();
        let shown = |path: &PathBuf| path.strip_prefix(&home).unwrap_or(path).display().to_string();
        (shown(&found.program), found.paths.iter().map(shown).collect())
    }
}

const ELF: &str = "\x7fELF";

#[test]
fn an_installation_of_node_is_its_prefix() {
    let home = Home::new(
        &[
            (".nvm/versions/node/v22/bin/node", ELF),
            (".nvm/versions/node/v22/lib/node_modules/npm/bin/npx-cli.js", "#!/usr/bin/env node\n"),
        ],
        &[(".nvm/versions/node/v22/bin/npx", "../lib/node_modules/npm/bin/npx-cli.js")],
    );
    let found = home.find(&[".nvm/versions/node/v22/bin"], "npx", &["-y", "server"]);
    assert_eq!(found.0, ".nvm/versions/node/v22/bin/npx");
    assert_eq!(found.1, [".nvm/versions/node/v22"]);
}

#[test]
fn a_link_in_the_users_folder_of_programs_leads_to_its_installation() {
    let home = Home::new(
        &[
            (".local/share/uv/tools/git-server/bin/git-server", "#!/bin/sh\n"),
            (".local/share/uv/tools/git-server/pyvenv.cfg", ""),
            (".local/bin/uvx", ELF),
        ],
        &[(".local/bin/git-server", "../share/uv/tools/git-server/bin/git-server")],
    );
    let found = home.find(&[".local/bin"], "git-server", &[]);
    assert_eq!(found.0, ".local/share/uv/tools/git-server/bin/git-server");
    assert_eq!(found.1, [".local/share/uv/tools/git-server"]);
    assert_eq!(
        home.find(&[".local/bin"], "uvx", &[]),
        (".local/bin/uvx".into(), vec![".local/bin/uvx".into()])
    );
}

#[test]
fn a_program_without_an_installation_is_alone() {
    let home = Home::new(
        &[
            (".cargo/bin/server", ELF),
            (".cargo/registry/token", ""),
            ("go/bin/kubernetes", ELF),
            ("go/src/x", ""),
        ],
        &[],
    );
    assert_eq!(home.find(&[".cargo/bin"], "server", &[]).1, [".cargo/bin/server"]);
    assert_eq!(home.find(&["go/bin"], "kubernetes", &[]).1, ["go/bin/kubernetes"]);
}

#[test]
fn a_script_needs_its_package_and_its_interpreter() {
    let home = Home::new(
        &[
            ("tools/node/bin/node", ELF),
            ("tools/node/lib/x", ""),
            ("work/server/package.json", "{}"),
            ("work/server/dist/index.js", ""),
            ("peers/node_modules/@mcp/files/package.json", "{}"),
            ("peers/node_modules/@mcp/files/index.js", ""),
            ("loose.js", ""),
        ],
        &[],
    );
    let found = |args: &[&str]| home.find(&["tools/node/bin"], "node", args).1;
    assert_eq!(found(&["server/dist/index.js"]), ["tools/node", "work/server"]);
    assert_eq!(
        found(&["../peers/node_modules/@mcp/files/index.js", "/data"]),
        ["peers/node_modules", "tools/node"]
    );
    // The home is not a package.
    assert_eq!(found(&["--flag", "../loose.js"]), ["loose.js", "tools/node"]);
    assert_eq!(found(&["-e", "../loose.js"]), ["tools/node"]);
}

#[test]
fn a_command_that_does_not_exist_is_an_error() {
    let home = Home::new(&[("bin/data", "")], &[]);
    std::fs::set_permissions(home.path("bin/data"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let path = home.path("bin").display().to_string();
    let folder = home.path("");
    let lookup = Lookup { path: &path, folder: &folder, home: None };
    assert!(matches!(lookup.find("missing", &[]), Err(SpawnError::NotInPath(_))));
    assert!(matches!(lookup.find("data", &[]), Err(SpawnError::NotInPath(_))));
    assert!(matches!(lookup.find("./bin/data", &[]), Err(SpawnError::NotExecutable(_))));
    assert!(matches!(lookup.find("./bin/none", &[]), Err(SpawnError::Missing(_))));
}

/// A script that the kernel can't execute is one for the shell, as with execvp(3).
#[test]
fn a_script_without_a_first_line_is_for_the_shell() {
    let home = Home::new(&[("work/run", "echo hello\n"), ("work/tool", "#!/bin/sh\n")], &[]);
    let folder = home.path("work");
    let lookup = Lookup { path: "", folder: &folder, home: None };
    assert!(lookup.find("./run", &[]).unwrap().by_shell);
    assert!(!lookup.find("./tool", &[]).unwrap().by_shell);
}
