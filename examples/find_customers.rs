// Looks up customers and carries on where one is missing: a tool's failure is a value to match on.
//
//   toolsmith run examples/find_customers.rs
//   toolsmith run --arg ids=c-01,c-05 examples/find_customers.rs

let ids = args.get("ids").unwrap_or("c-03,c-77,c-09").split(',');

// `Ok(…)` around the call keeps every answer; without it the first error would end the whole.
let answers = concurrently(4, ids, |id| async move { Ok::<_, ToolError>((id, demo::get_customer(id).await)) }).await?;

let mut missing = Vec::new();
for (id, answer) in answers {
    match answer {
        Ok(customer) => println!("{id}: {} <{}>", customer.name, customer.email),
        Err(ToolError { kind: ToolErrorKind::Failed, message, .. }) => {
            println!("{id}: {message}");
            missing.push(id);
        }
        // Time-outs and lost connections are not the caller's mistake: they end the snippet.
        Err(error) => bail!(error),
    }
}
json!({ "missing": missing })
