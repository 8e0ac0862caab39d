let mut types = Vec::new();
for name in ["dot.png", "tone.wav"] {
    let media = filesystem::read_media_file(format!("/tmp/toolsmith-first-try/shop/media/{name}")).await?;
    let part = media.content.first().context("nothing")?;
    let (data, kind) = (part.data.clone().context("no data")?, part.mime_type.clone().context("no type")?);
    emit(if kind.starts_with("image/") { Content::image(data, &kind) } else { Content::audio(data, &kind) });
    types.push(kind);
}
types
