//! The foreign servers: how each is started, which calls are made, and the expected results.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use crate::product::Checked;

mod sdks;

pub(crate) use sdks::{KUBERNETES, kubernetes_entry};

/// A tool call from the command line, and the text that its answer must contain.
pub(crate) struct Call {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    pub(crate) says: &'static str,
}

/// A snippet and its expected result.
pub(crate) struct Example {
    pub(crate) code: String,
    pub(crate) result: Value,
}

/// A foreign server, and the checks run on it.
pub(crate) struct Server {
    /// Its name in the configuration, which is also its module in snippets.
    pub(crate) name: &'static str,
    /// The package that it comes from.
    pub(crate) package: &'static str,
    pub(crate) version: String,
    /// Its entry in the configuration.
    pub(crate) entry: Value,
    /// Minimum number of tools: some depend on the client's capabilities.
    pub(crate) tools: usize,
    /// A single call.
    pub(crate) call: Call,
    /// A snippet with calls in a loop.
    pub(crate) looped: Example,
    /// The only tool that the filter allows.
    pub(crate) kept: &'static str,
    /// A tool that the filter removes, and a snippet that calls it and must then not compile. `None` for a server with
    /// one tool.
    pub(crate) dropped: Option<(&'static str, String)>,
}

/// The folder where the packages are installed.
pub(crate) struct Installed(PathBuf);

impl Installed {
    /// Reads the folder from the script's variable.
    pub(crate) fn find() -> Checked<Self> {
        let folder = std::env::var_os("TOOLSMITH_PEERS");
        folder.map(|folder| Self(folder.into())).ok_or_else(|| {
            "TOOLSMITH_PEERS is not set: run `tests/peers/run`, which installs the peers first".to_owned()
        })
    }

    /// The folder with all packages.
    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    /// The Node executable installed with the packages.
    pub(crate) fn node(&self) -> PathBuf {
        self.0.join("node_modules/.bin/node")
    }

    /// The main file of a Node package.
    pub(crate) fn script(&self, package: &str) -> PathBuf {
        self.file(package, "dist/index.js")
    }

    /// The path of a file in a Node package.
    pub(crate) fn file(&self, package: &str, file: &str) -> PathBuf {
        self.0.join("node_modules").join(package).join(file)
    }

    /// Reads a file of a Node package.
    pub(crate) fn read(&self, package: &str, file: &str) -> Checked<String> {
        let path = self.file(package, file);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The version of a Node package.
    pub(crate) fn version(&self, package: &str) -> Checked<String> {
        let manifest = self.read(package, "package.json")?;
        let manifest: Value =
            serde_json::from_str(&manifest).map_err(|error| format!("{package}: {error}"))?;
        Ok(manifest["version"].as_str().unwrap_or_default().to_owned())
    }

    pub(crate) fn node_entry(&self, package: &str, arguments: &[&str], env: &Value) -> Value {
        let mut entry = self.node_file_entry(package, "dist/index.js", arguments);
        entry["env"] = env.clone();
        entry
    }

    fn node_file_entry(&self, package: &str, file: &str, arguments: &[&str]) -> Value {
        let script = self.file(package, file);
        let mut args = vec![script.to_string_lossy().into_owned()];
        args.extend(arguments.iter().map(|&argument| argument.to_owned()));
        json!({ "command": self.node(), "args": args })
    }

    /// An executable of the Python packages.
    pub(crate) fn python(&self, program: &str) -> PathBuf {
        self.0.join("venv/bin").join(program)
    }

    /// An executable of the Python packages that need version 1 of the SDK.
    pub(crate) fn python_v1(&self, program: &str) -> PathBuf {
        self.0.join("venv-v1/bin").join(program)
    }

    /// Python with an early version of its SDK.
    pub(crate) fn python_old(&self) -> PathBuf {
        self.0.join("venv-old/bin/python")
    }

    /// The version of a Python package, from the installed requirements.
    pub(crate) fn pinned(&self, package: &str) -> Checked<String> {
        self.pinned_in("requirements.txt", package)
    }

    /// The same for a package that needs version 1 of the SDK.
    pub(crate) fn pinned_v1(&self, package: &str) -> Checked<String> {
        self.pinned_in("requirements-v1.txt", package)
    }

    /// The same for a package that needs an early version of the SDK.
    pub(crate) fn pinned_old(&self, package: &str) -> Checked<String> {
        self.pinned_in("requirements-old.txt", package)
    }

    fn pinned_in(&self, list: &str, package: &str) -> Checked<String> {
        let path = self.0.join(list);
        let list = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let line = list.lines().find_map(|line| line.strip_prefix(package)?.strip_prefix("=="));
        let version = line.and_then(|line| line.split_whitespace().next());
        version.map(str::to_owned).ok_or_else(|| format!("{} has no {package}", path.display()))
    }
}

/// The servers that run as child processes. Their data is in `folder`; `site` is the address that the fetch server
/// reads.
pub(crate) fn local(installed: &Installed, folder: &Path, site: &str) -> Checked<Vec<Server>> {
    let mut servers = vec![
        everything(installed, installed.node_entry(EVERYTHING, &["stdio"], &json!({})))?,
        filesystem(installed, folder)?,
        memory(installed, folder)?,
        thinking(installed)?,
        git(installed, folder)?,
        time(installed)?,
        fetch(installed, site)?,
    ];
    servers.extend(sdks::local(installed, folder)?);
    Ok(servers)
}

/// The reference server that uses every feature.
pub(crate) const EVERYTHING: &str = "@modelcontextprotocol/server-everything";

/// The reference server, reached by `entry`.
pub(crate) fn everything(installed: &Installed, entry: Value) -> Checked<Server> {
    let looped = "let mut sums = Vec::new();\n\
        for n in 1..=3 {\n    sums.push(everything::get_sum(f64::from(n), 10.0).await?.text());\n}\n\
        let city = everything::GetStructuredContentLocation::Chicago;\n\
        let weather = everything::get_structured_content(city).await?;\n\
        json!({ \"sums\": sums, \"humid\": weather.humidity > 0.0 })";
    Ok(Server {
        name: "everything",
        package: EVERYTHING,
        version: installed.version(EVERYTHING)?,
        entry,
        tools: 13,
        call: call("echo", json!({ "message": "hello" }), "Echo: hello"),
        looped: example(
            looped,
            json!({
                "sums": ["The sum of 1 and 10 is 11.", "The sum of 2 and 10 is 12.", "The sum of 3 and 10 is 13."],
                "humid": true
            }),
        ),
        kept: "echo",
        dropped: Some(("get-tiny-image", "everything::get_tiny_image().await?".to_owned())),
    })
}

/// The reference server for files.
pub(crate) const FILESYSTEM: &str = "@modelcontextprotocol/server-filesystem";

/// Its configuration entry for a folder.
pub(crate) fn filesystem_entry(installed: &Installed, folder: &Path) -> Value {
    installed.node_entry(FILESYSTEM, &[&folder.to_string_lossy()], &json!({}))
}

fn filesystem(installed: &Installed, folder: &Path) -> Checked<Server> {
    let folder = folder.join("files");
    write(&folder.join("a.txt"), "first")?;
    write(&folder.join("b.txt"), "second")?;
    let shown = folder.to_string_lossy().into_owned();
    let looped = format!(
        "let mut found = Vec::new();\n\
         for line in filesystem::list_directory({shown:?}).await?.content.lines() {{\n    \
         if let Some(name) = line.strip_prefix(\"[FILE] \") {{\n        \
         found.push(filesystem::read_text_file(format!(\"{{}}/{{name}}\", {shown:?})).await?.content);\n    }}\n}}\nfound"
    );
    let read = format!("filesystem::read_text_file({:?}).await?.content", folder.join("a.txt"));
    Ok(Server {
        name: "filesystem",
        package: FILESYSTEM,
        version: installed.version(FILESYSTEM)?,
        entry: filesystem_entry(installed, &folder),
        tools: 14,
        call: call("read_text_file", json!({ "path": folder.join("a.txt") }), "first"),
        looped: example(&looped, json!(["first", "second"])),
        kept: "list_directory",
        dropped: Some(("read_text_file", read)),
    })
}

fn memory(installed: &Installed, folder: &Path) -> Checked<Server> {
    const PACKAGE: &str = "@modelcontextprotocol/server-memory";
    let looped = "for name in [\"ada\", \"grace\"] {
    let entity = memory::CreateEntitiesEntity {
        name: name.into(),
        entity_type: \"person\".into(),
        observations: vec![\"writes\".into()],
    };
    memory::create_entities(vec![entity]).await?;
}
let graph = memory::read_graph().await?;
let mut names: Vec<_> = graph.entities.iter().map(|entity| entity.name.clone()).collect();
names.sort();
names";
    Ok(Server {
        name: "memory",
        package: PACKAGE,
        version: installed.version(PACKAGE)?,
        entry: installed.node_entry(
            PACKAGE,
            &[],
            &json!({ "MEMORY_FILE_PATH": folder.join("memory.jsonl") }),
        ),
        tools: 9,
        call: call("read_graph", json!({}), "entities"),
        looped: example(looped, json!(["ada", "grace"])),
        kept: "read_graph",
        dropped: Some(("delete_entities", "memory::delete_entities(vec![\"ada\"]).await?".to_owned())),
    })
}

fn thinking(installed: &Installed) -> Checked<Server> {
    const PACKAGE: &str = "@modelcontextprotocol/server-sequential-thinking";
    let looped = "let mut length = 0.0;\nfor n in 1..=3 {\n    \
        length = thinking::sequentialthinking(format!(\"thought {n}\"), n < 3, n, 3).await?.thought_history_length;\n}\nlength";
    Ok(Server {
        name: "thinking",
        package: PACKAGE,
        version: installed.version(PACKAGE)?,
        entry: installed.node_entry(PACKAGE, &[], &json!({ "DISABLE_THOUGHT_LOGGING": "true" })),
        tools: 1,
        call: call(
            "sequentialthinking",
            json!({ "thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1 }),
            "thoughtHistoryLength",
        ),
        looped: example(looped, json!(3.0)),
        kept: "sequentialthinking",
        dropped: None,
    })
}

fn git(installed: &Installed, folder: &Path) -> Checked<Server> {
    const PACKAGE: &str = "mcp-server-git";
    let repository = folder.join("repository");
    for number in 1..=3 {
        write(&repository.join("file"), &format!("{number}\n"))?;
        if number == 1 {
            git_command(&repository, &["init", "--quiet", "--initial-branch=main"])?;
        }
        git_command(&repository, &["add", "file"])?;
        git_command(&repository, &["commit", "--quiet", "--message", &format!("commit {number}")])?;
    }
    let shown = repository.to_string_lossy().into_owned();
    let looped = format!(
        "let mut seen = Vec::new();\nfor (back, revision) in [\"HEAD\", \"HEAD~1\", \"HEAD~2\"].iter().enumerate() {{\n    \
         let text = git::git_show({shown:?}, *revision).await?.text();\n    \
         seen.push(text.contains(&format!(\"commit {{}}\", 3 - back)));\n}}\nseen"
    );
    let status = format!("git::git_status({shown:?}).await?.text().contains(\"On branch main\")");
    Ok(Server {
        name: "git",
        package: PACKAGE,
        version: installed.pinned(PACKAGE)?,
        entry: json!({ "command": installed.python(PACKAGE), "args": ["--repository", shown] }),
        tools: 12,
        call: call("git_log", json!({ "repo_path": shown, "max_count": 1 }), "commit 3"),
        looped: example(&looped, json!([true, true, true])),
        kept: "git_log",
        dropped: Some(("git_status", status)),
    })
}

fn time(installed: &Installed) -> Checked<Server> {
    const PACKAGE: &str = "mcp-server-time";
    let looped = "let mut zones = Vec::new();\nfor zone in [\"Etc/UTC\", \"Europe/Berlin\", \"Asia/Tokyo\"] {\n    \
        let now = time::get_current_time(zone).await?;\n    \
        zones.push((now.timezone, now.datetime.contains('T')));\n}\nzones";
    Ok(Server {
        name: "time",
        package: PACKAGE,
        version: installed.pinned(PACKAGE)?,
        entry: json!({ "command": installed.python(PACKAGE), "args": ["--local-timezone", "Etc/UTC"] }),
        tools: 2,
        call: call("get_current_time", json!({ "timezone": "Asia/Tokyo" }), "Asia/Tokyo"),
        looped: example(looped, json!([["Etc/UTC", true], ["Europe/Berlin", true], ["Asia/Tokyo", true]])),
        kept: "get_current_time",
        dropped: Some((
            "convert_time",
            "time::convert_time(\"Etc/UTC\", \"12:00\", \"Asia/Tokyo\").await?".to_owned(),
        )),
    })
}

/// It requests robots.txt first, and does not read what that forbids.
fn fetch(installed: &Installed, site: &str) -> Checked<Server> {
    const PACKAGE: &str = "mcp-server-fetch";
    let looped = format!(
        "let mut seen = Vec::new();\nfor n in 1..=3 {{\n    \
         let text = fetch::fetch(format!(\"{site}/plain/{{n}}\")).await?.text();\n    \
         seen.push(text.contains(&format!(\"plain page {{n}}\")));\n}}\n\
         let page = fetch::fetch(\"{site}/page\").await?.text();\n\
         let refused = fetch::fetch(\"{site}/private\").await.unwrap_err().to_string();\n\
         json!({{ \"seen\": seen, \"markdown\": page.contains(\"# Title\"), \"refused\": refused.contains(\"robots.txt\") }})"
    );
    Ok(Server {
        name: "fetch",
        package: PACKAGE,
        version: installed.pinned(PACKAGE)?,
        // If it finds Node, it installs npm packages to simplify a page.
        entry: json!({
            "command": installed.python(PACKAGE),
            "args": ["--allow-private-ips"],
            "env": { "PATH": "/nonexistent", "NO_PROXY": "127.0.0.1" }
        }),
        tools: 1,
        call: call("fetch", json!({ "url": format!("{site}/plain/7") }), "plain page 7"),
        looped: example(&looped, json!({ "seen": [true, true, true], "markdown": true, "refused": true })),
        kept: "fetch",
        dropped: None,
    })
}

fn call(tool: &'static str, arguments: Value, says: &'static str) -> Call {
    Call { tool, arguments, says }
}

fn example(code: &str, result: Value) -> Example {
    Example { code: code.to_owned(), result }
}

/// Writes a file, creating its parent folders.
pub(crate) fn write(path: &Path, text: &str) -> Checked<()> {
    let failed = |error| format!("{}: {error}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    fs::write(path, text).map_err(failed)
}

fn git_command(folder: &Path, arguments: &[&str]) -> Checked<()> {
    let who = ["-c", "user.name=peers", "-c", "user.email=peers@localhost", "-c", "commit.gpgsign=false"];
    let status = Command::new("git").arg("-C").arg(folder).args(who).args(arguments).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("git {}: {status}", arguments.join(" "))),
        Err(error) => Err(format!("git is needed for the server of repositories: {error}")),
    }
}
