let mut out = serde_json::Map::new();
for f in ["dot.png", "tone.wav", "blob.bin"] {
    let r = filesystem::read_media_file(format!("/tmp/toolsmith-first-try/shop/media/{f}")).await?;
    let c = &r.content[0];
    let kind = match &c.type_ {
        filesystem::ReadMediaFileType::Image => "image".to_string(),
        filesystem::ReadMediaFileType::Audio => "audio".to_string(),
        filesystem::ReadMediaFileType::Resource => "resource".to_string(),
        filesystem::ReadMediaFileType::Other(s) => s.clone(),
    };
    let (ty, len) = match &c.resource {
        Some(r) => (r.mime_type.clone(), r.blob.len()),
        None => (c.mime_type.clone(), c.data.as_deref().unwrap_or_default().len()),
    };
    out.insert(f.to_string(), json!({"kind": kind, "type": ty, "base64": len}));
}
out
