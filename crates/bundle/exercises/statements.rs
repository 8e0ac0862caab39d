let mut numbers: Vec<i64> = "3 1 2".split(' ').map(str::parse).collect::<Result<_, _>>()?;
numbers.sort_unstable();
let total: i64 = numbers.iter().sum();
format!("{numbers:?} {total}")
