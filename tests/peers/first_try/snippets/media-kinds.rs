let mut out = serde_json::Map::new();
for n in ["dot.png", "tone.wav", "blob.bin"] {
    let r = filesystem::read_media_file(format!("/tmp/toolsmith-first-try/shop/media/{n}")).await?;
    let c = &r.content[0];
    let kind = serde_json::to_value(&c.type_)?;
    let (mime, len) = match &c.resource {
        Some(r) => (r.mime_type.clone(), r.blob.len()),
        None => (c.mime_type.clone(), c.data.as_ref().map(|d| d.len()).unwrap_or(0)),
    };
    out.insert(n.to_string(), json!({"kind": kind, "type": mime, "base64": len}));
}
Value::Object(out)
