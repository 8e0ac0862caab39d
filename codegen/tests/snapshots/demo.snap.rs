// Generated from the tools of the MCP server "demo". Do not edit: changes are lost.

#![allow(missing_docs, non_camel_case_types, unreachable_pub, clippy::all, clippy::pedantic)]

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct CreateNoteInput {
    /// What the note is about, in a few words.
    pub subject: String,
    /// The note itself.
    pub text: String,
    /// Words to find it by.
    pub tags: Option<Vec<String>>,
}
impl bridge::convert::ToJson for CreateNoteInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("subject", &self.subject), ("text", &self.text)],
            &[("tags", &self.tags)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for CreateNoteInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            subject: bridge::convert::FromJson::from_json(
                reader.take(level, "subject"),
                reader,
            ),
            text: bridge::convert::FromJson::from_json(
                reader.take(level, "text"),
                reader,
            ),
            tags: bridge::convert::FromJson::from_json(
                reader.take(level, "tags"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct CreateNoteOutput {
    /// When it was created, in RFC 3339 format, by the demo's simulated clock.
    pub created_at: String,
    /// The note's number: 1 for the first one of a session.
    pub id: i64,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for CreateNoteOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "CreateNoteOutput",
            &[("created_at", &self.created_at), ("id", &self.id)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for CreateNoteOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("created_at", &self.created_at), ("id", &self.id)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for CreateNoteOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            created_at: bridge::convert::FromJson::from_json(
                reader.take(level, "created_at"),
                reader,
            ),
            id: bridge::convert::FromJson::from_json(reader.take(level, "id"), reader),
            extra: bridge::Extra::kept(reader.rest(level, &["created_at", "id"]), reader),
        }
    }
}
bridge::generated! {
    CreateNoteOutput = 4217244297373220966
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct EchoInput {
    /// The text to send back.
    pub message: String,
}
impl bridge::convert::ToJson for EchoInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("message", &self.message)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for EchoInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            message: bridge::convert::FromJson::from_json(
                reader.take(level, "message"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FailInput {
    /// What the error should say.
    pub message: Option<String>,
}
impl bridge::convert::ToJson for FailInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("message", &self.message)])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for FailInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            message: bridge::convert::FromJson::from_json(
                reader.take(level, "message"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GetCustomerInput {
    /// The customer's id, such as `c-01`.
    pub id: String,
}
impl bridge::convert::ToJson for GetCustomerInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("id", &self.id)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetCustomerInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            id: bridge::convert::FromJson::from_json(reader.take(level, "id"), reader),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct GetCustomerOutput {
    pub city: String,
    pub email: String,
    pub id: String,
    pub name: String,
    /// Whether this is a very important customer.
    pub vip: bool,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for GetCustomerOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "GetCustomerOutput",
            &[
                ("city", &self.city),
                ("email", &self.email),
                ("id", &self.id),
                ("name", &self.name),
                ("vip", &self.vip),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for GetCustomerOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[
                ("city", &self.city),
                ("email", &self.email),
                ("id", &self.id),
                ("name", &self.name),
                ("vip", &self.vip),
            ],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for GetCustomerOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            city: bridge::convert::FromJson::from_json(
                reader.take(level, "city"),
                reader,
            ),
            email: bridge::convert::FromJson::from_json(
                reader.take(level, "email"),
                reader,
            ),
            id: bridge::convert::FromJson::from_json(reader.take(level, "id"), reader),
            name: bridge::convert::FromJson::from_json(
                reader.take(level, "name"),
                reader,
            ),
            vip: bridge::convert::FromJson::from_json(reader.take(level, "vip"), reader),
            extra: bridge::Extra::kept(
                reader.rest(level, &["city", "email", "id", "name", "vip"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    GetCustomerOutput = 15912121240589760522
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImageInput {}
impl bridge::convert::ToJson for ImageInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ImageInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JsonResponseInput {}
impl bridge::convert::ToJson for JsonResponseInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for JsonResponseInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListOrdersInput {
    /// `next_cursor` of the previous page. Omit it for the first page.
    pub cursor: Option<String>,
    /// How many orders the page may have.
    pub limit: Option<i64>,
    /// Only orders with this status.
    pub status: Option<OrderStatus>,
}
impl bridge::convert::ToJson for ListOrdersInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[],
            &[("cursor", &self.cursor), ("limit", &self.limit), ("status", &self.status)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ListOrdersInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            cursor: bridge::convert::FromJson::from_json(
                reader.take(level, "cursor"),
                reader,
            ),
            limit: bridge::convert::FromJson::from_json(
                reader.take(level, "limit"),
                reader,
            ),
            status: bridge::convert::FromJson::from_json(
                reader.take(level, "status"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum OrderStatus {
    Pending,
    Shipped,
    Delivered,
    Cancelled,
    Other(String),
}
impl OrderStatus {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Pending => "pending",
            Self::Shipped => "shipped",
            Self::Delivered => "delivered",
            Self::Cancelled => "cancelled",
            Self::Other(text) => text,
        }
    }
}
impl bridge::convert::GeneratedText for OrderStatus {
    const TEXTS: &'static [&'static str] = &[
        "pending",
        "shipped",
        "delivered",
        "cancelled",
    ];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "pending" => Self::Pending,
                "shipped" => Self::Shipped,
                "delivered" => Self::Delivered,
                "cancelled" => Self::Cancelled,
                _ => Self::Other(text.to_owned()),
            },
        )
    }
}
bridge::generated! {
    OrderStatus = 12764837456980703520
}
bridge::generated_text! {
    OrderStatus;
}

#[derive(Clone, PartialEq)]
pub struct ListOrdersOutput {
    /// The orders, oldest first.
    pub orders: Vec<Order>,
    /// Pass it as `cursor` to get the next page; absent on the last one.
    pub next_cursor: Option<String>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for ListOrdersOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "ListOrdersOutput",
            &[("orders", &self.orders), ("next_cursor", &self.next_cursor)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for ListOrdersOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("orders", &self.orders)],
            &[("next_cursor", &self.next_cursor)],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for ListOrdersOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            orders: bridge::convert::FromJson::from_json(
                reader.take(level, "orders"),
                reader,
            ),
            next_cursor: bridge::convert::FromJson::from_json(
                reader.take(level, "next_cursor"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader.rest(level, &["orders", "next_cursor"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    ListOrdersOutput = 11364737568254563592
}

#[derive(Clone, PartialEq)]
pub struct Order {
    /// The customer; see `get_customer`.
    pub customer_id: String,
    pub id: String,
    pub items: Vec<OrderItem>,
    /// When the order was placed, in RFC 3339 format.
    pub placed_at: String,
    pub status: OrderStatus,
    /// The sum over all items, in cents.
    pub total_cents: i64,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for Order {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "Order",
            &[
                ("customer_id", &self.customer_id),
                ("id", &self.id),
                ("items", &self.items),
                ("placed_at", &self.placed_at),
                ("status", &self.status),
                ("total_cents", &self.total_cents),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for Order {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[
                ("customer_id", &self.customer_id),
                ("id", &self.id),
                ("items", &self.items),
                ("placed_at", &self.placed_at),
                ("status", &self.status),
                ("total_cents", &self.total_cents),
            ],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for Order {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            customer_id: bridge::convert::FromJson::from_json(
                reader.take(level, "customer_id"),
                reader,
            ),
            id: bridge::convert::FromJson::from_json(reader.take(level, "id"), reader),
            items: bridge::convert::FromJson::from_json(
                reader.take(level, "items"),
                reader,
            ),
            placed_at: bridge::convert::FromJson::from_json(
                reader.take(level, "placed_at"),
                reader,
            ),
            status: bridge::convert::FromJson::from_json(
                reader.take(level, "status"),
                reader,
            ),
            total_cents: bridge::convert::FromJson::from_json(
                reader.take(level, "total_cents"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader
                    .rest(
                        level,
                        &[
                            "customer_id",
                            "id",
                            "items",
                            "placed_at",
                            "status",
                            "total_cents",
                        ],
                    ),
                reader,
            ),
        }
    }
}
bridge::generated! {
    Order = 13125189449732727765
}

#[derive(Clone, PartialEq)]
pub struct OrderItem {
    pub quantity: i64,
    /// The product's stock-keeping unit.
    pub sku: String,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for OrderItem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "OrderItem",
            &[("quantity", &self.quantity), ("sku", &self.sku)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for OrderItem {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("quantity", &self.quantity), ("sku", &self.sku)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for OrderItem {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            quantity: bridge::convert::FromJson::from_json(
                reader.take(level, "quantity"),
                reader,
            ),
            sku: bridge::convert::FromJson::from_json(reader.take(level, "sku"), reader),
            extra: bridge::Extra::kept(reader.rest(level, &["quantity", "sku"]), reader),
        }
    }
}
bridge::generated! {
    OrderItem = 3436280411404229631
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct SearchProductsInput {
    /// A part of the product's name or stock-keeping unit; case-insensitive; empty matches all.
    pub query: String,
    /// Only products that cost at most this many cents.
    pub max_price_cents: Option<i64>,
}
impl bridge::convert::ToJson for SearchProductsInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("query", &self.query)],
            &[("max_price_cents", &self.max_price_cents)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for SearchProductsInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            query: bridge::convert::FromJson::from_json(
                reader.take(level, "query"),
                reader,
            ),
            max_price_cents: bridge::convert::FromJson::from_json(
                reader.take(level, "max_price_cents"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct SearchProductsOutput {
    /// The products that match, in the order of the catalogue.
    pub products: Vec<Product>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for SearchProductsOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "SearchProductsOutput",
            &[("products", &self.products)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for SearchProductsOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("products", &self.products)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for SearchProductsOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            products: bridge::convert::FromJson::from_json(
                reader.take(level, "products"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["products"]), reader),
        }
    }
}
bridge::generated! {
    SearchProductsOutput = 5261232159548548898
}

#[derive(Clone, PartialEq)]
pub struct Product {
    pub in_stock: bool,
    pub name: String,
    /// The price in cents.
    pub price_cents: i64,
    /// The stock-keeping unit.
    pub sku: String,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for Product {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "Product",
            &[
                ("in_stock", &self.in_stock),
                ("name", &self.name),
                ("price_cents", &self.price_cents),
                ("sku", &self.sku),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for Product {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[
                ("in_stock", &self.in_stock),
                ("name", &self.name),
                ("price_cents", &self.price_cents),
                ("sku", &self.sku),
            ],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for Product {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            in_stock: bridge::convert::FromJson::from_json(
                reader.take(level, "in_stock"),
                reader,
            ),
            name: bridge::convert::FromJson::from_json(
                reader.take(level, "name"),
                reader,
            ),
            price_cents: bridge::convert::FromJson::from_json(
                reader.take(level, "price_cents"),
                reader,
            ),
            sku: bridge::convert::FromJson::from_json(reader.take(level, "sku"), reader),
            extra: bridge::Extra::kept(
                reader.rest(level, &["in_stock", "name", "price_cents", "sku"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    Product = 12419395857975048425
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct SlowInput {
    /// How long to wait, in seconds.
    pub seconds: f64,
}
impl bridge::convert::ToJson for SlowInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("seconds", &self.seconds)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for SlowInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            seconds: bridge::convert::FromJson::from_json(
                reader.take(level, "seconds"),
                reader,
            ),
        }
    }
}

impl CreateNoteInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> CreateNoteCall {
        CreateNoteCall {
            input: self,
            pending: bridge::call::Pending::new("demo", "create_note"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct CreateNoteCall {
    input: CreateNoteInput,
    pending: bridge::call::Pending,
}
impl CreateNoteCall {
    /// Words to find it by.
    pub fn tags<F>(
        mut self,
        tags: impl bridge::convert::OptionalArgument<Vec<String>, F>,
    ) -> Self {
        self.input.tags = self
            .pending
            .with("tags", bridge::convert::OptionalArgument::into_optional(tags));
        self
    }
}
impl CreateNoteCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for CreateNoteCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.209ef6035885ef0cdaeb6aba58751065")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "demo",
            name: "create_note",
            mark: *b"209ef6035885ef0cdaeb6aba58751065",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for CreateNoteCall {
    type Output = Result<CreateNoteOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Write a note. Notes last as long as the session; their numbers start at 1.
#[track_caller]
pub fn create_note(
    subject: impl Into<String>,
    text: impl Into<String>,
) -> CreateNoteCall {
    CreateNoteCall {
        input: CreateNoteInput {
            subject: subject.into(),
            text: text.into(),
            tags: None,
        },
        pending: bridge::call::Pending::new("demo", "create_note"),
    }
}

impl EchoInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> EchoCall {
        EchoCall {
            input: self,
            pending: bridge::call::Pending::new("demo", "echo"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct EchoCall {
    input: EchoInput,
    pending: bridge::call::Pending,
}
impl EchoCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for EchoCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.67d4a18bbcfa79018f873ad0521535e9")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "demo",
            name: "echo",
            mark: *b"67d4a18bbcfa79018f873ad0521535e9",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for EchoCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Answer with exactly the text that was sent.
#[track_caller]
pub fn echo(message: impl Into<String>) -> EchoCall {
    EchoCall {
        input: EchoInput {
            message: message.into(),
        },
        pending: bridge::call::Pending::new("demo", "echo"),
    }
}

impl FailInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> FailCall {
        FailCall {
            input: self,
            pending: bridge::call::Pending::new("demo", "fail"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct FailCall {
    input: FailInput,
    pending: bridge::call::Pending,
}
impl FailCall {
    /// What the error should say.
    pub fn message<F>(
        mut self,
        message: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.message = self
            .pending
            .with("message", bridge::convert::OptionalArgument::into_optional(message));
        self
    }
}
impl FailCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for FailCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.1bd476747e386c5c48637b9abeca685d")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "demo",
            name: "fail",
            mark: *b"1bd476747e386c5c48637b9abeca685d",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for FailCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Always fail, with the given message.
#[inline]
#[track_caller]
pub fn fail() -> FailCall {
    FailCall {
        input: FailInput { message: None },
        pending: bridge::call::Pending::new("demo", "fail"),
    }
}

impl GetCustomerInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetCustomerCall {
        GetCustomerCall {
            input: self,
            pending: bridge::call::Pending::new("demo", "get_customer"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetCustomerCall {
    input: GetCustomerInput,
    pending: bridge::call::Pending,
}
impl GetCustomerCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetCustomerCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.e456e86d8b99ea0d92c92d00adbc2c06")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "demo",
            name: "get_customer",
            mark: *b"e456e86d8b99ea0d92c92d00adbc2c06",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetCustomerCall {
    type Output = Result<GetCustomerOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Get one customer by id. An unknown id is an error.
#[track_caller]
pub fn get_customer(id: impl Into<String>) -> GetCustomerCall {
    GetCustomerCall {
        input: GetCustomerInput { id: id.into() },
        pending: bridge::call::Pending::new("demo", "get_customer"),
    }
}

impl ImageInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ImageCall {
        ImageCall {
            input: self,
            pending: bridge::call::Pending::new("demo", "image"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ImageCall {
    input: ImageInput,
    pending: bridge::call::Pending,
}
impl ImageCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ImageCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.1884673037782b0f977fde65c6bbda08")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "demo",
            name: "image",
            mark: *b"1884673037782b0f977fde65c6bbda08",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ImageCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Answer with a small picture and a text.
#[inline]
#[track_caller]
pub fn image() -> ImageCall {
    ImageCall {
        input: ImageInput {},
        pending: bridge::call::Pending::new("demo", "image"),
    }
}

impl JsonResponseInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> JsonResponseCall {
        JsonResponseCall {
            input: self,
            pending: bridge::call::Pending::new("demo", "json_response"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct JsonResponseCall {
    input: JsonResponseInput,
    pending: bridge::call::Pending,
}
impl JsonResponseCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for JsonResponseCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.a670f12b5b56ccd7dd1741625ab3caed")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "demo",
            name: "json_response",
            mark: *b"a670f12b5b56ccd7dd1741625ab3caed",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for JsonResponseCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Answer with a JSON document as text: statistics of the shop, and the notes of this session.
#[inline]
#[track_caller]
pub fn json_response() -> JsonResponseCall {
    JsonResponseCall {
        input: JsonResponseInput {},
        pending: bridge::call::Pending::new("demo", "json_response"),
    }
}

pub type ListOrdersOrderStatus = OrderStatus;
pub type ListOrdersOrder = Order;
pub type ListOrdersOrderItem = OrderItem;
impl ListOrdersInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ListOrdersCall {
        ListOrdersCall {
            input: self,
            pending: bridge::call::Pending::new("demo", "list_orders"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ListOrdersCall {
    input: ListOrdersInput,
    pending: bridge::call::Pending,
}
impl ListOrdersCall {
    /// `next_cursor` of the previous page. Omit it for the first page.
    pub fn cursor<F>(
        mut self,
        cursor: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.cursor = self
            .pending
            .with("cursor", bridge::convert::OptionalArgument::into_optional(cursor));
        self
    }
    /// How many orders the page may have.
    pub fn limit<F>(
        mut self,
        limit: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.limit = self
            .pending
            .with("limit", bridge::convert::OptionalArgument::into_optional(limit));
        self
    }
    /// Only orders with this status.
    pub fn status<F>(
        mut self,
        status: impl bridge::convert::OptionalArgument<OrderStatus, F>,
    ) -> Self {
        self.input.status = self
            .pending
            .with("status", bridge::convert::OptionalArgument::into_optional(status));
        self
    }
}
impl ListOrdersCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ListOrdersCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.1c57ea7f6c1fd129ad44ff781392e878")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "demo",
            name: "list_orders",
            mark: *b"1c57ea7f6c1fd129ad44ff781392e878",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ListOrdersCall {
    type Output = Result<ListOrdersOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// List the shop's orders, oldest first, page by page: pass `next_cursor` of one page as `cursor` of the next.
#[inline]
#[track_caller]
pub fn list_orders() -> ListOrdersCall {
    ListOrdersCall {
        input: ListOrdersInput {
            cursor: None,
            limit: None,
            status: None,
        },
        pending: bridge::call::Pending::new("demo", "list_orders"),
    }
}

pub type SearchProductsProduct = Product;
impl SearchProductsInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> SearchProductsCall {
        SearchProductsCall {
            input: self,
            pending: bridge::call::Pending::new("demo", "search_products"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct SearchProductsCall {
    input: SearchProductsInput,
    pending: bridge::call::Pending,
}
impl SearchProductsCall {
    /// Only products that cost at most this many cents.
    pub fn max_price_cents<F>(
        mut self,
        max_price_cents: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.max_price_cents = self
            .pending
            .with(
                "max_price_cents",
                bridge::convert::OptionalArgument::into_optional(max_price_cents),
            );
        self
    }
}
impl SearchProductsCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for SearchProductsCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.be580c0dadb4e899e123c00dbe1953d9")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "demo",
            name: "search_products",
            mark: *b"be580c0dadb4e899e123c00dbe1953d9",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for SearchProductsCall {
    type Output = Result<SearchProductsOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Search the shop's products by a part of their name or stock-keeping unit, optionally up to a price.
#[track_caller]
pub fn search_products(query: impl Into<String>) -> SearchProductsCall {
    SearchProductsCall {
        input: SearchProductsInput {
            query: query.into(),
            max_price_cents: None,
        },
        pending: bridge::call::Pending::new("demo", "search_products"),
    }
}

impl SlowInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> SlowCall {
        SlowCall {
            input: self,
            pending: bridge::call::Pending::new("demo", "slow"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct SlowCall {
    input: SlowInput,
    pending: bridge::call::Pending,
}
impl SlowCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for SlowCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.e09ff6b9b8006fc91a2ce311603935fc")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "demo",
            name: "slow",
            mark: *b"e09ff6b9b8006fc91a2ce311603935fc",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for SlowCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Wait for some seconds, then answer. Ends early if the request is cancelled.
#[track_caller]
pub fn slow(seconds: impl bridge::convert::Argument<f64>) -> SlowCall {
    SlowCall {
        input: SlowInput {
            seconds: bridge::convert::named(
                "seconds",
                bridge::convert::Argument::into_argument(seconds),
            ),
        },
        pending: bridge::call::Pending::new("demo", "slow"),
    }
}
