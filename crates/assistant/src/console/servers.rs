//! `/mcp`: inspects and controls the console's servers.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use config::{Config, Server};
use gateway::terminal_host::login;
use gateway::tool_count::ToolCount;
use gateway::tool_rows::called_by;
use gateway::tool_rows::rows;
use mcp::{ConnectionState, Session};
use report::{Kind, Problem, Report};
use serde_json::Value;
use server::catalog_watcher::CatalogWatcher;
use server::snapshot::{Settings, Snapshot};
use terminal::Terminal;
use terminal::table::{short, table};
use tokio::sync::watch;
use tokio::time::timeout;

use super::reported_errors::ReportedErrors;
use super::slash_command::{Servers, nearest};

/// Maximum length of a server's texts and errors, in characters.
const TEXT_LENGTH: usize = 2_000;

/// Time limit for the catalog to follow a change of a server.
const SETTLING: Duration = Duration::from_secs(5);

/// The user's control of the servers. It does not depend on the conversation, so it works while the model does.
#[derive(Clone)]
pub(crate) struct ServerControl {
    terminal: Arc<Terminal>,
    settings: watch::Receiver<Arc<Settings>>,
    live: Arc<CatalogWatcher>,
    pub(super) reported: ReportedErrors,
}

impl ServerControl {
    pub(super) fn new(
        terminal: Arc<Terminal>,
        settings: watch::Receiver<Arc<Settings>>,
        live: Arc<CatalogWatcher>,
    ) -> Self {
        ServerControl { terminal, settings, live, reported: ReportedErrors::default() }
    }

    /// Runs a `/mcp` command.
    ///
    /// # Errors
    /// If there is no such server, or the command fails.
    pub(super) async fn run(&self, command: &Servers) -> Result<(), Report> {
        let settings = self.settings.borrow().clone();
        let config = &settings.config;
        match command {
            Servers::Status => self.status(&settings),
            Servers::Details(name) => self.details(&settings, name).await?,
            Servers::Tools(name) => self.list_tools(&settings, name.as_deref())?,
            Servers::Connect(name) => {
                let server = known(config, name)?;
                let _reporting = self.reported.during_command(name);
                self.connected(&settings, name, self.live.upstreams.connect(server).await).await?;
            }
            Servers::Reconnect(name) => {
                let server = known(config, name)?;
                let _reporting = self.reported.during_command(name);
                self.connected(&settings, name, self.live.upstreams.reconnect(server).await).await?;
            }
            Servers::Disconnect(name) => {
                known(config, name)?;
                self.live.upstreams.disconnect(name).await;
                self.settled(|snapshot| !snapshot.lists.contains_key(name)).await;
                self.terminal.print(&format!(
                    "{name} is disconnected; its tools are unavailable until /mcp connect {name}"
                ));
            }
            Servers::Login(name) => {
                let server = known(config, name)?;
                let done = login::at(&server.connection, &self.terminal.notifier()).await;
                done.map_err(|error| Report::new(Kind::Login, settings.masker.mask(&error.to_string())))?;
                self.terminal.print(&format!("logged in to {name}"));
                let _reporting = self.reported.during_command(name);
                self.connected(&settings, name, self.live.upstreams.reconnect(server).await).await?;
            }
            Servers::Debug(name) => {
                let server = known(config, name)?;
                let is_on = server.connection.debug == mcp::switch_trace(name);
                let state = if is_on { "now shown" } else { "no longer shown" };
                self.terminal.print(&format!("traffic to {name} is {state}"));
            }
        }
        Ok(())
    }

    /// Waits until the catalog has followed a change.
    async fn settled(&self, has_come: impl FnMut(&Arc<Snapshot>) -> bool) {
        // A later change is shown when it happens.
        let _ = timeout(SETTLING, self.live.watch().wait_for(has_come)).await;
    }

    async fn connected(
        &self,
        settings: &Settings,
        name: &str,
        done: Result<Session, mcp::Error>,
    ) -> Result<(), Report> {
        done.map_err(|error| {
            let status = self.live.upstreams.status(name);
            self.reported.add(name, status.and_then(|status| status.last_error));
            let mut report = error.report(|message| settings.masker.mask(message).into_owned());
            if matches!(*error.kind, mcp::ErrorKind::Unauthorized { .. }) {
                report.hints = vec![format!("log in with `/mcp auth {name}`")];
            }
            report
        })?;
        self.settled(|snapshot| snapshot.lists.contains_key(name)).await;
        let tools = self.counted(settings, name).map_or_else(|| "no tools".to_owned(), ToolCount::tools);
        self.terminal.print(&format!("{name} is connected, with {tools}"));
        Ok(())
    }

    fn state(&self, server: &str) -> ConnectionState {
        if self.live.upstreams.is_away(server) {
            return ConnectionState::Closed;
        }
        self.live.upstreams.status(server).map_or(ConnectionState::Connecting, |status| status.state)
    }

    /// Counts the admitted tools of a server.
    fn counted(&self, settings: &Settings, server: &str) -> Option<ToolCount> {
        let snapshot = self.live.now();
        let list = snapshot.lists.get(server)?;
        Some(ToolCount::of(&settings.config, &settings.known.pins, server, list))
    }

    fn status(&self, settings: &Settings) {
        let config = &settings.config;
        if config.servers.is_empty() && config.absent.is_empty() {
            self.terminal.print("no MCP servers are configured");
            return;
        }
        let columns = ["server", "transport", "source", "enabled", "state", "tools", "updated"];
        let mut rows: Vec<Vec<String>> = Vec::new();
        for server in &config.servers {
            let name = &server.connection.name;
            let status = self.live.upstreams.status(name).filter(|status| status.last_listed.is_some());
            let (tools, updated) = match &status {
                Some(status) => (tools(self.counted(settings, name)), ago(status.last_listed)),
                None => ("-".to_owned(), "-".to_owned()),
            };
            rows.push(vec![
                name.clone(),
                server.connection.transport.name().to_owned(),
                server.layer.source(),
                "yes".to_owned(),
                self.state(name).name().to_owned(),
                tools,
                updated,
            ]);
        }
        for absent in &config.absent {
            let state =
                if absent.wrong.is_some() { ConnectionState::Error } else { ConnectionState::Disabled };
            let transport = absent.transport.unwrap_or("-").to_owned();
            let rest = ["no", state.name(), "-", "-"].map(str::to_owned);
            rows.push(
                [absent.name.clone(), transport, absent.layer.source()].into_iter().chain(rest).collect(),
            );
        }
        rows.sort();
        self.terminal.print(&table(&columns, rows));
    }

    async fn details(&self, settings: &Settings, name: &str) -> Result<(), Report> {
        let server = known(&settings.config, name)?;
        let current = self.live.upstreams.current(name).await;
        let (status, session) = current.map_or((None, None), |(status, session)| (Some(status), session));
        let mut lines = vec![
            ("server", name.to_owned()),
            ("transport", server.connection.transport.name().to_owned()),
            ("source", server.layer.source()),
            ("target", server.target.clone()),
            ("state", self.state(name).name().to_owned()),
        ];
        lines.push(("tools", tools(self.counted(settings, name))));
        if let Some(status) = &status {
            lines.push(("last connected", ago(status.last_connected)));
            let error = status.last_error.as_deref().map(|error| settings.masker.mask(error).into_owned());
            lines.push(("last error", error.unwrap_or_else(|| "-".to_owned())));
            lines.push(("protocol", status.protocol_version.clone().unwrap_or_else(|| "-".to_owned())));
            lines.extend(status.warnings.iter().map(|warning| ("warning", warning.clone())));
        }
        if let Some(session) = &session {
            if let Some((name, version)) = session.server_info() {
                lines.push(("reported as", format!("{name} {version}")));
            }
            lines.extend(session.instructions().map(|words| ("instructions", words.to_owned())));
        }
        let width = lines.iter().map(|(key, _)| key.len()).max().unwrap_or_default();
        for (key, value) in lines {
            self.terminal.print(&format!("{key:width$}  {}", short(&value, TEXT_LENGTH)));
        }
        Ok(())
    }

    fn list_tools(&self, settings: &Settings, name: Option<&str>) -> Result<(), Report> {
        if let Some(name) = name {
            known(&settings.config, name)?;
        }
        let snapshot = self.live.now();
        let selected = snapshot.lists.iter().filter(|(server, _)| name.is_none_or(|name| name == *server));
        let mut cells = Vec::new();
        for (server, list) in selected {
            let config = snapshot.config();
            let found = rows(config, &snapshot.settings.known.pins, &snapshot.partition, server, list);
            cells.extend(found.iter().map(|row| tool_cells(server, row)));
        }
        if cells.is_empty() {
            let absent = name.and_then(|name| snapshot.absent.get(name));
            let message = match absent {
                Some(why) => format!("there are no tools: {why}"),
                None => "there are no tools (yet)".to_owned(),
            };
            return Err(Report::new(Kind::Server, message));
        }
        self.terminal.print(&table(&["server", "tool", "permission", "called by", "description"], cells));
        Ok(())
    }
}

fn tool_cells(server: &str, row: &Value) -> Vec<String> {
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    vec![server.to_owned(), text("name"), text("permission"), called_by(row), text("description")]
}

/// Finds a usable server by its name.
fn known<'a>(config: &'a Config, name: &str) -> Result<&'a Server, Report> {
    if let Some(server) = config.server(name) {
        return Ok(server);
    }
    if let Some(absent) = config.absent.iter().find(|absent| absent.name == name) {
        return Err(match &absent.wrong {
            Some(wrong) => {
                let invalid = Problem::new(format!("the entry of the server {name} is invalid"));
                Report::of(Kind::Configuration, std::iter::once(invalid).chain(wrong.clone()).collect())
            }
            None => {
                let message = format!("the server {name} is disabled; set `enabled: true` in its entry");
                Report::new(Kind::Configuration, message)
            }
        });
    }
    let names = config.servers.iter().map(|server| server.connection.name.as_str());
    let names: Vec<&str> = names.collect();
    let known = names.join(", ");
    let message = match nearest(name, names) {
        Some(nearest) => format!("there is no server {name:?}; did you mean {nearest}?"),
        None => format!("there is no server {name:?}; available servers: {known}"),
    };
    Err(Report::new(Kind::CommandLine, message))
}

/// Formats the number of tools.
fn tools(counted: Option<ToolCount>) -> String {
    counted.map_or_else(|| "-".to_owned(), |counted| counted.to_string())
}

/// Formats how long ago a time was.
fn ago(time: Option<SystemTime>) -> String {
    let Some(time) = time else { return "-".to_owned() };
    // The clock may have been set back.
    let seconds = time.elapsed().unwrap_or_default().as_secs();
    match seconds {
        0..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_relative_to_now() {
        let ago = |seconds| super::ago(SystemTime::now().checked_sub(Duration::from_secs(seconds)));
        assert_eq!([ago(130), ago(7_300), ago(200_000)], ["2 min ago", "2 h ago", "2 days ago"]);
        assert_eq!(super::ago(None), "-");
    }
}
