//! Servers that each represent an SDK or framework: all major SDKs, in versions from 2024 to this year.

use std::path::Path;

use serde_json::{Value, json};

use super::{Installed, Server, call, example, write};
use crate::product::Checked;

/// The server in Go.
pub(crate) const KUBERNETES: &str = "kubernetes-mcp-server-linux-amd64";

/// They run as child processes; `folder` contains the repository of the other git server.
pub(super) fn local(installed: &Installed, folder: &Path) -> Checked<Vec<Server>> {
    Ok(vec![
        lint(installed, folder)?,
        debug(installed)?,
        repository(installed, folder)?,
        sums(installed)?,
        dates(installed)?,
        kubernetes(installed, kubernetes_entry(installed, folder, "http://127.0.0.1:9")?)?,
        fabric(installed)?,
        biomcp(installed)?,
        calculator(installed)?,
        sqlite(installed, folder)?,
        units(installed)?,
        excel(installed, folder)?,
    ])
}

/// TypeScript SDK 1.x, with the newest protocol of the handshake.
fn lint(installed: &Installed, folder: &Path) -> Checked<Server> {
    const PACKAGE: &str = "@eslint/mcp";
    let folder = folder.join("lint");
    write(
        &folder.join("eslint.config.mjs"),
        "export default [{ rules: { \"no-unused-vars\": \"error\" } }];\n",
    )?;
    write(&folder.join("unused.mjs"), "const unused = 1;\n")?;
    write(&folder.join("used.mjs"), "export const used = 1;\n")?;
    let looped = format!(
        "let mut found = Vec::new();\nfor name in [\"unused\", \"used\"] {{\n    \
         let text = lint::lint_files(vec![format!(\"{{}}/{{name}}.mjs\", {folder:?})]).await?.text();\n    \
         found.push(text.contains(\"no-unused-vars\"));\n}}\nfound"
    );
    let mut entry = installed.node_file_entry(PACKAGE, "src/mcp-cli.js", &[]);
    entry["cwd"] = json!(folder);
    Ok(Server {
        name: "lint",
        package: PACKAGE,
        version: installed.version(PACKAGE)?,
        entry,
        tools: 1,
        call: call("lint-files", json!({ "filePaths": [folder.join("unused.mjs")] }), "never used"),
        looped: example(&looped, json!([true, false])),
        kept: "lint-files",
        dropped: None,
    })
}

/// TypeScript SDK 2.x.
fn debug(installed: &Installed) -> Checked<Server> {
    const PACKAGE: &str = "@modelcontextprotocol/server-debug";
    let looped = "let mut seen = Vec::new();\nfor n in 1..=3 {\n    \
        let answer = debug::debug_tool().content_type(debug::DebugToolContentType::Mixed).await?;\n    \
        seen.push(answer.counter == f64::from(n));\n}\nseen";
    Ok(Server {
        name: "debug",
        package: PACKAGE,
        version: installed.version(PACKAGE)?,
        entry: installed.node_file_entry(PACKAGE, "dist/index.js", &["--stdio"]),
        tools: 3,
        call: call("debug-tool", json!({}), "Debug text content #1"),
        looped: example(looped, json!([true, true, true])),
        kept: "debug-tool",
        dropped: Some(("debug-refresh", "debug::debug_refresh().await?.counter".to_owned())),
    })
}

/// TypeScript SDK 1.x in the author's own framework, with an output schema for each of its many tools.
fn repository(installed: &Installed, folder: &Path) -> Checked<Server> {
    const PACKAGE: &str = "@cyanheads/git-mcp-server";
    let path = folder.join("repository");
    let looped = format!(
        "let mut subjects = Vec::new();\nfor skip in 0..3 {{\n    \
         let log = repository::git_log().path({path:?}).max_count(1).skip(skip).await?;\n    \
         subjects.extend(log.commits.iter().map(|commit| commit.subject.clone()));\n}}\nsubjects"
    );
    let status = format!("repository::git_status().path({path:?}).await?.success");
    Ok(Server {
        name: "repository",
        package: PACKAGE,
        version: installed.version(PACKAGE)?,
        entry: installed.node_file_entry(PACKAGE, "dist/index.js", &[]),
        tools: 28,
        call: call("git_log", json!({ "path": path, "maxCount": 1 }), "commit 3"),
        looped: example(&looped, json!(["commit 3", "commit 2", "commit 1"])),
        kept: "git_log",
        dropped: Some(("git_status", status)),
    })
}

/// An early SDK of 2024. Prints a plain-text greeting on standard output.
fn sums(installed: &Installed) -> Checked<Server> {
    const PACKAGE: &str = "@wrtnlabs/calculator-mcp";
    let looped = "let mut sums = Vec::new();\nfor n in 1..=3 {\n    \
        sums.push(sums::add(f64::from(n), 10.0).await?.text());\n}\nsums";
    Ok(Server {
        name: "sums",
        package: PACKAGE,
        version: installed.version(PACKAGE)?,
        entry: installed.node_file_entry(PACKAGE, "bin/index.js", &[]),
        tools: 6,
        call: call("sqrt", json!({ "a": 49 }), "The square root of 49 is 7"),
        looped: example(
            looped,
            json!(["The sum of 1 and 10 is 11", "The sum of 2 and 10 is 12", "The sum of 3 and 10 is 13"]),
        ),
        kept: "sqrt",
        dropped: Some(("add", "sums::add(1.0, 2.0).await?.text()".to_owned())),
    })
}

/// TypeScript SDK 1.x. Prints a plain-text greeting on standard output.
fn dates(installed: &Installed) -> Checked<Server> {
    const PACKAGE: &str = "time-mcp";
    let looped = "let mut days = Vec::new();\nfor year in [2023, 2024] {\n    \
        days.push(dates::days_in_month().date(format!(\"{year}-02-01\")).await?.text());\n}\ndays";
    Ok(Server {
        name: "dates",
        package: PACKAGE,
        version: installed.version(PACKAGE)?,
        entry: installed.node_file_entry(PACKAGE, "dist/index.js", &[]),
        tools: 6,
        call: call("get_week_year", json!({ "date": "2025-03-23" }), "isoWeek of the year is 12"),
        looped: example(
            looped,
            json!(["The number of days in month is 28.", "The number of days in month is 29."]),
        ),
        kept: "get_week_year",
        dropped: Some(("days_in_month", "dates::days_in_month().await?.text()".to_owned())),
    })
}

/// The configuration entry of the Go server, with a kubeconfig for the cluster at `address`.
pub(crate) fn kubernetes_entry(installed: &Installed, folder: &Path, address: &str) -> Checked<Value> {
    let file = folder.join("kubeconfig");
    let config = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: peers\n\
         clusters: [{{ name: peers, cluster: {{ server: \"{address}\" }} }}]\n\
         users: [{{ name: reader, user: {{}} }}]\n\
         contexts: [{{ name: peers, context: {{ cluster: peers, user: reader }} }}]\n"
    );
    write(&file, &config)?;
    let program = installed.file(KUBERNETES, &format!("bin/{KUBERNETES}"));
    Ok(json!({ "command": program, "args": ["--kubeconfig", file] }))
}

/// Go SDK.
fn kubernetes(installed: &Installed, entry: Value) -> Checked<Server> {
    let looped = "let mut seen = Vec::new();\nfor minified in [true, false] {\n    \
        let text = kubernetes::configuration_view().minified(minified).await?.text();\n    \
        seen.push(text.contains(\"current-context: peers\"));\n}\nseen";
    Ok(Server {
        name: "kubernetes",
        package: KUBERNETES,
        version: installed.version(KUBERNETES)?,
        entry,
        tools: 20,
        call: call("configuration_view", json!({}), "user: reader"),
        looped: example(looped, json!([true, true])),
        kept: "configuration_view",
        dropped: Some(("pods_list", "kubernetes::pods_list().await?.text()".to_owned())),
    })
}

/// C# SDK: its documents are built in, so it needs no network.
fn fabric(installed: &Installed) -> Checked<Server> {
    const PACKAGE: &str = "@microsoft/fabric-mcp-linux-x64";
    let looped = "let mut seen = Vec::new();\nfor topic in [\"pagination\", \"throttling\"] {\n    \
        let text = fabric::docs(\"best practices\").command(\"docs_best-practices\")\
        .parameters(json!({ \"topic\": topic })).await?.text();\n    \
        seen.push(text.to_lowercase().contains(&format!(\"# {topic}\")));\n}\nseen";
    let workloads = json!({ "intent": "list", "command": "docs_workloads", "parameters": {} });
    Ok(Server {
        name: "fabric",
        package: PACKAGE,
        version: installed.version(PACKAGE)?,
        entry: json!({
            "command": installed.file(PACKAGE, "dist/fabmcp"),
            "args": ["server", "start"],
            "env": { "AZURE_MCP_COLLECT_TELEMETRY": "false" }
        }),
        tools: 3,
        call: call("docs", workloads, "notebook"),
        looped: example(looped, json!([true, true])),
        kept: "docs",
        dropped: Some(("core", "fabric::core(\"list\").await?.text()".to_owned())),
    })
}

/// Rust SDK.
fn biomcp(installed: &Installed) -> Checked<Server> {
    const PACKAGE: &str = "biomcp-cli";
    let looped = "let mut seen = Vec::new();\nfor entity in [\"gene\", \"drug\", \"trial\"] {\n    \
        let text = biomcp::biomcp(format!(\"list {entity}\")).await?.text();\n    \
        seen.push(text.starts_with(&format!(\"# {entity}\")));\n}\nseen";
    Ok(Server {
        name: "biomcp",
        package: PACKAGE,
        version: installed.pinned(PACKAGE)?,
        entry: json!({ "command": installed.python("biomcp"), "args": ["serve"] }),
        tools: 7,
        call: call("biomcp", json!({ "command": "version" }), "biomcp 0.9.3"),
        looped: example(looped, json!([true, true, true])),
        kept: "biomcp",
        dropped: Some(("gene_cspec", "biomcp::gene_cspec(\"BRAF\").await?.text()".to_owned())),
    })
}

/// Python SDK 1.x, through its decorators.
fn calculator(installed: &Installed) -> Checked<Server> {
    const PACKAGE: &str = "mcp-server-calculator";
    let looped = "let mut products = Vec::new();\nfor n in 1..=3 {\n    \
        products.push(calculator::calculate(format!(\"{n} * 7\")).await?.result);\n}\nproducts";
    Ok(Server {
        name: "calculator",
        package: PACKAGE,
        version: installed.pinned_v1(PACKAGE)?,
        entry: json!({ "command": installed.python_v1(PACKAGE) }),
        tools: 1,
        call: call("calculate", json!({ "expression": "6 * 7" }), "42"),
        looped: example(looped, json!(["7", "14", "21"])),
        kept: "calculate",
        dropped: None,
    })
}

/// Python SDK 1.x, through its low-level server.
fn sqlite(installed: &Installed, folder: &Path) -> Checked<Server> {
    const PACKAGE: &str = "mcp-server-sqlite";
    let looped = "sqlite::create_table(\"CREATE TABLE shelf (place INTEGER, title TEXT)\").await?;\n\
        for (place, title) in [\"Emma\", \"Ulysses\"].iter().enumerate() {\n    \
        sqlite::write_query(format!(\"INSERT INTO shelf VALUES ({place}, '{title}')\")).await?;\n}\n\
        sqlite::read_query(\"SELECT title FROM shelf ORDER BY place\").await?.text()";
    Ok(Server {
        name: "sqlite",
        package: PACKAGE,
        version: installed.pinned_v1(PACKAGE)?,
        entry: json!({
            "command": installed.python_v1(PACKAGE),
            "args": ["--db-path", folder.join("shelf.db")]
        }),
        tools: 6,
        call: call("read_query", json!({ "query": "SELECT 6 * 7 AS answer" }), "42"),
        looped: example(looped, json!("[{'title': 'Emma'}, {'title': 'Ulysses'}]")),
        kept: "read_query",
        dropped: Some(("list_tables", "sqlite::list_tables().await?.text()".to_owned())),
    })
}

/// FastMCP 2.x, over the Python SDK 1.x.
fn units(installed: &Installed) -> Checked<Server> {
    const PACKAGE: &str = "unit-converter-mcp";
    let looped = "let mut metres = Vec::new();\n\
        for unit in [units::ConvertLengthFromUnit::Kilometer, units::ConvertLengthFromUnit::Centimeter] {\n    \
        let answer = units::convert_length(5.0, unit, units::ConvertLengthFromUnit::Meter).await?;\n    \
        metres.push(answer[\"converted_value\"].as_f64());\n}\nmetres";
    let one = json!({ "value": 100, "from_unit": "celsius", "to_unit": "fahrenheit" });
    let mass =
        "units::convert_mass(1.0, units::ConvertMassFromUnit::Gram, units::ConvertMassToUnit::Gram).await?";
    Ok(Server {
        name: "units",
        package: PACKAGE,
        version: installed.pinned_v1(PACKAGE)?,
        // It would check the registry for a newer version of itself.
        entry: json!({
            "command": installed.python_v1(PACKAGE),
            "env": { "FASTMCP_CHECK_FOR_UPDATES": "off" }
        }),
        tools: 16,
        call: call("convert_temperature", one, "212.0"),
        looped: example(looped, json!([5000.0, 0.05])),
        kept: "convert_length",
        dropped: Some(("convert_mass", mass.to_owned())),
    })
}

/// Python SDK 2.x, with many tools and large schemas.
fn excel(installed: &Installed, folder: &Path) -> Checked<Server> {
    const PACKAGE: &str = "excel-mcp-server";
    let folder = folder.join("workbooks");
    write(&folder.join("table.csv"), "1,2\n3,4\n")?;
    let looped = "excel::create_workbook(\"book.xlsx\").sheets(vec![\"One\"]).await?;\n\
        excel::import_csv(\"book.xlsx\", \"table.csv\", \"One\").await?;\n\
        let mut rows = Vec::new();\nfor row in 1..=2 {\n    \
        let input = excel::ReadRangeInput {\n        path: \"book.xlsx\".into(),\n        sheet: \"One\".into(),\n        \
        max_cells: None,\n        mode: None,\n        range: Some(format!(\"A{row}:B{row}\")),\n    };\n    \
        rows.extend(input.call().await?.values);\n}\nrows";
    Ok(Server {
        name: "excel",
        package: PACKAGE,
        version: installed.pinned(PACKAGE)?,
        entry: json!({ "command": installed.python(PACKAGE), "args": ["stdio", "--allow-dir", folder] }),
        tools: 46,
        call: call("create_workbook", json!({ "path": "first.xlsx" }), "first.xlsx"),
        looped: example(looped, json!([[1, 2], [3, 4]])),
        kept: "describe_workbook",
        dropped: Some(("list_workbooks", "excel::list_workbooks().await?".to_owned())),
    })
}
