//! Shows the user at the terminal which server is awaited, once that takes longer than a second.

use std::path::Path;

use mcp::{ServerConfig, Transport};
use terminal::Wait;

use crate::session_host::SessionHost;

/// Awaits the start of a server, or a connection to it.
pub(crate) async fn start<T>(
    host: &dyn SessionHost,
    server: &ServerConfig,
    work: impl Future<Output = T>,
) -> T {
    let (action, by) = match &server.transport {
        Transport::Stdio(command) => ("starting", program(&command.command)),
        Transport::Http(remote) | Transport::Sse(remote) => ("connecting to", host_of(&remote.url)),
        Transport::InProcess(_) => ("starting", "this process".to_owned()),
        Transport::OpenApi(api) if api.document.contains("://") => ("fetching from", host_of(&api.document)),
        Transport::OpenApi(api) => ("reading", program(&api.document)),
    };
    show(host, Wait::start(action, format!("{} ({by})", server.name)), work).await
}

/// Awaits the answer of a tool.
pub(crate) async fn answer<T>(
    host: &dyn SessionHost,
    server: &str,
    tool: &str,
    work: impl Future<Output = T>,
) -> T {
    show(host, Wait::answer(format!("{server}.{tool}")), work).await
}

async fn show<T>(host: &dyn SessionHost, wait: Wait, work: impl Future<Output = T>) -> T {
    if host.shows_waits() { host.notifier().awaiting(&wait, work).await } else { work.await }
}

/// The name of a program, without its folder.
fn program(command: &str) -> String {
    Path::new(command).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The host of a URL, without user, path and query, which may be secrets.
fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_shown_by_its_program_or_host_without_secrets() {
        assert_eq!(program("/usr/bin/uvx"), "uvx");
        assert_eq!(program("npx"), "npx");
        for url in ["https://mcp.example", "https://user:pass@mcp.example/mcp?key=1", "https://mcp.example#x"]
        {
            assert_eq!(host_of(url), "mcp.example");
        }
        assert_eq!(host_of("http://127.0.0.1:8080/mcp"), "127.0.0.1:8080");
    }
}
