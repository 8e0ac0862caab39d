//! The grants of a configuration to programs: scratch space, paths, or no sandbox.

use std::fs;
use std::path::Path;

use end_to_end::cache::json;
use end_to_end::harness::{Run, binary};
use end_to_end::page::normal;
use end_to_end::tiers::{has_namespaces, sandbox_config, without_namespaces};
use insta::assert_snapshot;
use serde_json::json as value;

use end_to_end::cache::{shared, with_the_layer_of_the_shared};

/// A run with these lines in `codeMode.sandbox`.
fn with(lines: &str, code: &str) -> Run {
    json(code).config(&sandbox_config(lines))
}

#[test]
fn scratch_space_is_the_working_folder_and_ends_with_the_run() {
    if !has_namespaces() {
        return;
    }
    let code = r#"
        std::fs::create_dir("sub")?;
        std::fs::write("sub/note.txt", "kept a moment")?;
        std::fs::rename("sub/note.txt", "note.txt")?;
        let text = std::fs::read_to_string("/scratch/note.txt")?;
        let names: Vec<_> = std::fs::read_dir(".")?.map(|entry| entry.unwrap().file_name()).collect();
        (std::env::current_dir()?, text, names.len())
    "#;
    for _ in 0..2 {
        let outcome = with("scratch: 1MiB", code).expect("ok", 0);
        assert_eq!(outcome["result"], value!(["/scratch", "kept a moment", 2]), "{outcome:#}");
        assert_eq!(outcome["sandbox"]["tier"], "full");
    }
    // No other files are visible, and none in it can be executed.
    let code = r##"
        let denied = |result: std::io::Result<()>| result.map_err(|error| error.kind().to_string());
        std::fs::write("script", "#!/bin/sh\n")?;
        (denied(std::fs::read_dir("/").map(drop)), denied(std::fs::read("/etc/passwd").map(drop)),
         denied(std::fs::write("/outside", "x")), denied(std::process::Command::new("/scratch/script").spawn().map(drop)))
    "##;
    let outcome = with("scratch: 1MiB", code).expect("ok", 0);
    let error = |text: &str| value!({ "Err": text });
    let (denied, read_only) = (error("permission denied"), error("read-only filesystem or storage medium"));
    let expected = value!([denied, error("entity not found"), read_only, denied]);
    assert_eq!(outcome["result"], expected, "{outcome:#}");
}

#[test]
fn scratch_space_is_bounded() {
    if !has_namespaces() {
        return;
    }
    // In one file, in many, and in files that were removed.
    let one = "std::fs::write(\"big\", vec![1u8; 2 << 20])?; 1";
    let outcome = with("scratch: 1MiB", one).expect("runtime_error", 1);
    assert_snapshot!(normal(&outcome["error"]["message"]), @"No space left on device (os error 28)");
    let many = "for i in 0..64 { std::fs::write(i.to_string(), vec![1u8; 32 << 10])?; }\n1";
    let outcome = with("scratch: 1MiB", many).expect("runtime_error", 1);
    assert_snapshot!(normal(&outcome["error"]["message"]), @"No space left on device (os error 28)");
    let repeated =
        "for _ in 0..64 { std::fs::write(\"a\", vec![1u8; 512 << 10])?; std::fs::remove_file(\"a\")?; }\n1";
    assert_eq!(with("scratch: 1MiB", repeated).result(), 1);
    let outcome = with("scratch: 1KiB", "1").done().exits(2);
    assert_snapshot!(normal(&outcome.stderr), @r#"
    toolsmith: /tmp/.tmpXXXXXX/given.yaml:5:14: "1KiB" is too small; write at least 64KiB
      |
    5 |     scratch: 1KiB
      |              ^
    "#);
}

/// A folder with a configuration and the paths it grants.
struct Granted(tempfile::TempDir);

impl Granted {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["in", "out", "other"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("file"), format!("from {name}")).unwrap();
        }
        Granted(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// A run with the configuration in the folder, from another working folder; its argument `at` is the folder.
    fn run(&self, run: Run, lines: &str, code: &str) -> Run {
        fs::write(self.0.path().join("tools.yaml"), sandbox_config(lines)).unwrap();
        let at = format!("at={}", self.0.path().display());
        let run = run.arguments(&["run", "--json", "-", "--arg", &at]).input(code);
        run.arguments(&["--config", &self.path("tools.yaml")])
    }
}

const WORK: &str = r#"
let at = std::path::PathBuf::from(args.require("at")?);
let says = |result: std::io::Result<String>| result.unwrap_or_else(|error| error.kind().to_string());
let read = |name: &str| says(std::fs::read_to_string(at.join(name)));
let write = |name: &str| says(std::fs::write(at.join(name), "changed").map(|()| "written".to_owned()));
(read("in/file"), write("in/file"), write("in/new"), read("out/file"), write("out/file"), write("out/new"),
 read("other/file"), write("other/file"), read("tools.yaml"), says(std::fs::read_to_string("/etc/passwd")))
"#;

#[test]
fn only_granted_paths_are_visible_and_relative_to_the_configuration() {
    if !has_namespaces() {
        return;
    }
    let granted = Granted::new();
    let lines = "read: [in]\n    write: [./out]";
    let result = granted.run(Run::new(shared()), lines, WORK).result();
    let (no, read_only) = ("entity not found", "read-only filesystem or storage medium");
    assert_eq!(
        result,
        value!(["from in", read_only, read_only, "from out", "written", "written", no, no, no, no]),
        "{result}"
    );
    let content = |name: &str| fs::read_to_string(granted.path(name)).unwrap();
    assert_eq!((content("in/file"), content("out/file")), ("from in".to_owned(), "changed".to_owned()));
    assert_eq!((content("out/new"), content("other/file")), ("changed".to_owned(), "from other".to_owned()));
    assert!(!Path::new(&granted.path("in/new")).exists());

    // A single file; and a link does not lead out of a granted folder.
    std::os::unix::fs::symlink("/etc/passwd", granted.path("in/link")).unwrap();
    let code = r#"
        let at = std::path::PathBuf::from(args.require("at")?);
        let kind = |name: &str| std::fs::read_to_string(at.join(name)).map_err(|error| error.kind().to_string());
        (kind("in/file"), kind("in/link"), kind("in/../other/file"), kind("out/file"),
         std::os::unix::fs::symlink("/etc", at.join("in/l")).is_err(), std::fs::hard_link(at.join("in/file"), at.join("in/h")).is_err())
    "#;
    let result = granted.run(Run::new(shared()), "read: [in, out/file]", code).result();
    let expected =
        value!([{ "Ok": "from in" }, { "Err": no }, { "Err": no }, { "Ok": "changed" }, true, true]);
    assert_eq!(result, expected, "{result}");
}

/// A program that may write to a project leaves no orders for the user's tools in the files that they obey.
#[test]
fn files_that_other_programs_obey_are_only_read() {
    if !has_namespaces() {
        return;
    }
    let granted = Granted::new();
    for name in ["out/.git/hooks", "out/sub/.vscode"] {
        fs::create_dir_all(granted.path(name)).unwrap();
    }
    for name in ["out/.git/config", "out/CLAUDE.md", "out/sub/.vscode/tasks.json"] {
        fs::write(granted.path(name), "of the user").unwrap();
    }
    let code = r#"
        let at = std::path::PathBuf::from(args.require("at")?).join("out");
        let says = |result: std::io::Result<()>| result.map_or_else(|error| error.kind().to_string(), |()| "done".to_owned());
        let write = |name: &str| says(std::fs::write(at.join(name), "changed"));
        let rename = |from: &str, to: &str| says(std::fs::rename(at.join(from), at.join(to)));
        (std::fs::read_to_string(at.join("CLAUDE.md"))?,
         [write("CLAUDE.md"), write(".git/config"), write(".git/hooks/pre-commit"), write("sub/.vscode/tasks.json")],
         [rename(".git", "git"), rename("sub", "other"), rename("file", "CLAUDE.md")],
         [write("sub/source.rs"), write("Makefile")])
    "#;
    let (no, busy) = ("read-only filesystem or storage medium", "resource busy");
    let result = granted.run(Run::new(shared()), "write: [out]", code).result();
    let expected = value!(["of the user", [no, no, no, no], [busy, busy, busy], ["done", "done"]]);
    assert_eq!(result, expected);
    assert_eq!(fs::read_to_string(granted.path("out/CLAUDE.md")).unwrap(), "of the user");
    // Doctor names them, and what is missing.
    let file = granted.path("tools.yaml");
    fs::write(&file, sandbox_config("write: [out]")).unwrap();
    let doctor =
        Run::new(shared()).arguments(&["doctor", "--json", "--config", &file]).done().exits(0).outcome();
    let grant = &doctor["write_grants"][0];
    let kept = [".git", "CLAUDE.md", "sub/.vscode"].map(|name| granted.path(&format!("out/{name}")));
    assert_eq!((&grant["path"], &grant["read_only"]), (&value!(granted.path("out")), &value!(kept)));
    assert_eq!(grant["searched"], true);
    let creatable = grant["creatable"].as_array().unwrap();
    assert!(creatable.contains(&value!(".envrc")) && !creatable.contains(&value!("CLAUDE.md")), "{grant:#}");
    // A grant of such a path is meant.
    let lines = "write: [out, out/.git, out/CLAUDE.md]";
    let result = granted.run(Run::new(shared()), lines, code).result();
    assert_eq!(result[1], value!(["done", "done", "done", no]), "{result}");
}

#[test]
fn a_created_file_that_other_programs_obey_is_reported() {
    if !has_namespaces() {
        return;
    }
    let granted = Granted::new();
    fs::create_dir_all(granted.path("out")).unwrap();
    let code = r#"
        let at = std::path::PathBuf::from(args.require("at")?).join("out");
        std::fs::write(at.join("notes.md"), "")?;
        std::fs::write(at.join(".envrc"), "")?;
        7
    "#;
    let outcome = granted.run(Run::new(shared()), "write: [out]", code).expect("ok", 0);
    let warning = &outcome["diagnostics"];
    let path = granted.path("out/.envrc");
    let message = format!("the program has created {path}, which other programs obey where they find it");
    assert_eq!(warning[0]["message"], message, "{warning:#}");
    assert_eq!(warning.as_array().map(Vec::len), Some(1), "{warning:#}");
}

#[test]
fn a_missing_path_is_reported_with_its_place() {
    let granted = Granted::new();
    let mut shown = Vec::new();
    for lines in ["read: [in, nowhere]", "write:\n      - out\n      - out/nothing"] {
        let done = granted.run(Run::new(shared()), lines, "1").done().exits(2);
        shown.push(normal(&done.stderr));
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: /tmp/.tmpXXXXXX/tools.yaml:5:16: /tmp/.tmpXXXXXX/nowhere does not exist; create it, or grant another path
      |
    5 |     read: [in, nowhere]
      |                ^

    toolsmith: /tmp/.tmpXXXXXX/tools.yaml:7:9: /tmp/.tmpXXXXXX/out/nothing does not exist; create it, or grant another path
      |
    7 |       - out/nothing
      |         ^
    ");
    let lines = "read: [\"${NO_SUCH_FOLDER}\"]";
    assert_snapshot!(normal(&granted.run(Run::new(shared()), lines, "1").done().exits(2).stderr), @r#"
    toolsmith: /tmp/.tmpXXXXXX/tools.yaml:5:12: the environment variable NO_SUCH_FOLDER is not set; set it, or write a default: ${NO_SUCH_FOLDER:-…}
      |
    5 |     read: ["${NO_SUCH_FOLDER}"]
      |            ^
    "#);
    let granting = granted.run(Run::new(shared()).variable("GRANTED", "in"), "read: [\"${GRANTED}\"]", "1");
    if has_namespaces() {
        assert_eq!(granting.result(), 1);
    }
}

#[test]
fn the_cache_cannot_be_granted_for_writing() {
    let granted = Granted::new();
    let cache = granted.0.path().join("in/cache");
    with_the_layer_of_the_shared(&cache);
    std::os::unix::fs::symlink("in", granted.path("link")).unwrap();
    // Above the cache, the cache, inside it, and through a link.
    let mut shown = Vec::new();
    for path in ["in", "in/cache", "in/cache/layers-v1", "link/cache", "."] {
        let run = granted.run(Run::new(&cache), &format!("write: [{path}]"), "println!(\"ran\"); 1");
        let done = run.done().exits(7);
        shown.push(normal(&done.stderr));
        done.has_no_outcome();
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: programs may not write to /tmp/.tmpXXXXXX/in: the cache /tmp/.tmpXXXXXX/in/cache is there, from which later programs are made
    help: grant a narrower path in codeMode.sandbox.write, apart from it

    toolsmith: programs may not write to /tmp/.tmpXXXXXX/in/cache: the cache /tmp/.tmpXXXXXX/in/cache is there, from which later programs are made
    help: grant a narrower path in codeMode.sandbox.write, apart from it

    toolsmith: programs may not write to /tmp/.tmpXXXXXX/in/cache/layers-v1: the cache /tmp/.tmpXXXXXX/in/cache is there, from which later programs are made
    help: grant a narrower path in codeMode.sandbox.write, apart from it

    toolsmith: programs may not write to /tmp/.tmpXXXXXX/link/cache: the cache /tmp/.tmpXXXXXX/in/cache is there, from which later programs are made
    help: grant a narrower path in codeMode.sandbox.write, apart from it

    toolsmith: programs may not write to /tmp/.tmpXXXXXX: the cache /tmp/.tmpXXXXXX/in/cache is there, from which later programs are made
    help: grant a narrower path in codeMode.sandbox.write, apart from it
    ");
    if has_namespaces() {
        assert_eq!(granted.run(Run::new(&cache), "write: [out]", "1").result(), 1);
    }
}

/// Folders for Toolsmith, rustup, cargo and the search path.
struct Homes(Granted);

impl Homes {
    const VARIABLES: [(&str, &str); 5] = [
        ("RUSTUP_HOME", "in/rustup"),
        ("CARGO_HOME", "in/cargo"),
        ("XDG_CONFIG_HOME", "in/config"),
        ("XDG_STATE_HOME", "in/state"),
        ("PATH", "in/bin"),
    ];

    fn new() -> Self {
        let homes = Homes(Granted::new());
        for name in ["config/toolsmith", "state/toolsmith", "bin/deep"] {
            fs::create_dir_all(homes.0.path(&format!("in/{name}"))).unwrap();
        }
        // Links, because the toolchain must exist.
        for (variable, name) in [("RUSTUP_HOME", "rustup"), ("CARGO_HOME", "cargo")] {
            let real = std::env::var(variable)
                .unwrap_or_else(|_| format!("{}/.{name}", std::env::home_dir().unwrap().display()));
            std::os::unix::fs::symlink(real, homes.0.path(&format!("in/{name}"))).unwrap();
        }
        homes
    }

    /// Sets the variables; the existing `PATH` is kept.
    fn with_variables(&self, run: Run) -> Run {
        let before = std::env::var("PATH").unwrap_or_default();
        Self::VARIABLES.iter().fold(run, |run, (name, path)| {
            let path = self.0.path(path);
            run.variable(name, &if *name == "PATH" { format!("{before}:{path}") } else { path })
        })
    }
}

#[test]
fn program_and_configuration_folders_cannot_be_granted_for_writing() {
    let homes = Homes::new();
    let granted = &homes.0;
    std::os::unix::fs::symlink("in", granted.path("link")).unwrap();
    std::os::unix::fs::symlink(granted.path("out"), granted.path("in/away")).unwrap();
    let program = binary().parent().unwrap().to_str().unwrap();
    let cases = [
        ("in/rustup", "rustup's folder"),
        ("in/rustup/toolchains", "rustup's folder"),
        ("link/cargo/bin", "cargo's folder"),
        ("in/config/toolsmith", "Toolsmith's configuration folder"),
        ("in/state", "Toolsmith's state folder"),
        ("in/bin", "search path"),
        ("in/bin/deep", "search path"),
        ("tools.yaml", "the configuration"),
        (program, "Toolsmith's own program"),
    ];
    for (path, what) in cases {
        let lines = format!("write: [{path}]");
        let done = homes
            .with_variables(granted.run(Run::new(shared()), &lines, "println!(\"ran\"); 1"))
            .done()
            .exits(7);
        done.has_no_outcome();
        done.says(&["programs may not write to", what, "narrower path"]);
        // The configuration check reports it with the place, and doctor reports it like a run.
        let file = granted.path("tools.yaml");
        let check = Run::new(shared()).arguments(&["config", "check", &file]);
        let done = homes.with_variables(check).done().exits(2);
        assert!(done.stdout.contains("tools.yaml:5:13") && done.stdout.contains(what), "{done:#?}");
        let doctor = Run::new(shared()).arguments(&["doctor", "--config", &file]);
        let done = homes.with_variables(doctor).done().exits(7);
        assert!(done.stdout.contains("programs may not write to"), "{done:#?}");
    }
    // A parent folder contains several of them: one is named.
    let mut shown = Vec::new();
    for path in [".", "in", "link", "in/.."] {
        let run = granted.run(Run::new(shared()), &format!("write: [{path}]"), "1");
        shown.push(normal(&homes.with_variables(run).done().exits(7).stderr));
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: programs may not write to /tmp/.tmpXXXXXX: rustup's folder /tmp/.tmpXXXXXX/in/rustup is there, whose compilers make later programs
    help: grant a narrower path in codeMode.sandbox.write, apart from it

    toolsmith: programs may not write to /tmp/.tmpXXXXXX/in: rustup's folder /tmp/.tmpXXXXXX/in/rustup is there, whose compilers make later programs
    help: grant a narrower path in codeMode.sandbox.write, apart from it

    toolsmith: programs may not write to /tmp/.tmpXXXXXX/link: rustup's folder /tmp/.tmpXXXXXX/in/rustup is there, whose compilers make later programs
    help: grant a narrower path in codeMode.sandbox.write, apart from it

    toolsmith: programs may not write to /tmp/.tmpXXXXXX/in/..: rustup's folder /tmp/.tmpXXXXXX/in/rustup is there, whose compilers make later programs
    help: grant a narrower path in codeMode.sandbox.write, apart from it
    ");
    // A search path folder that is a link: neither its target nor the link's folder can be granted.
    let mut shown = Vec::new();
    for path in ["out", "in/away"] {
        let run = granted.run(Run::new(shared()), &format!("write: [{path}]"), "1");
        let run =
            homes.with_variables(run).variable("PATH", &format!("/usr/bin:{}", granted.path("in/away")));
        shown.push(normal(&run.done().exits(7).stderr));
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: programs may not write to /tmp/.tmpXXXXXX/out: a folder of the search path (PATH) /tmp/.tmpXXXXXX/in/away is there, whose programs others start
    help: grant a narrower path in codeMode.sandbox.write, apart from it

    toolsmith: programs may not write to /tmp/.tmpXXXXXX/in/away: a folder of the search path (PATH) /tmp/.tmpXXXXXX/in/away is there, whose programs others start
    help: grant a narrower path in codeMode.sandbox.write, apart from it
    ");
    if has_namespaces() {
        let run = granted.run(Run::new(shared()), "write: [out]", "1");
        assert_eq!(homes.with_variables(run).result(), 1);
    }
}

#[test]
fn paths_need_namespaces() {
    let granted = Granted::new();
    for (lines, what) in [
        ("scratch: 1MiB", "scratch space"),
        ("read: [in]", "a program's grants of paths"),
        ("write: [out]", "a program's grants of paths"),
    ] {
        let run = granted.run(without_namespaces(), lines, "println!(\"ran\"); 1");
        let phrases = [what, "need a tier with namespaces", "`landlock+seccomp`", "toolsmith doctor"];
        let done = run.done().exits(7).says(&phrases);
        done.has_no_outcome();
    }
    // Without grants, the tier suffices.
    let run = without_namespaces()
        .arguments(&["run", "--json", "-"])
        .input("std::fs::read(\"/etc/passwd\").is_err()");
    let outcome = run.expect("ok", 0);
    assert_eq!((&outcome["sandbox"]["tier"], &outcome["result"]), (&"landlock+seccomp".into(), &true.into()));
}

#[test]
fn confinement_is_off_only_if_configured() {
    let code = "(std::fs::read_to_string(\"/etc/passwd\")?.contains(\"root:\"), std::env::vars_os().count())";
    json(code).expect("runtime_error", 1);
    let off = "dangerouslyRunWithoutSandbox: true";
    let done = with(off, code).done().exits(0);
    assert_snapshot!(normal(&done.stderr), @r"
    warning: the sandbox is OFF (codeMode.sandbox.dangerouslyRunWithoutSandbox): the compiler and every program can read, change and send whatever you can
    ");
    let outcome = done.outcome();
    assert_eq!(outcome["sandbox"]["tier"], "off");
    assert_eq!(outcome["result"], value!([true, 0]), "the environment stays empty");
    assert!(!outcome["sandbox"]["layers"].to_string().contains("seccomp"), "{outcome:#}");
    let done = with(off, code).argument("--quiet").done().exits(0);
    assert_snapshot!(normal(&done.stderr), @r"
    warning: the sandbox is OFF (codeMode.sandbox.dangerouslyRunWithoutSandbox): the compiler and every program can read, change and send whatever you can
    ");
    assert_eq!(done.outcome()["status"], "ok");
    // Limits are not part of the sandbox.
    let outcome = with(off, "loop {}").arguments(&["--timeout", "1"]).expect("timeout", 4);
    assert_eq!(outcome["sandbox"]["tier"], "off");
    // `false` keeps the sandbox on.
    let outcome =
        with("dangerouslyRunWithoutSandbox: false\n    minimum: landlock+seccomp", "1").expect("ok", 0);
    assert_ne!(outcome["sandbox"]["tier"], "off");
}

#[test]
fn wrong_tiers_are_reported() {
    let mut shown = Vec::new();
    for lines in [
        "minimum: most",
        "minimum: off",
        "minimum: full\n    dangerouslyRunWithoutSandbox: true",
        "dangerouslyRunWithoutSandbox: yes please",
        "network: true",
    ] {
        shown.push(normal(&with(lines, "1").done().exits(2).stderr));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    toolsmith: /tmp/.tmpXXXXXX/given.yaml:5:14: "most" is not a sandbox tier: use full, landlock+seccomp or namespaces+seccomp
      |
    5 |     minimum: most
      |              ^

    toolsmith: /tmp/.tmpXXXXXX/given.yaml:5:14: "off" is not a sandbox tier: use full, landlock+seccomp or namespaces+seccomp
      |
    5 |     minimum: off
      |              ^

    toolsmith: /tmp/.tmpXXXXXX/given.yaml:6:35: dangerouslyRunWithoutSandbox and a minimum contradict each other; remove one of them
      |
    6 |     dangerouslyRunWithoutSandbox: true
      |                                   ^

    toolsmith: /tmp/.tmpXXXXXX/given.yaml:5:35: expected true or false
      |
    5 |     dangerouslyRunWithoutSandbox: yes please
      |                                   ^

    toolsmith: /tmp/.tmpXXXXXX/given.yaml:5:5: unknown key `network`; write one of wallClock, memory, cpu, threads, processors, output, scratch, read, write, minimum, dangerouslyRunWithoutSandbox
      |
    5 |     network: true
      |     ^
    "#);
}
