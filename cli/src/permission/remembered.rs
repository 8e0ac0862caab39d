//! What a person has allowed from now on, in a file of the user's own: `permissions.json` beside the configuration.
//!
//! An answer is about a tool as it was then, of a server that is reached as it was then: a server of the same name in
//! another project, and a tool that has changed, are asked about again. The file holds neither commands nor values.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use serde::{Deserialize, Serialize};

use super::Wanted;
use crate::config::Server;

const FILE: &str = "permissions.json";
const VERSION: u64 = 1;

/// Most bytes of the file that are read (4 MiB): some ten thousand tools.
const LONGEST: u64 = 4 << 20;

/// What is remembered.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    /// `None`: nothing is written.
    file: Option<PathBuf>,
    content: Content,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u64,
    /// By the hash of how the server is reached.
    servers: BTreeMap<String, Allowed>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    /// The server's name, for people who look into the file.
    name: String,
    /// The hashes of tools by name.
    allow: BTreeMap<String, String>,
}

impl Remembered {
    /// What the user's file says; and what is wrong with it, in which case nothing is remembered.
    pub(crate) fn read() -> (Self, Option<String>) {
        match etcetera::choose_base_strategy() {
            Ok(base) => Self::read_in(&base.config_dir().join("toolsmith")),
            Err(_) => (Self::default(), None),
        }
    }

    fn read_in(folder: &Path) -> (Self, Option<String>) {
        let file = folder.join(FILE);
        match read(&file) {
            Ok(content) => (Remembered { file: Some(file), content }, None),
            Err(wrong) => (Remembered { file: Some(file), content: Content::default() }, Some(wrong)),
        }
    }

    /// Whether a tool of this server was allowed.
    pub(crate) fn has(&self, server: &Server, wanted: &Wanted) -> bool {
        let allowed = self.content.servers.get(&reached(server));
        let hash = allowed.and_then(|allowed| allowed.allow.get(&wanted.tool));
        !wanted.hash.is_empty() && hash == Some(&wanted.hash)
    }

    /// Adds tools, with what other processes have added in the meantime.
    ///
    /// # Errors
    /// Why that is not written down, for people.
    pub(crate) fn add(&mut self, tools: &[(&Server, Wanted)]) -> Result<(), String> {
        let Some(file) = self.file.clone() else {
            return Err(
                "the answer holds for this time only: there is no folder of yours to keep it in".into()
            );
        };
        let failed = |error: &dyn std::fmt::Display| {
            format!("the answer holds for this time only: {} can't be written: {error}", file.display())
        };
        let folder = file.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        // Until the end of this function nobody else writes (flock(2)).
        let held = File::open(folder).and_then(|folder| folder.lock().map(|()| folder));
        let _held = held.map_err(|error| failed(&error))?;
        let mut content = read(&file).map_err(|wrong| failed(&wrong))?;
        content.version = VERSION;
        for (server, wanted) in tools.iter().filter(|(_, wanted)| !wanted.hash.is_empty()) {
            let allowed = content.servers.entry(reached(server)).or_default();
            allowed.name.clone_from(&wanted.server);
            allowed.allow.insert(wanted.tool.clone(), wanted.hash.clone());
        }
        write(&file, folder, &content).map_err(|error| failed(&error))?;
        self.content = content;
        Ok(())
    }
}

fn read(file: &Path) -> Result<Content, String> {
    let wrong = |what: &dyn std::fmt::Display| {
        format!("{} is not what it must be: {what}; correct or delete it", file.display())
    };
    let mut text = String::new();
    match File::open(file).and_then(|content| content.take(LONGEST + 1).read_to_string(&mut text)) {
        Ok(_) if text.len() as u64 > LONGEST => {
            return Err(wrong(&format!("it has more than {LONGEST} bytes")));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::default()),
        Err(error) => return Err(wrong(&error)),
    }
    let content: Content = strict_json::from_str(&text).map_err(|error| wrong(&error))?;
    if content.version != VERSION {
        return Err(wrong(&format!("its version is {}, not {VERSION}", content.version)));
    }
    Ok(content)
}

/// Readers see the old or the new file; it is its owner's alone, as temporary files are.
fn write(file: &Path, folder: &Path, content: &Content) -> io::Result<()> {
    let mut temporary = tempfile::Builder::new().prefix(".permissions-").tempfile_in(folder)?;
    temporary.write_all(format!("{:#}\n", serde_json::to_value(content)?).as_bytes())?;
    temporary.as_file().sync_all()?;
    temporary.persist(file)?;
    Ok(())
}

/// A hash of how a server is reached, without values that are often secrets.
fn reached(server: &Server) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut part = |text: &[u8]| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text);
    };
    part(server.connection.transport.name().as_bytes());
    match &server.connection.transport {
        mcp::Transport::Stdio(command) => {
            part(command.command.as_bytes());
            command.args.iter().for_each(|argument| part(argument.as_bytes()));
            part(b"\0cwd");
            part(command.cwd.as_ref().map_or(&b""[..], |folder| folder.as_os_str().as_encoded_bytes()));
            command.env.keys().for_each(|name| part(name.as_bytes()));
        }
        mcp::Transport::Http(remote) | mcp::Transport::Sse(remote) => part(remote.url.as_bytes()),
        // Never the same as another one.
        other => part(format!("{other:?}").as_bytes()),
    }
    part(server.connection.name.as_bytes());
    hasher.finalize().to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn server(argument: &str) -> Server {
        Server::new(mcp::ServerConfig::stdio("s", "program", [argument]), String::new())
    }

    fn wanted(tool: &str, hash: &str) -> Wanted {
        Wanted { server: "s".into(), tool: tool.into(), hash: hash.into(), claims: Vec::new() }
    }

    #[test]
    fn an_answer_is_about_this_tool_of_this_server() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("toolsmith");
        let (mut one, wrong) = Remembered::read_in(&folder);
        assert_eq!(wrong, None);
        let (mut other, _) = Remembered::read_in(&folder);
        one.add(&[(&server("x"), wanted("a", "1"))]).unwrap();
        other.add(&[(&server("x"), wanted("b", "2"))]).unwrap();
        let (read, wrong) = Remembered::read_in(&folder);
        assert_eq!(wrong, None);
        assert!(read.has(&server("x"), &wanted("a", "1")) && read.has(&server("x"), &wanted("b", "2")));
        assert!(!read.has(&server("y"), &wanted("a", "1")), "a server that is reached in another way");
        assert!(!read.has(&server("x"), &wanted("a", "2")), "a tool that has changed");
        assert!(!read.has(&server("x"), &wanted("a", "")) && !read.has(&server("x"), &wanted("c", "")));
        let mode = std::fs::metadata(folder.join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_is_none_is_told_and_left_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        for text in [
            "",
            "{}",
            "[1]",
            r#"{ "version": 2, "servers": {} }"#,
            r#"{ "version": 1, "servers": {}, "x": 1 }"#,
            r#"{ "version": 1, "version": 1, "servers": {} }"#,
            r#"{ "version": 1, "servers": { "h": { "name": "a", "allow": { "t": "1", "\u0074": "2" } } } }"#,
        ] {
            std::fs::write(home.path().join(FILE), text).unwrap();
            let (mut read, wrong) = Remembered::read_in(home.path());
            assert!(wrong.is_some_and(|wrong| wrong.contains(FILE)), "{text}");
            assert!(read.add(&[(&server("x"), wanted("a", "1"))]).is_err(), "{text}");
            assert_eq!(std::fs::read_to_string(home.path().join(FILE)).unwrap(), text);
        }
    }
}
