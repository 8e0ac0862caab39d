//! Scratch space and granted paths of a program: what they allow, what stays denied, and that they are
//! deleted.
//!
//! A compiler's grants have their own tests. All of this needs namespaces, and is skipped without them.

#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]

mod common;

use std::path::Path;

use common::{EACCES, ENOENT, EPERM, EROFS, Output, attempts, compiled, exactly, finish, sandbox};
use sandbox::{Access, Command, Confinement, Layers, Policy, SCRATCH, SpawnError};

const EBUSY: i32 = 16;
const ENOSPC: i32 = 28;
const MIB: u64 = 1 << 20;

/// The tiers with namespaces.
fn tiers() -> Vec<Layers> {
    common::tiers().into_iter().filter(|tier| tier.namespaces).collect()
}

fn files(arguments: &[&str], policy: Policy) -> Output {
    finish(
        sandbox(policy).spawn(Command::new(compiled("files")).args(arguments)).expect("the policy applies"),
    )
}

/// A program that may write files of any size, so that only the tested limit applies.
fn program() -> Policy {
    Policy::program().limits(|limits| limits.file_size = Some(1 << 30))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn scratch_space_is_a_private_temporary_working_folder() {
    for tier in tiers() {
        let policy = || exactly(program().scratch(MIB), tier);
        assert_eq!(files(&["folder"], policy()).detail(), SCRATCH);
        assert_eq!(files(&["work", "."], policy()).detail(), "", "{tier}");
        // Neither another child nor the host sees any of it.
        assert_eq!(files(&["list", SCRATCH], policy()).detail(), "");
        assert!(!Path::new(SCRATCH).exists());
        // It does not exist for a child without scratch space.
        assert_eq!(files(&["list", SCRATCH], exactly(program(), tier)).errno(), Some(EPERM));
    }
}

#[test]
fn scratch_space_is_bounded_as_a_whole() {
    for tier in tiers() {
        let policy = || exactly(program().scratch(4 * MIB), tier);
        // With one file, and with many that are each below any single-file limit.
        for (count, each) in [("1", 16 * MIB), ("64", MIB)] {
            let full = files(&["fill", SCRATCH, count, &each.to_string()], policy());
            assert_eq!(full.errno(), Some(ENOSPC), "{tier}: {full:?}");
            let written: u64 = full.stdout.split("written ").nth(1).unwrap().trim().parse().unwrap();
            assert!((3 * MIB..=4 * MIB).contains(&written), "{tier}: {written} bytes");
        }
        let many = files(&["fill", SCRATCH, "1000000", "0"], policy());
        assert_eq!(many.errno(), Some(ENOSPC), "files without contents are bounded too: {many:?}");
    }
}

#[test]
fn nothing_runs_from_scratch_space_or_a_grant() {
    let folder = tempfile::tempdir().unwrap();
    for tier in tiers() {
        for (policy, path) in [
            (program().scratch(MIB), SCRATCH),
            (program().grant(folder.path(), Access::Write), text(folder.path())),
        ] {
            let policy = || exactly(policy.clone(), tier);
            for name in ["execute", "map-executable"] {
                assert_eq!(files(&[name, path], policy()).errno(), Some(EPERM), "{tier}: {name} in {path}");
            }
            // The filter refuses; the mount alone would as well.
            let alone = Layers { namespaces: true, ..Layers::OFF };
            for name in ["execute", "map-executable"] {
                let refused = files(&[name, path], policy().confinement(Confinement::Exactly(alone)));
                let errno = if name == "execute" { EACCES } else { EPERM };
                assert_eq!(refused.errno(), Some(errno), "{name} in {path}: {refused:?}");
            }
        }
    }
}

#[test]
fn links_special_files_and_set_user_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for tier in tiers() {
        for (policy, path) in [
            (program().scratch(MIB), SCRATCH),
            (program().grant(folder.path(), Access::Write), text(folder.path())),
        ] {
            for name in [
                "symbolic-link",
                "hard-link",
                "device",
                "whiteout",
                "lock",
                "pipe",
                "socket",
                "touch",
                "attribute",
                "own",
            ] {
                let refused = files(&[name, path], exactly(policy.clone(), tier));
                assert_eq!(refused.errno(), Some(EPERM), "{tier}: {name} in {path}: {refused:?}");
            }
            for name in [
                "set-user-open",
                "set-user-openat",
                "set-user-temporary",
                "set-user-creat",
                "set-user-fchmod",
                "set-user-chmod",
                "set-user-fchmodat",
                "set-user-fchmodat2",
                "set-user-openat2",
                "set-user-mkdir",
                "set-user-mknod",
                "set-user-mknodat",
            ] {
                let refused = files(&[name, path], exactly(policy.clone(), tier));
                assert!(!refused.is_done(), "{tier}: {name} in {path}: {refused:?}");
            }
        }
    }
    use std::os::unix::fs::MetadataExt;
    for entry in std::fs::read_dir(folder.path()).unwrap().flatten() {
        let mode = entry.metadata().unwrap().mode();
        assert_eq!(mode & 0o6000, 0, "{:?} has the mode {mode:o}", entry.path());
    }
}

#[test]
fn a_grant_allows_only_its_access() {
    let folder = tempfile::tempdir().unwrap();
    let (inside, outside) = (folder.path().join("inside"), folder.path().join("outside"));
    std::fs::create_dir(&inside).unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(inside.join("file"), "granted").unwrap();
    std::fs::write(outside.join("secret"), "secret").unwrap();
    // A link that points out of the grant does not resolve.
    std::os::unix::fs::symlink(outside.join("secret"), inside.join("link")).unwrap();
    for tier in tiers() {
        let reading = || exactly(program().grant(&inside, Access::Read), tier);
        assert_eq!(files(&["read", text(&inside.join("file"))], reading()).detail(), "granted");
        for name in ["work", "create"] {
            assert_eq!(files(&[name, text(&inside)], reading()).errno(), Some(EROFS), "{tier}: {name}");
        }
        assert_eq!(
            files(&["truncate", text(&inside.join("file"))], reading()).errno(),
            Some(EROFS),
            "{tier}"
        );
        let writing = || exactly(program().grant(&inside, Access::Write), tier);
        assert_eq!(files(&["work", text(&inside)], writing()).detail(), "", "{tier}");
        for policy in [&reading, &writing] as [&dyn Fn() -> Policy; 2] {
            is_shut_in(policy, &outside, &inside, tier);
        }
        assert_eq!(std::fs::read_to_string(outside.join("secret")).unwrap(), "secret");
    }
}

/// Checks that a program with paths, which has the system calls for them, reaches only these paths.
fn is_shut_in(policy: &dyn Fn() -> Policy, outside: &Path, inside: &Path, tier: Layers) {
    let secret = outside.join("secret");
    let parent = inside.join("../outside/secret");
    let link = inside.join("link");
    for path in [&secret, &parent, &link, Path::new("/etc/passwd"), Path::new("/proc/self/environ")] {
        for name in ["read", "stat", "truncate", "remove", "enter"] {
            let refused = files(&[name, text(path)], policy());
            let errno = refused.errno().unwrap_or_else(|| panic!("{tier}: {name} {path:?}: {refused:?}"));
            // The link itself is inside: with a write grant it can be removed, so the loop stops before that.
            assert!([ENOENT, EACCES, EROFS, 20].contains(&errno), "{tier}: {name} {path:?}: {refused:?}");
            if name == "truncate" && *path == link {
                break;
            }
        }
    }
    for path in [outside, Path::new("/home"), Path::new("/usr"), Path::new("/tmp/new")] {
        assert!(!files(&["list", text(path)], policy()).is_done(), "{tier}: {path:?}");
        assert!(!files(&["create", text(path)], policy()).is_done(), "{tier}: {path:?}");
    }
    // The folders above a grant are empty except for the next folder on its path.
    let top = text(inside).split('/').nth(1).unwrap();
    let seen = files(&["list", "/"], policy());
    if tier.landlock {
        assert_eq!(seen.errno(), Some(EACCES), "{seen:?}");
    } else {
        let expected = ["proc", top];
        assert!(seen.detail().split(' ').all(|name| expected.contains(&name)), "{tier}: {seen:?}");
    }
    for name in ["tcp", "fork", "kill-parent"] {
        assert!(!files(&[name], policy()).is_done(), "{tier}: {name}");
    }
}

#[test]
fn an_inner_grant_does_not_widen_the_outer_one() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    for tier in tiers() {
        let policy = || {
            let policy = program().grant(folder.path(), Access::Read).grant(&inner, Access::Write);
            exactly(policy, tier)
        };
        assert_eq!(files(&["work", text(&inner)], policy()).detail(), "", "{tier}");
        assert_eq!(files(&["create", text(folder.path())], policy()).errno(), Some(EROFS), "{tier}");
        // Files inside cannot be moved out either.
        assert!(!files(&["move-out", text(&inner)], policy()).is_done(), "{tier}");
    }
}

/// Neither by writing or replacing them, nor by renaming what contains them.
#[test]
fn read_only_paths_of_a_grant_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["sub/deep/.git/hooks", "sub/own", "other"] {
        std::fs::create_dir_all(at(name)).unwrap();
    }
    for name in ["sub/deep/.git/hooks/run", "sub/deep/file", "instructions", "sub/own/file"] {
        std::fs::write(at(name), "before").unwrap();
    }
    for tier in tiers() {
        let policy = || {
            let policy = program().grant(folder.path(), Access::Write).grant(at("sub/own"), Access::Write);
            let kept = ["sub/deep/.git", "instructions", "sub/own", "missing"];
            exactly(kept.iter().fold(policy, |policy, name| policy.read_only(at(name))), tier)
        };
        let tried = |name: &str, paths: &[&str]| {
            let paths: Vec<_> = paths.iter().map(|path| at(path)).collect();
            let arguments: Vec<&str> =
                [name].into_iter().chain(paths.iter().map(|path| text(path))).collect();
            files(&arguments, policy())
        };
        for name in ["sub/deep/.git/hooks/run", "instructions"] {
            assert_eq!(tried("read", &[name]).detail(), "before", "{tier}: {name}");
            assert_eq!(tried("truncate", &[name]).errno(), Some(EROFS), "{tier}: {name}");
            assert!(!tried("remove", &[name]).is_done(), "{tier}: {name}");
            assert!(!tried("rename", &["sub/deep/file", name]).is_done(), "{tier}: {name}");
        }
        assert_eq!(tried("create", &["sub/deep/.git/hooks"]).errno(), Some(EROFS), "{tier}");
        // Renaming them, and each folder on the way to them.
        for name in ["instructions", "sub/deep/.git", "sub/deep", "sub"] {
            let away = format!("{name}.away");
            assert_eq!(tried("rename", &[name, &away]).errno(), Some(EBUSY), "{tier}: {name}");
            assert!(!tried("rename", &[name, "other/away"]).is_done(), "{tier}: {name}");
        }
        // Everything else is written, also what is granted itself.
        for name in ["", "sub", "sub/deep", "sub/own", "other"] {
            assert_eq!(tried("work", &[name]).detail(), "", "{tier}: {name}");
        }
        // A missing path is not made for the child.
        assert!(!at("missing").exists());
    }
    assert_eq!(std::fs::read_to_string(at("sub/deep/.git/hooks/run")).unwrap(), "before");
    assert_eq!(std::fs::read_to_string(at("instructions")).unwrap(), "before");
}

#[test]
fn paths_are_refused_without_namespaces() {
    let folder = tempfile::tempdir().unwrap();
    for tier in common::tiers().into_iter().filter(|tier| !tier.namespaces) {
        for (policy, named) in [
            (Policy::program().scratch(MIB), "scratch space"),
            (Policy::compiler().scratch(MIB), "scratch space"),
            (Policy::program().grant(folder.path(), Access::Read), "a program's grants of paths"),
        ] {
            let refused = sandbox(exactly(policy, tier)).spawn(Command::new(attempts())).unwrap_err();
            assert!(matches!(refused, SpawnError::Policy(_)), "{refused:?}");
            let expected = format!("{named} need a tier with namespaces, but this is `{tier}`");
            assert!(refused.to_string().contains(&expected), "{refused}");
        }
    }
}

#[test]
fn all_tests_pass_for_an_ordinary_user() {
    common::again_as_an_ordinary_user("all_tests_pass_for_an_ordinary_user", &["attempts", "files"]);
}
