//! Sends thousands of numbers through a program: from one tool, through its types, to another tool, and back as the
//! result.

use end_to_end::cache::json;
use end_to_end::harness::FAULT_SERVER;
use serde_json::value::RawValue;

/// Count of numbers of each kind.
const COUNT: usize = 2_000;

/// A number generator (xorshift) with a fixed seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn double(&mut self) -> f64 {
        let double = f64::from_bits(self.next());
        if double.is_finite() { double } else { -0.0 }
    }

    fn list(&mut self, number: impl Fn(&mut Self) -> String) -> String {
        let numbers: Vec<String> = (0..COUNT).map(|_| number(self)).collect();
        format!("[{}]", numbers.join(","))
    }
}

fn items(list: &str) -> Vec<&RawValue> {
    serde_json::from_str(list).unwrap()
}

#[test]
fn thousands_of_numbers_pass_through_a_program_unchanged() {
    let mut random = Random(0x5eed);
    let doubles = random.list(|random| format!("{:?}", random.double()));
    let integers = random.list(|random| (random.next().cast_signed() >> (random.next() % 64)).to_string());
    let anything = random.list(|random| match random.next() % 3 {
        0 => (random.next() >> (random.next() % 64)).to_string(),
        1 => format!("{}.0", random.next()),
        _ => format!("{:e}", random.double()),
    });
    let sent = format!("{{\"list\":{doubles},\"integers\":{integers},\"anything\":{anything}}}");
    let snippet = format!(
        "let o = lab::typed({sent:?}).await?;\n\
         let direct: Vec<i64> = o.integers.clone().unwrap();\n\
         let r = lab::take().list(&o.list.unwrap()).integers(o.integers).anything(o.anything.unwrap()).await?;\n\
         let as_numbers = lab::take_list(direct).await?;\n\
         [r.text(), as_numbers.text()]"
    );
    let config =
        format!("mcpServers:\n  lab: {{ command: {FAULT_SERVER:?}, args: [values], trust: true }}\n");
    let results: Vec<String> = serde_json::from_value(json(&snippet).config(&config).result()).unwrap();
    let arrived: std::collections::BTreeMap<String, Vec<&RawValue>> =
        serde_json::from_str(&results[0]).unwrap();
    let as_numbers = results[1].strip_prefix("{\"list\":").unwrap();
    assert_eq!(as_numbers.strip_suffix('}').unwrap(), integers);
    for (sent, arrived) in items(&integers).iter().zip(&arrived["integers"]) {
        assert_eq!(sent.get(), arrived.get());
    }
    for (list, name) in [(&doubles, "list"), (&anything, "anything")] {
        assert_eq!(arrived[name].len(), COUNT);
        for (sent, arrived) in items(list).iter().zip(&arrived[name]) {
            let (sent, arrived) = (sent.get(), arrived.get());
            let is_same = match sent.strip_suffix(".0").unwrap_or(sent).parse::<u64>() {
                Ok(integer) if name == "anything" => {
                    arrived.parse().is_ok_and(|other: u64| other == integer)
                        || arrived.parse::<f64>().is_ok_and(|other| format!("{other}") == integer.to_string())
                }
                _ => arrived.parse::<f64>().unwrap().to_bits() == sent.parse::<f64>().unwrap().to_bits(),
            };
            assert!(is_same, "{sent} arrived as {arrived}");
        }
    }
}
