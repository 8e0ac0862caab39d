let mut history: Vec<i64> = Vec::new();
let r = thinking::sequentialthinking("look", true, 1, 5).await?;
history.push(r.thought_history_length as i64);
let r = thinking::sequentialthinking("measure", true, 2, 5).await?;
history.push(r.thought_history_length as i64);
let r = thinking::sequentialthinking("compare", true, 3, 5).await?;
history.push(r.thought_history_length as i64);
let r = thinking::sequentialthinking("doubt", true, 4, 5).is_revision(true).revises_thought(2).await?;
history.push(r.thought_history_length as i64);
let r = thinking::sequentialthinking("decide", false, 5, 5).branch_from_thought(3).branch_id("plan-b").await?;
history.push(r.thought_history_length as i64);
json!({ "history": history, "branches": r.branches })
