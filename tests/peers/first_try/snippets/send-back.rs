let code = Regex::new(r"\b[A-Z]\d{2}\b")?;
let mut returned: Vec<String> = vec![];
let mut refused: BTreeMap<String, String> = BTreeMap::new();
for p in ["PX-1010", "PX-1001", "PX-1004", "PX-1070", "PX-9999", "PX-1013", "PX-1060", "PX-2003"] {
    match lockers::release(p, lockers::ReleaseReason::Returned).await {
        Ok(_) => returned.push(p.to_string()),
        Err(e) => {
            let m = e.message.to_string();
            let c = code.find(&m).ok_or_else(|| anyhow!("no code in {m}"))?;
            refused.insert(p.to_string(), c.as_str().to_string());
        }
    }
}
json!({"returned": returned, "refused": refused})
