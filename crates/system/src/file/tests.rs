//! Tests of reading and replacing files, on the real file system.

use std::fs;

use super::*;

fn mode(file: &Path) -> u32 {
    fs::metadata(file).unwrap().permissions().mode() & 0o777
}

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn only_regular_files_within_the_limit_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    assert_eq!(read(&file, 3).unwrap(), None);
    fs::write(&file, "abc").unwrap();
    assert_eq!(read(&file, 3).unwrap().as_deref(), Some(&b"abc"[..]));
    assert!(read(&file, 2).unwrap_err().to_string().contains("more than 2 bytes"));
    assert!(read(folder.path(), 3).is_err());
    let pipe = folder.path().join("pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert!(read(&pipe, 3).unwrap_err().to_string().contains("regular file"));
    assert!(read(Path::new("/dev/zero"), 3).is_err());
}

#[test]
fn a_replaced_file_has_the_new_content_and_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let usual = folder.path().join("usual");
    fs::write(&usual, "").unwrap();
    for (access, expected) in
        [(Access::Owner, 0o600), (Access::Umask, mode(&usual)), (Access::Mode(0o666), 0o666)]
    {
        for durability in [Durability::Synced, Durability::Unsynced] {
            let file = folder.path().join("file");
            fs::write(&file, "what was there, which is longer").unwrap();
            replace(&file, b"new", access, durability).unwrap();
            assert_eq!((fs::read(&file).unwrap().as_slice(), mode(&file)), (&b"new"[..], expected));
        }
    }
    assert_eq!(names(folder.path()).len(), 2, "no temporary file is left");
}

#[test]
fn an_unfinished_replacement_leaves_the_old_file_and_no_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "old").unwrap();
    let mut new = Replacement::begin(&file, Access::Mode(0o640), Durability::Synced).unwrap();
    let temporary = new.new.path().to_owned();
    assert_eq!(mode(&temporary), 0o640, "before it has content");
    new.write_all(b"ne").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"old");
    drop(new);
    assert_eq!((fs::read(&file).unwrap().as_slice(), names(folder.path()).len()), (&b"old"[..], 1));
}

#[test]
fn create_does_not_replace_an_existing_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    create(&file, b"first", Access::Owner, Durability::Synced).unwrap();
    let error = create(&file, b"second", Access::Owner, Durability::Synced).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!((fs::read(&file).unwrap().as_slice(), names(folder.path()).len()), (&b"first"[..], 1));
}

#[test]
fn a_link_is_itself_replaced_and_a_missing_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    replace(&link, b"new", Access::Owner, Durability::Synced).unwrap();
    assert_eq!((fs::read(&file).unwrap(), fs::read(&link).unwrap()), (b"old".to_vec(), b"new".to_vec()));
    let missing = folder.path().join("missing/file");
    for durability in [Durability::Synced, Durability::Unsynced] {
        let error = replace(&missing, b"", Access::Owner, durability).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
}

#[test]
fn a_file_system_that_cannot_sync_folders_is_no_failure() {
    let folder = File::open("/proc").unwrap();
    assert_eq!(folder.sync_all().unwrap_err().kind(), ErrorKind::InvalidInput);
    sync_folder(&folder).unwrap();
}

#[test]
fn a_bare_file_name_is_in_the_working_folder() {
    assert_eq!(folder_of(Path::new("file")), Path::new("."));
    assert_eq!(folder_of(Path::new("/a/file")), Path::new("/a"));
}
