let log = kilns::firing_log().kiln("east").await?.result;
let firings: Vec<String> = log.lines().skip(1).filter(|l| l.ends_with("done"))
    .filter_map(|l| l.split_whitespace().next().map(str::to_string)).collect();
concurrently(3, &firings, |firing| async move {
    let (mut part, mut parts) = (1i64, 1i64);
    let (mut hottest, mut at, mut hot) = (f64::MIN, 0i64, 0);
    while part <= parts {
        let text = kilns::curve(firing).part(part).await?.text();
        let mut lines = text.lines();
        let head = lines.next().context("no head")?;
        parts = head.rsplit('/').next().context("no parts")?.parse()?;
        for line in lines {
            let (time, value) = line.split_once(';').context("no reading")?;
            let (h, m) = time.split_once('h').context("no time")?;
            let value: f64 = value.replace([' ', '\u{a0}'], "").replace(',', ".").parse()?;
            if value > hottest {
                hottest = value;
                at = h.parse::<i64>()? * 60 + m.parse::<i64>()?;
            }
            if value >= 1000.0 { hot += 1; }
        }
        part += 1;
    }
    Ok::<_, anyhow::Error>(json!({"firing": firing, "hottest": hottest, "at": at, "hot": hot}))
}).await?
