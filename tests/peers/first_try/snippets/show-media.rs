let mut types: Vec<String> = vec![];
for n in ["dot.png", "tone.wav"] {
    let out = filesystem::read_media_file(format!("/tmp/toolsmith-first-try/shop/media/{n}")).await?;
    for c in &out.content {
        types.push(c.mime_type.clone().unwrap_or_default());
    }
    emit(&out);
}
types
