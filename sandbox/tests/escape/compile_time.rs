//! Data that a compiler could read into a program: files of the host, its environment, its memory.
//!
//! Each program is first compiled without a sandbox, and must contain the secret.

use std::path::Path;
use std::process::Command as Plain;

use sandbox::{Command, Layers, Policy};

use crate::common::{compiler_policy, confined, exactly, rustc, sandbox, target_arguments, tiers};

const SECRET: &str = "planted-secret-at-compile-time";

/// Programs that print what they were compiled with. `PATH` is replaced by the secret's file.
const SOURCES: [(&str, &str); 7] = [
    ("include_str", "fn main() { print!(\"{}\", include_str!(\"PATH\")); }"),
    ("include_bytes", "fn main() { print!(\"{}\", String::from_utf8_lossy(include_bytes!(\"PATH\"))); }"),
    ("include", "fn main() { print!(\"{}\", include!(\"PATH\")); }"),
    ("path", "#[path = \"PATH.rs\"] mod secret; fn main() { print!(\"{}\", secret::SECRET); }"),
    ("env", "fn main() { print!(\"{}\", env!(\"SECRET\")); }"),
    ("option_env", "fn main() { print!(\"{}\", option_env!(\"SECRET\").unwrap_or_default()); }"),
    (
        "incbin",
        "std::arch::global_asm!(\".globl secret\", \"secret:\", \".incbin \\\"PATH\\\"\", \".byte 0\"); \
         unsafe extern \"C\" { static secret: std::ffi::c_char; } \
         fn main() { print!(\"{}\", unsafe { std::ffi::CStr::from_ptr(&raw const secret) }.to_string_lossy()); }",
    ),
];

/// Whether the compiled program contains the secret.
fn has_secret(folder: &Path) -> bool {
    let program = folder.join("main");
    let output = Plain::new(&program).output();
    let _ = std::fs::remove_file(program);
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(SECRET))
}

#[test]
fn nothing_of_the_host_is_compiled_in() {
    let (host, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = host.path().join("secret");
    let module = host.path().join("secret.rs");
    std::fs::write(&file, format!("\"{SECRET}\"")).unwrap();
    std::fs::write(module, format!("pub const SECRET: &str = \"{SECRET}\";")).unwrap();
    // Landlock and namespaces each protect the file system alone. The filter does not, because a compiler
    // opens files.
    let alone = [Layers { landlock: true, ..Layers::OFF }, Layers { namespaces: true, ..Layers::OFF }];
    let supported = sandbox(Policy::compiler()).support().layers;
    let combinations = tiers().into_iter().chain(alone).filter(|layers| supported.include(*layers));
    let combinations: Vec<Layers> = combinations.collect();
    for (name, source) in SOURCES {
        let source = source.replace("PATH", file.to_str().unwrap());
        std::fs::write(folder.path().join("main.rs"), source).unwrap();
        let arguments = || target_arguments().into_iter().chain(["main.rs".to_owned()]);
        let plain = Plain::new(rustc())
            .args(arguments())
            .current_dir(folder.path())
            .env("SECRET", SECRET)
            .output()
            .unwrap();
        assert!(plain.status.success(), "{name}: {plain:?}");
        assert!(has_secret(folder.path()), "the control of {name} must have the secret");
        for layers in &combinations {
            let policy = exactly(compiler_policy(folder.path()), *layers);
            let output = confined(policy, Command::new(rustc()).args(arguments()));
            assert!(!has_secret(folder.path()), "{layers}: {name} got through");
            assert!(!output.stdout.contains(SECRET) && !output.stderr.contains(SECRET), "{layers}: {name}");
            // Missing data is a compile error, except for the optional variable.
            assert_eq!(output.status.success(), name == "option_env", "{layers}: {name}: {output:?}");
        }
    }
}
