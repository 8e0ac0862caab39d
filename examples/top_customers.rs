// Joins the results of two tools, with up to eight calls at a time, and prints a table.
//
//   toolsmith run examples/top_customers.rs

use itertools::Itertools;

let mut orders = Vec::new();
let mut cursor = None;
loop {
    let page = demo::list_orders().limit(50).cursor(cursor).await?;
    orders.extend(page.orders);
    cursor = page.next_cursor;
    if cursor.is_none() {
        break;
    }
}

let by_customer = orders.iter().into_group_map_by(|order| order.customer_id.clone());
let ids = by_customer.keys().sorted();

// The results are in the order of the ids, whatever the order in which the calls ended.
let customers = concurrently(8, ids, |id| async move { demo::get_customer(id).await }).await?;

println!("{:<16}{:<10}{:>7}{:>12}", "customer", "city", "orders", "revenue");
let revenue = |id: &String| by_customer[id].iter().map(|order| order.total_cents).sum::<i64>();
for customer in customers.iter().sorted_by_key(|customer| -revenue(&customer.id)).take(5) {
    let (count, euros) = (by_customer[&customer.id].len(), revenue(&customer.id) as f64 / 100.0);
    println!("{:<16}{:<10}{count:>7}{euros:>12.2}", customer.name, customer.city);
}
