// Needs only tools that the project allows.

let mut names = Vec::new();
for number in 1..=12 {
    let customer = shop::get_customer(format!("c-{number:02}")).await?;
    if customer.vip {
        names.push(customer.name);
    }
}
names
