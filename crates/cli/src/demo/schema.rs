//! Inputs and outputs of the shop's tools. The tools' schemas are derived from these types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = without_null_defaults)]
pub(super) struct ListOrders {
    /// `next_cursor` of the previous page. Omit it for the first page.
    #[serde(default)]
    #[schemars(with = "String", default)]
    pub(super) cursor: Option<String>,
    /// How many orders the page may have.
    #[serde(default = "default_page")]
    #[schemars(range(min = 1, max = 50))]
    pub(super) limit: u32,
    /// Only orders with this status.
    #[serde(default)]
    #[schemars(with = "OrderStatus", default)]
    pub(super) status: Option<OrderStatus>,
}

fn default_page() -> u32 {
    20
}

/// An optional argument may be left out, but a `default` of null would break its own type.
fn without_null_defaults(schema: &mut schemars::Schema) {
    let properties =
        schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut);
    for property in properties.filter_map(Value::as_object_mut) {
        if property.get("default") == Some(&Value::Null) {
            property.remove("default");
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum OrderStatus {
    Pending,
    Shipped,
    Delivered,
    Cancelled,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct OrderPage {
    /// The orders, oldest first.
    pub(super) orders: Vec<Order>,
    /// Pass it as `cursor` to get the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(super) next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct Order {
    pub(super) id: String,
    /// The customer; see `get_customer`.
    pub(super) customer_id: String,
    pub(super) status: OrderStatus,
    /// The sum over all items, in cents.
    pub(super) total_cents: u32,
    pub(super) items: Vec<OrderItem>,
    /// When the order was placed, in RFC 3339 format.
    pub(super) placed_at: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct OrderItem {
    /// The product's stock-keeping unit.
    pub(super) sku: String,
    pub(super) quantity: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetCustomer {
    /// The customer's id, such as `c-01`.
    pub(super) id: String,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Customer {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) email: String,
    pub(super) city: String,
    /// Whether this is a very important customer.
    pub(super) vip: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = without_null_defaults)]
pub(super) struct SearchProducts {
    /// A part of the product's name or stock-keeping unit; case-insensitive; empty matches all.
    pub(super) query: String,
    /// Only products that cost at most this many cents.
    #[serde(default)]
    #[schemars(with = "u32", default)]
    pub(super) max_price_cents: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ProductList {
    /// The products that match, in the order of the catalogue.
    pub(super) products: Vec<Product>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Product {
    /// The stock-keeping unit.
    pub(super) sku: String,
    pub(super) name: String,
    /// The price in cents.
    pub(super) price_cents: u32,
    pub(super) in_stock: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateNote {
    /// What the note is about, in a few words.
    pub(super) subject: String,
    /// The note itself.
    pub(super) text: String,
    /// Words to find it by.
    #[serde(default)]
    pub(super) tags: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct NoteCreated {
    /// The note's number: 1 for the first one of a session.
    pub(super) id: u32,
    /// When it was created, in RFC 3339 format, by the demo's simulated clock.
    pub(super) created_at: String,
}

/// The result of `json_response`.
#[derive(Serialize)]
pub(super) struct Summary {
    pub(super) shop: &'static str,
    pub(super) customers: usize,
    pub(super) products: usize,
    pub(super) orders: usize,
    pub(super) notes: Vec<NoteSummary>,
}

#[derive(Clone, Serialize)]
pub(super) struct NoteSummary {
    pub(super) id: u32,
    pub(super) subject: String,
    pub(super) tags: Vec<String>,
    pub(super) bytes: usize,
}
