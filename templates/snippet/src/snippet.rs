#[allow(unused_imports)] use ::bridge::prelude::*; #[allow(unused_variables)] async fn __body(args: Args) -> ::bridge::Result<impl ::bridge::tail::Outcome> { let __tail = { use tools::demo;
let greeting = demo::echo("hello").await?;
println!("{greeting}");
greeting.text().len()
}; ::bridge::finish!(__tail) } pub(crate) async fn __entry(args: ::bridge::Args) -> ::bridge::Encoded { ::bridge::encode(__body(args).await) } pub(crate) const ORIGIN: ::bridge::Origin<'static> = ::bridge::Origin::new(173);
