// Walks every page of a paginated tool and returns a summary: orders and revenue for each status.
//
//   toolsmith run examples/orders_by_status.rs

let mut summary: BTreeMap<String, (usize, i64)> = BTreeMap::new();
let mut cursor = None;
loop {
    let page = demo::list_orders().limit(25).cursor(cursor).await?;
    for order in &page.orders {
        let entry = summary.entry(order.status.to_string()).or_default();
        entry.0 += 1;
        entry.1 += order.total_cents;
    }
    println!("{} orders on this page", page.orders.len());
    cursor = page.next_cursor;
    if cursor.is_none() {
        break;
    }
}

// The last expression is the result: any type that serde can serialize.
summary
    .into_iter()
    .map(|(status, (orders, cents))| json!({ "status": status, "orders": orders, "revenue": cents as f64 / 100.0 }))
    .collect::<Vec<_>>()
