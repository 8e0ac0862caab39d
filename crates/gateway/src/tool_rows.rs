//! The tools of a server as users list them: with their permissions, and how they are called.

use config::Config;
use serde_json::{Value, json};

use crate::direct::Partition;
use crate::pins::Pins;
use crate::tool_list::ToolList;

/// The tools of a server as it sent them, each with its permission and how it is called.
pub fn rows(
    config: &Config,
    pins: &Pins,
    partition: &Partition,
    server: &str,
    list: &ToolList,
) -> Vec<Value> {
    let held = pins.held(server, list);
    let row = |raw: Value| {
        let name = raw["name"].as_str()?;
        let permission = config.permission(server, name);
        let direct = partition.direct.iter().find(|tool| tool.server == server && tool.tool == name);
        let place = if !config.admits(server, name) {
            "filtered"
        } else if held.contains(name) {
            "held back"
        } else if list.is_for_apps(name) {
            "for apps only"
        } else if direct.is_some() {
            "direct"
        } else {
            "code mode"
        };
        Some(json!({ "name": name, "description": raw["description"], "inputSchema": raw["inputSchema"],
            "outputSchema": raw["outputSchema"], "annotations": raw["annotations"], "permission": permission,
            "place": place, "directName": direct.map(|tool| &tool.name), "safeName": direct.map(|tool| &tool.safe_name) }))
    };
    list.tools().filter_map(row).collect()
}

/// Returns the path that calls a tool, with its name if clients call it directly.
pub fn called_by(row: &Value) -> String {
    match (row["place"].as_str(), row["directName"].as_str()) {
        (Some("direct"), Some(name)) => format!("direct: {name}"),
        (place, _) => place.unwrap_or_default().to_owned(),
    }
}
