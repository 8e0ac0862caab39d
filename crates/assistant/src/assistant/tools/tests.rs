//! The two tools over resources, with servers that are shell scripts.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

use std::path::Path;

use agent::Block;
use config::LoadOptions;
use gateway::pins::Known;
use server::snapshot::Settings;
use terminal::Terminal;
use tokio::sync::watch;

use super::*;

/// A server with one resource, whose text is its first argument.
const SERVER: &str = r#"while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  [ -z "$id" ] && continue
  member=result
  case "$line" in
    *'"initialize"'*) answer='{"protocolVersion":"2025-11-25","capabilities":{"resources":{},"tools":{}},"serverInfo":{"name":"s","version":"1"}}';;
    *'"tools/list"'*) answer='{"tools":[]}';;
    *'"resources/list"'*) answer='{"resources":[{"uri":"note://'"$1"'","name":"a note"}]}';;
    *'"resources/templates/list"'*) answer='{"resourceTemplates":[]}';;
    *'"resources/read"'*) answer='{"contents":[{"uri":"note://'"$1"'","text":"of '"$1"'"},{"uri":"note://x","mimeType":"image/png","blob":"AAAA"}]}';;
    *) member=error; answer='{"code":-32601,"message":"method not found"}';;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"%s":%s}\n' "$id" "$member" "$answer"
done
"#;

/// A host that answers no questions.
struct NoHost;

impl mcp::Host for NoHost {
    fn notice(&self, _: &str, _: &mcp::Notice) {}
}

async fn tools(folder: &Path) -> Tools {
    let script = folder.join("server.sh");
    std::fs::write(&script, SERVER).unwrap();
    let entry =
        |name: &str, more: &str| format!("  {name}: {{ command: sh, args: [{script:?}, {name}]{more} }}\n");
    let servers = [
        entry("open", ", permissions: { mcp_resource_read: allow }"),
        entry("asked", ""),
        entry("hidden", ", permission: deny"),
    ];
    let file = folder.join("given.yaml");
    std::fs::write(&file, format!("mcpServers:\n{}", servers.concat())).unwrap();
    let options = LoadOptions { file: Some(file), ..LoadOptions::default() };
    let settings = Settings::new(config::load(&options).unwrap(), Known::default(), None).unwrap();
    let terminal = Arc::new(Terminal::new(true, false));
    let settings = watch::channel(settings).1;
    let cache = runner::Cache::open(&folder.join("cache"), runner::DEFAULT_SIZE).unwrap();
    let state = ServerState::with_cache((cache, None), settings, Vec::new(), terminal).unwrap();
    let on_progress: ProgressHandler = Arc::new(|_, _| {});
    Tools::connect(&state, Arc::new(NoHost), AgentIsolation::Alone, on_progress).await.unwrap()
}

async fn call(tools: &Tools, name: &str, arguments: Value) -> ToolResult {
    let call = ToolCall { id: "1".to_owned(), name: name.to_owned(), arguments, signatures: Vec::new() };
    tools.call(&call).await
}

#[tokio::test]
async fn resources_of_all_servers_are_listed_and_read_with_permission() {
    let folder = tempfile::tempdir().unwrap();
    let tools = tools(folder.path()).await;

    let listed = call(&tools, LIST, json!({})).await.texts();
    for phrase in ["note://open", "note://asked", "\"server\":\"open\""] {
        assert!(listed.contains(phrase), "{phrase}: {listed}");
    }
    assert!(!listed.contains("note://hidden"), "{listed}");
    let one = call(&tools, LIST, json!({ "server": "asked", "query": "NOTE" })).await.texts();
    assert!(one.contains("note://asked") && !one.contains("note://open"), "{one}");

    for arguments in [json!({ "uri": "note://open" }), json!({ "uri": "note://open", "server": "open" })] {
        let read = call(&tools, READ, arguments).await;
        assert!(!read.is_error, "{}", read.texts());
        assert_eq!(read.blocks[0], Block::text("of open"));
        assert!(matches!(&read.blocks[1], Block::Media { media_type, .. } if media_type == "image/png"));
    }
    for (uri, phrases) in [
        ("note://asked", ["denied", "mcp_resource_read"]),
        ("note://opan", ["no server has the resource", "did you mean note://open"]),
        ("note://hidden", ["no server has the resource", "note://hidden"]),
    ] {
        let refused = call(&tools, READ, json!({ "uri": uri })).await;
        assert!(refused.is_error, "{uri}");
        let text = refused.texts();
        assert!(phrases.iter().all(|phrase| text.contains(phrase)), "{uri}: {text}");
    }
    tools.close().await;
}
