let mut addresses: Vec<String> = Vec::new();
let mut binary = 0usize;
for n in 1..=8i64 {
    let kind = if n % 2 == 1 { "Text" } else { "Blob" };
    let answer = everything::get_resource_reference()
        .resource_id(n as f64)
        .resource_type(kind)
        .await?;
    let mut seen = false;
    for block in &answer.content {
        let v = json!(block);
        if v["type"] != "resource" {
            continue;
        }
        let r = &v["resource"];
        if let Some(uri) = r["uri"].as_str() {
            addresses.push(uri.to_string());
            seen = true;
            if r["blob"].is_string() {
                binary += 1;
            }
        }
    }
    if !seen {
        bail!("no resource in: {}", json!(&answer.content));
    }
}
let error = match everything::get_resource_reference().resource_id(0.0).resource_type("Text").await {
    Ok(_) => bail!("number 0 did not fail"),
    Err(e) => e.message.to_string(),
};
json!({ "addresses": addresses, "binary": binary, "error": error })
