let dir = "/tmp/toolsmith-first-try/shop/orders";
async fn files(dir: &str) -> anyhow::Result<Vec<String>> {
    Ok(filesystem::list_directory(dir).await?.content.lines()
        .filter_map(|l| l.trim().strip_prefix("[FILE]").map(|n| n.trim().to_string())).collect())
}
let names: Vec<String> = files(dir).await?.into_iter().filter(|n| n.ends_with(".json")).collect();
let texts = concurrently(8, &names, |n| async move { filesystem::read_text_file(format!("{dir}/{n}")).await }).await?;
let mut moved: Vec<String> = names.iter().zip(texts.iter())
    .filter(|(_, t)| serde_json::from_str::<Value>(&t.content).is_err()).map(|(n, _)| n.clone()).collect();
moved.sort();
filesystem::create_directory(format!("{dir}/broken")).await?;
for n in &moved { filesystem::move_file(format!("{dir}/{n}"), format!("{dir}/broken/{n}")).await?; }
let list: String = moved.iter().map(|n| format!("{n}\n")).collect();
filesystem::write_file(format!("{dir}/broken/list.txt"), list).await?;
let left = files(dir).await?.len();
json!({"moved": moved, "left": left})
