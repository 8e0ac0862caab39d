// Counts the pending orders on all pages, and adds up their totals.
//
//   toolsmith run examples/pending.rs

let mut cursor = None;
let mut pending = Vec::new();
loop {
    let page = demo::list_orders().status("pending").cursor(cursor).await?;
    pending.extend(page.orders);
    cursor = page.next_cursor;
    if cursor.is_none() { break; }
}
let total: i64 = pending.iter().map(|order| order.total_cents).sum();
println!("{} pending orders", pending.len());
total
