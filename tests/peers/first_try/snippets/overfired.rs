#[derive(Deserialize)]
struct Shelf { pieces: Vec<Piece> }
#[derive(Deserialize)]
struct Piece { id: String, clay: String }
let row = Regex::new(r"^(F-\S+)\s+(\S+)\s+(\S+ \d\d:\d\d)\s+(\S+)\s+(.*?)\s+(\w+)\s*$")?;
let log = kilns::firing_log().await?.result;
let mut noted: BTreeMap<String, usize> = BTreeMap::new();
let mut already: Vec<String> = vec![];
for line in log.lines().filter(|l| l.starts_with("F-")) {
    let Some(c) = row.captures(line) else { anyhow::bail!("row? {line}") };
    if &c[6] != "done" { continue; }
    let peak: f64 = c[5].chars().filter(|c| !c.is_whitespace()).collect::<String>().replace(',', ".").parse()?;
    if peak <= 1250.0 { continue; }
    let firing = c[1].to_string();
    let plan = kilns::shelf_plan(&firing).await?.text().to_string();
    let start = plan.find('[').ok_or_else(|| anyhow::anyhow!("plan? {plan}"))?;
    let end = plan.rfind(']').ok_or_else(|| anyhow::anyhow!("plan? {plan}"))?;
    let shelves: Vec<Shelf> = serde_json::from_str(&plan[start..=end])?;
    let mut n = 0usize;
    for p in shelves.iter().flat_map(|s| &s.pieces).filter(|p| p.clay == "stoneware") {
        let word = Regex::new(&format!(r"(^|[^\w/-]){}($|[^\w/])", p.id))?;
        let count = |t: &str| t.lines().filter(|l| word.is_match(l)).count();
        let before = count(&kilns::defects(&firing).await?.result);
        match kilns::note_defect(&firing, &p.id, kilns::NoteDefectKind::Overfired).await {
            Ok(_) => {
                let after = count(&kilns::defects(&firing).await?.result);
                if after > before { n += 1 } else { already.push(format!("{firing} {}", p.id)) }
            }
            Err(e) => {
                let s = format!("{e:?}").to_lowercase();
                if !["already", "noted", "once", "exists", "duplicate"].iter().any(|w| s.contains(w)) { anyhow::bail!("{firing} {}: {s}", p.id); }
                already.push(format!("{firing} {}", p.id));
            }
        }
    }
    noted.insert(firing, n);
}
json!({"noted": noted, "already": already})
