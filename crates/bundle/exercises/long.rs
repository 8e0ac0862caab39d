// Takes more than a second without optimization, so the next run is compiled with it. An emulated machine would need
// minutes for all rounds, and stops after 20 s.
let started = std::time::Instant::now();
let mut state = 1_u64;
for block in 0..4_000_u64 {
    for round in 0..100_000_u64 {
        state = state.rotate_left(5) ^ (block + round);
    }
    if started.elapsed().as_secs() >= 20 {
        break;
    }
}
state > 0
