let mut types: Vec<String> = vec![];
for f in ["dot.png", "tone.wav"] {
    let r = filesystem::read_media_file(format!("/tmp/toolsmith-first-try/shop/media/{f}")).await?;
    for c in r.content {
        types.push(c.mime_type.clone().unwrap_or_default());
        emit(serde_json::from_value::<Content>(serde_json::to_value(&c)?)?);
    }
}
types
