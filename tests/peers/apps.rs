//! Apps of the official package: two servers whose views have one address, and a host whose app shows the view that a
//! snippet hands on, and calls a tool of its server.

use serde_json::{Value, json};

use crate::{
    clients::{Serving, must},
    product::{Checked, Product},
    servers::Installed,
    table::Row,
};

/// The name of this part.
pub(crate) const PART: &str = "apps";

/// The official package for apps.
const PACKAGE: &str = "@modelcontextprotocol/ext-apps";

const HANDS_ON: &str = "let answer = go::show(\"D4\").raw().await?;\nemit(answer.view());";

pub(crate) async fn run(installed: &Installed, product: &Product) -> Checked<Row> {
    Ok(Row {
        peer: format!("{PACKAGE}: apps"),
        version: installed.version(PACKAGE)?,
        transport: "http",
        protocol: "2025-11-25".to_owned(),
        tools: "-".to_owned(),
        failure: check(installed, product).await.err(),
    })
}

async fn check(installed: &Installed, product: &Product) -> Checked<()> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/clients/apps_server.mjs");
    let entry = |name: &str, code_mode: bool| {
        json!({
            "command": installed.node(), "args": [script, name], "env": { "TOOLSMITH_PEERS": installed.folder() },
            "codeMode": code_mode, "trust": true,
        })
    };
    let servers = json!({ "chess": entry("chess", false), "go": entry("go", true) });
    let config = json!({ "mcpServers": servers, "serve": { "listWait": 30_000 } });
    let serving = Serving::of(product, folder.path(), &config)?;
    let listening = serving.listen().await?;
    let seen = serving.run_client(installed, "apps.mjs", &[listening.address(), HANDS_ON]).await?;
    let view = |name: &str| {
        json!({
            "isAsked": true, "isDocument": true, "text": format!("<title>{name}</title>"), "allow": "camera",
            "connects": [format!("https://{name}.example")],
        })
    };
    let with = |mut view: Value, name: &str, value: Value| {
        view[name] = value;
        view
    };
    let views = json!({
        "show": with(view("chess"), "isForApps", json!(false)),
        "press_chess": with(view("chess"), "isForApps", json!(true)),
        "press_go": with(view("go"), "isForApps", json!(true)),
    });
    must(seen["views"] == views, "the views of the tools", &seen)?;
    must(seen["link"] == with(view("go"), "name", json!("show")), "the view of the snippet", &seen)?;
    let received = &seen["received"];
    let is_whole = received["input"]["arguments"] == json!({ "move": "D4" })
        && received["result"]["structuredContent"] == json!({ "go": "D4" });
    must(is_whole, "the call that the app shows", &seen)?;
    must(seen["pressed"]["structuredContent"] == json!({ "go": "D4" }), "the call of the app", &seen)
}
