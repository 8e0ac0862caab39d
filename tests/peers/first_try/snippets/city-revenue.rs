let root = "/tmp/toolsmith-first-try/shop";
let csv = filesystem::read_text_file(format!("{root}/customers.csv")).await?.content;
let mut rows = csv.lines().filter(|l| !l.trim().is_empty());
let header: Vec<String> = rows.next().unwrap_or("").split(',').map(|h| h.trim().trim_matches('"').to_string()).collect();
let id_at = header.iter().position(|h| h == "id").unwrap_or(0);
let city_at = header.iter().position(|h| h == "city").unwrap_or(2);
let mut city_of: HashMap<String, String> = HashMap::new();
for row in rows {
    let mut cells: Vec<String> = vec![String::new()];
    let mut quoted = false;
    for c in row.trim_end().chars() {
        if c == '"' {
            quoted = !quoted;
        } else if c == ',' && !quoted {
            cells.push(String::new());
        } else {
            cells.last_mut().unwrap().push(c);
        }
    }
    if cells.len() > id_at && cells.len() > city_at {
        city_of.insert(cells[id_at].trim().to_string(), cells[city_at].trim().to_string());
    }
}
let listing = filesystem::list_directory(format!("{root}/orders")).await?.content;
let names: Vec<String> = listing.lines().filter_map(|l| l.strip_prefix("[FILE] ")).map(|n| n.trim().to_string()).collect();
let files = concurrently(8, &names, |n| async move {
    filesystem::read_text_file(format!("/tmp/toolsmith-first-try/shop/orders/{n}")).await.map(|r| (n.clone(), r.content))
}).await?;
let mut unreadable: Vec<String> = Vec::new();
let mut cities: BTreeMap<String, (i64, f64)> = BTreeMap::new();
for (name, text) in &files {
    let order = match text.parse::<Value>() {
        Ok(order) => order,
        Err(_) => {
            unreadable.push(name.clone());
            continue;
        }
    };
    let customer = match &order["customer"] {
        Value::String(s) => s.clone(),
        other => other.to_string(),
    };
    let city = match city_of.get(&customer) {
        Some(city) => city.clone(),
        None => bail!("{name}: no city for customer {customer}"),
    };
    let mut sum = 0.0f64;
    if let Some(lines) = order["lines"].as_array() {
        for line in lines {
            sum += line["count"].as_f64().unwrap_or(0.0) * line["price"].as_f64().unwrap_or(0.0);
        }
    }
    let entry = cities.entry(city).or_insert((0, 0.0));
    entry.0 += 1;
    entry.1 += sum;
}
unreadable.sort();
let mut list: Vec<(String, i64, f64)> = cities.into_iter().map(|(c, (n, r))| (c, n, r)).collect();
list.sort_by(|a, b| b.2.total_cmp(&a.2));
let cities: Vec<Value> = list.iter().map(|(c, n, r)| json!({"city": c, "orders": n, "revenue": (r * 100.0).round() / 100.0})).collect();
json!({"unreadable": unreadable, "cities": cities})
