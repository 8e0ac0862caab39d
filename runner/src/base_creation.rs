//! Creates a base: compiles its linker, links all libraries, and tests the result.

mod compilation;
mod self_test;

use base_link::Machine;

use crate::base::{Base, BaseState, IMAGE, SYMBOLS};
use crate::base_layer::Crates;
use crate::compiler::Linker;
use crate::error::{Error, ErrorKind, Result};

pub(crate) use compilation::Creation;
use compilation::unusable;

/// The sources of the base, as part of the layer's key.
pub(crate) const SOURCES: [(&str, &str); 2] = [LINKER, self_test::SOURCE];
/// The program that links the base.
const LINKER: (&str, &str) = ("linker.rs", include_str!("../layer/linker.rs"));

/// The C library's entry point, which programs bring, calls this.
const START: &str = "__libc_start_main";

/// Mathematical functions of the C library: methods of numbers become calls of them in the snippet's own code, so
/// nothing in the base may name them. All of them exist for `f64`, and with the suffix `f` for `f32`.
const MATHEMATICS: [&str; 37] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh",
    "erf", "erfc", "exp", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "hypot",
    "ldexp", "lgamma", "log", "log10", "log1p", "log2", "pow", "rint", "round", "sin", "tan", "trunc",
];
/// More of them, whose names have another form.
const MORE_MATHEMATICS: [&str; 14] = [
    "lgamma_r",
    "lgammaf_r",
    "nearbyint",
    "nearbyintf",
    "nextafter",
    "nextafterf",
    "sinh",
    "sinhf",
    "sqrt",
    "sqrtf",
    "tanh",
    "tanhf",
    "tgamma",
    "tgammaf",
];

/// Creates the base of `crates`, whose folder becomes a layer, and writes it there. Programs are linked as a
/// whole if that fails: the reason is in the result.
///
/// # Errors
/// If the cache can't be written to, for example because the disk is full.
pub(crate) async fn create(creation: Creation<'_>, crates: &Crates) -> Result<BaseState> {
    let mut linked = base(creation, crates).await;
    if linked.as_ref().is_err_and(|error| error.kind != ErrorKind::Cache) {
        // Once more, because the result is kept, and the reason may be of the moment: not enough memory, a busy machine.
        linked = base(creation, crates).await;
    }
    let state = match linked {
        Ok(state) => state,
        Err(error) if error.kind == ErrorKind::Cache => return Err(error),
        Err(error) => BaseState::Unusable(error.to_string()),
    };
    if matches!(state, BaseState::Unusable(_)) {
        for name in [SYMBOLS, IMAGE] {
            // What was not created need not be removed.
            let _ = fs_err::remove_file(crates.folder.join(name));
        }
    }
    Ok(state)
}

async fn base(creation: Creation<'_>, crates: &Crates) -> Result<BaseState> {
    let machine = Machine::of_this_process()
        .ok_or_else(|| unusable(format!("programs for {} can't be composed", std::env::consts::ARCH)))?;
    let arguments = ["--crate-name=linker", "-Cpanic=abort"];
    let linker = creation.compile(crates, LINKER, Linker::Rust, &arguments).await?;
    let folder = creation.cache.temporary()?;
    let file = folder.path().join("linker");
    fs_err::write(&file, &linker).map_err(Error::cache(folder.path()))?;
    fs_err::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .map_err(Error::cache(folder.path()))?;
    let names = crates.files.keys().map(|name| format!("extern crate {name};\n"));
    let source: String = names.chain(["fn main() {}\n".to_owned()]).collect();
    let options = options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let base = creation.compile(crates, ("base.rs", &source), Linker::OfBase(&file), &options).await?;
    let identity = *blake3::hash(&base).as_bytes();
    let prepared = base_link::prepare(&base, machine, identity).map_err(unusable)?;
    for (name, bytes) in [(SYMBOLS, &prepared.symbols), (IMAGE, &prepared.image)] {
        fs_err::write(crates.folder.join(name), bytes).map_err(Error::cache(&crates.folder))?;
    }
    let base = Base::open(prepared.layout.clone(), &crates.folder);
    let base = base.ok_or_else(|| unusable("its files are missing"))?;
    self_test::run(creation, crates, &std::sync::Arc::new(base)).await?;
    Ok(BaseState::Usable(Box::new(prepared.layout)))
}

/// rustc's options for linking the base: a program without an entry point, and with functions that only snippets call.
pub(crate) fn options() -> Vec<String> {
    let float = MATHEMATICS.iter().flat_map(|name| [(*name).to_owned(), format!("{name}f")]);
    let wanted = float.chain(MORE_MATHEMATICS.map(str::to_owned)).chain([START.to_owned()]);
    let plain = ["--strip-debug", "--entry=0"].map(str::to_owned);
    let options = plain.into_iter().chain(wanted.map(|name| format!("--undefined={name}")));
    let mut options: Vec<String> = options.map(|option| format!("-Clink-arg={option}")).collect();
    options.push("--crate-name=program".to_owned());
    options
}
