//! Files that can't be used, and files of other versions.

use std::os::unix::fs::PermissionsExt as _;

use rusqlite::Connection;

use super::*;

fn refused(file: &Path) -> String {
    let wrong = Reader::open(file).unwrap_err().to_string();
    assert!(wrong.contains(file.to_str().unwrap()), "{wrong}");
    wrong
}

#[tokio::test]
async fn the_file_is_private_also_if_its_mode_was_changed() {
    let fixture = Fixture::new();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    drop(fixture.begin("e1", "1"));
    fixture.flush().await;
    assert_eq!([mode(&fixture.file()), mode(fixture.file().parent().unwrap())], [0o600, 0o700]);
    std::fs::set_permissions(fixture.file(), std::fs::Permissions::from_mode(0o644)).unwrap();
    let again = start(&fixture.file(), &fixture.settings);
    drop(again.begin(new("e2", "2"), &fixture.settings, Masker::default()));
    again.flush(Duration::from_secs(60)).await;
    assert_eq!(mode(&fixture.file()), 0o600);
}

#[test]
fn other_files_are_refused_and_left_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.db");
    assert!(Reader::open(&file).unwrap().is_none());
    let text = "these are notes, not a database at all ".repeat(40);
    std::fs::write(&file, &text).unwrap();
    assert!(refused(&file).contains("damaged"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    std::fs::remove_file(&file).unwrap();
    Connection::open(&file).unwrap().execute_batch("CREATE TABLE mine (x)").unwrap();
    assert!(refused(&file).contains("another program"));
}

#[tokio::test]
async fn a_newer_file_is_refused() {
    let fixture = Fixture::new();
    drop(fixture.begin("e1", "1"));
    fixture.flush().await;
    let connection = Connection::open(fixture.file()).unwrap();
    connection.pragma_update(None, "user_version", 1_000).unwrap();
    assert!(refused(&fixture.file()).contains("newer version"));
}

#[tokio::test]
async fn a_file_that_was_removed_is_created_again() {
    let fixture = Fixture::new();
    for id in ["e1", "e2"] {
        drop(fixture.begin(id, "1"));
        fixture.flush().await;
        if id == "e1" {
            std::fs::remove_dir_all(fixture.file().parent().unwrap()).unwrap();
        }
    }
    let found = fixture.reader().list(&Filter::default(), Page::ALL).unwrap();
    assert_eq!(found.iter().map(|summary| summary.id.as_str()).collect::<Vec<_>>(), ["e2"]);
}

#[tokio::test]
async fn what_can_not_be_written_waits() {
    let fixture = Fixture::new();
    let folder = fixture.file().parent().unwrap().to_owned();
    // A file in the place of the folder.
    std::fs::write(&folder, "").unwrap();
    drop(fixture.begin("e1", "1"));
    fixture.flush().await;
    std::fs::remove_file(&folder).unwrap();
    fixture.flush().await;
    assert_eq!(fixture.reader().execution("e1").unwrap().summary.status, "cancelled");
}
