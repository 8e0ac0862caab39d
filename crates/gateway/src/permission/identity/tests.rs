use std::collections::BTreeMap;

use super::*;

fn command(change: impl FnOnce(&mut mcp::Command)) -> String {
    let mut server = mcp::ServerConfig::stdio("s", "sh", ["-c", "a"]);
    if let mcp::Transport::Stdio(command) = &mut server.transport {
        command.cwd = Some("/".into());
        change(command);
    }
    identity(&Key([1; KEY_LENGTH]), &server)
}

fn remote(change: impl FnOnce(&mut mcp::Remote)) -> String {
    let mut server = mcp::ServerConfig::http("s", "https://x.example/mcp");
    if let mcp::Transport::Http(remote) = &mut server.transport {
        change(remote);
    }
    identity(&Key([1; KEY_LENGTH]), &server)
}

#[test]
fn every_part_of_a_connection_changes_the_identity() {
    let pair = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    let oauth = |client: &str| mcp::OAuth { client_id: Some(client.into()), ..mcp::OAuth::default() };
    let all = [
        command(|_| {}),
        command(|command| command.command = "ls".into()),
        command(|command| command.args = vec!["-ca".into()]),
        command(|command| command.args.push(String::new())),
        command(|command| command.cwd = Some("/usr".into())),
        command(|command| command.cwd = None),
        command(|command| command.env = pair("A", "1")),
        command(|command| command.env = pair("A", "2")),
        command(|command| command.env = pair("PATH", "/nowhere")),
        remote(|_| {}),
        remote(|remote| remote.url.push('?')),
        remote(|remote| remote.headers = pair("A", "1")),
        remote(|remote| remote.headers = pair("A", "2")),
        remote(|remote| remote.oauth = Some(oauth("1"))),
        remote(|remote| remote.oauth = Some(oauth("2"))),
    ];
    let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(distinct.len(), all.len(), "{all:#?}");
    assert_eq!(command(|_| {}), all[0]);
    let server = mcp::ServerConfig::stdio("s", "sh", ["-c", "a"]);
    assert_ne!(identity(&Key([1; 32]), &server), identity(&Key([2; 32]), &server), "another key");
}

#[test]
fn a_key_is_created_once_and_readable_only_by_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state/key");
    let key = Key::at(&file).unwrap();
    assert_eq!((Key::at(&file).unwrap(), std::fs::metadata(&file).unwrap().mode() & 0o777), (key, 0o600));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(Key::at(&file).unwrap_err().to_string().contains("others may read it"));
    for wrong in [&b""[..], &[0; 31], &[0; 33]] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&file, wrong).unwrap();
        assert!(Key::at(&file).is_err());
    }
}

/// A server that runs `program` with `arguments` in `folder`.
fn running(folder: &Path, program: &str, arguments: &[&str]) -> String {
    command(|command| {
        command.cwd = Some(folder.into());
        command.command = program.into();
        command.args = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        command.env.insert("PATH".into(), "bin:/nowhere".into());
    })
}

fn write(path: &Path, text: &str, mode: u32) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_program_that_changes_is_another_server() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir(folder.join("bin")).unwrap();
    let program = folder.join("bin/program");
    let missing = running(folder, "program", &[]);
    write(&program, "one", 0o755);
    let found = running(folder, "program", &[]);
    assert_ne!(found, missing);
    assert_eq!(found, running(folder, "program", &[]));
    write(&program, "two", 0o755);
    assert_ne!(found, running(folder, "program", &[]));
    write(&program, "one", 0o755);
    assert_eq!(found, running(folder, "program", &[]));
    // The search path is relative to the server's folder.
    assert_eq!(executable(&mcp::Command { command: "program".into(), ..path("bin") }, folder), Some(program));
    assert_eq!(executable(&mcp::Command { command: "program".into(), ..path("/bin") }, folder), None);
}

/// A command with only a search path.
fn path(path: &str) -> mcp::Command {
    let server = mcp::ServerConfig::stdio("s", "", [""; 0]);
    let mcp::Transport::Stdio(mut command) = server.transport else { panic!("it is local") };
    command.env.insert("PATH".into(), path.into());
    command
}

#[test]
fn a_script_that_an_argument_names_is_part_of_the_server_and_data_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (name, text, mode, counts) in [
        ("a.py", "1", 0o644, true),
        ("a.PY", "1", 0o644, true),
        ("executable", "1", 0o700, true),
        ("script", "#!/bin/sh", 0o644, true),
        ("data", "1", 0o644, false),
        ("data.txt", "#", 0o644, false),
        ("empty", "", 0o644, false),
    ] {
        let file = folder.join(name);
        for argument in [name.to_owned(), format!("--run={name}")] {
            write(&file, text, mode);
            let before = running(folder, "sh", &[&argument]);
            write(&file, &format!("{text}2"), mode);
            assert_eq!(before != running(folder, "sh", &[&argument]), counts, "{argument}");
        }
        // That the file exists counts in any case: a link may lead elsewhere later.
        let there = running(folder, "sh", &[name]);
        std::fs::remove_file(file).unwrap();
        assert_ne!(there, running(folder, "sh", &[name]), "{name}");
    }
    std::fs::create_dir(folder.join("folder.py")).unwrap();
    assert_eq!(running(folder, "sh", &["folder.py"]), running(folder, "sh", &["folder.py"]));
}

#[test]
fn a_large_program_is_identified_by_its_times() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.py");
    let sized = |length: u64| std::fs::File::create(&file).unwrap().set_len(length).unwrap();
    let touched = |seconds| {
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
        running(folder.path(), "sh", &["large.py"])
    };
    sized(HASHED + 1);
    assert_ne!(touched(1), touched(2));
    assert_eq!(touched(1), touched(1));
    sized(HASHED);
    assert_eq!(touched(1), touched(2));
}

#[test]
fn the_key_of_a_process_is_one_key() {
    assert_eq!(Key::of_process(), Key::of_process());
    assert_ne!(Key::of_process(), Key([0; KEY_LENGTH]));
}

#[test]
fn every_setting_of_a_login_and_of_the_roots_changes_the_identity() {
    let with = |change: fn(&mut mcp::OAuth, String)| {
        remote(|remote| {
            let mut oauth = mcp::OAuth::default();
            change(&mut oauth, "x".to_owned());
            remote.oauth = Some(oauth);
        })
    };
    let rooted = |uri: &str| {
        let root = mcp::Root { uri: uri.to_owned(), name: None };
        let server =
            mcp::ServerConfig { roots: vec![root], ..mcp::ServerConfig::http("s", "https://x.example/mcp") };
        identity(&Key([1; KEY_LENGTH]), &server)
    };
    let all = [
        remote(|_| {}),
        with(|_, _| {}),
        with(|oauth, text| oauth.scope = Some(text)),
        with(|oauth, text| oauth.client_id = Some(text)),
        with(|oauth, text| oauth.client_secret = Some(text)),
        with(|oauth, text| oauth.private_key = Some(text)),
        with(|oauth, text| oauth.private_key_file = Some(text.into())),
        with(|oauth, text| oauth.key_id = Some(text)),
        with(|oauth, text| oauth.authorization_url = Some(text)),
        with(|oauth, text| oauth.token_url = Some(text)),
        with(|oauth, text| oauth.registration_url = Some(text)),
        with(|oauth, text| oauth.client_metadata_url = Some(text)),
        with(|oauth, _| oauth.grant = mcp::Grant::ClientCredentials),
        with(|oauth, _| oauth.grant = mcp::Grant::TokenExchange),
        with(|oauth, text| oauth.audience = Some(text)),
        rooted("file:///a"),
        rooted("file:///b"),
    ];
    let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(distinct.len(), all.len(), "{all:#?}");
}
