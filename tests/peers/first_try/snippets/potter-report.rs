let log = kilns::firing_log().await?.result;
let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
for firing in log.lines().skip(1).filter_map(|l| l.split_whitespace().next()) {
    let defects = kilns::defects(firing).await?.result;
    let bad: BTreeSet<&str> = defects.lines().filter_map(|l| l.split_whitespace().next()).collect();
    let plan = kilns::shelf_plan(firing).await?.text();
    let shelves: Value = plan.split_once('\n').context("no plan")?.1.parse()?;
    for shelf in shelves.as_array().context("no shelves")? {
        for piece in shelf["pieces"].as_array().context("no pieces")? {
            let count = counts.entry(piece["potter"].as_str().context("no potter")?.to_string()).or_default();
            count.1 += 1;
            if bad.contains(piece["id"].as_str().context("no id")?) { count.0 += 1; }
        }
    }
}
let lines: Vec<String> = counts.iter().filter(|(_, c)| c.0 > 0).map(|(p, c)| format!("{p}: {} of {}", c.0, c.1)).collect();
filesystem::create_directory("/tmp/toolsmith-first-try/shop/reports").await?;
filesystem::write_file("/tmp/toolsmith-first-try/shop/reports/defects.txt", lines.join("\n") + "\n").await?;
lines
