// Has all files reviewed side by side, and gives what is grave. Files: --arg files="a.rs b.rs …"
let files: Vec<&str> = args.require("files")?.split_whitespace().collect();
let reviews = concurrently(50, &files, |file| async move {
    // One review that fails is no reason to lose the others.
    Ok::<_, ToolError>((*file, reviewer::review_file(format!("Review {file}.")).inputs([*file]).await))
})
.await?;

let (mut grave, mut failed) = (Vec::new(), Vec::new());
for (file, review) in &reviews {
    match review {
        Ok(review) => {
            let high = review.findings.iter().filter(|finding| finding.severity.to_string() == "high");
            grave.extend(high.map(|finding| format!("{file}:{}: {}", finding.line, finding.message)));
        }
        Err(error) => failed.push(format!("{file}: {}", error.message)),
    }
}
json!({ "reviewed": reviews.len() - failed.len(), "grave": grave, "failed": failed })
