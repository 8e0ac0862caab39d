let weeks = Regex::new(r"\d{4}-W\d{2}(-\d)?")?;
let code = Regex::new(r"\b[A-Z]\d{2}\b")?;
let mut returned = vec![];
let mut refused = std::collections::BTreeMap::new();
for p in ["PX-1010", "PX-1001", "PX-1004", "PX-1070", "PX-9999", "PX-1013", "PX-1060", "PX-2003"] {
    match lockers::release(p, lockers::ReleaseReason::Returned).await {
        Ok(_) => returned.push(p),
        Err(e) => {
            let m = weeks.replace_all(&e.message, "").to_string();
            let c = code.find(&m).map(|x| x.as_str().to_string()).unwrap_or(m.clone());
            refused.insert(p, c);
        }
    }
}
json!({"returned": returned, "refused": refused})
