//! The peers: how each is started as an MCP server over stdio, and prepared as its documentation says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Checked;
use crate::task::Language;

/// The server that all peers call.
const EVERYTHING: &str = "@modelcontextprotocol/server-everything";

/// The variable with the folder of the installed packages.
pub(crate) const PACKAGES: &str = "TOOLSMITH_BENCH_PEERS";

/// A server that peers are put in front of.
#[derive(Debug, Clone)]
pub(crate) struct Upstream {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
}

impl Upstream {
    fn json(&self) -> Value {
        json!({ "command": self.command, "args": self.args })
    }

    /// The variable from which the programs in `programs/` read it.
    fn variable(&self) -> BTreeMap<String, String> {
        BTreeMap::from([("UPSTREAM".to_owned(), self.json().to_string())])
    }
}

/// A peer.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    /// Its name on the command line.
    pub(crate) key: &'static str,
    /// Its name and version in the table.
    pub(crate) name: String,
    /// Its tool that takes code; none for direct calls.
    pub(crate) tool: Option<&'static str>,
    pub(crate) language: Language,
    command: PathBuf,
    args: Vec<String>,
    env: BTreeMap<String, String>,
}

/// The installed packages, and the folder in which peers keep their data.
pub(crate) struct Installed<'a> {
    packages: PathBuf,
    binary: &'a Path,
    folder: &'a Path,
}

impl<'a> Installed<'a> {
    /// Finds the packages. Data of peers is written into `folder`.
    pub(crate) fn find(binary: &'a Path, folder: &'a Path) -> Checked<Self> {
        let packages = std::env::var_os(PACKAGES);
        let packages =
            packages.ok_or_else(|| format!("{PACKAGES} is not set: run `tests/peers/bench/run`"))?;
        Ok(Self { packages: packages.into(), binary, folder })
    }

    fn package(&self, name: &str, file: &str) -> PathBuf {
        self.packages.join("node_modules").join(name).join(file)
    }

    fn program(&self, name: &str) -> String {
        self.packages.join("programs").join(name).to_string_lossy().into_owned()
    }

    fn version(&self, package: &str) -> Checked<String> {
        let file = self.package(package, "package.json");
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let manifest: Value = serde_json::from_str(&text).map_err(|error| format!("{package}: {error}"))?;
        Ok(manifest["version"].as_str().unwrap_or_default().to_owned())
    }

    fn fastmcp_version(&self) -> Checked<String> {
        let file = self.packages.join("requirements.txt");
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("fastmcp[code-mode]==")?.split_whitespace().next());
        line.map(str::to_owned).ok_or_else(|| format!("{} has no fastmcp", file.display()))
    }

    fn node(&self) -> PathBuf {
        self.packages.join("node_modules/.bin/node")
    }

    /// The reference server, which runs in Node.
    pub(crate) fn everything(&self) -> Upstream {
        let script = self.package(EVERYTHING, "dist/index.js").to_string_lossy().into_owned();
        let args = vec![script, "stdio".to_owned()];
        Upstream { command: self.node().to_string_lossy().into_owned(), args }
    }

    /// A server of MCP 2026-07-28, which runs in Node too and keeps nothing between requests.
    pub(crate) fn stateless(&self) -> Upstream {
        Upstream {
            command: self.node().to_string_lossy().into_owned(),
            args: vec![self.program("stateless.mjs")],
        }
    }

    /// All peers in front of a server. `scene` names the folder of their data.
    pub(crate) fn peers(&self, upstream: &Upstream, scene: &str) -> Checked<Vec<Peer>> {
        let folder = self.folder.join(scene);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let config = json!({ "mcpServers": { "upstream": trusted(upstream) } });
        Ok(vec![
            self.toolsmith(scene, &config)?,
            self.fastmcp(upstream)?,
            self.utcp(upstream)?,
            self.cloudflare(upstream)?,
            self.executor(&folder)?,
            direct(upstream),
        ])
    }

    fn fastmcp(&self, upstream: &Upstream) -> Checked<Peer> {
        Ok(Peer {
            key: "fastmcp",
            name: format!("FastMCP {} code mode (Monty)", self.fastmcp_version()?),
            tool: Some("execute"),
            language: Language::Python,
            command: self.packages.join("venv/bin/python"),
            args: vec![self.program("fastmcp_code_mode.py")],
            env: upstream.variable(),
        })
    }

    fn utcp(&self, upstream: &Upstream) -> Checked<Peer> {
        Ok(Peer {
            key: "utcp",
            name: format!("@utcp/code-mode {}", self.version("@utcp/code-mode")?),
            tool: Some("call_tool_chain"),
            language: Language::Utcp,
            command: self.node(),
            args: vec![self.program("utcp.mjs")],
            env: upstream.variable(),
        })
    }

    fn cloudflare(&self, upstream: &Upstream) -> Checked<Peer> {
        Ok(Peer {
            key: "cloudflare",
            name: format!("@cloudflare/codemode {}", self.version("@cloudflare/codemode")?),
            tool: Some("code"),
            language: Language::Cloudflare,
            command: self.node(),
            args: vec![self.program("cloudflare/host.mjs")],
            env: upstream.variable(),
        })
    }

    /// It gets its server later ([`Peer::preparation`]), and keeps its data in `folder`.
    fn executor(&self, folder: &Path) -> Checked<Peer> {
        let scope = folder.to_string_lossy();
        let args = ["mcp", "--scope", &scope, "--elicitation-mode", "model"];
        let home = folder.join("executor").to_string_lossy().into_owned();
        Ok(Peer {
            key: "executor",
            name: format!("executor {}", self.version("executor-linux-x64")?.replace("-linux-x64", "")),
            tool: Some("execute"),
            language: Language::Executor,
            command: self.package("executor-linux-x64", "bin/executor"),
            args: args.map(str::to_owned).into(),
            env: BTreeMap::from([("HOME".to_owned(), home)]),
        })
    }

    /// `toolsmith serve` with a configuration of its own, and the cache of earlier benchmarks.
    pub(crate) fn toolsmith(&self, scene: &str, config: &Value) -> Checked<Peer> {
        let home = self.folder.join(format!("{scene}-toolsmith"));
        let file = home.join("bench.json");
        let written = fs::create_dir_all(&home).and_then(|()| fs::write(&file, config.to_string()));
        written.map_err(|error| format!("{}: {error}", file.display()))?;
        let home = home.to_string_lossy().into_owned();
        // Under target/, so that the crates for snippets are compiled once.
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-cache");
        let env = [
            ("XDG_CONFIG_HOME", home.clone()),
            ("XDG_STATE_HOME", home),
            ("TOOLSMITH_CACHE_DIR", cache.to_string_lossy().into_owned()),
        ];
        Ok(Peer {
            key: "toolsmith",
            name: "Toolsmith".to_owned(),
            tool: Some("execute_code"),
            language: Language::Rust,
            command: self.binary.to_owned(),
            args: vec!["serve".to_owned(), "--config".to_owned(), file.to_string_lossy().into_owned()],
            env: env.map(|(name, value)| (name.to_owned(), value)).into(),
        })
    }
}

/// The server itself, without a code mode.
fn direct(upstream: &Upstream) -> Peer {
    Peer {
        key: "direct",
        name: "direct calls".to_owned(),
        tool: None,
        language: Language::Direct,
        command: upstream.command.clone().into(),
        args: upstream.args.clone(),
        env: BTreeMap::new(),
    }
}

/// A server's entry in the configuration of Toolsmith.
pub(crate) fn trusted(upstream: &Upstream) -> Value {
    let mut entry = upstream.json();
    entry["trust"] = json!(true);
    entry
}

impl Peer {
    /// Returns the configuration that starts it.
    pub(crate) fn config(&self, folder: &Path) -> mcp::ServerConfig {
        let mut config = mcp::ServerConfig::stdio(
            self.key,
            self.command.to_string_lossy(),
            self.args.iter().map(String::as_str),
        );
        if let mcp::Transport::Stdio(command) = &mut config.transport {
            command.env.clone_from(&self.env);
            command.cwd = Some(folder.to_owned());
        }
        config
    }

    /// Code that must run once before the peer can call the server's tools: executor has no file of servers, but tools
    /// that add one and connect to it. Its form of a connection needs a credential even if the server takes none.
    pub(crate) fn preparation(&self, upstream: &Upstream) -> Vec<String> {
        if self.language != Language::Executor {
            return Vec::new();
        }
        let mut server = upstream.json();
        server["transport"] = json!("stdio");
        server["name"] = json!("upstream");
        server["slug"] = json!("upstream");
        let connection = json!({
            "owner": "user", "name": "main", "integration": "upstream", "template": "none",
            "from": { "provider": "file", "id": "none" },
        });
        vec![
            format!("return await tools.executor.mcp.addServer({server})"),
            format!("return await tools.executor.coreTools.connections.create({connection})"),
        ]
    }
}
