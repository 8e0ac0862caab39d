let dir = "/tmp/toolsmith-first-try/shop/orders";
let names: Vec<String> = filesystem::list_directory(dir).await?.content.lines().filter_map(|x| x.strip_prefix("[FILE] ")).map(|s| s.trim().to_string()).sorted().collect();
let texts = concurrently(8, &names, |n| async move { filesystem::read_text_file(format!("{dir}/{n}")).await }).await?;
let bad: Vec<String> = names.iter().zip(&texts).filter(|(_, t)| serde_json::from_str::<Value>(&t.content).is_err()).map(|(n, _)| n.clone()).collect();
filesystem::create_directory(format!("{dir}/broken")).await?;
for n in &bad { filesystem::move_file(format!("{dir}/{n}"), format!("{dir}/broken/{n}")).await?; }
filesystem::write_file(format!("{dir}/broken/list.txt"), bad.iter().map(|n| format!("{n}\n")).collect::<String>()).await?;
let left = filesystem::list_directory(dir).await?.content.lines().filter(|l| l.starts_with("[FILE] ")).count();
json!({"moved": bad, "left": left})
