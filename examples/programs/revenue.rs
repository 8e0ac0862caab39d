//! Revenue by status for one customer.
//!
//! Cancelled orders count as well.
//! Tags: orders, revenue
//! Example: customer = "c-01"
//! Example: customer = "c-01", since = "2026-05-01"

/// Whose orders.
struct Args {
    /// The customer's id, such as `c-01`.
    customer: String,
    /// Only orders placed on this day or later.
    since: Option<NaiveDate>,
}

struct Row {
    status: String,
    revenue: f64,
}

async fn run(args: Args) -> Result<Vec<Row>> {
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    let mut cursor = None;
    loop {
        let page = demo::list_orders().limit(50).cursor(cursor).await?;
        for order in page.orders.iter().filter(|order| order.customer_id == args.customer) {
            let placed: DateTime<Utc> = order.placed_at.parse()?;
            if args.since.is_none_or(|since| placed.date_naive() >= since) {
                *sums.entry(order.status.to_string()).or_default() += order.total_cents;
            }
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    Ok(sums.into_iter().map(|(status, cents)| Row { status, revenue: cents as f64 / 100.0 }).collect())
}
