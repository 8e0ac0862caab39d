// Passes an image on to the caller, without printing its data.
//
//   toolsmith run --json examples/picture.rs

// `image` has no output schema, so it returns a `ToolResult` with the content blocks as the server sent them.
let result = demo::image().await?;
let pictures = result.content.iter().filter(|part| part.kind() == "image");

let mut count = 0;
for picture in pictures {
    emit(picture);
    count += 1;
}
format!("{count} picture; the tool says: {}", result.text())
