use everything::GetResourceReferenceResourceType as Kind;
let mut addresses: Vec<String> = vec![];
let mut binary = 0;
for n in 1..=8 {
    let kind = if n % 2 == 1 { Kind::Text } else { Kind::Blob };
    let r = everything::get_resource_reference().resource_id(n as f64).resource_type(kind).await?;
    for c in &r.content {
        if c.kind() == "resource" {
            let v = serde_json::to_value(c)?;
            let res = &v["resource"];
            addresses.push(res["uri"].as_str().unwrap_or("").to_string());
            if res["blob"].is_string() { binary += 1; }
        }
    }
}
let error = match everything::get_resource_reference().resource_id(0.0).resource_type(Kind::Text).await {
    Ok(r) => format!("no error: {}", r.text()),
    Err(e) => e.message.to_string(),
};
json!({"addresses": addresses, "binary": binary, "error": error})
