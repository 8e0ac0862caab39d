// Reviews files in parallel, and returns the serious findings. Files: --arg files="a.rs b.rs …"
let files: Vec<&str> = args.require("files")?.split_whitespace().collect();
let reviews = concurrently(50, &files, |file| async move {
    // `Ok(…)` keeps the other reviews if one fails.
    Ok::<_, ToolError>((*file, reviewer::review_file(format!("Review {file}.")).inputs([*file]).await))
})
.await?;

let (mut serious, mut failed) = (Vec::new(), Vec::new());
for (file, review) in &reviews {
    match review {
        Ok(review) => {
            let high = review.findings.iter().filter(|finding| finding.severity.to_string() == "high");
            serious.extend(high.map(|finding| format!("{file}:{}: {}", finding.line, finding.message)));
        }
        Err(error) => failed.push(format!("{file}: {}", error.message)),
    }
}
json!({ "reviewed": reviews.len() - failed.len(), "serious": serious, "failed": failed })
