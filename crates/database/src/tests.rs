//! Files that are created, migrated and refused.

use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

const FIRST: Format = Format { application: 0x5453_5431, steps: &["CREATE TABLE a (x)"] };
const SECOND: Format = Format { steps: &["CREATE TABLE a (x)", "CREATE TABLE b (x)"], ..FIRST };
const OTHER: Format = Format { application: 0x5453_5432, ..FIRST };

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state/a.db");
    (folder, file)
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o777
}

#[test]
fn a_file_and_its_folder_are_private_and_a_log_is_used() {
    let (_folder, file) = place();
    let connection = FIRST.create(&file, Durability::Written).unwrap();
    assert_eq!([mode(&file), mode(file.parent().unwrap())], [0o600, 0o700]);
    let Head { application, version, tables, journal } = Head::of(&connection).unwrap();
    assert_eq!((application, version, tables, journal.as_str()), (0x5453_5431, 1, 1, "wal"));
    std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    make_private(&file).unwrap();
    assert_eq!(mode(&file), 0o600);
}

#[test]
fn an_older_file_is_migrated_once_and_a_newer_one_refused() {
    let (_folder, file) = place();
    FIRST.create(&file, Durability::Synced).unwrap().execute("INSERT INTO a VALUES (1)", []).unwrap();
    for _ in 0..2 {
        let connection = SECOND.open(&file, Durability::Synced).unwrap();
        let rows: i64 =
            connection.query_row("SELECT count(*) FROM a LEFT JOIN b", [], |row| row.get(0)).unwrap();
        assert_eq!((rows, number(&connection, "user_version").unwrap()), (1, 2));
    }
    assert!(matches!(FIRST.create(&file, Durability::Synced), Err(Error::Newer { version: 2, known: 1 })));
    assert!(matches!(OTHER.open(&file, Durability::Synced), Err(Error::Foreign)));
}

#[test]
fn several_threads_create_one_file() {
    let (_folder, file) = place();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let connection = SECOND.create(&file, Durability::Written).unwrap();
                retry(BUSY, || connection.execute("INSERT INTO b VALUES (1)", [])).unwrap();
            });
        }
    });
    let connection = SECOND.open(&file, Durability::Written).unwrap();
    let rows: i64 = connection.query_row("SELECT count(*) FROM b", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 8);
}

#[test]
fn other_files_are_refused_and_left_unchanged() {
    let (folder, _) = place();
    let file = folder.path().join("notes");
    let text = "these are notes, not a database at all ".repeat(40);
    std::fs::write(&file, &text).unwrap();
    assert!(matches!(FIRST.create(&file, Durability::Written), Err(Error::Sqlite("can't be opened", _))));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    assert!(matches!(FIRST.create(&file.join("b"), Durability::Written), Err(Error::Folder(_))));
}
