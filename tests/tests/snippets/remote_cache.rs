//! Machines that share compiled entries through an S3 server: the real binary, each machine with a cache of its own.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use end_to_end::fault_proxy::{Fault, FaultProxy};
use end_to_end::harness::{COLD_WATCHDOG, Run, unique};
use end_to_end::page::normal;
use end_to_end::s3_server::{BUCKET, S3Server, variables};
use end_to_end::serving::{DEMO, Serve, execute, outcome_of};
use insta::assert_snapshot;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

/// The bytes that precede an Ed25519 public key in the form of other keys (RFC 8410).
const PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// A store that has the crates for snippets, and the keys of its machines.
struct Fleet {
    server: S3Server,
    folder: TempDir,
    public: String,
}

impl Fleet {
    /// The crates come from the cache that all tests share.
    fn new() -> Self {
        let (server, folder) = (S3Server::start(), tempfile::tempdir().unwrap());
        let document = Ed25519KeyPair::generate_pkcs8(&ring::rand::SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap();
        let public = STANDARD.encode([&PREFIX[..], pair.public_key().as_ref()].concat());
        let fleet = Fleet { server, folder, public };
        let body = STANDARD.encode(document.as_ref());
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
        fs::write(fleet.key(), pem).unwrap();
        fs::set_permissions(fleet.key(), fs::Permissions::from_mode(0o600)).unwrap();
        let warm = fleet.at(end_to_end::cache::shared(), fleet.server.address(), &["cache", "warm"]);
        warm.config(&fleet.signing()).watchdog(COLD_WATCHDOG).done().exits(0);
        assert_eq!(fleet.server.objects("/v1/entries/layers-v1/").len(), 1);
        fleet
    }

    fn key(&self) -> PathBuf {
        self.folder.path().join("key.pem")
    }

    /// A machine that signs.
    fn signing(&self) -> String {
        let key = self.key();
        format!(
            "{DEMO}cache: {{ remote: {{ url: \"s3://{BUCKET}/fleet\", timeout: 20, key: {{ file: {key:?} }} }} }}\n"
        )
    }

    /// A machine that only reads.
    fn reading(&self) -> String {
        let public = &self.public;
        format!(
            "{DEMO}cache: {{ remote: {{ url: \"s3://{BUCKET}/fleet\", timeout: 20, readOnly: true, \
             publicKeys: [{public:?}] }} }}\n"
        )
    }

    /// The cache of a machine.
    fn cache(&self, machine: &str) -> PathBuf {
        self.folder.path().join(machine)
    }

    fn at(&self, cache: &Path, address: SocketAddr, arguments: &[&str]) -> Run {
        let run = Run::new(cache).arguments(arguments);
        variables(address).iter().fold(run, |run, (name, value)| run.variable(name, value))
    }

    /// A run on a machine.
    fn run(&self, machine: &str, code: &str) -> Run {
        self.at(&self.cache(machine), self.server.address(), &["run", "--json", "-"]).input(code)
    }

    fn leases(&self) -> usize {
        self.server.objects("/v1/leases/programs-v1/").len()
    }
}

/// A text that no cache has.
fn text() -> String {
    format!("// {}\ndemo::list_orders().await?.orders.len()", unique())
}

/// Whether a compiler was needed.
#[track_caller]
fn was_compiled(outcome: &Value) -> bool {
    assert_eq!(outcome["status"], "ok", "{outcome:#}");
    !outcome["cached"].as_bool().unwrap()
}

#[test]
fn a_new_machine_gets_crates_bindings_and_programs_from_the_store() {
    let (fleet, code) = (Fleet::new(), text());
    assert!(was_compiled(&fleet.run("first", &code).config(&fleet.signing()).expect("ok", 0)));
    let done = fleet.run("second", &code).config(&fleet.reading()).done().exits(0);
    assert!(!was_compiled(&done.outcome()), "{done:#?}");
    assert!(!done.stderr.contains("first use"), "the crates were not compiled: {done:#?}");
    // Another text is compiled there, against crates and bindings from the store.
    let of_bindings = "GET /artifacts/fleet/v1/entries/bindings-v1/";
    let asked = || fleet.server.requests().iter().filter(|line| line.starts_with(of_bindings)).count();
    let before = asked();
    assert!(was_compiled(&fleet.run("second", &text()).config(&fleet.reading()).expect("ok", 0)));
    assert_eq!(asked(), before + 1);
    // A machine that only reads could not have written what it had compiled itself.
    let bindings = fs::read_dir(fleet.cache("second").join("bindings-v1")).unwrap().count();
    assert_eq!((bindings, fleet.server.objects("/v1/entries/bindings-v1/").len()), (1, 1));
}

#[test]
fn a_text_that_two_machines_get_at_once_is_compiled_once() {
    let (fleet, code) = (Fleet::new(), text());
    let machines = ["first", "second", "third"];
    for machine in machines {
        fleet.run(machine, "1").config(&fleet.signing()).expect("ok", 0);
    }
    let outcomes: Vec<Value> = thread::scope(|scope| {
        let runs = machines.map(|machine| {
            let (fleet, code) = (&fleet, &code);
            scope.spawn(move || fleet.run(machine, code).config(&fleet.signing()).expect("ok", 0))
        });
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let compiled = outcomes.iter().filter(|outcome| was_compiled(outcome)).count();
    assert_eq!(compiled, 1, "{outcomes:#?}");
}

#[test]
fn a_machine_that_is_killed_while_it_compiles_blocks_no_other() {
    let (fleet, code) = (Fleet::new(), text());
    for machine in ["first", "second"] {
        fleet.run(machine, "1").config(&fleet.signing()).expect("ok", 0);
    }
    // Its compiler takes long enough to be found.
    let lines: String =
        (0..400).map(|number| format!("println!(\"{number} {{:?}}\", vec![{number}]);\n")).collect();
    let slow = format!("{lines}{code}");
    let started = fleet.run("first", &slow).config(&fleet.signing()).start();
    started.wait_until("a lease", || fleet.leases() == 1);
    started.signal(Signal::KILL);
    started.done();
    assert_eq!(fleet.leases(), 1, "nobody could remove the lease");
    let outcome = fleet.run("second", &slow).config(&fleet.signing()).expect("ok", 0);
    assert!(was_compiled(&outcome));
}

#[test]
fn a_damaged_program_is_compiled_again() {
    let (fleet, code) = (Fleet::new(), text());
    fleet.run("first", &code).config(&fleet.signing()).expect("ok", 0);
    for object in fleet.server.objects("/v1/entries/programs-v1/") {
        let mut bytes = fs::read(&object).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(&object, bytes).unwrap();
    }
    let done = fleet.run("second", &code).config(&fleet.signing()).done().exits(0);
    assert!(was_compiled(&done.outcome()));
    assert!(done.stderr.contains("its contents are damaged; it is built here instead"), "{done:#?}");
    assert!(
        !was_compiled(&fleet.run("third", &code).config(&fleet.signing()).expect("ok", 0)),
        "it was replaced"
    );
}

#[test]
fn without_its_store_a_machine_compiles_and_says_so_once() {
    let fleet = Fleet::new();
    fleet.run("first", "1").config(&fleet.signing()).expect("ok", 0);
    let proxy = FaultProxy::start(fleet.server.address());
    proxy.set(Fault::Silence);
    let short = fleet.signing().replace("timeout: 20", "timeout: 0.2");
    let mut server = Serve::new(&short);
    server = server.variable("TOOLSMITH_CACHE_DIR", fleet.cache("first").to_str().unwrap());
    for (name, value) in variables(proxy.address()) {
        server = server.variable(name, &value);
    }
    let mut server = server.start();
    server.shake_hands();
    for number in 1..=3 {
        let answer = server.ask(number, "tools/call", &execute(&text()));
        assert!(was_compiled(outcome_of(&answer)));
    }
    let told = server.stderr().matches("can't be read").count();
    assert_eq!(told, 1, "{}", server.stderr());
}

#[test]
fn a_key_that_others_may_read_stops_the_start() {
    let fleet = Fleet::new();
    fs::set_permissions(fleet.key(), fs::Permissions::from_mode(0o644)).unwrap();
    let done = fleet.run("first", "1").config(&fleet.signing()).done().exits(7);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: the key in /tmp/.tmpXXXXXX/key.pem (cache.remote.key) is accessible to others
    help: let only its owner read it (chmod 600), and replace the key
    ");
}

#[test]
fn the_doctor_shows_the_store() {
    let fleet = Fleet::new();
    let doctor = |address, config: &str| {
        fleet
            .at(end_to_end::cache::shared(), address, &["doctor"])
            .config_alone(config)
            .done()
            .exits(0)
            .stdout
    };
    let shown = doctor(fleet.server.address(), &fleet.reading());
    assert!(shown.contains("remote") && shown.contains("s3://artifacts: answered in "), "{shown}");
    let proxy = FaultProxy::start(fleet.server.address());
    proxy.set(Fault::Reset);
    let shown = doctor(proxy.address(), &fleet.signing());
    assert!(shown.contains("snippets are compiled here; signs with the key "), "{shown}");
}
