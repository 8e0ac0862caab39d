let entry = Regex::new(r"'id': '([^']+)', 'size': '([SML])', 'wants': '([^']+)'")?;
let more = Regex::new(r"'more': (\d+)")?;
let mut parcels = Vec::new();
let mut after = 0i64;
loop {
    let text = lockers::intake().after(after).await?.text();
    for c in entry.captures_iter(&text) {
        parcels.push((c[1].to_string(), c[2].to_string(), c[3].to_string()));
    }
    match more.captures(&text) {
        Some(c) => after = c[1].parse()?,
        None => break,
    }
}
parcels.sort();
let rank = |size: &str| "SML".find(size).unwrap_or(9);
let (mut stowed, mut left) = (BTreeMap::new(), Vec::new());
for (id, size, wants) in &parcels {
    let text = lockers::compartments(wants).await?.text();
    let mut free = Vec::new();
    for block in text.split("--\n") {
        let get = |key: &str| block.lines().find_map(|l| l.strip_prefix(key)).unwrap_or("").to_string();
        if get("state: ") == "free" && rank(&get("size: ")) >= rank(size) {
            free.push((rank(&get("size: ")), get("no: ")));
        }
    }
    free.sort();
    let mut place = None;
    for (_, no) in free {
        match lockers::stow(id, &no).await {
            Ok(_) => { place = Some(no); break; }
            Err(e) if e.message.contains("E23") => {}
            Err(e) => return Err(e.into()),
        }
    }
    match place {
        Some(no) => { stowed.insert(id.clone(), no); }
        None => left.push(id.clone()),
    }
}
json!({"stowed": stowed, "left": left})
