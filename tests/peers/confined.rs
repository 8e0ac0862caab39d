//! The foreign servers confined: each does its job with the `sandbox` of the table in docs/confined-servers.md, and what
//! it is refused with `sandbox: true` is known.

use std::{collections::BTreeSet, path::Path};

use futures::stream::{self, StreamExt as _};
use serde_json::{Value, json};

use crate::{
    AT_ONCE, config,
    page::Page,
    product::{Checked, Product, nothing_left},
    servers::{self, Call, Example, Installed, Server},
    table::Row,
};

/// The name that selects this part.
pub(crate) const PART: &str = "confined";

/// The page with the table.
const PAGE: &str = "docs/confined-servers.md";

/// The folder of the servers' data, as the page shows it.
const SHOWN: &str = "/data";

/// A server, and what it needs to do its job.
struct Confined {
    server: Server,
    /// What starts it: a package manager, an interpreter, or nothing else.
    started_by: &'static str,
    /// The value of `sandbox`.
    grants: Value,
}

/// What was observed of a confined server.
struct Observed {
    tier: String,
    /// What it is refused of its data with `sandbox: true`.
    refused: String,
}

/// The rows of all servers, and a row for the page.
pub(crate) async fn run(
    installed: &Installed,
    product: &Product,
    folder: &Path,
    site: &str,
) -> Checked<Vec<Row>> {
    let all = all(installed, folder, site)?;
    let each = |confined: Confined| async move {
        let observed = observe(product, &confined).await;
        (confined, observed)
    };
    let observed: Vec<_> = stream::iter(all).map(each).buffered(AT_ONCE).collect().await;
    let (mut rows, mut page) = (Vec::new(), Page::new(PAGE, "confined servers"));
    for (confined, observed) in observed {
        let Confined { server, started_by, grants } = &confined;
        let short = |text: &str| {
            let text = text.replace(&*folder.to_string_lossy(), SHOWN);
            text.replace(&*installed.folder().join("node_modules").to_string_lossy(), "")
        };
        let grants = format!("`{}`", short(&shown(grants)));
        let refused = observed.as_ref().ok().map(|observed| short(&observed.refused));
        page.add([
            ("server", Some(server.package)),
            ("version", Some(&*server.version)),
            ("started by", Some(*started_by)),
            ("`sandbox`", Some(&*grants)),
            ("refused with `true`", refused.as_deref()),
        ]);
        rows.push(row(server, observed.map(|observed| observed.tier)));
    }
    let compared = page.compare(true);
    rows.push(Row { peer: format!("{PART}: {PAGE}"), failure: compared.err(), ..Row::default() });
    Ok(rows)
}

fn row(server: &Server, observed: Checked<String>) -> Row {
    let tier = observed.as_deref().unwrap_or("-");
    Row {
        peer: format!("{PART} ({tier}): {}", server.package),
        version: server.version.clone(),
        transport: "stdio",
        failure: observed.err(),
        ..Row::default()
    }
}

/// Lets a server do its job confined, and learns what it is refused with less.
async fn observe(product: &Product, confined: &Confined) -> Checked<Observed> {
    let Confined { server, grants, .. } = confined;
    let marker = ("PEERS_MARKER", format!("{}-confined-{}", std::process::id(), server.name));
    let entry = |sandbox: &Value| {
        let mut config = config(server, &[]);
        let entry = &mut config["mcpServers"][server.name];
        entry["sandbox"] = sandbox.clone();
        entry["env"][marker.0] = json!(marker.1);
        config
    };
    let config = entry(grants);
    let info = product.info(&config, server.name).await?;
    let tier = info["sandbox"]["tier"].as_str().ok_or_else(|| format!("not confined: {info}"))?;
    let Call { tool, arguments, says } = &server.call;
    let answer = product.call(&config, server.name, tool, arguments).await?;
    if answer["success"] != true || !answer["output"].as_str().is_some_and(|output| output.contains(says)) {
        return Err(format!("{tool}: expected {says:?} in {answer}"));
    }
    let learned = product.learned(&entry(&json!(true)), server.name, tool, arguments).await?;
    nothing_left(&format!("{}={}", marker.0, marker.1)).await?;
    let refusals = learned["refusals"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let granted: BTreeSet<&str> = ["read", "write"].iter().flat_map(|key| paths(&grants[*key])).collect();
    let of_granted = refusals.filter_map(|refusal| {
        let path = granted.iter().find(|path| refusal.contains(**path))?;
        Some(format!("`{} {path}`", refusal.split(' ').next()?))
    });
    let refused: BTreeSet<String> = of_granted.collect();
    if refused.is_empty() != granted.is_empty() {
        return Err(format!("with `sandbox: true`: {learned}"));
    }
    let refused = refused.into_iter().collect::<Vec<_>>().join(", ");
    Ok(Observed {
        tier: tier.to_owned(), refused: if refused.is_empty() { "–".to_owned() } else { refused }
    })
}

/// The paths of a list.
fn paths(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The value of `sandbox` as in a configuration.
fn shown(grants: &Value) -> String {
    let Some(grants) = grants.as_object() else { return "true".to_owned() };
    let member = |(key, value): (&String, &Value)| format!("{key}: {}", value.to_string().replace('"', ""));
    format!("{{ {} }}", grants.iter().map(member).collect::<Vec<_>>().join(", "))
}

/// All servers, as users start them, with what they need.
fn all(installed: &Installed, folder: &Path, site: &str) -> Checked<Vec<Confined>> {
    let at = |path: &str| folder.join(path);
    let mut all: Vec<Confined> = servers::local(installed, folder, site)?
        .into_iter()
        .map(|mut server| {
            let started_by = launch(installed, &mut server);
            if server.name == "memory" {
                let entity = json!({ "name": "ada", "entityType": "person", "observations": ["writes"] });
                server.call =
                    Call { tool: "create_entities", arguments: json!({ "entities": [entity] }), says: "ada" };
            }
            let grants = match server.name {
                "filesystem" => json!({ "read": [at("files")], "write": [at("files")] }),
                "memory" => json!({ "write": [folder] }),
                "git" | "repository" => json!({ "read": [at("repository")] }),
                "kubernetes" => json!({ "read": [at("kubeconfig")] }),
                // It reads its settings beside its program.
                "fabric" => json!({ "read": [installed.file(server.package, "dist")] }),
                "sqlite" => json!({ "write": [folder] }),
                "excel" => json!({ "write": [at("workbooks")] }),
                _ => json!(true),
            };
            Confined { server, started_by, grants }
        })
        .collect();
    all.push(browser(installed)?);
    Ok(all)
}

/// Lets a package manager start the reference servers, as their documentation does. Returns what starts a server.
fn launch(installed: &Installed, server: &mut Server) -> &'static str {
    let args = server.entry["args"].as_array().cloned().unwrap_or_default();
    let (package, version) = (server.package, &server.version);
    if package.starts_with("@modelcontextprotocol/server-") && server.name != "debug" {
        let words = [json!("-y"), json!(format!("{package}@{version}"))];
        server.entry["command"] = json!("npx");
        server.entry["args"] = words.into_iter().chain(args.into_iter().skip(1)).collect();
        return "npx";
    }
    if ["git", "time", "fetch"].contains(&server.name) {
        server.entry["command"] = json!(installed.python("uvx"));
        // It finds Python there.
        if let Some(env) = server.entry["env"].as_object_mut() {
            env.remove("PATH");
        }
        // uv brings its own certificates.
        if let Ok(certificates) = std::env::var("SSL_CERT_FILE") {
            server.entry["env"]["SSL_CERT_FILE"] = json!(certificates);
        }
        server.entry["args"] = [json!(format!("{package}@{version}"))].into_iter().chain(args).collect();
        return "uvx";
    }
    match server.name {
        "kubernetes" => "itself (Go)",
        "fabric" => "itself (C#)",
        "biomcp" => "itself (Rust)",
        _ if server.entry["command"].as_str().is_some_and(|command| command.ends_with("/node")) => "Node",
        _ => "Python",
    }
}

/// The server that controls a browser.
fn browser(installed: &Installed) -> Checked<Confined> {
    const PACKAGE: &str = "@playwright/mcp";
    let mut entry = json!({ "command": installed.node() });
    entry["args"] = json!([
        installed.file(PACKAGE, "cli.js"),
        "--headless",
        "--isolated",
        // Chromium's own sandbox needs namespaces, which a confined server can't create.
        "--no-sandbox",
        "--executable-path",
        std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned()),
    ]);
    let server = Server {
        name: "browser",
        package: PACKAGE,
        version: installed.version(PACKAGE)?,
        entry,
        tools: 20,
        call: Call {
            tool: "browser_navigate",
            arguments: json!({ "url": "data:text/html,<title>A title</title>" }),
            says: "Page Title: A title",
        },
        looped: Example { code: String::new(), result: Value::Null },
        kept: "browser_navigate",
        dropped: None,
    };
    Ok(Confined { server, started_by: "Node, with Chromium", grants: json!({ "read": ["/etc/chromium.d"] }) })
}
