use everything::GetResourceReferenceResourceType as Kind;
let mut addresses: Vec<String> = vec![];
let mut binary = 0;
for i in 1..=8 {
    let kind = if i % 2 == 1 { Kind::Text } else { Kind::Blob };
    let r = everything::get_resource_reference().resource_id(i as f64).resource_type(kind).await?;
    for c in r.content.iter().filter(|c| c.kind() == "resource") {
        let v = &c.as_json()["resource"];
        addresses.push(v["uri"].as_str().unwrap_or("").to_string());
        if v["blob"].is_string() { binary += 1; }
    }
}
let error = match everything::get_resource_reference().resource_id(0.0).resource_type(Kind::Text).await {
    Ok(r) => r.text(),
    Err(e) => e.message.clone(),
};
json!({"addresses": addresses, "binary": binary, "error": error})
