let number: u32 = vec!["not", "a", "number"];
number + missing_name(1)
