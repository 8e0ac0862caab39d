//! Text: formats, splitting and joining.

use serde_json::Value;

use crate::ToolError;

/// Never called: it only has to be compiled.
pub fn text(text: &str, name: &String, value: &Value, error: &ToolError) -> String {
    let mut output = String::new();
    macro_rules! formats {
        ($($value:expr),+) => {
            $({
                // The compiler would write a literal into the text.
                let value = $value;
                output.push_str(&format!("{} {:?} {}", value, value, &value));
                output += &value.to_string();
            })+
        };
    }
    formats!(1_i32, 1_i64, 1_u32, 1_u64, 1_usize, 1.5_f64, true, 'c', text, name, value, name.clone(), error);
    let mut words: Vec<String> = text.lines().map(|line| line.trim().to_string()).collect();
    words.extend(text.split_whitespace().map(str::to_string));
    words.extend(text.split(", ").map(String::from));
    words.extend(text.split(',').map(|word| word.trim().to_owned()));
    for word in text.split_whitespace() {
        words.push(word.to_lowercase().replace("\r\n", "\n"));
    }
    if let Some((before, after)) = text.split_once(": ").or(text.split_once(':')) {
        words.extend([before.trim_start_matches("- ").to_string(), after.trim_end_matches('.').to_string()]);
    }
    if text.contains("a") || text.starts_with("a") || text.find(' ').is_some() {
        words.push(text.strip_prefix("a").unwrap_or(text).chars().rev().collect());
    }
    words.join("\n")
}
