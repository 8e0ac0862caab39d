//! The code and signatures for every fixture, compared with what is checked in.
//!
//! `UPDATE_GOLDEN=1 cargo test -p codegen --test golden` writes them anew. That the code compiles
//! without a warning is seen in `compiled.rs`.

mod support;

use std::fmt::Write as _;
use std::path::Path;

use codegen::{Bindings, generate, module_names};

fn check(path: &Path, expected: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, expected).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == expected,
        "{} is not what the generator makes; look at the difference after UPDATE_GOLDEN=1",
        path.display()
    );
}

fn report(bindings: &Bindings) -> String {
    let mut text = String::new();
    for tool in &bindings.tools {
        writeln!(text, "{}\n", tool.signature).unwrap();
    }
    for warning in &bindings.warnings {
        writeln!(text, "warning: {} {}: {}", warning.tool, warning.path, warning.reason).unwrap();
    }
    text
}

#[test]
fn fixtures_generate_what_is_checked_in() {
    let servers = support::servers();
    let modules = module_names(servers.iter().map(|server| server.name.as_str()));
    for server in &servers {
        let module = &modules[&server.name];
        let bindings = generate(server, module);
        let golden = support::folder("tests/golden");
        check(&golden.join(format!("{module}.rs")), &bindings.source);
        check(&golden.join(format!("{module}.signatures")), &report(&bindings));
        if server.name == "demo" {
            check(&support::folder("../templates/tools/src/demo.rs"), &bindings.source);
        }
    }
}
