let defect = Regex::new(r"'id': '([^']+)', 'text': .*?, 'safety': (True|False), 'outcome': (None|'[^']*')")?;
let (mut deferred, mut released, mut blocked) = (0, Vec::new(), BTreeMap::new());
for number in 2101i64..=2112 {
    let text = trams::tram(number).await?.text();
    if !text.contains("'state': 'workshop'") { continue; }
    let mut left = Vec::new();
    for c in defect.captures_iter(&text).filter(|c| &c[3] == "None") {
        if &c[2] == "True" {
            left.push(c[1].to_string());
        } else {
            trams::close_defect(&c[1], "deferred").await?;
            deferred += 1;
        }
    }
    if left.is_empty() {
        trams::release_tram(number).await?;
        released.push(number);
    } else {
        blocked.insert(number.to_string(), left);
    }
}
json!({"deferred": deferred, "released": released, "blocked": blocked})
