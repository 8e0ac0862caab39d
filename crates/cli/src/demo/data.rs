//! The shop's data: the same in every session, so that results can be checked manually.

use super::schema::{Customer, Order, OrderItem, OrderStatus, Product};

/// Number of orders: not a multiple of the default page size, so that the last page is short.
const ORDER_COUNT: u32 = 57;

/// A house of 16 by 16 pixels as a PNG file, in base64.
pub(super) const HOUSE_PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAMAAAAoLQ9TAAAADFBMVEX///+yPDDixIxcQCyjjgAVAAAALElEQVR42q3IMQ4AIAzEsBr+/2cYuUrdyBZXDdE/hRRSSCGFLuupRti3r5AdXvYA9dMeMRoAAAAASUVORK5CYII=";

/// Name, city, and whether this is a very important customer.
const CUSTOMERS: [(&str, &str, bool); 12] = [
    ("Ada Lindqvist", "Uppsala", true),
    ("Bruno Keller", "Basel", false),
    ("Chiara Fontana", "Torino", false),
    ("Daan Visser", "Utrecht", false),
    ("Elif Aydin", "Izmir", true),
    ("Farid Haddad", "Beirut", false),
    ("Grace Okafor", "Lagos", false),
    ("Hana Novotna", "Brno", false),
    ("Inês Duarte", "Porto", true),
    ("Jonas Berg", "Bergen", false),
    ("Kaori Tanabe", "Kobe", false),
    ("Liam Byrne", "Cork", false),
];

/// Stock-keeping unit, name, price in cents, and whether it is in stock.
const PRODUCTS: [(&str, &str, u32, bool); 20] = [
    ("LAMP-01", "Desk lamp", 3_490, true),
    ("LAMP-02", "Floor lamp", 8_900, true),
    ("LAMP-03", "Bedside lamp", 2_450, false),
    ("CHAIR-01", "Office chair", 18_900, true),
    ("CHAIR-02", "Kitchen chair", 5_900, true),
    ("DESK-01", "Standing desk", 42_900, true),
    ("DESK-02", "Writing desk", 24_900, false),
    ("SHELF-01", "Wall shelf", 3_900, true),
    ("SHELF-02", "Bookshelf", 11_900, true),
    ("RUG-01", "Wool rug", 15_900, true),
    ("RUG-02", "Door mat", 1_990, true),
    ("MUG-01", "Stoneware mug", 1_250, true),
    ("MUG-02", "Travel mug", 2_290, true),
    ("PEN-01", "Fountain pen", 4_500, true),
    ("PEN-02", "Ballpoint pen", 350, true),
    ("NOTE-01", "Notebook, ruled", 890, true),
    ("NOTE-02", "Notebook, blank", 890, false),
    ("CLOCK-01", "Wall clock", 3_950, true),
    ("PLANT-01", "Potted fern", 1_790, true),
    ("VASE-01", "Glass vase", 2_690, true),
];

/// The customers, by id.
pub(super) fn customers() -> Vec<Customer> {
    (1..)
        .zip(CUSTOMERS)
        .map(|(number, (name, city, vip))| Customer {
            id: customer_id(number),
            name: name.to_owned(),
            email: format!("{}@example.com", name.split(' ').next().unwrap_or(name).to_lowercase()),
            city: city.to_owned(),
            vip,
        })
        .collect()
}

/// The products, in the order of the catalogue.
pub(super) fn products() -> Vec<Product> {
    PRODUCTS
        .iter()
        .map(|(sku, name, price_cents, in_stock)| Product {
            sku: (*sku).to_owned(),
            name: (*name).to_owned(),
            price_cents: *price_cents,
            in_stock: *in_stock,
        })
        .collect()
}

/// The orders, oldest first.
pub(super) fn orders() -> Vec<Order> {
    (0..ORDER_COUNT).map(order).collect()
}

/// Builds an order. The factors are coprime to the table sizes, so the choices are spread evenly.
fn order(number: u32) -> Order {
    let items: Vec<_> = (0..=number % 3)
        .map(|line| (number * 7 + line * 3) % 20)
        .map(|product| (PRODUCTS[product as usize], 1 + (number + product) % 4))
        .collect();
    Order {
        id: format!("o-{}", 1001 + number),
        customer_id: customer_id(1 + number * 5 % 12),
        status: match number % 8 {
            0 | 5 => OrderStatus::Pending,
            1 | 4 => OrderStatus::Shipped,
            7 => OrderStatus::Cancelled,
            _ => OrderStatus::Delivered,
        },
        total_cents: items.iter().map(|((_, _, price_cents, _), quantity)| price_cents * quantity).sum(),
        items: items
            .iter()
            .map(|((sku, ..), quantity)| OrderItem { sku: (*sku).to_owned(), quantity: *quantity })
            .collect(),
        placed_at: format!(
            "2026-{:02}-{:02}T{:02}:{:02}:00Z",
            4 + number / 19,
            1 + number % 19,
            8 + number % 11,
            number * 13 % 60
        ),
    }
}

fn customer_id(number: u32) -> String {
    format!("c-{number:02}")
}
