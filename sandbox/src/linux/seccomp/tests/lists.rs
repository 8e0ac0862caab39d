//! The lists of calls, compared with the kernel's lists of x86_64 and arm64 (crate `syscalls`). Both are compared on
//! every architecture, so that a list of the other one cannot be wrong unnoticed.

use std::collections::BTreeSet;

use syscalls::{aarch64, x86_64};

use super::super::{compiler, dangerous, old, program, server};
use crate::system_call_name;

fn is_on_x86_64(name: &str) -> bool {
    name.parse::<x86_64::Sysno>().is_ok() || name == FSTATAT[1]
}

fn is_on_arm64(name: &str) -> bool {
    name.parse::<aarch64::Sysno>().is_ok() || name == FSTATAT[0]
}

/// The names of one call in the kernel's lists of x86_64 and arm64.
const FSTATAT: [&str; 2] = ["newfstatat", "fstatat"];

#[test]
fn lists_for_all_architectures_contain_only_calls_of_all() {
    let allowed = [program::PLAIN, program::PATHS, server::NEEDED];
    let denied = [compiler::DENIED, compiler::CONTAINED, compiler::METADATA, dangerous::CALLS];
    for list in allowed.into_iter().chain(denied) {
        for call in list {
            let name = system_call_name(*call as u32).unwrap_or_else(|| panic!("the kernel has no {call}"));
            assert!(is_on_x86_64(name) && is_on_arm64(name), "{name}");
        }
    }
}

/// A call in these lists that arm64 has would be missing in its allow-list, or worse, in its deny-list.
#[test]
fn old_calls_exist_only_on_x86_64() {
    for name in old::NAMES {
        let name = name.strip_prefix("SYS_").unwrap();
        assert!(is_on_x86_64(name) && !is_on_arm64(name), "{name}");
    }
}

#[test]
fn the_old_calls_have_the_numbers_of_the_kernel() {
    let lists = [old::PLAIN, old::PATHS, old::DENIED, old::METADATA, old::DANGEROUS];
    let numbers: BTreeSet<i64> = lists.concat().into_iter().collect();
    let expected = old::NAMES.iter().filter_map(|name| {
        let name = name.strip_prefix("SYS_")?;
        (0..512).find(|number| system_call_name(*number) == Some(name)).map(i64::from)
    });
    assert_eq!(numbers, expected.collect());
}

/// arm64 takes nothing from x86_64 that it has itself: each call of x86_64 that the lists name has a successor there.
#[test]
fn the_successors_of_old_calls_are_in_the_same_lists() {
    let number = |name: &str| {
        let found = (0..512).find(|number| system_call_name(*number) == Some(name));
        i64::from(found.unwrap_or_else(|| panic!("no call is named {name}")))
    };
    let successors = |names: &[&str], list: &[i64]| {
        for name in names {
            assert!(list.contains(&number(name)), "{name}");
        }
    };
    successors(&["ppoll", "epoll_pwait", "gettimeofday"], program::PLAIN);
    let fstatat = FSTATAT[usize::from(cfg!(target_arch = "aarch64"))];
    let paths = [fstatat, "faccessat", "readlinkat", "mkdirat", "unlinkat", "renameat"];
    successors(&paths, program::PATHS);
    successors(&["fchownat"], compiler::CONTAINED);
    successors(&["fchmodat", "utimensat"], compiler::METADATA);
}

/// A call that a compiler may make anyway would be listed for nothing.
#[test]
fn a_server_is_excepted_only_from_what_a_compiler_is_denied() {
    for &call in server::NEEDED {
        assert!(compiler::DENIED.contains(&call), "{:?}", system_call_name(call as u32));
    }
}
