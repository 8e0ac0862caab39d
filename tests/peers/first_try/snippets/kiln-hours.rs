let row = Regex::new(r"^(\S+)\s+(east|west|raku)\s+2025-W0[6-9]-\d \d\d:\d\d\s+(\d+)h(\d\d)\s.*\bdone$")?;
let log = kilns::firing_log().await?.result;
let mut sums: BTreeMap<String, (i64, i64)> = BTreeMap::new();
for c in log.lines().filter_map(|l| row.captures(l)) {
    let sum = sums.entry(c[2].to_string()).or_default();
    sum.0 += 1;
    sum.1 += c[3].parse::<i64>()? * 60 + c[4].parse::<i64>()?;
}
sums.into_iter().map(|(k, (firings, minutes))| (k, json!({"firings": firings, "minutes": minutes}))).collect::<BTreeMap<_, _>>()
