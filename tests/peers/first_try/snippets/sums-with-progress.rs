let csv = filesystem::read_text_file("/tmp/toolsmith-first-try/shop/pairs.csv").await?.content;
let mut pairs: Vec<(f64, f64)> = vec![];
for l in csv.lines().skip(1).filter(|l| !l.trim().is_empty()) {
    let n: Vec<f64> = l.split(|c| c == ',' || c == ';').filter_map(|x| x.trim().parse().ok()).collect();
    pairs.push((n[0], n[1]));
}
let re = Regex::new(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")?;
let mut sums: Vec<f64> = vec![];
for (i, (a, b)) in pairs.iter().enumerate() {
    let t = everything::get_sum(*a, *b).await?.text();
    let last = re.find_iter(&t).last().map(|m| m.as_str().to_string()).unwrap_or_default();
    sums.push(last.parse()?);
    if (i + 1) % 50 == 0 { progress(i + 1, pairs.len(), format!("{} pairs", i + 1)); }
}
let total = (sums.iter().sum::<f64>() * 1e6).round() / 1e6;
let largest = sums.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
json!({"pairs": sums.len(), "total": total, "largest": largest})
