//! The main file of a spare compiler, in place of that of a program. It is the same program.

/// Loads the bridge and the crates below it. In a module of its own, it gives the snippet no other path to them, and no
/// macro.
mod __loaded {
    #[allow(unused_extern_crates)]
    extern crate bridge;

    // The largest module of the standard library. rustc reads all of them for the first type in an error, to find out
    // which names are unique. An import makes it read this one while the spare compiler waits.
    #[cfg(target_arch = "aarch64")]
    #[allow(unused_imports)]
    use ::std::arch::aarch64::vaddq_u8 as _;
    #[cfg(target_arch = "x86_64")]
    #[allow(unused_imports)]
    use ::std::arch::x86_64::__cpuid as _;

    /// Declares the snippet's module. rustc reads the file of a module that a macro declares after it has loaded the
    /// crates that are named outside of macros, so a spare compiler loads them while it waits.
    macro_rules! __declare_the_file_beside {
        () => {
            mod snippet;
        };
    }
    pub(crate) use __declare_the_file_beside;
}

__loaded::__declare_the_file_beside!();

fn main() -> std::process::ExitCode {
    bridge::run(snippet::ORIGIN, snippet::__entry)
}
