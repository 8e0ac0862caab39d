//! `toolsmith bundle`: the folder that it writes runs snippets without Rust, anywhere, and nothing in it is written to.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use end_to_end::cache::shared;
use end_to_end::harness::{COLD_WATCHDOG, Run, assert_says, unique};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A bundle in a folder, and a user with an empty home and search path.
struct Bundle {
    folder: PathBuf,
    home: PathBuf,
}

impl Bundle {
    /// A command of the bundle's program.
    fn run(&self, arguments: &[&str]) -> Run {
        self.start(Command::new(self.program()), arguments)
    }

    /// The same without any network.
    fn run_offline(&self, arguments: &[&str]) -> Run {
        if !end_to_end::tiers::has_namespaces() {
            return self.run(arguments);
        }
        let mut folders =
            std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect::<Vec<_>>().into_iter();
        let unshare = folders.find_map(|folder| Some(folder.join("unshare")).filter(|path| path.is_file()));
        let mut command = Command::new(unshare.unwrap());
        command.args(["--user", "--map-root-user", "--net"]).arg(self.program());
        self.start(command, arguments)
    }

    fn start(&self, command: Command, arguments: &[&str]) -> Run {
        let run = Run::of(command, &self.cache()).arguments(arguments);
        let run = ["HOME", "RUSTUP_HOME", "CARGO_HOME"]
            .into_iter()
            .fold(run, |run, name| run.variable(name, self.home.to_str().unwrap()));
        run.variable("PATH", "")
    }

    fn program(&self) -> PathBuf {
        self.folder.join("bin/toolsmith")
    }

    fn cache(&self) -> PathBuf {
        self.home.join("cache")
    }

    /// Moves it elsewhere.
    fn move_to(&mut self, folder: PathBuf) {
        fs::rename(&self.folder, &folder).unwrap();
        self.folder = folder;
    }

    /// All files with sizes and times of change.
    fn state(&self) -> BTreeMap<PathBuf, (u64, std::time::SystemTime)> {
        let mut state = BTreeMap::new();
        collect(&self.folder, &mut state);
        state
    }
}

fn collect(folder: &Path, state: &mut BTreeMap<PathBuf, (u64, std::time::SystemTime)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let (path, metadata) = (entry.as_ref().unwrap().path(), entry.unwrap().metadata().unwrap());
        if metadata.is_dir() {
            collect(&path, state);
        }
        state.insert(path, (metadata.len(), metadata.modified().unwrap()));
    }
}

/// One bundle for all checks, because it has hundreds of megabytes.
#[test]
fn a_bundle_runs_snippets_without_rust() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let out = folder.path().join("written");
    let written =
        Run::new(shared()).arguments(&["bundle", "--json", "--out"]).argument(out.to_str().unwrap());
    let written = written.watchdog(COLD_WATCHDOG).done().exits(0).outcome();
    assert!(written["archive_bytes"].is_null() && written["files"].as_u64().unwrap() > 50, "{written:#}");
    let mut bundle = Bundle { folder: out, home: folder.path().join("home") };
    fs::create_dir(&bundle.home).unwrap();
    bundle.move_to(folder.path().join("another place"));

    has_what_it_needs_and_no_more(&bundle);
    runs_offline_and_stays_as_it_is(&bundle);
    prefers_its_own_toolchain(&bundle);
    is_protected(&bundle);
    damage_is_found(&bundle);
}

fn has_what_it_needs_and_no_more(bundle: &Bundle) {
    let has = |path: &str| bundle.folder.join(path).exists();
    for path in [
        "bin/toolsmith",
        "bin/toolsmith-sandbox",
        "lib/toolsmith/toolchain/bin/rustc",
        "bin/toolsmith-bundle.json",
        "share/licences/toolsmith/LICENSE-MIT",
        "share/licences/rust",
        "share/licences/crates",
        "share/sbom/snippets.cdx.json",
    ] {
        assert!(has(path), "{path}");
    }
    for path in ["bin/cargo", "share", "libexec", "lib/rustlib/x86_64-apple-darwin", "lib/rustlib/components"]
    {
        assert!(!has(&format!("lib/toolsmith/toolchain/{path}")), "{path}");
    }
}

fn runs_offline_and_stays_as_it_is(bundle: &Bundle) {
    let before = bundle.state();
    let text = unique();
    let run = bundle.run_offline(&["run", "--demo", "--json", "-"]);
    let outcome = run.input(format!("demo::echo(\"{text}\").await?.text()")).expect("ok", 0);
    assert_eq!((&outcome["result"], &outcome["cached"]), (&text.into(), &json!(false)));
    let run = bundle.run_offline(&["run", "--json", "-"]).input("let number: u8 = \"text\";");
    let outcome = run.expect("compile_error", 3);
    assert_says(&outcome["diagnostics"], &["E0308"]);
    // The crates are those of the bundle: the cache has none, and there is no record of another compiler.
    for bucket in ["layers-v1", "toolchains-v1", "cargo-home-v1"] {
        assert_eq!(fs::read_dir(bundle.cache().join(bucket)).unwrap().count(), 0, "{bucket}");
    }
    assert_eq!(bundle.state(), before, "the bundle was written to");
}

fn findings(bundle: &Bundle, arguments: &[&str], code: i32) -> Value {
    bundle.run(&["doctor", "--json"]).arguments(arguments).done().exits(code).outcome()
}

fn prefers_its_own_toolchain(bundle: &Bundle) {
    let found = findings(bundle, &["--verify"], 0);
    let toolchain = &found["toolchain"];
    assert_eq!((&toolchain["origin"], &toolchain["layer_built"]), (&json!("bundle"), &json!(true)));
    assert_says(&toolchain["rustc"], &["another place/lib/toolsmith/toolchain/bin/rustc"]);
    assert_eq!((&found["bundle"]["contents"], &found["bundle"]["differences"]), (&json!(true), &json!([])));
    let done = bundle.run(&["doctor"]).done().exits(0);
    assert!(done.stdout.contains("chosen") && done.stdout.contains("part of a bundle"), "{done:#?}");
    assert!(!done.stdout.contains("cargo") && !done.stdout.contains("C linker"), "{done:#?}");
    // Another compiler does not change that.
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap();
    let sysroot = String::from_utf8(sysroot.stdout).unwrap();
    let home = Path::new(sysroot.trim()).ancestors().nth(2).unwrap();
    let run = bundle.run(&["doctor", "--json"]).variable("RUSTUP_HOME", home.to_str().unwrap());
    assert_eq!(run.done().exits(0).outcome()["toolchain"]["origin"], "bundle");
    bundle
        .run(&["bundle", "--out", "again"])
        .done()
        .exits(7)
        .says(&["this program is part of the bundle in", "your own Rust toolchain"]);
}

fn is_protected(bundle: &Bundle) {
    let parts = bundle.folder.join("lib/toolsmith/store");
    let config = end_to_end::tiers::sandbox_config(&format!("write: [{parts:?}]"));
    let run = bundle.run(&["run", "--json", "-"]).input("1").config(&config);
    run.done().exits(7).says(&["programs may not write to", "Toolsmith's bundle"]);
}

fn damage_is_found(bundle: &Bundle) {
    let licence = bundle.folder.join("share/licences/toolsmith/LICENSE-MIT");
    let text = fs::read_to_string(&licence).unwrap();
    fs::write(&licence, text.replace('M', "N")).unwrap();
    assert_eq!(findings(bundle, &[], 0)["bundle"]["differences"], json!([]));
    let found = findings(bundle, &["--verify"], 7);
    let expected = json!(["share/licences/toolsmith/LICENSE-MIT: has other contents"]);
    assert_eq!(found["bundle"]["differences"], expected);
    fs::write(&licence, text).unwrap();

    let rustc = bundle.folder.join("lib/toolsmith/toolchain/bin/rustc");
    fs::set_permissions(&rustc, fs::Permissions::from_mode(0o644)).unwrap();
    let found = findings(bundle, &[], 7);
    assert_says(
        &found["problems"][0]["what"],
        &["differs from its manifest", "bin/rustc: is not executable"],
    );
    fs::set_permissions(&rustc, fs::Permissions::from_mode(0o755)).unwrap();

    // Without its crates it neither builds them nor uses others silently.
    let store = bundle.folder.join("lib/toolsmith/store");
    fs::rename(&store, bundle.folder.join("elsewhere")).unwrap();
    let run = bundle.run(&["run", "-"]).input("1");
    run.done().exits(7).says(&["no compiled crates that fit this program", "unpack the bundle again"]);
    fs::write(bundle.folder.join("bin/toolsmith-bundle.json"), "{}").unwrap();
    bundle.run(&["run", "-"]).input("1").done().exits(7).says(&["toolsmith-bundle.json is damaged"]);
}

#[test]
fn a_place_that_can_not_be_used_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let run =
        |out: &str| Run::new(shared()).arguments(&["bundle", "--out", out]).watchdog(COLD_WATCHDOG).done();
    assert_snapshot!(normal(&run(path).exits(7).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX exists already
    help: name a new folder, or a file that ends with .tar.zst
    ");
    assert_snapshot!(normal(&run(&format!("{path}/toolsmith.tar.gz")).exits(2).stderr), @r"
    toolsmith: a bundle is a folder or a .tar.zst file, not /tmp/.tmpXXXXXX/toolsmith.tar.gz
    help: let the name in --out end with .tar.zst
    ");
    let run = Run::new(shared()).arguments(&["bundle", "--out", "new", "--binary", "none"]);
    assert_snapshot!(normal(&run.done().exits(2).stderr), @r"
    toolsmith: there is no file none
    help: name the executable of Toolsmith in --binary
    ");
    let run = Run::new(shared()).arguments(&["bundle", "--out", "new", "--target", "sparc"]);
    assert_snapshot!(normal(&run.done().exits(2).stderr), @r"
    error: invalid value 'sparc' for '--target <TARGET>'
      [possible values: x86_64-unknown-linux-musl]

    For more information, try '--help'.
    ");
}
