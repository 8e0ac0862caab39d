//! The shop behind the tools, independent of the protocol.

use super::data;
use super::schema::{
    CreateNote, Customer, GetCustomer, ListOrders, NoteCreated, NoteSummary, Order, OrderPage, Product,
    ProductList, SearchProducts, Summary,
};
use parking_lot::Mutex;

/// Maximum number of orders on a page.
const MAX_PAGE: u32 = 50;

/// Maximum number of notes in a session, and maximum size of a note, in bytes.
const MAX_NOTES: usize = 1_000;
const MAX_NOTE_BYTES: usize = 10_000;

/// A failed call: the text is the tool's answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failed(pub(super) String);

/// The shop's data, and the notes of one session.
pub(super) struct Shop {
    customers: Vec<Customer>,
    products: Vec<Product>,
    orders: Vec<Order>,
    notes: Mutex<Vec<NoteSummary>>,
}

impl Shop {
    pub(super) fn new() -> Self {
        Self {
            customers: data::customers(),
            products: data::products(),
            orders: data::orders(),
            notes: Mutex::new(Vec::new()),
        }
    }

    /// A page of orders. The cursor is the id of the last order on the previous page.
    pub(super) fn list_orders(&self, request: &ListOrders) -> Result<OrderPage, Failed> {
        let limit = request.limit;
        if !(1..=MAX_PAGE).contains(&limit) {
            return Err(Failed(format!("limit must be from 1 to {MAX_PAGE}, not {limit}")));
        }
        let start = match &request.cursor {
            None => 0,
            Some(cursor) => self.position_after(cursor)?,
        };
        let mut matching = self.orders[start..]
            .iter()
            .filter(|order| request.status.is_none_or(|status| order.status == status));
        let orders: Vec<_> = matching.by_ref().take(limit as usize).cloned().collect();
        let next_cursor = match (matching.next(), orders.last()) {
            (Some(_), Some(last)) => Some(last.id.clone()),
            _ => None,
        };
        Ok(OrderPage { orders, next_cursor })
    }

    fn position_after(&self, cursor: &str) -> Result<usize, Failed> {
        self.orders.iter().position(|order| order.id == cursor).map(|position| position + 1).ok_or_else(
            || Failed(format!("unknown cursor {cursor:?}; pass `next_cursor` of the previous page")),
        )
    }

    pub(super) fn get_customer(&self, request: &GetCustomer) -> Result<Customer, Failed> {
        let id = &request.id;
        self.customers
            .iter()
            .find(|customer| customer.id == *id)
            .cloned()
            .ok_or_else(|| Failed(format!("there is no customer {id:?}; ids run from c-01 to c-12")))
    }

    pub(super) fn search_products(&self, request: &SearchProducts) -> ProductList {
        let query = request.query.to_lowercase();
        let affordable =
            |product: &&Product| request.max_price_cents.is_none_or(|max| product.price_cents <= max);
        let matches = |product: &&Product| {
            product.name.to_lowercase().contains(&query) || product.sku.to_lowercase().contains(&query)
        };
        ProductList { products: self.products.iter().filter(affordable).filter(matches).cloned().collect() }
    }

    pub(super) fn create_note(&self, note: CreateNote) -> Result<NoteCreated, Failed> {
        if note.subject.trim().is_empty() {
            return Err(Failed("subject must not be empty".to_owned()));
        }
        let bytes = note.subject.len() + note.text.len() + note.tags.iter().map(String::len).sum::<usize>();
        if bytes > MAX_NOTE_BYTES {
            return Err(Failed(format!("a note may have at most {MAX_NOTE_BYTES} bytes, not {bytes}")));
        }
        let mut notes = self.notes.lock();
        if notes.len() == MAX_NOTES {
            return Err(Failed(format!("a session may have at most {MAX_NOTES} notes")));
        }
        let id = u32::try_from(notes.len() + 1).map_err(|error| Failed(error.to_string()))?;
        notes.push(NoteSummary { id, subject: note.subject, tags: note.tags, bytes });
        let (hours, minutes) = (id / 60, id % 60);
        Ok(NoteCreated { id, created_at: format!("2026-07-01T{hours:02}:{minutes:02}:00Z") })
    }

    pub(super) fn summary(&self) -> Summary {
        Summary {
            shop: "demo",
            customers: self.customers.len(),
            products: self.products.len(),
            orders: self.orders.len(),
            notes: self.notes.lock().clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::{Value, json};

    use super::super::schema::OrderItem;
    use super::*;

    fn input<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    fn walk(shop: &Shop, status: Value) -> Vec<Vec<Order>> {
        let mut pages = Vec::new();
        let mut request = json!({});
        if status.is_string() {
            request["status"] = status;
        }
        loop {
            let page = shop.list_orders(&input(request.clone())).unwrap();
            pages.push(page.orders);
            match page.next_cursor {
                Some(cursor) => request["cursor"] = json!(cursor),
                None => return pages,
            }
        }
    }

    #[test]
    fn pages_contain_every_order_once() {
        let shop = Shop::new();
        let pages = walk(&shop, Value::Null);
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [20, 20, 17]);
        let orders = pages.concat();
        let ids: HashSet<_> = orders.iter().map(|order| &order.id).collect();
        assert_eq!(ids.len(), 57);
        assert!(orders.is_sorted_by(|a, b| a.placed_at < b.placed_at));
        let by_status = ["pending", "shipped", "delivered", "cancelled"]
            .map(|status| walk(&shop, json!(status)).concat().len());
        assert!(by_status.iter().all(|count| *count > 0), "{by_status:?}");
        assert_eq!(by_status.iter().sum::<usize>(), 57);
    }

    #[test]
    fn orders_match_the_customers_and_products() {
        let shop = Shop::new();
        for order in walk(&shop, Value::Null).concat() {
            shop.get_customer(&input(json!({ "id": order.customer_id }))).unwrap();
            let price = |item: &OrderItem| {
                let found = shop.search_products(&input(json!({ "query": item.sku })));
                assert_eq!(found.products.len(), 1, "{}", item.sku);
                found.products[0].price_cents * item.quantity
            };
            assert_eq!(order.items.iter().map(price).sum::<u32>(), order.total_cents);
        }
    }

    #[test]
    fn errors_describe_valid_input() {
        let shop = Shop::new();
        let error = |request| shop.list_orders(&input(request)).err().unwrap().0;
        assert_eq!(error(json!({ "limit": 0 })), "limit must be from 1 to 50, not 0");
        assert_eq!(error(json!({ "limit": 51 })), "limit must be from 1 to 50, not 51");
        assert_eq!(
            error(json!({ "cursor": "o-9" })),
            "unknown cursor \"o-9\"; pass `next_cursor` of the previous page"
        );
        assert_eq!(
            shop.get_customer(&input(json!({ "id": "c-13" }))).unwrap_err().0,
            "there is no customer \"c-13\"; ids run from c-01 to c-12"
        );
        assert!(serde_json::from_value::<GetCustomer>(json!({ "id": "c-01", "more": 1 })).is_err());
    }

    #[test]
    fn notes_are_counted_from_one_in_every_session() {
        for _ in 0..2 {
            let shop = Shop::new();
            let note = || input(json!({ "subject": "s", "text": "t" }));
            assert_eq!(shop.create_note(note()).unwrap().id, 1);
            let second = shop.create_note(note()).unwrap();
            assert_eq!((second.id, second.created_at.as_str()), (2, "2026-07-01T00:02:00Z"));
        }
    }
}
