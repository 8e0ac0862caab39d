let from = args.get("from").context("from")?.to_string();
let to = args.get("to").context("to")?.to_string();
let parse = |text: &str| -> Vec<(String, String, String, String)> {
    text.split("--\n").map(|block| {
        let get = |key: &str| block.lines().find_map(|l| l.strip_prefix(key)).unwrap_or("").to_string();
        (get("no: "), get("size: "), get("state: "), get("parcel: "))
    }).collect()
};
let rank = |size: &str| "SML".find(size).unwrap_or(9);
let intake_size = Regex::new(r"'id': '([^']+)', 'size': '([SML])'")?;
let held: Vec<_> = parse(&lockers::compartments(&from).await?.text()).into_iter().filter(|c| c.3 != "-").collect();
let mut moved: Vec<(String, String, String)> = Vec::new();
let mut failed = false;
for (no, _, _, parcel) in &held {
    lockers::release(parcel, "moved").await?;
    let mut size = None;
    let mut after = 0i64;
    while size.is_none() {
        let text = lockers::intake().after(after).await?.text();
        size = intake_size.captures_iter(&text).find(|c| &c[1] == parcel.as_str()).map(|c| c[2].to_string());
        after += intake_size.captures_iter(&text).count() as i64;
    }
    let size = size.context("size")?;
    let mut free: Vec<_> = parse(&lockers::compartments(&to).await?.text()).into_iter()
        .filter(|c| c.2 == "free" && rank(&c.1) >= rank(&size)).map(|c| (rank(&c.1), c.0)).collect();
    free.sort();
    let mut place = None;
    for (_, candidate) in free {
        match lockers::stow(parcel, &candidate).await {
            Ok(_) => { place = Some(candidate); break; }
            Err(e) if e.message.contains("E23") => {}
            Err(e) => return Err(e.into()),
        }
    }
    match place {
        Some(place) => moved.push((parcel.clone(), no.clone(), place)),
        None => {
            lockers::stow(parcel, no).await?;
            failed = true;
            break;
        }
    }
}
if failed {
    for (parcel, no, _) in moved.drain(..) {
        lockers::release(&parcel, "moved").await?;
        lockers::stow(&parcel, &no).await?;
    }
}
json!({"done": !failed, "moved": moved.into_iter().map(|(p, _, c)| (p, c)).collect::<BTreeMap<_, _>>()})
