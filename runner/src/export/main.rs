//! Runs the program in `snippet.rs`. `cargo build` checks it; `toolsmith run --crate` runs it, with its tools.

mod snippet {
    #[allow(unused_imports)]
    use bridge::prelude::*;
    #[allow(unused_imports)]
    use tools::*;
    #[allow(unused_imports)]
    use super::in_scope::*;

    include!("snippet.rs");

    pub(crate) fn entry(_: bridge::Args) -> bridge::Running {
        bridge::encoding(::std::boxed::Box::pin(value()))
    }

    async fn value() -> bridge::Result<impl bridge::tail::Outcome> {
        bridge::finish!(run().await)
    }
}

/// The usual names of the crates for snippets.
mod in_scope {
    // Their imports are inserted here.
}

fn main() -> std::process::ExitCode {
    bridge::run(bridge::Origin::new(0), snippet::entry)
}
