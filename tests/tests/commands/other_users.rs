//! Other users of the machine: what Toolsmith keeps is private whatever the umask, and what may be theirs is refused. No
//! pipe or device that a path names makes a command wait.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use end_to_end::harness::{Run, binary, unique};
use end_to_end::page::normal;
use insta::assert_snapshot;
use rustix::process::geteuid;
use tempfile::TempDir;

/// A user without rights.
const NOBODY: u32 = 65534;

/// The folders of a user, in one that everybody can enter.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Home(tempfile::tempdir().unwrap());
        set_mode(home.0.path(), 0o755);
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Toolsmith with this umask, on a cache.
    fn run(&self, mask: &str, cache: &Path) -> Run {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("umask {mask}; exec \"$0\" \"$@\"")).arg(binary());
        Run::of(command, cache)
            .variable("XDG_CONFIG_HOME", self.path("config").to_str().unwrap())
            .variable("XDG_STATE_HOME", self.path("state").to_str().unwrap())
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// The folder and everything in it that group or others can use in any way.
fn open_to_others(folder: &Path) -> Vec<String> {
    let all =
        Command::new("find").arg(folder).args(["-not", "-type", "l", "-perm", "/077"]).output().unwrap();
    assert!(all.status.success(), "{}", String::from_utf8_lossy(&all.stderr));
    String::from_utf8(all.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// The programs in a cache whose text has this part. Other tests add and remove others.
fn programs(cache: &Path, part: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(cache.join("programs-v1")).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|entry| fs::read_to_string(entry.join("source.json")).is_ok_and(|text| text.contains(part)))
        .collect()
}

#[test]
fn what_is_kept_is_private_whatever_the_umask() {
    let shared = end_to_end::cache::shared();
    for mask in ["000", "022"] {
        let home = Home::new();
        let name = unique();
        let snippet = format!("// {name}\ndemo::list_orders().limit(1).await?.orders.len()");
        home.run(mask, shared)
            .arguments(&["run", "--demo", "--allow", "*", "-"])
            .input(&snippet)
            .done()
            .exits(0);
        let new = programs(shared, &name);
        assert!(!new.is_empty(), "the program is kept");
        for program in &new {
            assert_eq!(open_to_others(program), [""; 0], "umask {mask}");
            assert_eq!(fs::metadata(program.join("program")).unwrap().mode() & 0o777, 0o700);
        }
        let text = format!("//! {}\nasync fn run() -> Result<u8> {{ Ok(1) }}\n", unique());
        home.run(mask, shared)
            .arguments(&["program", "save", "one", "-", "--yes"])
            .input(&text)
            .done()
            .exits(0);
        let add = ["mcp", "add", "shop", "--scope", "user", "--", "toolsmith", "demo-server"];
        home.run(mask, shared).arguments(&add).done().exits(0);
        let cache = home.path("cache");
        home.run(mask, &cache).arguments(&["mcp", "tools", "shop"]).done().exits(0);
        for kept in ["config/toolsmith/programs/one.rs", "state/toolsmith/history.db", "cache/catalogs-v1"] {
            assert!(home.path(kept).exists(), "{kept}");
        }
        for root in ["config/toolsmith", "state/toolsmith", "cache"] {
            assert_eq!(open_to_others(&home.path(root)), [""; 0], "umask {mask}");
        }
        if geteuid().is_root() {
            let mut find = Command::new("find");
            let seen = find.arg(home.0.path()).args(["-type", "f"]).uid(NOBODY).gid(NOBODY).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&seen.stdout), "", "another user finds no file");
            assert!(String::from_utf8_lossy(&seen.stderr).contains("Permission denied"));
        }
    }
}

#[test]
fn what_the_user_asks_for_has_the_modes_of_the_umask() {
    let home = Home::new();
    let project = home.path("project");
    fs::create_dir(&project).unwrap();
    let add = ["mcp", "add", "shop", "--scope", "project", "--", "toolsmith", "demo-server"];
    home.run("002", &home.path("cache")).working_folder(&project).arguments(&add).done().exits(0);
    let man = ["man", "--out", project.join("man").to_str().unwrap()].map(str::to_owned);
    let man: Vec<&str> = man.iter().map(String::as_str).collect();
    home.run("002", &home.path("cache")).arguments(&man).done().exits(0);
    let mode = |name: &str| fs::metadata(project.join(name)).unwrap().mode() & 0o777;
    assert_eq!((mode("toolsmith.yaml"), mode("man"), mode("man/toolsmith.1")), (0o644, 0o775, 0o664));
}

#[test]
fn a_cache_of_an_older_version_is_closed_to_others() {
    let home = Home::new();
    let cache = home.path("cache");
    fs::create_dir(&cache).unwrap();
    set_mode(&cache, 0o755);
    home.run("022", &cache).arguments(&["mcp", "tools", "--demo"]).done().exits(0);
    assert_eq!(fs::metadata(&cache).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn a_folder_that_others_own_or_can_write_is_refused_with_the_command_that_repairs_it() {
    let home = Home::new();
    let cache = home.path("cache");
    let commands: [(&str, &[&str]); 3] = [
        ("cache", &["mcp", "tools", "--demo"]),
        ("state/toolsmith", &["history", "list"]),
        ("config/toolsmith", &["mcp", "list"]),
    ];
    for (root, words) in commands {
        let folder = home.path(root);
        fs::create_dir_all(&folder).unwrap();
        let shown = folder.display();
        let run = || home.run("022", &cache).arguments(words).done();
        for mode in [0o777, 0o720] {
            set_mode(&folder, mode);
            let refused = run();
            assert_ne!(refused.status.code(), Some(0), "{root}");
            refused.says(&[&format!("other users can write to {shown}"), &format!("chmod -R go-w {shown}")]);
        }
        // What the text says.
        let repaired = Command::new("chmod").args(["-R", "go-w"]).arg(&folder).status().unwrap();
        assert!(repaired.success());
        run().exits(0);
        if geteuid().is_root() {
            chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
            let refused = run();
            assert_ne!(refused.status.code(), Some(0), "{root}");
            refused.says(&[
                &format!("{shown} belongs to another user ({NOBODY})"),
                &format!("sudo chown -R 0 {shown}"),
            ]);
            chown(&folder, Some(0), Some(0)).unwrap();
            run().exits(0);
        }
    }
}

#[test]
fn no_pipe_or_device_that_a_path_names_is_waited_for() {
    let home = Home::new();
    let pipe = home.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let shared = end_to_end::cache::shared();
    for file in [pipe.to_str().unwrap(), "/dev/zero"] {
        let commands: [&[&str]; 6] = [
            &["run", file],
            &["run", "-", "--config", file],
            &["mcp", "import", file],
            &["mcp", "list", "--config", file],
            &["program", "save", "one", file, "--yes"],
            &["config", "check", file],
        ];
        for words in commands {
            let refused = home.run("022", shared).arguments(words).done();
            assert_ne!(refused.status.code(), Some(0), "{words:?}");
            // `config check` prints what is wrong on standard output.
            let said = format!("{}{}", refused.stdout, refused.stderr);
            assert!(said.contains(file) && said.contains("it is not a regular file"), "{words:?}: {said}");
        }
    }
}

#[test]
fn what_a_shell_passes_as_a_file_is_read() {
    let home = Home::new();
    let shared = end_to_end::cache::shared();
    let passed = |words: &[&str], input: &str| {
        let mut command = Command::new("sh");
        // Like `<(…)`: a pipe with another number.
        command.args(["-c", "exec \"$0\" \"$@\" 3<&0"]).arg(binary());
        let run = Run::of(command, shared).variable("XDG_CONFIG_HOME", home.path("config").to_str().unwrap());
        run.arguments(words).input(input).done().exits(0).stdout
    };
    assert_eq!(passed(&["run", "/dev/fd/3"], "6 * 7"), "42\n");
    assert_eq!(passed(&["run", "/dev/stdin"], "6 * 7"), "42\n");
    let servers = "{\"mcpServers\": {\"shop\": {\"command\": \"toolsmith\", \"args\": [\"demo-server\"]}}}";
    passed(&["mcp", "import", "/dev/fd/3", "--scope", "user"], servers);
    assert_snapshot!(normal(&passed(&["mcp", "list"], "")), @r"
    ID    TRANSPORT  SOURCE                                             ENABLED  TIMEOUT  REQUEST TIMEOUT  ADDRESS
    shop  stdio      user /tmp/.tmpXXXXXX/config/toolsmith/config.yaml  yes      60       30               [target]/toolsmith demo-server
    ");
    let config = "mcpServers:\n  other: { command: toolsmith, args: [demo-server] }\n";
    assert_snapshot!(normal(&passed(&["mcp", "list", "--config", "/dev/fd/3"], config)), @r"
    ID     TRANSPORT  SOURCE                                             ENABLED  TIMEOUT  REQUEST TIMEOUT  ADDRESS
    other  stdio      config /dev/fd/3                                   yes      60       30               [target]/toolsmith demo-server
    shop   stdio      user /tmp/.tmpXXXXXX/config/toolsmith/config.yaml  yes      60       30               [target]/toolsmith demo-server
    ");
}
