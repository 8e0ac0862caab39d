let text = String::from("moved");
let mut list = vec![text];
let first = &list[0];
list.push(String::new());
drop(text);
first.len() + undeclared::thing()
