// Calls tools, so that bindings are compiled.
let said = demo::echo("a bundle").await?.text();
let more = concurrently(2, ["one", "two"], |text| async move { Ok::<_, anyhow::Error>(demo::echo(text).await?.text()) }).await?;
[said, more.concat()]
