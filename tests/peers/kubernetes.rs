//! Runs the Kubernetes server (Go) over HTTP, its default, in front of a fake cluster.

use std::{net::TcpListener, path::Path, process::Stdio, time::Duration};

use axum::{
    Router,
    http::{StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use serde_json::{Value, json};
use tokio::{net::TcpStream, process::Command, time::timeout};

use crate::{
    product::{Checked, LOOK},
    servers::{Call, Example, Installed, KUBERNETES, Server, kubernetes_entry},
};

/// Time limit for the server to start listening.
const START: Duration = Duration::from_secs(30);

/// Starts the server, which stops when the returned child is dropped.
pub(crate) async fn listen(installed: &Installed, folder: &Path) -> Checked<(Server, tokio::process::Child)> {
    let failed = |error: std::io::Error| format!("{KUBERNETES} --port: {error}");
    let entry = kubernetes_entry(installed, folder, &cluster().await?)?;
    // It does not report its port, so choose one that was just free.
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).map_err(failed)?.port();
    let mut command = Command::new(entry["command"].as_str().unwrap_or_default());
    command.args(entry["args"].as_array().into_iter().flatten().filter_map(Value::as_str));
    command.args(["--port", &port.to_string()]).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let process = command.spawn().map_err(failed)?;
    let reach = async {
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            tokio::time::sleep(LOOK).await;
        }
    };
    timeout(START, reach).await.map_err(|_| format!("{KUBERNETES} does not listen"))?;
    let server = Server {
        name: "cluster",
        package: KUBERNETES,
        version: installed.version(KUBERNETES)?,
        entry: json!({ "type": "http", "url": format!("http://127.0.0.1:{port}/mcp") }),
        tools: 20,
        call: Call { tool: "namespaces_list", arguments: json!({}), says: "harbour" },
        looped: Example {
            code: "let mut seen = Vec::new();\nfor name in [\"harbour\", \"lighthouse\"] {\n    \
                let text = cluster::namespaces_list().await?.text();\n    \
                seen.push(text.contains(name));\n}\nseen"
                .to_owned(),
            result: json!([true, true]),
        },
        kept: "namespaces_list",
        dropped: Some(("pods_list", "cluster::pods_list().await?.text()".to_owned())),
    };
    Ok((server, process))
}

/// Serves enough of a cluster's API to list namespaces; returns its address.
async fn cluster() -> Checked<String> {
    let version = json!({ "major": "1", "minor": "34", "gitVersion": "v1.34.0" });
    let versions = json!({ "kind": "APIVersions", "versions": ["v1"] });
    let groups = json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": [] });
    let mut routes = Router::new();
    for (path, answer) in [
        ("/version", version),
        ("/api", versions),
        ("/apis", groups),
        ("/api/v1", resources()),
        ("/api/v1/namespaces", namespaces()),
    ] {
        routes = routes.route(path, get(async move || reply(StatusCode::OK, &answer)));
    }
    let routes = routes.fallback(async || reply(StatusCode::NOT_FOUND, &missing()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    tokio::spawn(async move { axum::serve(listener, routes).await });
    Ok(format!("http://{address}"))
}

fn reply(status: StatusCode, answer: &Value) -> impl IntoResponse + use<> {
    (status, [(header::CONTENT_TYPE, "application/json")], answer.to_string())
}

fn resources() -> Value {
    let namespaces = json!({
        "name": "namespaces", "singularName": "namespace", "namespaced": false, "kind": "Namespace",
        "verbs": ["get", "list"]
    });
    json!({ "kind": "APIResourceList", "groupVersion": "v1", "resources": [namespaces] })
}

/// As a table, the format in which the server requests lists.
fn namespaces() -> Value {
    let row = |name: &str| {
        let metadata = json!({ "name": name });
        let object =
            json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata });
        json!({ "cells": [name, "Active"], "object": object })
    };
    let column = |name: &str| json!({ "name": name, "type": "string" });
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": { "resourceVersion": "1" },
        "columnDefinitions": [column("Name"), column("Status")],
        "rows": [row("harbour"), row("lighthouse")]
    })
}

fn missing() -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404 })
}
