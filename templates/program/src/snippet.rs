#[allow(unused_imports)] use ::bridge::prelude::*; #[allow(unused_variables)] async fn __body(args: Args) -> ::bridge::Result<impl ::bridge::tail::Outcome> { let __tail = { use tools::demo;
let greeting = demo::echo("hello").await?;
println!("{greeting}");
greeting.text().len()
}; ::bridge::Result::Ok(__tail) } pub(crate) fn __entry(args: ::bridge::Args) -> ::bridge::Running { ::bridge::encoding(::std::boxed::Box::pin(__body(args))) } pub(crate) const ORIGIN: ::bridge::Origin<'static> = ::bridge::Origin::new(173);
