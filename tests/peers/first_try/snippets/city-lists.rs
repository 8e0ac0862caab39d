let shop = "/tmp/toolsmith-first-try/shop";
let csv = filesystem::read_text_file(format!("{shop}/customers.csv")).await?.content;
let mut cities: BTreeMap<String, Vec<String>> = BTreeMap::new();
for line in csv.lines().skip(1) {
    let cells: Vec<&str> = line.trim().split(',').collect();
    if cells.len() == 3 { cities.entry(cells[2].to_string()).or_default().push(cells[1].to_string()); }
}
filesystem::create_directory(format!("{shop}/cities")).await?;
for (city, names) in &mut cities {
    names.sort();
    filesystem::write_file(format!("{shop}/cities/{city}.txt"), format!("{}\n{}\n", names.len(), names.join("\n"))).await?;
}
let mut files: Vec<String> = filesystem::list_directory(format!("{shop}/cities")).await?.content.lines()
    .filter_map(|l| l.strip_prefix("[FILE] ")).map(str::to_string).collect();
files.sort();
files
