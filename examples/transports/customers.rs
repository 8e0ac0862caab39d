// Reads from a local server and writes to one over HTTP.

let page = shop::list_orders().status("pending").limit(3).await?;
for order in &page.orders {
    let customer = shop::get_customer(&order.customer_id).await?;
    let note = office::create_note("pending", format!("{} waits for order {}", customer.name, order.id)).await?;
    println!("note {}: {}", note.id, customer.name);
}
page.orders.len()
