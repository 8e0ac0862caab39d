let root = "/tmp/toolsmith-first-try/shop";
let list = filesystem::read_text_file(format!("{root}/wanted.txt")).await?.content;
let (mut read, mut bytes) = (0usize, 0usize);
let mut missing: Vec<String> = Vec::new();
for name in list.lines().map(|l| l.trim()).filter(|l| !l.is_empty()) {
    match filesystem::read_text_file(format!("{root}/{name}")).await {
        Ok(file) => {
            read += 1;
            bytes += file.content.len();
        }
        Err(e) => match e.kind {
            ToolErrorKind::Failed => missing.push(name.to_string()),
            _ => return Err(e.into()),
        },
    }
}
json!({"read": read, "bytes": bytes, "missing": missing})
