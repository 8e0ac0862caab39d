let mut out = serde_json::Map::new();
for p in ["convert time between time zones", "show the commit logs", "delete entities from the knowledge graph"] {
    let found = search_tools(p).await?;
    out.insert(p.to_string(), json!(found.first().map(|f| f.tool.clone())));
}
out
