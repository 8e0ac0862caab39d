use std::fs;

use rustix::fs::chown;
use rustix::process::{Gid, Uid};

use super::*;

/// A user without rights.
const NOBODY: u32 = 65534;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn folders_and_files_are_private() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("outer/inner");
    create(&inner).unwrap();
    write(&inner.join("file"), b"a longer text").unwrap();
    write(&inner.join("file"), b"text").unwrap();
    assert_eq!(fs::read(inner.join("file")).unwrap(), b"text");
    let modes = [mode(inner.parent().unwrap()), mode(&inner), mode(&inner.join("file"))];
    assert_eq!(modes, [0o700, 0o700, 0o600]);
    assert_eq!(mode(temporary().unwrap().path()), 0o700);
    check(&folder.path().join("missing")).unwrap();
}

#[test]
fn a_folder_that_others_can_read_is_closed_to_them() {
    let folder = tempfile::tempdir().unwrap();
    for loose in [0o755, 0o750, 0o711, 0o700] {
        set(folder.path(), loose);
        check(folder.path()).unwrap();
        assert_eq!(mode(folder.path()), 0o700, "{loose:o}");
    }
    set(folder.path(), 0o755);
    check_settings(folder.path()).unwrap();
    assert_eq!(mode(folder.path()), 0o755, "the user's settings are left as they are");
}

#[test]
fn a_folder_that_others_can_write_is_refused_with_what_repairs_it() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("it's mine");
    fs::create_dir(&folder).unwrap();
    for loose in [0o777, 0o775, 0o1777] {
        set(&folder, loose);
        let word = format!("'{}/it'\\''s mine'", outer.path().display());
        let expected = format!(
            "other users can write to {word} (mode {loose:04o}); if you trust what is in it: chmod -R go-w {word}"
        );
        for refused in
            [create(&folder), check(&folder), check_settings(&folder), read(&folder.join("x"), 9).map(drop)]
        {
            assert_eq!(refused.unwrap_err().to_string(), expected);
        }
    }
    set(&folder, 0o755);
    create(&folder).unwrap();
}

#[test]
fn a_folder_of_another_user_is_refused_with_what_repairs_it() {
    let outer = tempfile::tempdir().unwrap();
    // Root gives a folder away; anyone else finds one of root.
    let folder = if geteuid().is_root() {
        let folder = outer.path().join("theirs");
        fs::create_dir(&folder).unwrap();
        chown(&folder, Some(Uid::from_raw(NOBODY)), Some(Gid::from_raw(NOBODY))).unwrap();
        folder
    } else {
        "/usr".into()
    };
    let refused = check(&folder).unwrap_err().to_string();
    let (owner, own) = (fs::metadata(&folder).unwrap().uid(), geteuid().as_raw());
    let shown = folder.display();
    assert_eq!(
        refused,
        format!(
            "{shown} belongs to another user ({owner}), who can change what is in it; if it is yours: sudo chown -R {own} \
             {shown}"
        )
    );
    assert_eq!(check_settings(&folder).is_ok(), !geteuid().is_root(), "settings may be the administrator's");
}

#[test]
fn a_file_is_closed_and_stays_executable() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for (before, after) in [(0o666, 0o600), (0o444, 0o600), (0o777, 0o700), (0o500, 0o700)] {
        set(&file, before);
        close(&file, &fs::metadata(&file).unwrap()).unwrap();
        assert_eq!(mode(&file), after, "{before:o}");
    }
}
