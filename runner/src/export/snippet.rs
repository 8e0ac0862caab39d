// The program. `toolsmith run --crate` runs it; `cargo build` and your editor check it.
//
// The tools of each server are in the module of its name, under ../../tools/src: call one with its required
// arguments, set optional ones, and await it, such as `demo::list_orders().limit(10).await?`. What the program
// returns is its result. For `cargo build` it is one file with `async fn run() -> Result<…>`.

async fn run() -> Result<String> {
    Ok("no tool is called yet".to_owned())
}
