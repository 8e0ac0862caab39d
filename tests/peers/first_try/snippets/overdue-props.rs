let line = Regex::new(r"^\[([^\]]+)\] (.*?) :: (\w+) :: (.*)$")?;
let more = Regex::new(r"\(more: (\w+)\)")?;
let (mut found, mut token): (Vec<(String, String, String)>, Option<String>) = (Vec::new(), None);
loop {
    let text = props::SearchPropsInput { words: None, kind: None, token: token.clone() }.call().await?.text();
    for c in text.lines().filter_map(|l| line.captures(l)) {
        found.push((c[1].to_string(), c[2].to_string(), c[4].to_string()));
    }
    token = more.captures(&text).map(|c| c[1].to_string());
    if token.is_none() { break; }
}
let lent = Regex::new(r"^lent to (.*) until (\S+)$")?;
let day = chrono::NaiveDate::from_ymd_opt(2025, 5, 16).context("day")?;
let mut sums: BTreeMap<String, (i64, f64)> = BTreeMap::new();
for (id, _, place) in &found {
    let Some(c) = lent.captures(place) else { continue };
    if chrono::NaiveDate::parse_from_str(&c[2], "%G-W%V-%u")? >= day { continue; }
    let worth = props::prop_card(id).await?.worth;
    let worth: f64 = worth.trim_end_matches(" EUR").replace('.', "").replace(',', ".").parse()?;
    let sum = sums.entry(c[1].to_string()).or_default();
    sum.0 += 1;
    sum.1 += worth;
}
sums.into_iter().map(|(k, (n, worth))| (k, json!({"props": n, "worth": worth}))).collect::<BTreeMap<_, _>>()
