let paths = [
    "/tmp/toolsmith-first-try/shop/customers.csv",
    "/tmp/toolsmith-first-try/shop/nowhere.txt",
    "/etc/hostname",
    "/tmp/toolsmith-first-try/shop/orders",
];
let mut words: Vec<&str> = Vec::new();
for path in paths {
    words.push(match filesystem::read_text_file(path).await {
        Ok(_) => "fine",
        Err(e) => {
            let message = e.message.to_lowercase();
            if message.contains("denied") {
                "forbidden"
            } else if message.contains("no such file") {
                "missing"
            } else {
                "other"
            }
        }
    });
}
words
