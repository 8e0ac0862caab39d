let log = kilns::firing_log().await?.result;
let row = Regex::new(r"^(\S+).*?\d+h\d\d\s+([\d ]+,\d)\s+done$")?;
let (mut noted, mut already) = (BTreeMap::new(), Vec::new());
for c in log.lines().filter_map(|l| row.captures(l)) {
    let firing = c[1].to_string();
    let peak: f64 = c[2].replace(' ', "").replace(',', ".").parse()?;
    if peak <= 1250.0 { continue; }
    let plan = kilns::shelf_plan(&firing).await?.text();
    let shelves: Value = plan.split_once('\n').context("no plan")?.1.parse()?;
    let mut count = 0;
    for shelf in shelves.as_array().context("no shelves")? {
        for piece in shelf["pieces"].as_array().context("no pieces")? {
            if piece["clay"] != "stoneware" { continue; }
            let id = piece["id"].as_str().context("no id")?;
            match kilns::note_defect(&firing, id, "overfired").await {
                Ok(_) => count += 1,
                Err(e) if e.message.contains("already noted") => already.push(format!("{firing} {id}")),
                Err(e) => return Err(e.into()),
            }
        }
    }
    noted.insert(firing, count);
}
json!({"noted": noted, "already": already})
