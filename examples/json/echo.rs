// A text and a structured result of the demo server.

let text = demo::echo("hello").await?.text();
let structured: Value = demo::json_response().await?.json()?;
json!({ "echo": text, "members": structured.as_object().map(|object| object.len()) })
