// Takes more than a second without optimization, so the next run is compiled with it.
let mut state = 1_u64;
for round in 0..400_000_000_u64 {
    state = state.rotate_left(5) ^ round;
}
state
