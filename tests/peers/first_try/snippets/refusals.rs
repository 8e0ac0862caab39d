let mut out: Vec<&str> = vec![];
for p in ["/tmp/toolsmith-first-try/shop/customers.csv", "/tmp/toolsmith-first-try/shop/nowhere.txt", "/etc/hostname", "/tmp/toolsmith-first-try/shop/orders"] {
    out.push(match filesystem::read_text_file(p).await {
        Ok(_) => "fine",
        Err(e) => {
            let m = e.message.to_lowercase();
            if m.contains("denied") { "forbidden" } else if m.contains("no such file") { "missing" } else { "other" }
        }
    });
}
out
