let mut out = serde_json::Map::new();
for name in ["east", "west", "raku"] {
    let mut asks = 0;
    loop {
        let kiln = match name { "east" => kilns::ProbeKiln::East, "west" => kilns::ProbeKiln::West, _ => kilns::ProbeKiln::Raku };
        asks += 1;
        match kilns::probe(kiln).await {
            Ok(p) => {
                out.insert(name.to_string(), json!({"celsius": p.celsius, "phase": p.phase, "asks": asks}));
                break;
            }
            Err(e) if asks < 5 && e.message.to_uppercase().contains("BUSY") => sleep(std::time::Duration::from_millis(100)).await,
            Err(e) => return Err(e.into()),
        }
    }
}
out
