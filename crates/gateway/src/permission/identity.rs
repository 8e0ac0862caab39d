//! The identity of a server: a keyed hash of everything that decides what is started or called.
//!
//! The hash covers values of variables and headers, so it uses a random key of the user: values can't be guessed from
//! it by trial.

use std::fs::{DirBuilder, Metadata};
use std::io::{Error, ErrorKind, Read as _, Result};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use system::file::{self, Access, Durability};
use system::random;

/// Length of a key, in bytes (BLAKE3).
const KEY_LENGTH: usize = 32;

/// Maximum bytes of a program or script that are hashed (16 MiB); a larger file is identified by length, inode number
/// and times.
const HASHED: u64 = 16 << 20;

/// The search path if `PATH` is not set (confstr(3), `_CS_PATH`).
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Extensions of program files. Other files are programs if their mode or first bytes say so; otherwise they are
/// data, which changes with use.
const SCRIPTS: [&str; 16] = [
    "py", "pyz", "js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx", "rb", "sh", "pl", "php", "lua", "jar",
];

/// The key of the hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key([u8; KEY_LENGTH]);

impl Key {
    /// Reads the key at `path`, or creates it if there is no file.
    ///
    /// # Errors
    /// If the file can't be read or written, is not a key, or is readable by others.
    pub(super) fn at(path: &Path) -> Result<Self> {
        if let Some(key) = Self::read(path)? {
            return Ok(key);
        }
        DirBuilder::new().recursive(true).mode(0o700).create(file::folder_of(path))?;
        let key = random::bytes::<KEY_LENGTH>()?;
        match file::create(path, &key, Access::Owner, Durability::Synced) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            // Another process may have created it first; then that key is used.
            _ => {}
        }
        Self::read(path)?.ok_or_else(|| Error::other("it was removed again"))
    }

    /// The key of several replicas, if this process is one of them.
    pub(super) fn shared() -> Option<Self> {
        SHARED.get().copied()
    }

    /// A key for this process only.
    pub(super) fn of_process() -> Self {
        static KEY: OnceLock<Key> = OnceLock::new();
        // Hashes with this key are not kept, so a predictable key would reveal nothing.
        *KEY.get_or_init(|| Key(random::bytes().unwrap_or_default()))
    }

    fn read(path: &Path) -> Result<Option<Self>> {
        let Some(bytes) = file::read(path, KEY_LENGTH as u64)? else { return Ok(None) };
        if std::fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
            return Err(Error::other("others may read it; remove it, and you will be asked again"));
        }
        let key = bytes.try_into().map_err(|_| Error::other("it is not a key; remove it"))?;
        Ok(Some(Key(key)))
    }
}

/// The key of several replicas.
static SHARED: OnceLock<Key> = OnceLock::new();

/// Uses this key for the rest of the process, so that all replicas with it agree on the identity of a server. Permissions
/// that were remembered with the user's own key then do not apply.
pub fn share_identities(key: [u8; KEY_LENGTH]) {
    // The first key stays: identities must not change while questions are open.
    let _ = SHARED.set(Key(key));
}

/// The identity of a server with this connection.
pub(super) fn identity(key: &Key, server: &mcp::ServerConfig) -> String {
    let mut parts = Parts(blake3::Hasher::new_keyed(&key.0));
    parts.text(&server.name);
    parts.text(server.transport.name());
    match &server.transport {
        mcp::Transport::Stdio(command) => parts.command(command),
        mcp::Transport::Http(remote) | mcp::Transport::Sse(remote) => parts.remote(remote),
        mcp::Transport::InProcess(server) => parts.text(&server.identity()),
        mcp::Transport::OpenApi(api) => {
            parts.text(&api.document);
            let file = Path::new(&api.document);
            if file.is_file() {
                parts.file(file);
            }
            parts.remote(&api.remote);
        }
    }
    parts.count(server.roots.len());
    server.roots.iter().for_each(|root| parts.text(&root.uri));
    parts.0.finalize().to_hex().to_string()
}

/// The hash of parts, each prefixed by its length, so that no part can be mistaken for another.
struct Parts(blake3::Hasher);

impl Parts {
    fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.update(bytes);
    }

    fn count(&mut self, count: usize) {
        self.0.update(&(count as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn path(&mut self, path: &Path) {
        self.bytes(path.as_os_str().as_encoded_bytes());
    }

    fn pairs<'a>(&mut self, pairs: impl ExactSizeIterator<Item = (&'a String, &'a String)>) {
        self.count(pairs.len());
        for (name, value) in pairs {
            self.text(name);
            self.text(value);
        }
    }

    fn optional(&mut self, text: Option<&String>) {
        self.count(text.iter().len());
        text.iter().for_each(|text| self.text(text));
    }

    fn command(&mut self, command: &mcp::Command) {
        let folder = match &command.cwd {
            Some(folder) => Ok(folder.clone()),
            None => std::env::current_dir(),
        };
        let folder = folder.and_then(std::path::absolute).unwrap_or_default();
        self.path(&resolved(&folder));
        self.text(&command.command);
        match executable(command, &folder) {
            Some(program) => {
                self.text("found");
                self.path(&program);
                self.file(&program);
            }
            // If nothing is found, nothing is started; a program found later is a different one.
            None => self.text("not found"),
        }
        self.count(command.args.len());
        for argument in &command.args {
            self.text(argument);
            self.argument(argument, &folder);
        }
        self.pairs(command.env.iter());
    }

    /// Adds the file that an argument names, alone or after an equals sign: its real path, and its content if it is a
    /// program.
    fn argument(&mut self, argument: &str, folder: &Path) {
        let behind = argument.split_once('=').map(|(_, value)| value);
        for path in [Some(argument), behind].into_iter().flatten().filter(|path| !path.is_empty()) {
            let path = folder.join(path);
            let Ok(metadata) = std::fs::metadata(&path) else { continue };
            self.path(&resolved(&path));
            if metadata.is_file() && is_program(&path, &metadata) {
                self.file(&path);
            }
        }
    }

    /// Adds a file's real path and content.
    fn file(&mut self, path: &Path) {
        self.path(&resolved(path));
        match file::read(path, HASHED) {
            Ok(Some(content)) => self.bytes(blake3::hash(&content).as_bytes()),
            _ => {
                let metadata = std::fs::metadata(path);
                let times = |found: Metadata| {
                    [found.len().cast_signed(), found.ino().cast_signed(), found.mtime(), found.mtime_nsec()]
                };
                self.text(&format!("{:?}", metadata.map(times).ok()));
            }
        }
    }

    fn remote(&mut self, remote: &mcp::Remote) {
        self.text(&remote.url);
        self.pairs(remote.headers.iter());
        self.count(remote.oauth.iter().len());
        if let Some(oauth) = &remote.oauth {
            let texts = [
                &oauth.scope,
                &oauth.client_id,
                &oauth.client_secret,
                &oauth.private_key,
                &oauth.key_id,
                &oauth.authorization_url,
                &oauth.token_url,
                &oauth.registration_url,
                &oauth.client_metadata_url,
            ];
            texts.iter().for_each(|text| self.optional(text.as_ref()));
            self.text(&format!("{:?} {:?}", oauth.grant, oauth.private_key_file));
            if let Some(audience) = &oauth.audience {
                self.text(audience);
            }
        }
    }
}

/// The path with links resolved, or unchanged if it does not exist.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The file that a command starts (execvp(3)), searched in the server's `PATH`.
fn executable(command: &mcp::Command, folder: &Path) -> Option<PathBuf> {
    let own = command.env.get("PATH").map(std::ffi::OsString::from);
    let path = own.or_else(|| std::env::var_os("PATH")).unwrap_or_else(|| DEFAULT_PATH.into());
    // A relative folder of the path is relative to the server's working folder.
    let folders = std::env::split_paths(&path).map(|entry| folder.join(entry));
    which::which_in(&command.command, std::env::join_paths(folders).ok(), folder).ok()
}

fn is_program(path: &Path, metadata: &Metadata) -> bool {
    let is_executable = metadata.permissions().mode() & 0o111 != 0;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    is_executable
        || SCRIPTS.iter().any(|known| ending.eq_ignore_ascii_case(known))
        || begins_as_script(path).unwrap_or(false)
}

fn begins_as_script(path: &Path) -> Result<bool> {
    let mut first = [0; 2];
    std::fs::File::open(path)?.read_exact(&mut first)?;
    Ok(&first == b"#!")
}

#[cfg(test)]
mod tests;
