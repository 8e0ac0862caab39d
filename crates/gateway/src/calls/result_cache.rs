//! Caches results of read-only tools in memory.
//!
//! A tool's results are cached if the configuration lists it (`cache.tools`) and its server marks it as read-only. The
//! key of a result is a hash, from which nothing can be read:
//!
//! | part | because |
//! | --- | --- |
//! | client | clients don't share results: each has its own sessions, whose state may differ |
//! | server: command or address, arguments, environment, headers, roots, the program file's size and time | its results depend on them |
//! | the secrets of the keyring that its latest session was opened with | another secret is another user |
//! | size and time of the file with the server's OAuth tokens | another login is another user |
//! | the tool as its server lists it, with its schemas | a changed tool may return something else |
//! | arguments in canonical form | |

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use config::Server;
use parking_lot::{Mutex, MutexGuard};
use runner::Answer;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use terminal::Notifier;
use tokio::time::Instant;

use super::checked_call::CheckedCall;
use crate::catalog::identity;

/// Limits on the count and total size of cached results, in bytes (32 MiB); beyond them, the oldest is dropped.
const RESULTS_KEPT: usize = 1_000;
const BYTES_KEPT: usize = 32 << 20;

/// Limit on one cached result, in bytes (4 MiB), so that it does not displace most others.
const RESULT_LIMIT: usize = 4 << 20;

/// Limit on tools that are reported as not cached: servers can change their tools indefinitely.
const NOTES_LIMIT: usize = 100;

/// The results.
#[derive(Default)]
pub struct ResultCache {
    state: Mutex<State>,
    /// The tools that were reported as not cached.
    noted: Mutex<BTreeSet<String>>,
}

/// The key of a result: a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key([u8; 32]);

#[derive(Default)]
struct State {
    results: HashMap<Key, Cached>,
    /// The keys, the oldest first.
    ages: BTreeMap<u64, Key>,
    next: u64,
    bytes: usize,
}

struct Cached {
    result: Box<RawValue>,
    number: u64,
    since: Instant,
}

impl State {
    fn remove(&mut self, key: &Key) {
        if let Some(cached) = self.results.remove(key) {
            self.ages.remove(&cached.number);
            self.bytes -= cached.result.get().len();
        }
    }
}

impl ResultCache {
    /// The key of a call, if its result may be cached. Notes once if a listed tool is not read-only.
    pub(super) fn key(&self, call: &CheckedCall<'_>, notifier: &Notifier) -> Option<Key> {
        let CheckedCall { config, client, server, tool, arguments, .. } = *call;
        if !config.caches(server, tool) {
            return None;
        }
        let offered = call.offered?.tool(tool)?;
        if offered["annotations"]["readOnlyHint"] != true {
            self.note_uncached(server, tool, notifier);
            return None;
        }
        let server = config.server(server)?;
        let mut hasher = blake3::Hasher::new();
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        part(client.as_bytes());
        part(identity(server).as_bytes());
        part(format!("{:?}", server.connection.roots).as_bytes());
        part(login(server).as_bytes());
        part(mcp::keyring::fingerprint(&server.connection).as_bytes());
        part(offered.to_string().as_bytes());
        part(arguments.get().as_bytes());
        Some(Key(hasher.finalize().into()))
    }

    /// A cached result that is not older than `ttl`, with its age.
    pub(super) fn get(&self, key: &Key, ttl: Duration) -> Option<Answer> {
        let mut state = self.state();
        let age = state.results.get(key)?.since.elapsed();
        if age > ttl {
            state.remove(key);
            return None;
        }
        let result = state.results.get(key)?.result.clone();
        Some(Answer { result, is_error: false, cached: Some(age) })
    }

    /// Caches a successful final result of moderate size.
    pub(super) fn put(&self, key: Key, answer: &Answer) {
        let bytes = answer.result.get().len();
        if answer.is_error || bytes > RESULT_LIMIT || !is_final(&answer.result) {
            return;
        }
        let mut state = self.state();
        state.remove(&key);
        let number = state.next;
        state.next += 1;
        state.bytes += bytes;
        state.ages.insert(number, key);
        let cached = Cached { result: answer.result.clone(), number, since: Instant::now() };
        state.results.insert(key, cached);
        while state.results.len() > RESULTS_KEPT || state.bytes > BYTES_KEPT {
            let Some(oldest) = state.ages.first_key_value().map(|(_, key)| *key) else { break };
            state.remove(&oldest);
        }
    }

    fn note_uncached(&self, server: &str, tool: &str, notifier: &Notifier) {
        let name = printable::name(&format!("{server}.{tool}"));
        let mut noted = self.noted.lock();
        if noted.len() < NOTES_LIMIT && noted.insert(name.clone()) {
            notifier.warning(&format!(
                "results of {name} are not cached, although cache.tools lists it: its server \
                 does not mark it as read-only (annotations.readOnlyHint)"
            ));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// Identifies the login at a server: its stored tokens change with each login and renewal.
fn login(server: &Server) -> String {
    let (mcp::Transport::Http(remote) | mcp::Transport::Sse(remote)) = &server.connection.transport else {
        return String::new();
    };
    let Some(oauth) = &remote.oauth else { return String::new() };
    let tokens = oauth.store.as_ref().and_then(|file| fs_err::metadata(file).ok());
    let stamp = tokens.map(|tokens| (tokens.len(), tokens.modified().ok()));
    let hash = |secret: &Option<String>| blake3::hash(secret.as_deref().unwrap_or_default().as_bytes());
    let (secret, key) = (hash(&oauth.client_secret), hash(&oauth.private_key));
    format!("{:?} {:?} {:?} {secret} {key} {:?}", oauth.client_id, oauth.scope, stamp, oauth.private_key_file)
}

/// Whether a result is final, and not a request for input or a task (MCP 2026-07-28, `resultType`).
fn is_final(result: &RawValue) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Members {
        #[serde(default)]
        result_type: Value,
    }
    serde_json::from_str::<Members>(result.get())
        .is_ok_and(|members| members.result_type.is_null() || members.result_type == "complete")
}

#[cfg(test)]
mod tests;
