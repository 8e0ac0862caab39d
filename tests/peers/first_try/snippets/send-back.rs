let code = Regex::new(r"\bE\d\d\b")?;
let (mut returned, mut refused) = (Vec::new(), BTreeMap::new());
for id in ["PX-1010", "PX-1001", "PX-1004", "PX-1070", "PX-9999", "PX-1013", "PX-1060", "PX-2003"] {
    match lockers::release(id, "returned").await {
        Ok(_) => returned.push(id),
        Err(e) => {
            let found = code.find(&e.message).with_context(|| e.message.to_string())?.as_str().to_string();
            refused.insert(id, found);
        }
    }
}
json!({"returned": returned, "refused": refused})
