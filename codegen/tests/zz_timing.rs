mod schemas;
use codegen::*;
use std::time::Instant;
#[test]
fn timing() {
    let mut state = 88172645463325252u64;
    let mut t = [0u128; 6];
    let mut worst = (0u128, Vec::new());
    let n = 2000;
    for _ in 0..n {
        let mut next = || { state ^= state << 13; state ^= state >> 7; state ^= state << 17; state };
        let len = next() % 300;
        let bytes: Vec<u8> = (0..len).map(|_| (next() >> 32) as u8).collect();
        let s = Instant::now();
        let tool = schemas::tool(&bytes);
        t[0] += s.elapsed().as_micros();
        let s = Instant::now();
        let f = normal_form(&tool);
        t[1] += s.elapsed().as_micros();
        let s = Instant::now();
        let b = generate(&Server { name: "any".into(), tools: vec![tool.clone()] }, "any");
        let e = s.elapsed().as_micros();
        t[2] += e;
        if e > worst.0 { worst = (e, bytes.clone()); }
        let s = Instant::now();
        let src = b.source();
        let _ = syn::parse_file(&src);
        t[3] += s.elapsed().as_micros();
        let s = Instant::now();
        let _ = format!("{}", f.input);
        t[4] += s.elapsed().as_micros();
        t[5] += src.len() as u128;
    }
    eprintln!("per case us: {:?} worst {}", t.map(|x| x / n), worst.0);
}
