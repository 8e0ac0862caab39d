let a = thinking::sequentialthinking("look", true, 1, 5).await?;
let b = thinking::sequentialthinking("measure", true, 2, 5).await?;
let c = thinking::sequentialthinking("compare", true, 3, 5).await?;
let d = thinking::sequentialthinking("doubt", true, 4, 5).is_revision(true).revises_thought(2).await?;
let e = thinking::sequentialthinking("decide", false, 5, 5).branch_from_thought(3).branch_id("plan-b").await?;
let history: Vec<i64> = [&a, &b, &c, &d, &e].iter().map(|t| t.thought_history_length as i64).collect();
json!({"history": history, "branches": e.branches})
