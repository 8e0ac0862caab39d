let mut answer: BTreeMap<String, String> = BTreeMap::new();
for phrase in [
    "convert time between time zones",
    "show the commit logs",
    "delete entities from the knowledge graph",
] {
    let found = search_tools(phrase).await?;
    let first = found.first().ok_or_else(|| anyhow!("nothing found for {:?}", phrase))?;
    answer.insert(phrase.to_string(), first.function.to_string());
}
answer
