//! Foreign clients against `toolsmith serve`: the official SDKs in every protocol era that they support, and the
//! Inspector.
//!
//! A program in `clients/` carries out a plan of calls; its report is checked here.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use end_to_end::reductions::OUTCOME;
use serde_json::{Value, json};
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    process::{Child, Command},
    time::timeout,
};

use crate::{
    product::{Checked, LOOK, Product},
    servers::Installed,
    table::Row,
};

/// Time limit for a client's whole plan, which compiles a dozen snippets.
const WATCHDOG: Duration = Duration::from_secs(300);
/// Time limit for the server to start listening.
const START: Duration = Duration::from_secs(30);

const SDK_V1: &str = "@modelcontextprotocol/sdk";
/// An early version of it, under our own alias.
const SDK_V1_OLD: &str = "sdk-1.12";
const SDK_V2: &str = "@modelcontextprotocol/client";
const SDK_PYTHON: &str = "mcp";
const INSPECTOR: &str = "@modelcontextprotocol/inspector";
/// The Inspector's main file.
const INSPECTOR_SCRIPT: &str = "clients/launcher/build/index.js";

/// A client of an SDK.
struct Sdk {
    package: &'static str,
    /// Arguments of its program in `clients/`, before the target.
    arguments: &'static [&'static str],
    protocol: &'static str,
    /// Whether it predates elicitation.
    is_old: bool,
}

const SDKS: [Sdk; 7] = [
    Sdk { package: SDK_V1, arguments: &["v1", "sessions"], protocol: "2025-11-25", is_old: false },
    Sdk { package: SDK_V2, arguments: &["v2", "sessions"], protocol: "2025-11-25", is_old: false },
    Sdk { package: SDK_V2, arguments: &["v2", "stateless"], protocol: "2026-07-28", is_old: false },
    Sdk { package: SDK_PYTHON, arguments: &["sessions"], protocol: "2025-11-25", is_old: false },
    Sdk { package: SDK_PYTHON, arguments: &["stateless"], protocol: "2026-07-28", is_old: false },
    // It does not support events without data, which newer versions use to resume a stream.
    Sdk { package: SDK_V1_OLD, arguments: &["old", "sessions"], protocol: "2025-03-26", is_old: true },
    Sdk { package: SDK_PYTHON, arguments: &[], protocol: "2025-06-18", is_old: true },
];

/// The server whose tools need no permission: two of them direct, the others for snippets.
const FREE: &str = "fixture";
/// The server whose content blocks break MCP's rules, with a direct tool.
const BROKEN: &str = "broken";
/// Such blocks as `sent`, and as clients must `read` them.
const BLOCKS: &str = include_str!("../fixtures/broken-blocks.json");
/// The server whose tools need permission.
const GUARDED: &str = "shelf";

/// One row per selected client and transport.
pub(crate) async fn run(
    installed: &Installed,
    product: &Product,
    is_chosen: impl Fn([&str; 2]) -> bool,
) -> Checked<Vec<Row>> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let serving = Serving::new(product, folder.path())?;
    let mut rows = Vec::new();
    for transport in ["stdio", "http"] {
        for sdk in SDKS.iter().filter(|sdk| is_chosen([sdk.package, transport])) {
            let listening = if transport == "http" { Some(serving.listen().await?) } else { None };
            let target =
                listening.as_ref().map_or_else(|| serving.line().to_string(), |here| here.address.clone());
            let checked = sdk.check(installed, &serving, &target).await;
            rows.push(sdk.row(installed, transport, checked)?);
        }
        if is_chosen([INSPECTOR, transport]) {
            rows.push(inspector_row(installed, &serving, transport).await?);
        }
    }
    Ok(rows)
}

/// `toolsmith serve`, as clients start it.
pub(crate) struct Serving {
    binary: PathBuf,
    config: PathBuf,
    /// Variables of every process, so that only our configuration is read.
    environment: Vec<(&'static str, PathBuf)>,
    folder: PathBuf,
}

impl Serving {
    fn new(product: &Product, folder: &Path) -> Checked<Self> {
        let config = json!({
            "mcpServers": {
                FREE: { "command": env!("CARGO_BIN_EXE_conformance-server"), "trust": true },
                BROKEN: {
                    "command": env!("CARGO_BIN_EXE_fault-server"),
                    "args": ["answers-with", json!({ "content": blocks("sent")? }).to_string()],
                    "trust": true,
                    "codeMode": false,
                },
                GUARDED: {
                    "command": env!("CARGO_BIN_EXE_catalog-server"),
                    "args": ["--tools", "25"],
                    "permission": "ask",
                },
            },
            "codeMode": { "excludedTools": [
                format!("{FREE}.test_multiple_content_types"),
                format!("{FREE}.test_structured_content"),
            ] },
        });
        Self::of(product, folder, &config)
    }

    /// Serves a configuration; its files are in the folder.
    pub(crate) fn of(product: &Product, folder: &Path, text: &Value) -> Checked<Self> {
        let config = folder.join("served.json");
        fs::write(&config, text.to_string()).map_err(|error| error.to_string())?;
        Ok(Self {
            binary: product.binary().to_owned(),
            config,
            environment: vec![
                ("TOOLSMITH_CACHE_DIR", product.cache().to_owned()),
                ("XDG_CONFIG_HOME", folder.to_owned()),
            ],
            folder: folder.to_owned(),
        })
    }

    /// The command line for a client that starts it.
    fn line(&self) -> Value {
        json!([self.binary, "serve", "--config", self.config])
    }

    /// The command line of the subagent that the configuration describes.
    pub(crate) fn subagent(&self) -> Value {
        json!([self.binary, "mcp", "serve", "--config", self.config])
    }

    /// Runs a program in `clients/` with Node; returns its report.
    pub(crate) async fn run_client(
        &self,
        installed: &Installed,
        script: &str,
        arguments: &[&str],
    ) -> Checked<Value> {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/clients");
        let mut command = self.command(&installed.node());
        command.arg(programs.join(script)).args(arguments);
        printed(&self.finish(command, "").await?)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.envs(self.environment.iter().cloned()).current_dir(&self.folder).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts the server over HTTP.
    pub(crate) async fn listen(&self) -> Checked<Listening> {
        let failed = |error: std::io::Error| format!("toolsmith serve --http: {error}");
        let address =
            TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).map_err(failed)?;
        let mut command = self.command(&self.binary);
        command.args(["serve", "--http", &address.to_string(), "--config"]).arg(&self.config);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
        let process = command.spawn().map_err(failed)?;
        let reach = async {
            while TcpStream::connect(address).await.is_err() {
                tokio::time::sleep(LOOK).await;
            }
        };
        timeout(START, reach).await.map_err(|_| "toolsmith serve --http does not listen".to_owned())?;
        Ok(Listening { address: format!("http://{address}/mcp"), _process: process })
    }

    /// Runs a client to its end, with `input` on its standard input.
    async fn finish(&self, mut command: Command, input: &str) -> Checked<Output> {
        let failed = |error: std::io::Error| format!("the client does not run: {error}");
        let mut child = command.spawn().map_err(failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            // A client that exits before it has read everything breaks the pipe.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
        let output = timeout(WATCHDOG, child.wait_with_output()).await;
        output.map_err(|_| "the client has not ended".to_owned())?.map_err(failed)
    }
}

/// Carries out a plan with a client of the official TypeScript SDK, which starts the server itself; returns the
/// client's name and report.
pub(crate) async fn carry_out(
    installed: &Installed,
    serving: &Serving,
    plan: &Value,
) -> Checked<(&'static str, Value)> {
    carry_out_by(installed, serving, &serving.line(), plan).await
}

/// Like [`carry_out`], against the server that another command line starts.
pub(crate) async fn carry_out_by(
    installed: &Installed,
    serving: &Serving,
    line: &Value,
    plan: &Value,
) -> Checked<(&'static str, Value)> {
    let [first, ..] = &SDKS;
    let seen = first.carry_out(installed, serving, &line.to_string(), plan).await?;
    Ok((first.package, seen))
}

/// The server over HTTP, stopped on drop.
pub(crate) struct Listening {
    address: String,
    _process: Child,
}

impl Listening {
    /// The address of the endpoint.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

/// The JSON on standard output, if the program succeeded.
fn printed(output: &Output) -> Checked<Value> {
    let failure = || format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    if !output.status.success() {
        return Err(failure());
    }
    serde_json::from_slice(&output.stdout).map_err(|_| failure())
}

/// Fails with `what` and the observed value if a condition does not hold.
pub(crate) fn must(holds: bool, what: &str, seen: &Value) -> Checked<()> {
    if holds { Ok(()) } else { Err(format!("{what}: {seen:#}")) }
}

/// The member of each broken block that is an object with a type. Links are left out: the oldest client has none.
fn blocks(member: &str) -> Checked<Vec<Value>> {
    let all: Vec<Value> = serde_json::from_str(BLOCKS).map_err(|error| error.to_string())?;
    let is_forwarded = |block: &&Value| {
        let kind = &block["sent"]["type"];
        kind.is_string() && *kind != "text" && *kind != "resource_link"
    };
    Ok(all.iter().filter(is_forwarded).map(|block| block[member].clone()).collect())
}

/// The kinds of the broken blocks as a client reports them.
fn read_kinds() -> Value {
    let kind = |block: &Value| match (block["type"].as_str(), block["mimeType"].as_str()) {
        (Some(kind), Some(mime_type)) => format!("{kind} {mime_type}"),
        (kind, _) => kind.unwrap_or_default().to_owned(),
    };
    blocks("read").unwrap_or_default().iter().map(kind).collect()
}

/// A call of `execute_code`.
fn snippet(code: &str) -> Value {
    json!({ "tool": "execute_code", "arguments": { "code": code } })
}

/// Like [`snippet`], with additional members.
fn snippet_with(code: &str, more: &[(&str, &str)]) -> Value {
    let mut call = snippet(code);
    more.iter().for_each(|(key, value)| call[*key] = json!(value));
    call
}

/// Checks the report of a call.
type Check = fn(&Value) -> bool;

/// The calls, in order, each with the check of its report.
fn plan() -> Vec<(Value, Check)> {
    let asks = format!("{GUARDED}::calendar_get_event(\"event-7\").await?.id");
    // The TypeScript SDK drops progress that it reads together with the answer, so a call separates the two.
    let counts = format!(
        "for n in 1..=3u32 {{\n    progress(n, 3, \"counted\");\n}}\n{FREE}::test_simple_text().await?;\n\"counted\""
    );
    let endless = "progress(1, 2, \"half way\");\ntokio::time::sleep(Duration::from_secs(60)).await;\n1";
    let broken = format!(
        "let blocks: Vec<Value> = serde_json::from_str(r##\"{BLOCKS}\"##)?;\n\
                          for block in &blocks {{ if block[\"sent\"][\"type\"] != \"resource_link\" {{ emit(&block[\"sent\"]); }} }}\n\"all shown\""
    );
    let paints = "emit(Content::image(\"iVBORw0KGgo=\", \"image/png\"));\n\"painted\"";
    vec![
        (snippet("6 * 7"), |seen| says(seen, "42") && seen["outcome"]["result"] == 42),
        (snippet(&counts), |seen| {
            let steps = seen["progress"].as_array().map_or(&[][..], Vec::as_slice);
            let is_own = |step: &Value| step["message"].as_str().is_some_and(|text| text.contains("counted"));
            says(seen, "counted") && steps.iter().any(is_own) && rises(steps)
        }),
        (snippet("let wrong: u32 = \"text\";\nwrong"), |seen| {
            seen["isError"] == true && seen["outcome"]["status"] == "compile_error"
        }),
        (snippet_with(&asks, &[("answer", "decline")]), |seen| {
            seen["asked"] == 1 && seen["isError"] == true && seen["outcome"]["status"] == "denied"
        }),
        (snippet_with(&asks, &[("answer", "accept")]), |seen| seen["asked"] == 1 && says(seen, "event-7")),
        (snippet(paints), |seen| {
            let kinds = seen["kinds"].as_array();
            says(seen, "painted") && kinds.is_some_and(|kinds| kinds.contains(&json!("image image/png")))
        }),
        (snippet(&broken), |seen| says(seen, "all shown") && says(seen, "because its data is an address")),
        (json!({ "tool": "echo", "arguments": { "message": "x" } }), |seen| seen["kinds"] == read_kinds()),
        (snippet_with(endless, &[("cancel", "half way")]), |seen| {
            seen["error"].is_string() && seen["isError"].is_null()
        }),
        (snippet("\"after it\""), |seen| says(seen, "after it")),
        (json!({ "tool": "test_structured_content", "arguments": { "text": "a b" } }), |seen| {
            seen["structured"] == json!({ "characters": 3, "words": 2 })
        }),
        (json!({ "tool": "test_multiple_content_types" }), |seen| {
            seen["kinds"] == json!(["text", "image image/png", "resource"])
        }),
    ]
}

/// Whether a call succeeded and its text contains `text`.
fn says(seen: &Value, text: &str) -> bool {
    seen["isError"] == false && seen["text"].as_str().is_some_and(|actual| actual.contains(text))
}

/// Whether progress never decreases.
fn rises(steps: &[Value]) -> bool {
    let done: Vec<_> = steps.iter().filter_map(|step| step["progress"].as_f64()).collect();
    done.is_sorted()
}

impl Sdk {
    /// Carries out a plan; returns the program's report.
    async fn carry_out(
        &self,
        installed: &Installed,
        serving: &Serving,
        target: &str,
        plan: &Value,
    ) -> Checked<Value> {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/clients");
        let (program, script) = match (self.package == SDK_PYTHON, self.is_old) {
            (true, true) => (installed.python_old(), "python_old.py"),
            (true, false) => (installed.python("python"), "python.py"),
            (false, _) => (installed.node(), "typescript.mjs"),
        };
        let mut command = serving.command(&program);
        command.arg(programs.join(script)).args(self.arguments).arg(target);
        printed(&serving.finish(command, &plan.to_string()).await?)
    }

    async fn check(&self, installed: &Installed, serving: &Serving, target: &str) -> Checked<()> {
        let can = |call: &Value| !self.is_old || (call["answer"].is_null() && call["cancel"].is_null());
        let (calls, checks): (Vec<_>, Vec<_>) = plan().into_iter().filter(|(call, _)| can(call)).unzip();
        let seen = self.carry_out(installed, serving, target, &Value::from(calls.clone())).await?;
        // The older SDK does not report the negotiated version over stdio.
        let protocol = &seen["protocol"];
        must(protocol.is_null() || *protocol == self.protocol, "unexpected protocol version", protocol)?;
        let tools = seen["tools"].as_array();
        for tool in ["execute_code", "search_tools", "describe_tools", "test_structured_content"] {
            let is_there = tools.is_some_and(|tools| tools.contains(&json!(tool)));
            must(is_there, &format!("{tool} is not listed"), &seen["tools"])?;
        }
        for (index, (call, holds)) in calls.iter().zip(checks).enumerate() {
            let report = &seen["calls"][index];
            must(holds(report), &format!("unexpected result of {call}"), report)?;
        }
        Ok(())
    }

    fn row(&self, installed: &Installed, transport: &'static str, checked: Checked<()>) -> Checked<Row> {
        let version = match (self.package == SDK_PYTHON, self.is_old) {
            (true, true) => installed.pinned_old(self.package)?,
            (true, false) => installed.pinned(self.package)?,
            (false, _) => installed.version(self.package)?,
        };
        Ok(row(self.package, version, transport, self.protocol, checked))
    }
}

fn row(package: &str, version: String, transport: &'static str, protocol: &str, checked: Checked<()>) -> Row {
    Row {
        peer: format!("client {package}"),
        version,
        transport,
        protocol: protocol.to_owned(),
        tools: "-".to_owned(),
        failure: checked.err(),
    }
}

/// The Inspector's command line: with a client's configuration file, and over HTTP.
async fn inspector_row(installed: &Installed, serving: &Serving, transport: &'static str) -> Checked<Row> {
    let checked = match transport {
        "http" => {
            let listening = serving.listen().await?;
            let target = ["--transport", "http", "--server-url", &listening.address].map(str::to_owned);
            inspect(installed, serving, &target).await
        }
        _ => match client_file(serving).await {
            Ok(file) => {
                let target = ["--config".to_owned(), file, "--server".to_owned(), "toolsmith".to_owned()];
                inspect(installed, serving, &target).await
            }
            Err(error) => Err(error),
        },
    };
    Ok(row(INSPECTOR, installed.version(INSPECTOR)?, transport, "2025-11-25", checked))
}

/// A client's configuration file with the entry that `toolsmith setup` prints.
async fn client_file(serving: &Serving) -> Checked<String> {
    let mut command = serving.command(&serving.binary);
    command.args(["setup", "cursor", "--print", "--config"]).arg(&serving.config);
    // The Inspector passes few variables to servers: those that `toolsmith setup` records must suffice.
    let entry = printed(&serving.finish(command, "").await?)?;
    let file = serving.folder.join("client.json");
    fs::write(&file, entry.to_string()).map_err(|error| error.to_string())?;
    Ok(file.to_string_lossy().into_owned())
}

async fn inspect(installed: &Installed, serving: &Serving, target: &[String]) -> Checked<()> {
    let script = installed.file(INSPECTOR, INSPECTOR_SCRIPT);
    let ask = async |method: &[&str]| {
        let mut command = serving.command(&installed.node());
        command.arg(&script).args(["--cli", "--quiet"]).args(target).args(method);
        printed(&serving.finish(command, "").await?)
    };
    let listed = ask(&["--method", "tools/list"]).await?;
    let tools = listed["tools"].as_array();
    let has = |name: &str| tools.is_some_and(|tools| tools.iter().any(|tool| tool["name"] == name));
    must(has("execute_code") && has("test_structured_content"), "a tool is not listed", &listed)?;
    let arguments = json!({ "code": "6 * 7" }).to_string();
    let call =
        ["--method", "tools/call", "--tool-name", "execute_code", "--tool-args-json", arguments.as_str()];
    let answer = ask(&call).await?;
    let is_right = answer["_meta"][OUTCOME]["result"] == 42 && answer["isError"] != true;
    must(is_right, "expected 42 for 6 * 7", &answer)
}
