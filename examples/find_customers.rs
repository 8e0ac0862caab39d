// Looks up customers, and continues if one is missing: a tool's failure is a value to match on.
//
//   toolsmith run examples/find_customers.rs
//   toolsmith run --arg ids=c-01,c-05 examples/find_customers.rs

let ids = args.get("ids").unwrap_or("c-03,c-77,c-09").split(',');

// `Ok(…)` around the call keeps every result; without it, the first error would end all calls.
let results = concurrently(4, ids, |id| async move { Ok::<_, ToolError>((id, demo::get_customer(id).await)) }).await?;

let mut missing = Vec::new();
for (id, result) in results {
    match result {
        Ok(customer) => println!("{id}: {} <{}>", customer.name, customer.email),
        Err(ToolError { kind: ToolErrorKind::Failed, message, .. }) => {
            println!("{id}: {message}");
            missing.push(id);
        }
        // Other errors, such as timeouts and lost connections, end the snippet.
        Err(error) => bail!(error),
    }
}
json!({ "missing": missing })
