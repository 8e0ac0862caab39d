// Passes an image on to whoever runs the snippet, without printing its data.
//
//   toolsmith run --json examples/picture.rs

// `image` has no output schema: its answer is a `ToolResult` with the content blocks as they came.
let answer = demo::image().await?;
let pictures = answer.content.iter().filter(|part| part.kind() == "image");

let mut count = 0;
for picture in pictures {
    emit(picture);
    count += 1;
}
format!("{count} picture; the tool says: {}", answer.text())
