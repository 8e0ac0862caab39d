let list: Vec<u8> = Vec::new();
list[std::env::args().count()]
