let mut out: BTreeMap<String, Value> = BTreeMap::new();
for name in ["dot.png", "tone.wav", "blob.bin"] {
    let answer = filesystem::read_media_file(format!("/tmp/toolsmith-first-try/shop/media/{name}")).await?;
    let item = answer.content.first().with_context(|| format!("{name}: no content"))?;
    let kind = match &item.type_ {
        filesystem::ReadMediaFileType::Image => "image".to_string(),
        filesystem::ReadMediaFileType::Audio => "audio".to_string(),
        filesystem::ReadMediaFileType::Resource => "resource".to_string(),
        filesystem::ReadMediaFileType::Other(s) => s.to_string(),
    };
    let (mime, length) = match &item.resource {
        Some(resource) => (resource.mime_type.clone(), resource.blob.len()),
        None => (item.mime_type.clone(), item.data.as_ref().map_or(0, |d| d.len())),
    };
    out.insert(name.to_string(), json!({"kind": kind, "type": mime, "base64": length}));
}
out
