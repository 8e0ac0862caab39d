use std::{fs, io::Read as _, os::unix::fs::PermissionsExt as _};

use super::*;

/// The environment of a test's program.
fn environment(path: &Path) -> BTreeMap<OsString, OsString> {
    BTreeMap::from([("PATH".into(), path.into()), ("NAME".into(), "value".into())])
}

/// A folder with an executable file.
fn folder_with(name: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Starts a program and returns what it writes.
fn output(program: &str, arguments: &[&str], path: &Path, folder: Option<&Path>) -> io::Result<String> {
    let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
    let launch = Launch::new(program, &arguments, environment(path), folder)?;
    let mut started = launch.start();
    // Another test's process may still have the file open for writing, from before its exec.
    while started.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::ExecutableFileBusy) {
        started = launch.start();
    }
    let mut launched = started?;
    let mut text = String::new();
    launched.stdout.read_to_string(&mut text)?;
    rustix::process::waitpid(Some(launched.pid), rustix::process::WaitOptions::empty())?;
    Ok(text)
}

#[test]
fn a_program_is_found_in_its_own_path() {
    let folder = folder_with("own-program", "#!/bin/sh\necho \"$NAME $1\"\n");
    let path = std::env::join_paths([Path::new("/nowhere"), folder.path()]).unwrap();
    assert_eq!(output("own-program", &["a"], Path::new(&path), None).unwrap(), "value a\n");
    let missing = output("own-program", &[], Path::new("/nowhere"), None).unwrap_err();
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
}

#[test]
fn relative_folders_of_the_path_are_those_of_the_working_folder() {
    let folder = folder_with("own-program", "#!/bin/sh\npwd\n");
    let expected = format!("{}\n", folder.path().canonicalize().unwrap().display());
    for path in ["", "."] {
        assert_eq!(output("own-program", &[], Path::new(path), Some(folder.path())).unwrap(), expected);
    }
}

#[test]
fn a_file_without_a_format_is_a_shell_script() {
    let folder = folder_with("script", "echo \"script $1\"\n");
    let file = folder.path().join("script");
    assert_eq!(output(file.to_str().unwrap(), &["a"], Path::new("/bin"), None).unwrap(), "script a\n");
}

#[test]
fn what_fails_is_returned() {
    let folder = folder_with("own-program", "#!/bin/sh\n");
    let file = folder.path().join("own-program");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let kind = |result: io::Result<String>| result.unwrap_err().kind();
    assert_eq!(kind(output("own-program", &[], folder.path(), None)), io::ErrorKind::PermissionDenied);
    assert_eq!(kind(output("", &[], folder.path(), None)), io::ErrorKind::NotFound);
    assert_eq!(kind(output("a\0b", &[], folder.path(), None)), io::ErrorKind::InvalidInput);
    assert_eq!(kind(output("/bin/sh", &[], folder.path(), Some(&file))), io::ErrorKind::NotADirectory);
}

#[test]
fn a_program_starts_with_the_default_signals_and_leads_its_session() {
    let status = output("/bin/sh", &["-c", "cat /proc/self/status"], Path::new("/bin"), None).unwrap();
    let signals = |field: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    };
    let pipe = 1 << (libc::SIGPIPE - 1);
    assert_eq!((signals("SigBlk:"), signals("SigIgn:") & pipe), (0, 0));
    let stat = output("/bin/sh", &["-c", "cat /proc/$$/stat; exit"], Path::new("/bin"), None).unwrap();
    // proc_pid_stat(5): pid, name, state, parent, group, session.
    let fields: Vec<&str> = stat.split(' ').collect();
    assert_eq!((fields[0], fields[0]), (fields[4], fields[5]));
}
