// Generated from the tools of the MCP server "nasty". Do not edit: changes are lost.

#![allow(missing_docs, non_camel_case_types, unreachable_pub, clippy::all, clippy::pedantic)]

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EmptyInput {}
impl bridge::convert::ToJson for EmptyInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for EmptyInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct N1stToolInput {}
impl bridge::convert::ToJson for N1stToolInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for N1stToolInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OptionInput {
    pub some: Option<String>,
    pub none: Option<String>,
}
impl bridge::convert::ToJson for OptionInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("Some", &self.some), ("None", &self.none)])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for OptionInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            some: bridge::convert::FromJson::from_json(
                reader.take(level, "Some"),
                reader,
            ),
            none: bridge::convert::FromJson::from_json(
                reader.take(level, "None"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResultInput {
    pub item: Option<ResultItem>,
}
impl bridge::convert::ToJson for ResultInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("item", &self.item)])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ResultInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            item: bridge::convert::FromJson::from_json(
                reader.take(level, "item"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq, Default)]
pub struct ResultItem {
    pub a: Option<String>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for ResultItem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(formatter, "ResultItem", &[("a", &self.a)], &self.extra)
    }
}
impl bridge::convert::ToJson for ResultItem {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[], &[("a", &self.a)], &self.extra)
    }
}
impl bridge::convert::FromJson for ResultItem {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            extra: bridge::Extra::kept(reader.rest(level, &["a"]), reader),
        }
    }
}
bridge::generated! {
    ResultItem = 3606291353171364885
}

#[derive(Clone, PartialEq, Default)]
pub struct ResultOutput {
    pub item: Option<ResultItem2>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for ResultOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "ResultOutput",
            &[("item", &self.item)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for ResultOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[], &[("item", &self.item)], &self.extra)
    }
}
impl bridge::convert::FromJson for ResultOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            item: bridge::convert::FromJson::from_json(
                reader.take(level, "item"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["item"]), reader),
        }
    }
}
bridge::generated! {
    ResultOutput = 8230712277908535110
}

#[derive(Clone, PartialEq, Default)]
pub struct ResultItem2 {
    pub b: Option<String>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for ResultItem2 {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(formatter, "ResultItem2", &[("b", &self.b)], &self.extra)
    }
}
impl bridge::convert::ToJson for ResultItem2 {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[], &[("b", &self.b)], &self.extra)
    }
}
impl bridge::convert::FromJson for ResultItem2 {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            b: bridge::convert::FromJson::from_json(reader.take(level, "b"), reader),
            extra: bridge::Extra::kept(reader.rest(level, &["b"]), reader),
        }
    }
}
bridge::generated! {
    ResultItem2 = 6482646815799966882
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct StringInput {
    pub value: String,
}
impl bridge::convert::ToJson for StringInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("value", &self.value)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for StringInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            value: bridge::convert::FromJson::from_json(
                reader.take(level, "value"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct StringOutput {
    pub value: String,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for StringOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "StringOutput",
            &[("value", &self.value)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for StringOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[("value", &self.value)], &[], &self.extra)
    }
}
impl bridge::convert::FromJson for StringOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            value: bridge::convert::FromJson::from_json(
                reader.take(level, "value"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["value"]), reader),
        }
    }
}
bridge::generated! {
    StringOutput = 5884533820249319548
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct AdditionalInput {
    pub known: String,
    pub extra: Option<i64>,
    pub extra2: bridge::convert::IndexMap<String, i64>,
}
impl bridge::convert::ToJson for AdditionalInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("known", &self.known)],
            &[("extra", &self.extra)],
            &self.extra2,
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for AdditionalInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            known: bridge::convert::FromJson::from_json(
                reader.take(level, "known"),
                reader,
            ),
            extra: bridge::convert::FromJson::from_json(
                reader.take(level, "extra"),
                reader,
            ),
            extra2: bridge::convert::FromJson::from_json(
                reader.described_rest(level, &["known", "extra"]),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct AdditionalOutput {
    pub known: String,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for AdditionalOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "AdditionalOutput",
            &[("known", &self.known)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for AdditionalOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[("known", &self.known)], &[], &self.extra)
    }
}
impl bridge::convert::FromJson for AdditionalOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            known: bridge::convert::FromJson::from_json(
                reader.take(level, "known"),
                reader,
            ),
            extra: bridge::convert::FromJson::from_json(
                reader.described_rest(level, &["known"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    AdditionalOutput = 4906658344948883783
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnchorsInput {
    pub a: Option<Here>,
    pub b: Option<There>,
    pub c: Option<Vec<i64>>,
}
impl bridge::convert::ToJson for AnchorsInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("a", &self.a), ("b", &self.b), ("c", &self.c)])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for AnchorsInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            b: bridge::convert::FromJson::from_json(reader.take(level, "b"), reader),
            c: bridge::convert::FromJson::from_json(reader.take(level, "c"), reader),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Here {
    pub x: Option<i64>,
}
impl bridge::convert::ToJson for Here {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("x", &self.x)])
    }
}
impl bridge::convert::FromJson for Here {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            x: bridge::convert::FromJson::from_json(reader.take(level, "x"), reader),
        }
    }
}
bridge::generated! {
    Here = 6682383240108669678
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub enum There {
    P,
    Q,
}
impl There {
    pub fn as_str(&self) -> &str {
        match self {
            Self::P => "p",
            Self::Q => "q",
        }
    }
}
impl bridge::convert::GeneratedText for There {
    const TEXTS: &'static [&'static str] = &["p", "q"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "p" => Self::P,
                "q" => Self::Q,
                _ => return Err((Self::P, Self::TEXTS)),
            },
        )
    }
}
bridge::generated! {
    There = 4852602818869298926
}
bridge::generated_text! {
    ; There
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct ArraysInput {
    pub pair: (i64, String),
    pub old_pair: Option<(i64, String)>,
    pub short: Option<Vec<i64>>,
    pub same: Option<Vec<i64>>,
    pub bounded: Option<Vec<String>>,
    pub open_prefix: Option<Vec<bridge::convert::Value>>,
    pub contains: Option<Vec<bridge::convert::Value>>,
    pub of_null: Option<Vec<()>>,
}
impl bridge::convert::ToJson for ArraysInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("pair", &self.pair)],
            &[
                ("old_pair", &self.old_pair),
                ("short", &self.short),
                ("same", &self.same),
                ("bounded", &self.bounded),
                ("open_prefix", &self.open_prefix),
                ("contains", &self.contains),
                ("of_null", &self.of_null),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ArraysInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            pair: bridge::convert::FromJson::from_json(
                reader.take(level, "pair"),
                reader,
            ),
            old_pair: bridge::convert::FromJson::from_json(
                reader.take(level, "old_pair"),
                reader,
            ),
            short: bridge::convert::FromJson::from_json(
                reader.take(level, "short"),
                reader,
            ),
            same: bridge::convert::FromJson::from_json(
                reader.take(level, "same"),
                reader,
            ),
            bounded: bridge::convert::FromJson::from_json(
                reader.take(level, "bounded"),
                reader,
            ),
            open_prefix: bridge::convert::FromJson::from_json(
                reader.take(level, "open_prefix"),
                reader,
            ),
            contains: bridge::convert::FromJson::from_json(
                reader.take(level, "contains"),
                reader,
            ),
            of_null: bridge::convert::FromJson::from_json(
                reader.take(level, "of_null"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct X {
    pub a: String,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for X {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(formatter, "X", &[("a", &self.a)], &self.extra)
    }
}
impl bridge::convert::ToJson for X {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[("a", &self.a)], &[], &self.extra)
    }
}
impl bridge::convert::FromJson for X {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            extra: bridge::Extra::kept(reader.rest(level, &["a"]), reader),
        }
    }
}
bridge::generated! {
    X = 1390161132095383598
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct AsyncInput {
    pub await_: bool,
}
impl bridge::convert::ToJson for AsyncInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("await", &self.await_)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for AsyncInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            await_: bridge::convert::FromJson::from_json(
                reader.take(level, "await"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct BooleanSchemasInput {
    pub anything: bridge::convert::Value,
    pub empty: Option<bridge::convert::Value>,
    pub any_items: Option<Vec<bridge::convert::Value>>,
    pub no_items: Option<Vec<bridge::convert::Value>>,
}
impl bridge::convert::ToJson for BooleanSchemasInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(
                &[("anything", &self.anything)],
                &[("any_items", &self.any_items), ("no_items", &self.no_items)],
            ),
            &[
                (
                    "empty",
                    self
                        .empty
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for BooleanSchemasInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            anything: bridge::convert::FromJson::from_json(
                reader.take(level, "anything"),
                reader,
            ),
            empty: bridge::convert::read_nullable(reader.take(level, "empty"), reader),
            any_items: bridge::convert::FromJson::from_json(
                reader.take(level, "any_items"),
                reader,
            ),
            no_items: bridge::convert::FromJson::from_json(
                reader.take(level, "no_items"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallInput {
    pub input: Option<CallInput2>,
}
impl bridge::convert::ToJson for CallInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("input", &self.input)])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for CallInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            input: bridge::convert::FromJson::from_json(
                reader.take(level, "input"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallInput2 {
    pub output: Option<String>,
}
impl bridge::convert::ToJson for CallInput2 {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("output", &self.output)])
    }
}
impl bridge::convert::FromJson for CallInput2 {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            output: bridge::convert::FromJson::from_json(
                reader.take(level, "output"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    CallInput2 = 7637440618812549998
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionsInput {
    pub mode: Mode,
    pub nested: Option<ConditionsNested>,
    pub either: Option<ConditionsEither>,
    pub one_of_many: Option<ConditionsOneOfMany>,
    pub with_b: Option<bool>,
    pub with_a: Option<bool>,
    pub for_b: Option<i64>,
    pub for_a: Option<String>,
}
impl bridge::convert::ToJson for ConditionsInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("mode", &self.mode)],
            &[
                ("nested", &self.nested),
                ("either", &self.either),
                ("one_of_many", &self.one_of_many),
                ("with_b", &self.with_b),
                ("with_a", &self.with_a),
                ("for_b", &self.for_b),
                ("for_a", &self.for_a),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ConditionsInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            mode: bridge::convert::FromJson::from_json(
                reader.take(level, "mode"),
                reader,
            ),
            nested: bridge::convert::FromJson::from_json(
                reader.take(level, "nested"),
                reader,
            ),
            either: bridge::convert::FromJson::from_json(
                reader.take(level, "either"),
                reader,
            ),
            one_of_many: bridge::convert::FromJson::from_json(
                reader.take(level, "one_of_many"),
                reader,
            ),
            with_b: bridge::convert::FromJson::from_json(
                reader.take(level, "with_b"),
                reader,
            ),
            with_a: bridge::convert::FromJson::from_json(
                reader.take(level, "with_a"),
                reader,
            ),
            for_b: bridge::convert::FromJson::from_json(
                reader.take(level, "for_b"),
                reader,
            ),
            for_a: bridge::convert::FromJson::from_json(
                reader.take(level, "for_a"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub enum Mode {
    A,
    B,
}
impl Mode {
    pub fn as_str(&self) -> &str {
        match self {
            Self::A => "a",
            Self::B => "b",
        }
    }
}
impl bridge::convert::GeneratedText for Mode {
    const TEXTS: &'static [&'static str] = &["a", "b"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "a" => Self::A,
                "b" => Self::B,
                _ => return Err((Self::A, Self::TEXTS)),
            },
        )
    }
}
bridge::generated! {
    Mode = 8783685639962005
}
bridge::generated_text! {
    ; Mode
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConditionsNested {
    pub kind: Option<String>,
    pub y: Option<String>,
    pub x: Option<i64>,
}
impl bridge::convert::ToJson for ConditionsNested {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[],
            &[("kind", &self.kind), ("y", &self.y), ("x", &self.x)],
        )
    }
}
impl bridge::convert::FromJson for ConditionsNested {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            kind: bridge::convert::FromJson::from_json(
                reader.take(level, "kind"),
                reader,
            ),
            y: bridge::convert::FromJson::from_json(reader.take(level, "y"), reader),
            x: bridge::convert::FromJson::from_json(reader.take(level, "x"), reader),
        }
    }
}
bridge::generated! {
    ConditionsNested = 3706314475811216746
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConditionsEither {
    pub a: Option<String>,
    pub b: Option<i64>,
}
impl bridge::convert::ToJson for ConditionsEither {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("a", &self.a), ("b", &self.b)])
    }
}
impl bridge::convert::FromJson for ConditionsEither {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            b: bridge::convert::FromJson::from_json(reader.take(level, "b"), reader),
        }
    }
}
bridge::generated! {
    ConditionsEither = 388757258967432933
}

#[derive(Debug, Clone, PartialEq)]
pub struct ConditionsOneOfMany {
    pub a: String,
    pub b: Option<i64>,
}
impl bridge::convert::ToJson for ConditionsOneOfMany {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("a", &self.a)], &[("b", &self.b)])
    }
}
impl bridge::convert::FromJson for ConditionsOneOfMany {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            b: bridge::convert::FromJson::from_json(reader.take(level, "b"), reader),
        }
    }
}
bridge::generated! {
    ConditionsOneOfMany = 10147518193814577905
}

#[derive(Clone, PartialEq)]
pub struct ConditionsOutput {
    pub x: i64,
    pub extra: bridge::Extra<String>,
}
impl std::fmt::Debug for ConditionsOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "ConditionsOutput",
            &[("x", &self.x)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for ConditionsOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[("x", &self.x)], &[], &self.extra)
    }
}
impl bridge::convert::FromJson for ConditionsOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            x: bridge::convert::FromJson::from_json(reader.take(level, "x"), reader),
            extra: bridge::convert::FromJson::from_json(
                reader.described_rest(level, &["x"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    ConditionsOutput = 4671300990207081031
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DanglingInput {
    pub a: Option<bridge::convert::Value>,
    pub b: Option<bridge::convert::Value>,
    pub c: Option<Item>,
    pub d: Option<DanglingD>,
    pub e: Option<DanglingD>,
}
impl bridge::convert::ToJson for DanglingInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(
                &[],
                &[("c", &self.c), ("d", &self.d), ("e", &self.e)],
            ),
            &[
                (
                    "a",
                    self.a.as_ref().map(|value| value as &dyn bridge::convert::ToJson),
                ),
                ("b", self.b.as_ref().map(|value| value as &dyn bridge::convert::ToJson)),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for DanglingInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::read_nullable(reader.take(level, "a"), reader),
            b: bridge::convert::read_nullable(reader.take(level, "b"), reader),
            c: bridge::convert::FromJson::from_json(reader.take(level, "c"), reader),
            d: bridge::convert::FromJson::from_json(reader.take(level, "d"), reader),
            e: bridge::convert::FromJson::from_json(reader.take(level, "e"), reader),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Item {
    pub x: Option<String>,
}
impl bridge::convert::ToJson for Item {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("x", &self.x)])
    }
}
impl bridge::convert::FromJson for Item {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            x: bridge::convert::FromJson::from_json(reader.take(level, "x"), reader),
        }
    }
}
bridge::generated! {
    Item = 18071596217157891794
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct DanglingD {
    pub deep: Option<String>,
}
impl bridge::convert::ToJson for DanglingD {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("deep", &self.deep)])
    }
}
impl bridge::convert::FromJson for DanglingD {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            deep: bridge::convert::FromJson::from_json(
                reader.take(level, "deep"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    DanglingD = 10097845861603959076
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DescriptionInput {
    /// * / } #![evil] '''rust fn main() { loop {} } '''
    pub x: Option<String>,
}
impl bridge::convert::ToJson for DescriptionInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("x", &self.x)])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for DescriptionInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            x: bridge::convert::FromJson::from_json(reader.take(level, "x"), reader),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct Draft3Input {
    pub needed: i64,
    pub base: String,
    pub free: Option<bridge::convert::Value>,
    pub above: Option<f64>,
    pub either: Option<Draft3Either>,
    pub extended: Option<Draft3Extended>,
    pub disallowed: Option<bridge::convert::Value>,
}
impl bridge::convert::ToJson for Draft3Input {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(
                &[("needed", &self.needed), ("base", &self.base)],
                &[
                    ("above", &self.above),
                    ("either", &self.either),
                    ("extended", &self.extended),
                ],
            ),
            &[
                (
                    "free",
                    self.free.as_ref().map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "disallowed",
                    self
                        .disallowed
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for Draft3Input {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            needed: bridge::convert::FromJson::from_json(
                reader.take(level, "needed"),
                reader,
            ),
            base: bridge::convert::FromJson::from_json(
                reader.take(level, "base"),
                reader,
            ),
            free: bridge::convert::read_nullable(reader.take(level, "free"), reader),
            above: bridge::convert::FromJson::from_json(
                reader.take(level, "above"),
                reader,
            ),
            either: bridge::convert::FromJson::from_json(
                reader.take(level, "either"),
                reader,
            ),
            extended: bridge::convert::FromJson::from_json(
                reader.take(level, "extended"),
                reader,
            ),
            disallowed: bridge::convert::read_nullable(
                reader.take(level, "disallowed"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Draft3Either {
    Text(String),
    Object(Here),
}
impl bridge::convert::ToJson for Draft3Either {
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::Text(inner) => bridge::convert::ToJson::to_json(inner),
            Self::Object(inner) => bridge::convert::ToJson::to_json(inner),
        }
    }
}
impl bridge::convert::FromJson for Draft3Either {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value {
            bridge::convert::Value::String(_) => {
                Self::Text(bridge::convert::FromJson::from_json(value, reader))
            }
            bridge::convert::Value::Object(_) => {
                Self::Object(bridge::convert::FromJson::from_json(value, reader))
            }
            _ => {
                reader.mismatch("text or object", &value);
                Self::Text(bridge::convert::FromJson::from_json(value, reader))
            }
        }
    }
}
bridge::generated! {
    Draft3Either = 17433824873950705000
}
bridge::generated_union! {
    Draft3Either { text Text(String), object Object(Here) }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Draft3Extended {
    pub a: i64,
    pub b: Option<String>,
}
impl bridge::convert::ToJson for Draft3Extended {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("a", &self.a)], &[("b", &self.b)])
    }
}
impl bridge::convert::FromJson for Draft3Extended {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            b: bridge::convert::FromJson::from_json(reader.take(level, "b"), reader),
        }
    }
}
bridge::generated! {
    Draft3Extended = 15629552396684214473
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct EnumsInput {
    pub null_value: Option<EnumsNullValue>,
    pub twice: Mode,
    pub null_const: Option<()>,
    pub null_type: Option<Option<Mode>>,
    pub empty: Option<bridge::convert::Value>,
    pub big: Option<u64>,
    pub typed: Option<Option<EnumsNullValue>>,
    pub objects: Option<bridge::convert::Value>,
    pub floats: Option<f64>,
    pub booleans: Option<bool>,
}
impl bridge::convert::ToJson for EnumsInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(
                &[
                    ("null_value", &self.null_value),
                    ("twice", &self.twice),
                    ("flag", &true),
                ],
                &[
                    ("null_const", &self.null_const),
                    ("big", &self.big),
                    ("floats", &self.floats),
                    ("booleans", &self.booleans),
                ],
            ),
            &[
                (
                    "null_type",
                    self
                        .null_type
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "empty",
                    self
                        .empty
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "typed",
                    self
                        .typed
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "objects",
                    self
                        .objects
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for EnumsInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        reader.constant(level, "flag", &true);
        Self {
            null_value: bridge::convert::FromJson::from_json(
                reader.take(level, "null_value"),
                reader,
            ),
            twice: bridge::convert::FromJson::from_json(
                reader.take(level, "twice"),
                reader,
            ),
            null_const: bridge::convert::FromJson::from_json(
                reader.take(level, "null_const"),
                reader,
            ),
            null_type: bridge::convert::read_nullable(
                reader.take(level, "null_type"),
                reader,
            ),
            empty: bridge::convert::read_nullable(reader.take(level, "empty"), reader),
            big: bridge::convert::FromJson::from_json(reader.take(level, "big"), reader),
            typed: bridge::convert::read_nullable(reader.take(level, "typed"), reader),
            objects: bridge::convert::read_nullable(
                reader.take(level, "objects"),
                reader,
            ),
            floats: bridge::convert::FromJson::from_json(
                reader.take(level, "floats"),
                reader,
            ),
            booleans: bridge::convert::FromJson::from_json(
                reader.take(level, "booleans"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub enum EnumsNullValue {
    A,
}
impl EnumsNullValue {
    pub fn as_str(&self) -> &str {
        match self {
            Self::A => "a",
        }
    }
}
impl bridge::convert::GeneratedText for EnumsNullValue {
    const TEXTS: &'static [&'static str] = &["a"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "a" => Self::A,
                _ => return Err((Self::A, Self::TEXTS)),
            },
        )
    }
}
bridge::generated! {
    EnumsNullValue = 17069543472897223453
}
bridge::generated_text! {
    ; EnumsNullValue
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct FourRequiredInput {
    pub source: String,
    pub target: String,
    pub owner: String,
    pub repo: String,
    pub zeta: String,
}
impl bridge::convert::ToJson for FourRequiredInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[
                ("source", &self.source),
                ("target", &self.target),
                ("owner", &self.owner),
                ("repo", &self.repo),
                ("zeta", &self.zeta),
            ],
            &[],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for FourRequiredInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            source: bridge::convert::FromJson::from_json(
                reader.take(level, "source"),
                reader,
            ),
            target: bridge::convert::FromJson::from_json(
                reader.take(level, "target"),
                reader,
            ),
            owner: bridge::convert::FromJson::from_json(
                reader.take(level, "owner"),
                reader,
            ),
            repo: bridge::convert::FromJson::from_json(
                reader.take(level, "repo"),
                reader,
            ),
            zeta: bridge::convert::FromJson::from_json(
                reader.take(level, "zeta"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct InputNonsenseInput {
    pub arguments: bridge::convert::Value,
}
impl bridge::convert::ToJson for InputNonsenseInput {
    fn to_json(&self) -> bridge::convert::Value {
        self.arguments.clone()
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for InputNonsenseInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        Self {
            arguments: bridge::convert::FromJson::from_json(value, reader),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct InputNotObjectInput {
    pub arguments: bridge::convert::Value,
}
impl bridge::convert::ToJson for InputNotObjectInput {
    fn to_json(&self) -> bridge::convert::Value {
        self.arguments.clone()
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for InputNotObjectInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        Self {
            arguments: bridge::convert::FromJson::from_json(value, reader),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InputOpenInput {
    pub extra: bridge::convert::IndexMap<String, bridge::convert::Value>,
}
impl bridge::convert::ToJson for InputOpenInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[], &[], &self.extra)
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for InputOpenInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            extra: bridge::convert::FromJson::from_json(
                reader.described_rest(level, &[]),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InputTrueInput {
    pub extra: bridge::convert::IndexMap<String, bridge::convert::Value>,
}
impl bridge::convert::ToJson for InputTrueInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[], &[], &self.extra)
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for InputTrueInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            extra: bridge::convert::FromJson::from_json(
                reader.described_rest(level, &[]),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InputUnionInput {
    pub a: Option<String>,
    pub b: Option<i64>,
}
impl bridge::convert::ToJson for InputUnionInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("a", &self.a), ("b", &self.b)])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for InputUnionInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            b: bridge::convert::FromJson::from_json(reader.take(level, "b"), reader),
        }
    }
}

#[derive(Clone, PartialEq, Default)]
pub struct InputUnionOutput {
    pub ok: Option<bool>,
    pub error: Option<String>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for InputUnionOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "InputUnionOutput",
            &[("ok", &self.ok), ("error", &self.error)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for InputUnionOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[],
            &[("ok", &self.ok), ("error", &self.error)],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for InputUnionOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            ok: bridge::convert::FromJson::from_json(reader.take(level, "ok"), reader),
            error: bridge::convert::FromJson::from_json(
                reader.take(level, "error"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["ok", "error"]), reader),
        }
    }
}
bridge::generated! {
    InputUnionOutput = 6247862710269785681
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListOrders2Input {}
impl bridge::convert::ToJson for ListOrders2Input {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ListOrders2Input {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListOrders3Input {}
impl bridge::convert::ToJson for ListOrders3Input {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ListOrders3Input {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListOrdersInput {
    pub input: Option<i64>,
}
impl bridge::convert::ToJson for ListOrdersInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("input", &self.input)])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ListOrdersInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            input: bridge::convert::FromJson::from_json(
                reader.take(level, "input"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct ListOrdersOutput {
    pub total: i64,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for ListOrdersOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "ListOrdersOutput",
            &[("total", &self.total)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for ListOrdersOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[("total", &self.total)], &[], &self.extra)
    }
}
impl bridge::convert::FromJson for ListOrdersOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            total: bridge::convert::FromJson::from_json(
                reader.take(level, "total"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["total"]), reader),
        }
    }
}
bridge::generated! {
    ListOrdersOutput = 17472486324705025873
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListOrdersInputInput {
    pub a: Option<ListOrdersInputA>,
}
impl bridge::convert::ToJson for ListOrdersInputInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("a", &self.a)])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ListOrdersInputInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListOrdersInputA {
    pub b: Option<i64>,
}
impl bridge::convert::ToJson for ListOrdersInputA {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("b", &self.b)])
    }
}
impl bridge::convert::FromJson for ListOrdersInputA {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            b: bridge::convert::FromJson::from_json(reader.take(level, "b"), reader),
        }
    }
}
bridge::generated! {
    ListOrdersInputA = 6686017777728364122
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MainInput {}
impl bridge::convert::ToJson for MainInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for MainInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct MapsInput {
    pub labels: bridge::convert::IndexMap<String, String>,
    pub nested: Option<bridge::convert::IndexMap<String, Vec<MapsNested>>>,
    pub patterns: Option<bridge::convert::IndexMap<String, bridge::convert::Value>>,
    pub both: Option<bridge::convert::IndexMap<String, bridge::Scalar>>,
    pub free: Option<bridge::convert::Value>,
    pub closed: Option<bridge::convert::Value>,
}
impl bridge::convert::ToJson for MapsInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(
                &[("labels", &self.labels)],
                &[
                    ("nested", &self.nested),
                    ("patterns", &self.patterns),
                    ("both", &self.both),
                ],
            ),
            &[
                (
                    "free",
                    self.free.as_ref().map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "closed",
                    self
                        .closed
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for MapsInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            labels: bridge::convert::FromJson::from_json(
                reader.take(level, "labels"),
                reader,
            ),
            nested: bridge::convert::FromJson::from_json(
                reader.take(level, "nested"),
                reader,
            ),
            patterns: bridge::convert::FromJson::from_json(
                reader.take(level, "patterns"),
                reader,
            ),
            both: bridge::convert::FromJson::from_json(
                reader.take(level, "both"),
                reader,
            ),
            free: bridge::convert::read_nullable(reader.take(level, "free"), reader),
            closed: bridge::convert::read_nullable(reader.take(level, "closed"), reader),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct MapsNested {
    pub a: Option<i64>,
}
impl bridge::convert::ToJson for MapsNested {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("a", &self.a)])
    }
}
impl bridge::convert::FromJson for MapsNested {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
        }
    }
}
bridge::generated! {
    MapsNested = 13943670770559282363
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct MergedInput {
    pub a: String,
    pub b: i64,
    pub shared: Option<String>,
}
impl bridge::convert::ToJson for MergedInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("a", &self.a), ("b", &self.b)],
            &[("shared", &self.shared)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for MergedInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            b: bridge::convert::FromJson::from_json(reader.take(level, "b"), reader),
            shared: bridge::convert::FromJson::from_json(
                reader.take(level, "shared"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct Beside {
    pub id: i64,
    pub more: i64,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for Beside {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "Beside",
            &[("id", &self.id), ("more", &self.more)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for Beside {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("id", &self.id), ("more", &self.more)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for Beside {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            id: bridge::convert::FromJson::from_json(reader.take(level, "id"), reader),
            more: bridge::convert::FromJson::from_json(
                reader.take(level, "more"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["id", "more"]), reader),
        }
    }
}
bridge::generated! {
    Beside = 1781433353411901028
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MethodNamesInput {
    pub call: Option<i64>,
    pub poll: Option<i64>,
    pub clone: Option<i64>,
    pub into_future: Option<i64>,
    pub drop: Option<i64>,
    pub to_json: Option<i64>,
    pub from_json: Option<i64>,
    pub map: Option<i64>,
    pub then: Option<i64>,
    pub boxed: Option<i64>,
    pub input: Option<i64>,
    pub pending: Option<i64>,
    pub context: Option<i64>,
}
impl bridge::convert::ToJson for MethodNamesInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[],
            &[
                ("call", &self.call),
                ("poll", &self.poll),
                ("clone", &self.clone),
                ("into_future", &self.into_future),
                ("drop", &self.drop),
                ("to_json", &self.to_json),
                ("from_json", &self.from_json),
                ("map", &self.map),
                ("then", &self.then),
                ("boxed", &self.boxed),
                ("input", &self.input),
                ("pending", &self.pending),
                ("context", &self.context),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for MethodNamesInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            call: bridge::convert::FromJson::from_json(
                reader.take(level, "call"),
                reader,
            ),
            poll: bridge::convert::FromJson::from_json(
                reader.take(level, "poll"),
                reader,
            ),
            clone: bridge::convert::FromJson::from_json(
                reader.take(level, "clone"),
                reader,
            ),
            into_future: bridge::convert::FromJson::from_json(
                reader.take(level, "into_future"),
                reader,
            ),
            drop: bridge::convert::FromJson::from_json(
                reader.take(level, "drop"),
                reader,
            ),
            to_json: bridge::convert::FromJson::from_json(
                reader.take(level, "to_json"),
                reader,
            ),
            from_json: bridge::convert::FromJson::from_json(
                reader.take(level, "from_json"),
                reader,
            ),
            map: bridge::convert::FromJson::from_json(reader.take(level, "map"), reader),
            then: bridge::convert::FromJson::from_json(
                reader.take(level, "then"),
                reader,
            ),
            boxed: bridge::convert::FromJson::from_json(
                reader.take(level, "boxed"),
                reader,
            ),
            input: bridge::convert::FromJson::from_json(
                reader.take(level, "input"),
                reader,
            ),
            pending: bridge::convert::FromJson::from_json(
                reader.take(level, "pending"),
                reader,
            ),
            context: bridge::convert::FromJson::from_json(
                reader.take(level, "context"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct MissingTypeInput {
    pub a: ResultItem2,
    pub c: Option<Vec<i64>>,
    /// no type at all
    pub d: Option<bridge::convert::Value>,
}
impl bridge::convert::ToJson for MissingTypeInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(&[("a", &self.a)], &[("c", &self.c)]),
            &[("d", self.d.as_ref().map(|value| value as &dyn bridge::convert::ToJson))],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for MissingTypeInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            c: bridge::convert::FromJson::from_json(reader.take(level, "c"), reader),
            d: bridge::convert::read_nullable(reader.take(level, "d"), reader),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NonsenseInput {
    pub a: Option<bridge::convert::Value>,
    pub b: Option<bridge::convert::Value>,
    pub c: Option<bridge::convert::Value>,
    pub d: Option<Vec<bridge::convert::Value>>,
    pub e: Option<bridge::convert::Value>,
    pub f: Option<bridge::convert::Value>,
    pub g: Option<bridge::convert::Value>,
    pub h: Option<bridge::convert::Value>,
    pub i: Option<bridge::convert::Value>,
}
impl bridge::convert::ToJson for NonsenseInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(&[], &[("d", &self.d)]),
            &[
                (
                    "a",
                    self.a.as_ref().map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "b",
                    self.b.as_ref().map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "c",
                    self.c.as_ref().map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "e",
                    self.e.as_ref().map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "f",
                    self.f.as_ref().map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "g",
                    self.g.as_ref().map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "h",
                    self.h.as_ref().map(|value| value as &dyn bridge::convert::ToJson),
                ),
                ("i", self.i.as_ref().map(|value| value as &dyn bridge::convert::ToJson)),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for NonsenseInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::read_nullable(reader.take(level, "a"), reader),
            b: bridge::convert::read_nullable(reader.take(level, "b"), reader),
            c: bridge::convert::read_nullable(reader.take(level, "c"), reader),
            d: bridge::convert::FromJson::from_json(reader.take(level, "d"), reader),
            e: bridge::convert::read_nullable(reader.take(level, "e"), reader),
            f: bridge::convert::read_nullable(reader.take(level, "f"), reader),
            g: bridge::convert::read_nullable(reader.take(level, "g"), reader),
            h: bridge::convert::read_nullable(reader.take(level, "h"), reader),
            i: bridge::convert::read_nullable(reader.take(level, "i"), reader),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NullDefaultInput {
    pub text: Option<String>,
    pub flag: Option<bool>,
    pub list: Option<Vec<String>>,
}
impl bridge::convert::ToJson for NullDefaultInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[],
            &[("text", &self.text), ("flag", &self.flag), ("list", &self.list)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for NullDefaultInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            text: bridge::convert::FromJson::from_json(
                reader.take(level, "text"),
                reader,
            ),
            flag: bridge::convert::FromJson::from_json(
                reader.take(level, "flag"),
                reader,
            ),
            list: bridge::convert::FromJson::from_json(
                reader.take(level, "list"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct NullableInput {
    pub required_one: Option<i64>,
    pub required_object: Option<ResultItem>,
    pub list: Option<Option<String>>,
    pub any_of: Option<Option<String>>,
    pub one_of: Option<Option<i64>>,
    pub open_api: Option<Option<String>>,
    pub enumerated: Option<Option<Mode>>,
    pub null_only: Option<()>,
    pub twice: Option<Option<String>>,
    pub items: Option<Vec<Option<String>>>,
}
impl bridge::convert::ToJson for NullableInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(
                &[
                    ("required_one", &self.required_one),
                    ("required_object", &self.required_object),
                ],
                &[("null_only", &self.null_only), ("items", &self.items)],
            ),
            &[
                (
                    "list",
                    self.list.as_ref().map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "any_of",
                    self
                        .any_of
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "one_of",
                    self
                        .one_of
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "open_api",
                    self
                        .open_api
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "enumerated",
                    self
                        .enumerated
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "twice",
                    self
                        .twice
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for NullableInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            required_one: bridge::convert::FromJson::from_json(
                reader.take(level, "required_one"),
                reader,
            ),
            required_object: bridge::convert::FromJson::from_json(
                reader.take(level, "required_object"),
                reader,
            ),
            list: bridge::convert::read_nullable(reader.take(level, "list"), reader),
            any_of: bridge::convert::read_nullable(reader.take(level, "any_of"), reader),
            one_of: bridge::convert::read_nullable(reader.take(level, "one_of"), reader),
            open_api: bridge::convert::read_nullable(
                reader.take(level, "open_api"),
                reader,
            ),
            enumerated: bridge::convert::read_nullable(
                reader.take(level, "enumerated"),
                reader,
            ),
            null_only: bridge::convert::FromJson::from_json(
                reader.take(level, "null_only"),
                reader,
            ),
            twice: bridge::convert::read_nullable(reader.take(level, "twice"), reader),
            items: bridge::convert::FromJson::from_json(
                reader.take(level, "items"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct NullableOutput {
    pub required_one: Option<i64>,
    pub optional: Option<i64>,
    pub open_api: Option<X>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for NullableOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "NullableOutput",
            &[
                ("required_one", &self.required_one),
                ("optional", &self.optional),
                ("open_api", &self.open_api),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for NullableOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("required_one", &self.required_one)],
            &[("optional", &self.optional), ("open_api", &self.open_api)],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for NullableOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            required_one: bridge::convert::FromJson::from_json(
                reader.take(level, "required_one"),
                reader,
            ),
            optional: bridge::convert::FromJson::from_json(
                reader.take(level, "optional"),
                reader,
            ),
            open_api: bridge::convert::FromJson::from_json(
                reader.take(level, "open_api"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader.rest(level, &["required_one", "optional", "open_api"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    NullableOutput = 16047835468790368410
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct NullableNestedInput {
    pub a: Option<i64>,
    pub c: Vec<Option<Maybe>>,
    pub f: Option<NullableNestedF>,
    pub b: Option<Option<Maybe>>,
    /// Perhaps.
    pub d: Option<Option<Maybe>>,
    pub e: Option<bridge::convert::IndexMap<String, Option<String>>>,
}
impl bridge::convert::ToJson for NullableNestedInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(
                &[("a", &self.a), ("c", &self.c), ("f", &self.f)],
                &[("e", &self.e)],
            ),
            &[
                (
                    "b",
                    self.b.as_ref().map(|value| value as &dyn bridge::convert::ToJson),
                ),
                ("d", self.d.as_ref().map(|value| value as &dyn bridge::convert::ToJson)),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for NullableNestedInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            c: bridge::convert::FromJson::from_json(reader.take(level, "c"), reader),
            f: bridge::convert::FromJson::from_json(reader.take(level, "f"), reader),
            b: bridge::convert::read_nullable(reader.take(level, "b"), reader),
            d: bridge::convert::read_nullable(reader.take(level, "d"), reader),
            e: bridge::convert::FromJson::from_json(reader.take(level, "e"), reader),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Maybe {
    pub x: i64,
}
impl bridge::convert::ToJson for Maybe {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("x", &self.x)], &[])
    }
}
impl bridge::convert::FromJson for Maybe {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            x: bridge::convert::FromJson::from_json(reader.take(level, "x"), reader),
        }
    }
}
bridge::generated! {
    Maybe = 12127835749067290388
}

#[derive(Debug, Clone, PartialEq)]
pub enum NullableNestedF {
    Text(String),
    List(Vec<String>),
}
impl bridge::convert::ToJson for NullableNestedF {
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::Text(inner) => bridge::convert::ToJson::to_json(inner),
            Self::List(inner) => bridge::convert::ToJson::to_json(inner),
        }
    }
}
impl bridge::convert::FromJson for NullableNestedF {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value {
            bridge::convert::Value::String(_) => {
                Self::Text(bridge::convert::FromJson::from_json(value, reader))
            }
            bridge::convert::Value::Array(_) => {
                Self::List(bridge::convert::FromJson::from_json(value, reader))
            }
            _ => {
                reader.mismatch("text or list", &value);
                Self::Text(bridge::convert::FromJson::from_json(value, reader))
            }
        }
    }
}
bridge::generated! {
    NullableNestedF = 17394679515062012386
}
bridge::generated_union! {
    NullableNestedF { text Text(String), list List(Vec < String >) }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NumericEnumsInput {
    pub priority: Option<i64>,
    pub ratio: Option<f64>,
    pub flag: Option<bool>,
    pub mixed: Option<bridge::Scalar>,
    pub none: Option<bridge::convert::Value>,
    pub big: Option<u64>,
    pub large: Option<u64>,
}
impl bridge::convert::ToJson for NumericEnumsInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(
                &[],
                &[
                    ("priority", &self.priority),
                    ("ratio", &self.ratio),
                    ("flag", &self.flag),
                    ("mixed", &self.mixed),
                    ("big", &self.big),
                    ("large", &self.large),
                ],
            ),
            &[
                (
                    "none",
                    self.none.as_ref().map(|value| value as &dyn bridge::convert::ToJson),
                ),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for NumericEnumsInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            priority: bridge::convert::FromJson::from_json(
                reader.take(level, "priority"),
                reader,
            ),
            ratio: bridge::convert::FromJson::from_json(
                reader.take(level, "ratio"),
                reader,
            ),
            flag: bridge::convert::FromJson::from_json(
                reader.take(level, "flag"),
                reader,
            ),
            mixed: bridge::convert::FromJson::from_json(
                reader.take(level, "mixed"),
                reader,
            ),
            none: bridge::convert::read_nullable(reader.take(level, "none"), reader),
            big: bridge::convert::FromJson::from_json(reader.take(level, "big"), reader),
            large: bridge::convert::FromJson::from_json(
                reader.take(level, "large"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct NumericEnumsOutput {
    pub big: u64,
    pub priority: i64,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for NumericEnumsOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "NumericEnumsOutput",
            &[("big", &self.big), ("priority", &self.priority)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for NumericEnumsOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("big", &self.big), ("priority", &self.priority)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for NumericEnumsOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            big: bridge::convert::FromJson::from_json(reader.take(level, "big"), reader),
            priority: bridge::convert::FromJson::from_json(
                reader.take(level, "priority"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["big", "priority"]), reader),
        }
    }
}
bridge::generated! {
    NumericEnumsOutput = 7083993770359409199
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct OpenObjectsInput {
    pub any: bridge::convert::Value,
    pub described: Option<bridge::convert::IndexMap<String, bridge::convert::Value>>,
    pub unevaluated: Option<bridge::convert::IndexMap<String, i64>>,
    pub with_fields: Option<OpenObjectsWithFields>,
    pub closed: Option<ResultItem>,
    pub forbidden: Option<OpenObjectsWithFields>,
    pub named: Option<bridge::convert::IndexMap<String, bool>>,
    pub maps: Option<
        bridge::convert::IndexMap<String, bridge::convert::IndexMap<String, Option<i64>>>,
    >,
}
impl bridge::convert::ToJson for OpenObjectsInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("any", &self.any)],
            &[
                ("described", &self.described),
                ("unevaluated", &self.unevaluated),
                ("with_fields", &self.with_fields),
                ("closed", &self.closed),
                ("forbidden", &self.forbidden),
                ("named", &self.named),
                ("maps", &self.maps),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for OpenObjectsInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            any: bridge::convert::FromJson::from_json(reader.take(level, "any"), reader),
            described: bridge::convert::FromJson::from_json(
                reader.take(level, "described"),
                reader,
            ),
            unevaluated: bridge::convert::FromJson::from_json(
                reader.take(level, "unevaluated"),
                reader,
            ),
            with_fields: bridge::convert::FromJson::from_json(
                reader.take(level, "with_fields"),
                reader,
            ),
            closed: bridge::convert::FromJson::from_json(
                reader.take(level, "closed"),
                reader,
            ),
            forbidden: bridge::convert::FromJson::from_json(
                reader.take(level, "forbidden"),
                reader,
            ),
            named: bridge::convert::FromJson::from_json(
                reader.take(level, "named"),
                reader,
            ),
            maps: bridge::convert::FromJson::from_json(
                reader.take(level, "maps"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpenObjectsWithFields {
    pub a: Option<String>,
    pub extra: bridge::convert::IndexMap<String, bridge::convert::Value>,
}
impl bridge::convert::ToJson for OpenObjectsWithFields {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[], &[("a", &self.a)], &self.extra)
    }
}
impl bridge::convert::FromJson for OpenObjectsWithFields {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            extra: bridge::convert::FromJson::from_json(
                reader.described_rest(level, &["a"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    OpenObjectsWithFields = 11174067040527402579
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OutputsEnumInput {}
impl bridge::convert::ToJson for OutputsEnumInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for OutputsEnumInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum OutputsEnumOutput {
    Yes,
    No,
    Other(String),
}
impl OutputsEnumOutput {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Other(text) => text,
        }
    }
}
impl bridge::convert::GeneratedText for OutputsEnumOutput {
    const TEXTS: &'static [&'static str] = &["yes", "no"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "yes" => Self::Yes,
                "no" => Self::No,
                _ => Self::Other(text.to_owned()),
            },
        )
    }
}
bridge::generated! {
    OutputsEnumOutput = 3934142009134511903
}
bridge::generated_text! {
    OutputsEnumOutput;
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OutputsNullableInput {}
impl bridge::convert::ToJson for OutputsNullableInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for OutputsNullableInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OutputsScalarInput {}
impl bridge::convert::ToJson for OutputsScalarInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for OutputsScalarInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct PropertyNamesInput {
    pub type_: String,
    pub self_: String,
    pub id: String,
    pub n1st: String,
    pub async_: Option<String>,
    pub ref_: Option<String>,
    pub foo_bar2: Option<String>,
    pub foo_bar3: Option<String>,
    pub foo_bar: Option<String>,
    pub reactions_plus_1: Option<String>,
    pub reactions_minus_1: Option<String>,
    pub call: Option<String>,
    pub poll: Option<String>,
    pub clone: Option<String>,
    pub await_: Option<String>,
    pub input: Option<String>,
    pub pending: Option<String>,
    pub empty: Option<String>,
    pub gr_uf6_udf_e: Option<String>,
    pub u540d_u524d: Option<String>,
    pub self_2: Option<String>,
    pub crate_: Option<String>,
    pub empty2: Option<String>,
    pub empty3: Option<String>,
    pub foo_bar4: Option<String>,
    pub extra: Option<String>,
}
impl bridge::convert::ToJson for PropertyNamesInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[
                ("type", &self.type_),
                ("self", &self.self_),
                ("@id", &self.id),
                ("1st", &self.n1st),
            ],
            &[
                ("async", &self.async_),
                ("$ref", &self.ref_),
                ("foo-bar", &self.foo_bar2),
                ("Foo Bar", &self.foo_bar3),
                ("foo_bar", &self.foo_bar),
                ("reactions-+1", &self.reactions_plus_1),
                ("reactions--1", &self.reactions_minus_1),
                ("call", &self.call),
                ("poll", &self.poll),
                ("clone", &self.clone),
                ("await", &self.await_),
                ("input", &self.input),
                ("pending", &self.pending),
                ("", &self.empty),
                ("größe", &self.gr_uf6_udf_e),
                ("名前", &self.u540d_u524d),
                ("Self", &self.self_2),
                ("crate", &self.crate_),
                ("_", &self.empty2),
                ("__", &self.empty3),
                ("fooBar", &self.foo_bar4),
                ("extra", &self.extra),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for PropertyNamesInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            type_: bridge::convert::FromJson::from_json(
                reader.take(level, "type"),
                reader,
            ),
            self_: bridge::convert::FromJson::from_json(
                reader.take(level, "self"),
                reader,
            ),
            id: bridge::convert::FromJson::from_json(reader.take(level, "@id"), reader),
            n1st: bridge::convert::FromJson::from_json(
                reader.take(level, "1st"),
                reader,
            ),
            async_: bridge::convert::FromJson::from_json(
                reader.take(level, "async"),
                reader,
            ),
            ref_: bridge::convert::FromJson::from_json(
                reader.take(level, "$ref"),
                reader,
            ),
            foo_bar2: bridge::convert::FromJson::from_json(
                reader.take(level, "foo-bar"),
                reader,
            ),
            foo_bar3: bridge::convert::FromJson::from_json(
                reader.take(level, "Foo Bar"),
                reader,
            ),
            foo_bar: bridge::convert::FromJson::from_json(
                reader.take(level, "foo_bar"),
                reader,
            ),
            reactions_plus_1: bridge::convert::FromJson::from_json(
                reader.take(level, "reactions-+1"),
                reader,
            ),
            reactions_minus_1: bridge::convert::FromJson::from_json(
                reader.take(level, "reactions--1"),
                reader,
            ),
            call: bridge::convert::FromJson::from_json(
                reader.take(level, "call"),
                reader,
            ),
            poll: bridge::convert::FromJson::from_json(
                reader.take(level, "poll"),
                reader,
            ),
            clone: bridge::convert::FromJson::from_json(
                reader.take(level, "clone"),
                reader,
            ),
            await_: bridge::convert::FromJson::from_json(
                reader.take(level, "await"),
                reader,
            ),
            input: bridge::convert::FromJson::from_json(
                reader.take(level, "input"),
                reader,
            ),
            pending: bridge::convert::FromJson::from_json(
                reader.take(level, "pending"),
                reader,
            ),
            empty: bridge::convert::FromJson::from_json(reader.take(level, ""), reader),
            gr_uf6_udf_e: bridge::convert::FromJson::from_json(
                reader.take(level, "größe"),
                reader,
            ),
            u540d_u524d: bridge::convert::FromJson::from_json(
                reader.take(level, "名前"),
                reader,
            ),
            self_2: bridge::convert::FromJson::from_json(
                reader.take(level, "Self"),
                reader,
            ),
            crate_: bridge::convert::FromJson::from_json(
                reader.take(level, "crate"),
                reader,
            ),
            empty2: bridge::convert::FromJson::from_json(
                reader.take(level, "_"),
                reader,
            ),
            empty3: bridge::convert::FromJson::from_json(
                reader.take(level, "__"),
                reader,
            ),
            foo_bar4: bridge::convert::FromJson::from_json(
                reader.take(level, "fooBar"),
                reader,
            ),
            extra: bridge::convert::FromJson::from_json(
                reader.take(level, "extra"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct RecursiveInput {
    pub root: Node,
}
impl bridge::convert::ToJson for RecursiveInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("root", &self.root)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for RecursiveInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            root: bridge::convert::FromJson::from_json(
                reader.take(level, "root"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct Node {
    pub name: String,
    pub children: Option<Vec<Node>>,
    pub parent: Option<Box<Node>>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for Node {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "Node",
            &[
                ("name", &self.name),
                ("children", &self.children),
                ("parent", &self.parent),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for Node {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("name", &self.name)],
            &[("children", &self.children), ("parent", &self.parent)],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for Node {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            name: bridge::convert::FromJson::from_json(
                reader.take(level, "name"),
                reader,
            ),
            children: bridge::convert::FromJson::from_json(
                reader.take(level, "children"),
                reader,
            ),
            parent: bridge::convert::FromJson::from_json(
                reader.take(level, "parent"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader.rest(level, &["name", "children", "parent"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    Node = 17763012355565452431
}

#[derive(Clone, PartialEq)]
pub struct RecursiveOutput {
    pub root: Node,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for RecursiveOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "RecursiveOutput",
            &[("root", &self.root)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for RecursiveOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[("root", &self.root)], &[], &self.extra)
    }
}
impl bridge::convert::FromJson for RecursiveOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            root: bridge::convert::FromJson::from_json(
                reader.take(level, "root"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["root"]), reader),
        }
    }
}
bridge::generated! {
    RecursiveOutput = 17780328275079816093
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecursiveListInput {
    pub a: Option<Vec<bridge::convert::Value>>,
    pub b: Option<bridge::convert::Value>,
}
impl bridge::convert::ToJson for RecursiveListInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(&[], &[("a", &self.a)]),
            &[("b", self.b.as_ref().map(|value| value as &dyn bridge::convert::ToJson))],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for RecursiveListInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            b: bridge::convert::read_nullable(reader.take(level, "b"), reader),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecursiveMergeInput {
    pub a: Option<A>,
}
impl bridge::convert::ToJson for RecursiveMergeInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("a", &self.a)])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for RecursiveMergeInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct A {
    pub id: Option<i64>,
    pub child: Option<AChild>,
}
impl bridge::convert::ToJson for A {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("id", &self.id), ("child", &self.child)])
    }
}
impl bridge::convert::FromJson for A {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            id: bridge::convert::FromJson::from_json(reader.take(level, "id"), reader),
            child: bridge::convert::FromJson::from_json(
                reader.take(level, "child"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    A = 6806428508077326303
}

#[derive(Debug, Clone, PartialEq)]
pub struct AChild {
    pub id: i64,
    pub child: Option<Box<AChild>>,
}
impl bridge::convert::ToJson for AChild {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("id", &self.id)], &[("child", &self.child)])
    }
}
impl bridge::convert::FromJson for AChild {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            id: bridge::convert::FromJson::from_json(reader.take(level, "id"), reader),
            child: bridge::convert::FromJson::from_json(
                reader.take(level, "child"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    AChild = 6093605622277961931
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct RecursiveRequiredInput {
    pub a: RecursiveRequiredA,
}
impl bridge::convert::ToJson for RecursiveRequiredInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("a", &self.a)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for RecursiveRequiredInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecursiveRequiredA {
    pub b: B,
}
impl bridge::convert::ToJson for RecursiveRequiredA {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("b", &self.b)], &[])
    }
}
impl bridge::convert::FromJson for RecursiveRequiredA {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            b: bridge::convert::FromJson::from_json(reader.take(level, "b"), reader),
        }
    }
}
bridge::generated! {
    RecursiveRequiredA = 13176542423345750793
}

#[derive(Debug, Clone, PartialEq)]
pub struct B {
    pub a: bridge::convert::Value,
}
impl bridge::convert::ToJson for B {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("a", &self.a)], &[])
    }
}
impl bridge::convert::FromJson for B {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
        }
    }
}
bridge::generated! {
    B = 714708103597404173
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecursiveRootInput {
    pub value: i64,
    pub next: Option<Box<RecursiveRootInput>>,
}
impl bridge::convert::ToJson for RecursiveRootInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("value", &self.value)], &[("next", &self.next)])
    }
}
impl bridge::convert::FromJson for RecursiveRootInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            value: bridge::convert::FromJson::from_json(
                reader.take(level, "value"),
                reader,
            ),
            next: bridge::convert::FromJson::from_json(
                reader.take(level, "next"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    RecursiveRootInput = 7919311595863830414
}

#[derive(Clone, PartialEq)]
pub struct List {
    pub value: i64,
    pub next: Option<Box<List>>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for List {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "List",
            &[("value", &self.value), ("next", &self.next)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for List {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("value", &self.value)],
            &[("next", &self.next)],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for List {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            value: bridge::convert::FromJson::from_json(
                reader.take(level, "value"),
                reader,
            ),
            next: bridge::convert::FromJson::from_json(
                reader.take(level, "next"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["value", "next"]), reader),
        }
    }
}
bridge::generated! {
    List = 6081514267526590086
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct RecursiveUnionInput {
    pub expression: Expression,
}
impl bridge::convert::ToJson for RecursiveUnionInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("expression", &self.expression)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for RecursiveUnionInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            expression: bridge::convert::FromJson::from_json(
                reader.take(level, "expression"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    Literal(Literal),
    Sum(Sum),
}
impl Expression {
    #[inline]
    pub fn kind(&self) -> &str {
        match self {
            Self::Literal(_) => "literal",
            Self::Sum(_) => "sum",
        }
    }
}
impl bridge::convert::ToJson for Expression {
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::Literal(inner) => {
                bridge::convert::tagged(
                    "kind",
                    "literal",
                    bridge::convert::ToJson::to_json(inner),
                )
            }
            Self::Sum(inner) => {
                bridge::convert::tagged(
                    "kind",
                    "sum",
                    bridge::convert::ToJson::to_json(inner),
                )
            }
        }
    }
}
impl bridge::convert::FromJson for Expression {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value.get("kind").and_then(bridge::convert::Value::as_str) {
            Some("literal") => {
                Self::Literal(
                    bridge::convert::FromJson::from_json(
                        reader.untagged(value, "kind"),
                        reader,
                    ),
                )
            }
            Some("sum") => {
                Self::Sum(
                    bridge::convert::FromJson::from_json(
                        reader.untagged(value, "kind"),
                        reader,
                    ),
                )
            }
            _ => {
                reader.unknown_tag("kind", &["literal", "sum"], &value);
                Self::Literal(bridge::convert::FromJson::from_json(value, reader))
            }
        }
    }
}
bridge::generated! {
    Expression = 6614434857133458581
}
bridge::generated_union! {
    Expression { object Literal(Literal), object Sum(Sum) }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Literal {
    pub value: f64,
}
impl bridge::convert::ToJson for Literal {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("value", &self.value)], &[])
    }
}
impl bridge::convert::FromJson for Literal {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            value: bridge::convert::FromJson::from_json(
                reader.take(level, "value"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    Literal = 17507767475636609036
}

#[derive(Debug, Clone, PartialEq)]
pub struct Sum {
    pub left: Box<Expression>,
    pub right: Box<Expression>,
    pub also: Option<Vec<Expression>>,
}
impl bridge::convert::ToJson for Sum {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("left", &self.left), ("right", &self.right)],
            &[("also", &self.also)],
        )
    }
}
impl bridge::convert::FromJson for Sum {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            left: bridge::convert::FromJson::from_json(
                reader.take(level, "left"),
                reader,
            ),
            right: bridge::convert::FromJson::from_json(
                reader.take(level, "right"),
                reader,
            ),
            also: bridge::convert::FromJson::from_json(
                reader.take(level, "also"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    Sum = 11826505645794118550
}

#[derive(Clone, PartialEq, Default)]
pub struct RecursiveUnionOutput {
    pub expression: Option<E>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for RecursiveUnionOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "RecursiveUnionOutput",
            &[("expression", &self.expression)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for RecursiveUnionOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[],
            &[("expression", &self.expression)],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for RecursiveUnionOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            expression: bridge::convert::FromJson::from_json(
                reader.take(level, "expression"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["expression"]), reader),
        }
    }
}
bridge::generated! {
    RecursiveUnionOutput = 9923498595725681572
}

#[derive(Debug, Clone, PartialEq)]
pub enum E {
    Number(f64),
    Object(EObject),
    Other(bridge::convert::Value),
}
impl bridge::convert::ToJson for E {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::Number(inner) => bridge::convert::ToJson::to_json(inner),
            Self::Object(inner) => bridge::convert::ToJson::to_json(inner),
            Self::Other(value) => value.clone(),
        }
    }
}
impl bridge::convert::FromJson for E {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value {
            bridge::convert::Value::Number(_) => {
                Self::Number(bridge::convert::FromJson::from_json(value, reader))
            }
            bridge::convert::Value::Object(_) => {
                Self::Object(bridge::convert::FromJson::from_json(value, reader))
            }
            _ => Self::Other(reader.held(value)),
        }
    }
}
bridge::generated! {
    E = 12823586331984793037
}

#[derive(Clone, PartialEq)]
pub struct EObject {
    pub not: Box<E>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for EObject {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(formatter, "EObject", &[("not", &self.not)], &self.extra)
    }
}
impl bridge::convert::ToJson for EObject {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[("not", &self.not)], &[], &self.extra)
    }
}
impl bridge::convert::FromJson for EObject {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            not: bridge::convert::FromJson::from_json(reader.take(level, "not"), reader),
            extra: bridge::Extra::kept(reader.rest(level, &["not"]), reader),
        }
    }
}
bridge::generated! {
    EObject = 13712213355515080758
}

#[derive(Debug, Clone, PartialEq)]
pub struct ReferencesInput {
    /// More than the base.
    pub beside: Beside,
    pub closed: Option<Base>,
    pub dynamic: Option<ReferencesNode>,
    pub recursive: Option<Box<ReferencesInput>>,
    pub draft4: Option<Vec<i64>>,
    pub percent: Option<There>,
    pub deep: Option<Inner>,
    pub outer: Option<ReferencesOuter>,
    pub resource: Option<Resource>,
    pub nested_anchor: Option<ReferencesNestedAnchor>,
}
impl bridge::convert::ToJson for ReferencesInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("beside", &self.beside)],
            &[
                ("closed", &self.closed),
                ("dynamic", &self.dynamic),
                ("recursive", &self.recursive),
                ("draft4", &self.draft4),
                ("percent", &self.percent),
                ("deep", &self.deep),
                ("outer", &self.outer),
                ("resource", &self.resource),
                ("nested_anchor", &self.nested_anchor),
            ],
        )
    }
}
impl bridge::convert::FromJson for ReferencesInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            beside: bridge::convert::FromJson::from_json(
                reader.take(level, "beside"),
                reader,
            ),
            closed: bridge::convert::FromJson::from_json(
                reader.take(level, "closed"),
                reader,
            ),
            dynamic: bridge::convert::FromJson::from_json(
                reader.take(level, "dynamic"),
                reader,
            ),
            recursive: bridge::convert::FromJson::from_json(
                reader.take(level, "recursive"),
                reader,
            ),
            draft4: bridge::convert::FromJson::from_json(
                reader.take(level, "draft4"),
                reader,
            ),
            percent: bridge::convert::FromJson::from_json(
                reader.take(level, "percent"),
                reader,
            ),
            deep: bridge::convert::FromJson::from_json(
                reader.take(level, "deep"),
                reader,
            ),
            outer: bridge::convert::FromJson::from_json(
                reader.take(level, "outer"),
                reader,
            ),
            resource: bridge::convert::FromJson::from_json(
                reader.take(level, "resource"),
                reader,
            ),
            nested_anchor: bridge::convert::FromJson::from_json(
                reader.take(level, "nested_anchor"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    ReferencesInput = 592434011881654306
}

#[derive(Debug, Clone, PartialEq)]
pub struct Base {
    pub id: i64,
}
impl bridge::convert::ToJson for Base {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("id", &self.id)], &[])
    }
}
impl bridge::convert::FromJson for Base {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            id: bridge::convert::FromJson::from_json(reader.take(level, "id"), reader),
        }
    }
}
bridge::generated! {
    Base = 4436676624866882279
}

#[derive(Debug, Clone, PartialEq)]
pub struct ReferencesNode {
    pub name: String,
    pub children: Option<Vec<ReferencesNode>>,
}
impl bridge::convert::ToJson for ReferencesNode {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("name", &self.name)], &[("children", &self.children)])
    }
}
impl bridge::convert::FromJson for ReferencesNode {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            name: bridge::convert::FromJson::from_json(
                reader.take(level, "name"),
                reader,
            ),
            children: bridge::convert::FromJson::from_json(
                reader.take(level, "children"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    ReferencesNode = 10462986679457815958
}

#[derive(Debug, Clone, PartialEq)]
pub struct Inner {
    pub z: bool,
}
impl bridge::convert::ToJson for Inner {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("z", &self.z)], &[])
    }
}
impl bridge::convert::FromJson for Inner {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            z: bridge::convert::FromJson::from_json(reader.take(level, "z"), reader),
        }
    }
}
bridge::generated! {
    Inner = 13487365283776945780
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReferencesOuter {
    pub inner: Option<Inner>,
}
impl bridge::convert::ToJson for ReferencesOuter {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("inner", &self.inner)])
    }
}
impl bridge::convert::FromJson for ReferencesOuter {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            inner: bridge::convert::FromJson::from_json(
                reader.take(level, "inner"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    ReferencesOuter = 5819158442208458555
}

#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    pub r: String,
}
impl bridge::convert::ToJson for Resource {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("r", &self.r)], &[])
    }
}
impl bridge::convert::FromJson for Resource {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            r: bridge::convert::FromJson::from_json(reader.take(level, "r"), reader),
        }
    }
}
bridge::generated! {
    Resource = 14299288896985058761
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReferencesNestedAnchor {
    pub d: Option<i64>,
}
impl bridge::convert::ToJson for ReferencesNestedAnchor {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("d", &self.d)])
    }
}
impl bridge::convert::FromJson for ReferencesNestedAnchor {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            d: bridge::convert::FromJson::from_json(reader.take(level, "d"), reader),
        }
    }
}
bridge::generated! {
    ReferencesNestedAnchor = 8026586747726194437
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct RequiredUnknownInput {
    pub a: String,
    pub b: bridge::convert::Value,
}
impl bridge::convert::ToJson for RequiredUnknownInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("a", &self.a), ("b", &self.b)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for RequiredUnknownInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            b: bridge::convert::FromJson::from_json(reader.take(level, "b"), reader),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct RunInput {
    pub x: String,
}
impl bridge::convert::ToJson for RunInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("x", &self.x)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for RunInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            x: bridge::convert::FromJson::from_json(reader.take(level, "x"), reader),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct RunOutput {
    pub ok: bool,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for RunOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(formatter, "RunOutput", &[("ok", &self.ok)], &self.extra)
    }
}
impl bridge::convert::ToJson for RunOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[("ok", &self.ok)], &[], &self.extra)
    }
}
impl bridge::convert::FromJson for RunOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            ok: bridge::convert::FromJson::from_json(reader.take(level, "ok"), reader),
            extra: bridge::Extra::kept(reader.rest(level, &["ok"]), reader),
        }
    }
}
bridge::generated! {
    RunOutput = 2775335575909378843
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SameTitlesInput {
    /// Item
    pub a: Option<Item>,
    /// Item
    pub b: Option<SameTitlesItem>,
    pub item: Option<SameTitlesItem2>,
    pub items: Option<Vec<SameTitlesItem2>>,
}
impl bridge::convert::ToJson for SameTitlesInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[],
            &[
                ("a", &self.a),
                ("b", &self.b),
                ("item", &self.item),
                ("items", &self.items),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for SameTitlesInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            b: bridge::convert::FromJson::from_json(reader.take(level, "b"), reader),
            item: bridge::convert::FromJson::from_json(
                reader.take(level, "item"),
                reader,
            ),
            items: bridge::convert::FromJson::from_json(
                reader.take(level, "items"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct SameTitlesItem {
    pub y: Option<i64>,
}
impl bridge::convert::ToJson for SameTitlesItem {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("y", &self.y)])
    }
}
impl bridge::convert::FromJson for SameTitlesItem {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            y: bridge::convert::FromJson::from_json(reader.take(level, "y"), reader),
        }
    }
}
bridge::generated! {
    SameTitlesItem = 3011317468681993042
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct SameTitlesItem2 {
    pub z: Option<bool>,
}
impl bridge::convert::ToJson for SameTitlesItem2 {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("z", &self.z)])
    }
}
impl bridge::convert::FromJson for SameTitlesItem2 {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            z: bridge::convert::FromJson::from_json(reader.take(level, "z"), reader),
        }
    }
}
bridge::generated! {
    SameTitlesItem2 = 18142128289605153397
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct SharedTypesInput {
    pub entities: Vec<SharedTypesEntity>,
}
impl bridge::convert::ToJson for SharedTypesInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("entities", &self.entities)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for SharedTypesInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            entities: bridge::convert::FromJson::from_json(
                reader.take(level, "entities"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct SharedTypesEntity {
    pub name: String,
    pub state: Option<SharedTypesState>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for SharedTypesEntity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "SharedTypesEntity",
            &[("name", &self.name), ("state", &self.state)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for SharedTypesEntity {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("name", &self.name)],
            &[("state", &self.state)],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for SharedTypesEntity {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            name: bridge::convert::FromJson::from_json(
                reader.take(level, "name"),
                reader,
            ),
            state: bridge::convert::FromJson::from_json(
                reader.take(level, "state"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["name", "state"]), reader),
        }
    }
}
bridge::generated! {
    SharedTypesEntity = 12262600768153248388
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum SharedTypesState {
    On,
    Off,
    Other(String),
}
impl SharedTypesState {
    pub fn as_str(&self) -> &str {
        match self {
            Self::On => "on",
            Self::Off => "off",
            Self::Other(text) => text,
        }
    }
}
impl bridge::convert::GeneratedText for SharedTypesState {
    const TEXTS: &'static [&'static str] = &["on", "off"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "on" => Self::On,
                "off" => Self::Off,
                _ => Self::Other(text.to_owned()),
            },
        )
    }
}
bridge::generated! {
    SharedTypesState = 9304039783083748309
}
bridge::generated_text! {
    SharedTypesState;
}

#[derive(Clone, PartialEq)]
pub struct SharedTypesOutput {
    pub entities: Vec<SharedTypesEntity>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for SharedTypesOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "SharedTypesOutput",
            &[("entities", &self.entities)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for SharedTypesOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("entities", &self.entities)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for SharedTypesOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            entities: bridge::convert::FromJson::from_json(
                reader.take(level, "entities"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["entities"]), reader),
        }
    }
}
bridge::generated! {
    SharedTypesOutput = 6681028319074774544
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct TaggedInput {
    pub shape: TaggedShape,
    pub content: Option<TaggedContent>,
}
impl bridge::convert::ToJson for TaggedInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("shape", &self.shape)], &[("content", &self.content)])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for TaggedInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            shape: bridge::convert::FromJson::from_json(
                reader.take(level, "shape"),
                reader,
            ),
            content: bridge::convert::FromJson::from_json(
                reader.take(level, "content"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum TaggedShape {
    Circle(TaggedCircle),
    Square(TaggedSquare),
    Point(TaggedPoint),
}
impl TaggedShape {
    #[inline]
    pub fn kind(&self) -> &str {
        match self {
            Self::Circle(_) => "circle",
            Self::Square(_) => "square",
            Self::Point(_) => "point",
        }
    }
}
impl bridge::convert::ToJson for TaggedShape {
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::Circle(inner) => {
                bridge::convert::tagged(
                    "kind",
                    "circle",
                    bridge::convert::ToJson::to_json(inner),
                )
            }
            Self::Square(inner) => {
                bridge::convert::tagged(
                    "kind",
                    "square",
                    bridge::convert::ToJson::to_json(inner),
                )
            }
            Self::Point(inner) => {
                bridge::convert::tagged(
                    "kind",
                    "point",
                    bridge::convert::ToJson::to_json(inner),
                )
            }
        }
    }
}
impl bridge::convert::FromJson for TaggedShape {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value.get("kind").and_then(bridge::convert::Value::as_str) {
            Some("circle") => {
                Self::Circle(
                    bridge::convert::FromJson::from_json(
                        reader.untagged(value, "kind"),
                        reader,
                    ),
                )
            }
            Some("square") => {
                Self::Square(
                    bridge::convert::FromJson::from_json(
                        reader.untagged(value, "kind"),
                        reader,
                    ),
                )
            }
            Some("point") => {
                Self::Point(
                    bridge::convert::FromJson::from_json(
                        reader.untagged(value, "kind"),
                        reader,
                    ),
                )
            }
            _ => {
                reader.unknown_tag("kind", &["circle", "square", "point"], &value);
                Self::Circle(bridge::convert::FromJson::from_json(value, reader))
            }
        }
    }
}
bridge::generated! {
    TaggedShape = 7889779902658052744
}
bridge::generated_union! {
    TaggedShape { object Circle(TaggedCircle), object Square(TaggedSquare), object
    Point(TaggedPoint) }
}

#[derive(Debug, Clone, PartialEq)]
pub struct TaggedCircle {
    pub radius: f64,
}
impl bridge::convert::ToJson for TaggedCircle {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("radius", &self.radius)], &[])
    }
}
impl bridge::convert::FromJson for TaggedCircle {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            radius: bridge::convert::FromJson::from_json(
                reader.take(level, "radius"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    TaggedCircle = 10052767582315324612
}

#[derive(Debug, Clone, PartialEq)]
pub struct TaggedSquare {
    pub side: f64,
}
impl bridge::convert::ToJson for TaggedSquare {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("side", &self.side)], &[])
    }
}
impl bridge::convert::FromJson for TaggedSquare {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            side: bridge::convert::FromJson::from_json(
                reader.take(level, "side"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    TaggedSquare = 3429672433274284042
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaggedPoint {}
impl bridge::convert::ToJson for TaggedPoint {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
impl bridge::convert::FromJson for TaggedPoint {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}
bridge::generated! {
    TaggedPoint = 13939938954869552909
}

#[derive(Debug, Clone, PartialEq)]
pub enum TaggedContent {
    X(TaggedX),
    Y(TaggedY),
}
impl TaggedContent {
    #[inline]
    pub fn zz(&self) -> &str {
        match self {
            Self::X(_) => "x",
            Self::Y(_) => "y",
        }
    }
}
impl bridge::convert::ToJson for TaggedContent {
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::X(inner) => {
                bridge::convert::tagged(
                    "zz",
                    "x",
                    bridge::convert::ToJson::to_json(inner),
                )
            }
            Self::Y(inner) => {
                bridge::convert::tagged(
                    "zz",
                    "y",
                    bridge::convert::ToJson::to_json(inner),
                )
            }
        }
    }
}
impl bridge::convert::FromJson for TaggedContent {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value.get("zz").and_then(bridge::convert::Value::as_str) {
            Some("x") => {
                Self::X(
                    bridge::convert::FromJson::from_json(
                        reader.untagged(value, "zz"),
                        reader,
                    ),
                )
            }
            Some("y") => {
                Self::Y(
                    bridge::convert::FromJson::from_json(
                        reader.untagged(value, "zz"),
                        reader,
                    ),
                )
            }
            _ => {
                reader.unknown_tag("zz", &["x", "y"], &value);
                Self::X(bridge::convert::FromJson::from_json(value, reader))
            }
        }
    }
}
bridge::generated! {
    TaggedContent = 7805974122407431229
}
bridge::generated_union! {
    TaggedContent { object X(TaggedX), object Y(TaggedY) }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaggedX {
    pub aa: Option<TaggedAa>,
}
impl bridge::convert::ToJson for TaggedX {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("aa", &self.aa)])
    }
}
impl bridge::convert::FromJson for TaggedX {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            aa: bridge::convert::FromJson::from_json(reader.take(level, "aa"), reader),
        }
    }
}
bridge::generated! {
    TaggedX = 2244863166621829604
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub enum TaggedAa {
    N1,
}
impl TaggedAa {
    pub fn as_str(&self) -> &str {
        match self {
            Self::N1 => "1",
        }
    }
}
impl bridge::convert::GeneratedText for TaggedAa {
    const TEXTS: &'static [&'static str] = &["1"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "1" => Self::N1,
                _ => return Err((Self::N1, Self::TEXTS)),
            },
        )
    }
}
bridge::generated! {
    TaggedAa = 10822474982828897081
}
bridge::generated_text! {
    ; TaggedAa
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaggedY {
    pub aa: Option<TaggedAa2>,
    pub more: Option<i64>,
}
impl bridge::convert::ToJson for TaggedY {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("aa", &self.aa), ("more", &self.more)])
    }
}
impl bridge::convert::FromJson for TaggedY {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            aa: bridge::convert::FromJson::from_json(reader.take(level, "aa"), reader),
            more: bridge::convert::FromJson::from_json(
                reader.take(level, "more"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    TaggedY = 15668052852766958658
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub enum TaggedAa2 {
    N2,
}
impl TaggedAa2 {
    pub fn as_str(&self) -> &str {
        match self {
            Self::N2 => "2",
        }
    }
}
impl bridge::convert::GeneratedText for TaggedAa2 {
    const TEXTS: &'static [&'static str] = &["2"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "2" => Self::N2,
                _ => return Err((Self::N2, Self::TEXTS)),
            },
        )
    }
}
bridge::generated! {
    TaggedAa2 = 4461283579787763172
}
bridge::generated_text! {
    ; TaggedAa2
}

#[derive(Clone, PartialEq)]
pub struct TaggedOutput {
    pub blocks: Vec<TaggedBlock>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for TaggedOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "TaggedOutput",
            &[("blocks", &self.blocks)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for TaggedOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[("blocks", &self.blocks)], &[], &self.extra)
    }
}
impl bridge::convert::FromJson for TaggedOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            blocks: bridge::convert::FromJson::from_json(
                reader.take(level, "blocks"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["blocks"]), reader),
        }
    }
}
bridge::generated! {
    TaggedOutput = 2158824858749171246
}

#[derive(Debug, Clone, PartialEq)]
pub enum TaggedBlock {
    Text(Text),
    Image(TaggedImage),
    Other(bridge::convert::Value),
}
impl TaggedBlock {
    #[inline]
    pub fn type_(&self) -> &str {
        match self {
            Self::Text(_) => "text",
            Self::Image(_) => "image",
            Self::Other(value) => {
                value
                    .get("type")
                    .and_then(bridge::convert::Value::as_str)
                    .unwrap_or_default()
            }
        }
    }
}
impl bridge::convert::ToJson for TaggedBlock {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::Text(inner) => {
                bridge::convert::tagged(
                    "type",
                    "text",
                    bridge::convert::ToJson::to_json(inner),
                )
            }
            Self::Image(inner) => {
                bridge::convert::tagged(
                    "type",
                    "image",
                    bridge::convert::ToJson::to_json(inner),
                )
            }
            Self::Other(value) => value.clone(),
        }
    }
}
impl bridge::convert::FromJson for TaggedBlock {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value.get("type").and_then(bridge::convert::Value::as_str) {
            Some("text") => {
                Self::Text(
                    bridge::convert::FromJson::from_json(
                        reader.untagged(value, "type"),
                        reader,
                    ),
                )
            }
            Some("image") => {
                Self::Image(
                    bridge::convert::FromJson::from_json(
                        reader.untagged(value, "type"),
                        reader,
                    ),
                )
            }
            _ => Self::Other(reader.held(value)),
        }
    }
}
bridge::generated! {
    TaggedBlock = 620209147231583713
}

#[derive(Clone, PartialEq)]
pub struct Text {
    pub text: String,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for Text {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(formatter, "Text", &[("text", &self.text)], &self.extra)
    }
}
impl bridge::convert::ToJson for Text {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[("text", &self.text)], &[], &self.extra)
    }
}
impl bridge::convert::FromJson for Text {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            text: bridge::convert::FromJson::from_json(
                reader.take(level, "text"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["text"]), reader),
        }
    }
}
bridge::generated! {
    Text = 12931539003990628622
}

#[derive(Clone, PartialEq)]
pub struct TaggedImage {
    pub data: String,
    pub mime_type: String,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for TaggedImage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "TaggedImage",
            &[("data", &self.data), ("mime_type", &self.mime_type)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for TaggedImage {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("data", &self.data), ("mimeType", &self.mime_type)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for TaggedImage {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            data: bridge::convert::FromJson::from_json(
                reader.take(level, "data"),
                reader,
            ),
            mime_type: bridge::convert::FromJson::from_json(
                reader.take(level, "mimeType"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["data", "mimeType"]), reader),
        }
    }
}
bridge::generated! {
    TaggedImage = 7003543414406508267
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct TextEnumsInput {
    pub keywords: TextEnumsKeywords,
    pub single: Option<TextEnumsSingle>,
    pub any_string: Option<TextEnumsAnyString>,
    pub titled: Option<TextEnumsTitled>,
}
impl bridge::convert::ToJson for TextEnumsInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("keywords", &self.keywords), ("required_single", &"always")],
            &[
                ("single", &self.single),
                ("any_string", &self.any_string),
                ("titled", &self.titled),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for TextEnumsInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        reader.constant(level, "required_single", &"always");
        Self {
            keywords: bridge::convert::FromJson::from_json(
                reader.take(level, "keywords"),
                reader,
            ),
            single: bridge::convert::FromJson::from_json(
                reader.take(level, "single"),
                reader,
            ),
            any_string: bridge::convert::FromJson::from_json(
                reader.take(level, "any_string"),
                reader,
            ),
            titled: bridge::convert::FromJson::from_json(
                reader.take(level, "titled"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub enum TextEnumsKeywords {
    Self_,
    Self_2,
    Type,
    Empty,
    N1,
    Other2,
    Other,
    AB,
    AB2,
    Plus1,
    Minus1,
    Ue9Moji,
}
impl TextEnumsKeywords {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Self_ => "self",
            Self::Self_2 => "Self",
            Self::Type => "type",
            Self::Empty => "",
            Self::N1 => "1",
            Self::Other2 => "other",
            Self::Other => "Other",
            Self::AB => "a b",
            Self::AB2 => "a-b",
            Self::Plus1 => "+1",
            Self::Minus1 => "-1",
            Self::Ue9Moji => "émoji",
        }
    }
}
impl bridge::convert::GeneratedText for TextEnumsKeywords {
    const TEXTS: &'static [&'static str] = &[
        "self",
        "Self",
        "type",
        "",
        "1",
        "other",
        "Other",
        "a b",
        "a-b",
        "+1",
        "-1",
        "émoji",
    ];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "self" => Self::Self_,
                "Self" => Self::Self_2,
                "type" => Self::Type,
                "" => Self::Empty,
                "1" => Self::N1,
                "other" => Self::Other2,
                "Other" => Self::Other,
                "a b" => Self::AB,
                "a-b" => Self::AB2,
                "+1" => Self::Plus1,
                "-1" => Self::Minus1,
                "émoji" => Self::Ue9Moji,
                _ => return Err((Self::Self_, Self::TEXTS)),
            },
        )
    }
}
bridge::generated! {
    TextEnumsKeywords = 2342495973231358064
}
bridge::generated_text! {
    ; TextEnumsKeywords
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub enum TextEnumsSingle {
    Only,
}
impl TextEnumsSingle {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Only => "only",
        }
    }
}
impl bridge::convert::GeneratedText for TextEnumsSingle {
    const TEXTS: &'static [&'static str] = &["only"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "only" => Self::Only,
                _ => return Err((Self::Only, Self::TEXTS)),
            },
        )
    }
}
bridge::generated! {
    TextEnumsSingle = 3075434064896356111
}
bridge::generated_text! {
    ; TextEnumsSingle
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum TextEnumsAnyString {
    A,
    B,
    Other(String),
}
impl TextEnumsAnyString {
    pub fn as_str(&self) -> &str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::Other(text) => text,
        }
    }
}
impl bridge::convert::GeneratedText for TextEnumsAnyString {
    const TEXTS: &'static [&'static str] = &["a", "b"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "a" => Self::A,
                "b" => Self::B,
                _ => Self::Other(text.to_owned()),
            },
        )
    }
}
bridge::generated! {
    TextEnumsAnyString = 15388060952796849700
}
bridge::generated_text! {
    TextEnumsAnyString;
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub enum TextEnumsTitled {
    X,
    Y,
}
impl TextEnumsTitled {
    pub fn as_str(&self) -> &str {
        match self {
            Self::X => "x",
            Self::Y => "y",
        }
    }
}
impl bridge::convert::GeneratedText for TextEnumsTitled {
    const TEXTS: &'static [&'static str] = &["x", "y"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "x" => Self::X,
                "y" => Self::Y,
                _ => return Err((Self::X, Self::TEXTS)),
            },
        )
    }
}
bridge::generated! {
    TextEnumsTitled = 2700570389343476416
}
bridge::generated_text! {
    ; TextEnumsTitled
}

#[derive(Clone, PartialEq)]
pub struct TextEnumsOutput {
    pub state: TextEnumsState,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for TextEnumsOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "TextEnumsOutput",
            &[("state", &self.state)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for TextEnumsOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("state", &self.state), ("required_single", &"always")],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for TextEnumsOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        reader.constant(level, "required_single", &"always");
        Self {
            state: bridge::convert::FromJson::from_json(
                reader.take(level, "state"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader.rest(level, &["state", "required_single"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    TextEnumsOutput = 6755733155112795003
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum TextEnumsState {
    On,
    Off,
    Other,
    Unlisted(String),
}
impl TextEnumsState {
    pub fn as_str(&self) -> &str {
        match self {
            Self::On => "on",
            Self::Off => "off",
            Self::Other => "other",
            Self::Unlisted(text) => text,
        }
    }
}
impl bridge::convert::GeneratedText for TextEnumsState {
    const TEXTS: &'static [&'static str] = &["on", "off", "other"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "on" => Self::On,
                "off" => Self::Off,
                "other" => Self::Other,
                _ => Self::Unlisted(text.to_owned()),
            },
        )
    }
}
bridge::generated! {
    TextEnumsState = 1199182207561171884
}
bridge::generated_text! {
    TextEnumsState;
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct TuplesInput {
    pub draft7: (f64, f64),
    pub draft2020: Option<(String, i64, ResultItem)>,
    pub open: Option<Vec<bridge::Scalar>>,
    pub long: Option<Vec<String>>,
    pub none: Option<Vec<bridge::convert::Value>>,
    pub bare: Option<Vec<bridge::convert::Value>>,
    pub single: Option<(String,)>,
}
impl bridge::convert::ToJson for TuplesInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("draft7", &self.draft7)],
            &[
                ("draft2020", &self.draft2020),
                ("open", &self.open),
                ("long", &self.long),
                ("none", &self.none),
                ("bare", &self.bare),
                ("single", &self.single),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for TuplesInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            draft7: bridge::convert::FromJson::from_json(
                reader.take(level, "draft7"),
                reader,
            ),
            draft2020: bridge::convert::FromJson::from_json(
                reader.take(level, "draft2020"),
                reader,
            ),
            open: bridge::convert::FromJson::from_json(
                reader.take(level, "open"),
                reader,
            ),
            long: bridge::convert::FromJson::from_json(
                reader.take(level, "long"),
                reader,
            ),
            none: bridge::convert::FromJson::from_json(
                reader.take(level, "none"),
                reader,
            ),
            bare: bridge::convert::FromJson::from_json(
                reader.take(level, "bare"),
                reader,
            ),
            single: bridge::convert::FromJson::from_json(
                reader.take(level, "single"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq, Default)]
pub struct TuplesOutput {
    pub points: Option<Vec<(f64, f64)>>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for TuplesOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "TuplesOutput",
            &[("points", &self.points)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for TuplesOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[], &[("points", &self.points)], &self.extra)
    }
}
impl bridge::convert::FromJson for TuplesOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            points: bridge::convert::FromJson::from_json(
                reader.take(level, "points"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["points"]), reader),
        }
    }
}
bridge::generated! {
    TuplesOutput = 5423684338981682695
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct UnionsOfUnionsInput {
    pub flat: UnionsOfUnionsFlat,
    pub parts: UnionsOfUnionsParts,
    pub both: Option<UnionsOfUnionsBoth>,
    pub tagged_or_text: Option<UnionsOfUnionsTaggedOrText>,
    pub loose: Option<Option<UnionsOfUnionsLoose>>,
    pub lists: Option<Vec<UnionsOfUnionsList>>,
}
impl bridge::convert::ToJson for UnionsOfUnionsInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(
                &[("flat", &self.flat), ("parts", &self.parts)],
                &[
                    ("both", &self.both),
                    ("tagged_or_text", &self.tagged_or_text),
                    ("lists", &self.lists),
                ],
            ),
            &[
                (
                    "loose",
                    self
                        .loose
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for UnionsOfUnionsInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            flat: bridge::convert::FromJson::from_json(
                reader.take(level, "flat"),
                reader,
            ),
            parts: bridge::convert::FromJson::from_json(
                reader.take(level, "parts"),
                reader,
            ),
            both: bridge::convert::FromJson::from_json(
                reader.take(level, "both"),
                reader,
            ),
            tagged_or_text: bridge::convert::FromJson::from_json(
                reader.take(level, "tagged_or_text"),
                reader,
            ),
            loose: bridge::convert::read_nullable(reader.take(level, "loose"), reader),
            lists: bridge::convert::FromJson::from_json(
                reader.take(level, "lists"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum UnionsOfUnionsFlat {
    Text(String),
    Number(i64),
    List(Vec<String>),
}
impl bridge::convert::ToJson for UnionsOfUnionsFlat {
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::Text(inner) => bridge::convert::ToJson::to_json(inner),
            Self::Number(inner) => bridge::convert::ToJson::to_json(inner),
            Self::List(inner) => bridge::convert::ToJson::to_json(inner),
        }
    }
}
impl bridge::convert::FromJson for UnionsOfUnionsFlat {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value {
            bridge::convert::Value::String(_) => {
                Self::Text(bridge::convert::FromJson::from_json(value, reader))
            }
            bridge::convert::Value::Number(_) => {
                Self::Number(bridge::convert::FromJson::from_json(value, reader))
            }
            bridge::convert::Value::Array(_) => {
                Self::List(bridge::convert::FromJson::from_json(value, reader))
            }
            _ => {
                reader.mismatch("text or number or list", &value);
                Self::Text(bridge::convert::FromJson::from_json(value, reader))
            }
        }
    }
}
bridge::generated! {
    UnionsOfUnionsFlat = 16692270887884327664
}
bridge::generated_union! {
    UnionsOfUnionsFlat { text Text(String), integer Number(i64), list List(Vec < String
    >) }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnionsOfUnionsParts {
    pub a: Option<String>,
    pub c: Option<String>,
    pub b: Option<String>,
    pub d: Option<String>,
}
impl bridge::convert::ToJson for UnionsOfUnionsParts {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[],
            &[("a", &self.a), ("c", &self.c), ("b", &self.b), ("d", &self.d)],
        )
    }
}
impl bridge::convert::FromJson for UnionsOfUnionsParts {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            c: bridge::convert::FromJson::from_json(reader.take(level, "c"), reader),
            b: bridge::convert::FromJson::from_json(reader.take(level, "b"), reader),
            d: bridge::convert::FromJson::from_json(reader.take(level, "d"), reader),
        }
    }
}
bridge::generated! {
    UnionsOfUnionsParts = 16050936566185845394
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnionsOfUnionsBoth {
    pub c: Option<i64>,
    pub a: Option<i64>,
    pub x: Option<String>,
    pub d: Option<i64>,
    pub b: Option<i64>,
}
impl bridge::convert::ToJson for UnionsOfUnionsBoth {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[],
            &[
                ("c", &self.c),
                ("a", &self.a),
                ("x", &self.x),
                ("d", &self.d),
                ("b", &self.b),
            ],
        )
    }
}
impl bridge::convert::FromJson for UnionsOfUnionsBoth {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            c: bridge::convert::FromJson::from_json(reader.take(level, "c"), reader),
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            x: bridge::convert::FromJson::from_json(reader.take(level, "x"), reader),
            d: bridge::convert::FromJson::from_json(reader.take(level, "d"), reader),
            b: bridge::convert::FromJson::from_json(reader.take(level, "b"), reader),
        }
    }
}
bridge::generated! {
    UnionsOfUnionsBoth = 10681908776354942296
}

#[derive(Debug, Clone, PartialEq)]
pub enum UnionsOfUnionsTaggedOrText {
    Text(String),
    Object(UnionsOfUnionsTaggedOrTextObject),
}
impl bridge::convert::ToJson for UnionsOfUnionsTaggedOrText {
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::Text(inner) => bridge::convert::ToJson::to_json(inner),
            Self::Object(inner) => bridge::convert::ToJson::to_json(inner),
        }
    }
}
impl bridge::convert::FromJson for UnionsOfUnionsTaggedOrText {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value {
            bridge::convert::Value::String(_) => {
                Self::Text(bridge::convert::FromJson::from_json(value, reader))
            }
            bridge::convert::Value::Object(_) => {
                Self::Object(bridge::convert::FromJson::from_json(value, reader))
            }
            _ => {
                reader.mismatch("text or object", &value);
                Self::Text(bridge::convert::FromJson::from_json(value, reader))
            }
        }
    }
}
bridge::generated! {
    UnionsOfUnionsTaggedOrText = 17965067445183031281
}
bridge::generated_union! {
    UnionsOfUnionsTaggedOrText { text Text(String), object
    Object(UnionsOfUnionsTaggedOrTextObject) }
}

#[derive(Debug, Clone, PartialEq)]
pub enum UnionsOfUnionsTaggedOrTextObject {
    P(UnionsOfUnionsP),
    Q(UnionsOfUnionsQ),
}
impl UnionsOfUnionsTaggedOrTextObject {
    #[inline]
    pub fn t(&self) -> &str {
        match self {
            Self::P(_) => "p",
            Self::Q(_) => "q",
        }
    }
}
impl bridge::convert::ToJson for UnionsOfUnionsTaggedOrTextObject {
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::P(inner) => {
                bridge::convert::tagged(
                    "t",
                    "p",
                    bridge::convert::ToJson::to_json(inner),
                )
            }
            Self::Q(inner) => {
                bridge::convert::tagged(
                    "t",
                    "q",
                    bridge::convert::ToJson::to_json(inner),
                )
            }
        }
    }
}
impl bridge::convert::FromJson for UnionsOfUnionsTaggedOrTextObject {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value.get("t").and_then(bridge::convert::Value::as_str) {
            Some("p") => {
                Self::P(
                    bridge::convert::FromJson::from_json(
                        reader.untagged(value, "t"),
                        reader,
                    ),
                )
            }
            Some("q") => {
                Self::Q(
                    bridge::convert::FromJson::from_json(
                        reader.untagged(value, "t"),
                        reader,
                    ),
                )
            }
            _ => {
                reader.unknown_tag("t", &["p", "q"], &value);
                Self::P(bridge::convert::FromJson::from_json(value, reader))
            }
        }
    }
}
bridge::generated! {
    UnionsOfUnionsTaggedOrTextObject = 951194159033808610
}
bridge::generated_union! {
    UnionsOfUnionsTaggedOrTextObject { object P(UnionsOfUnionsP), object
    Q(UnionsOfUnionsQ) }
}

#[derive(Debug, Clone, PartialEq)]
pub struct UnionsOfUnionsP {
    pub v: i64,
}
impl bridge::convert::ToJson for UnionsOfUnionsP {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("v", &self.v)], &[])
    }
}
impl bridge::convert::FromJson for UnionsOfUnionsP {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            v: bridge::convert::FromJson::from_json(reader.take(level, "v"), reader),
        }
    }
}
bridge::generated! {
    UnionsOfUnionsP = 14433703921435527864
}

#[derive(Debug, Clone, PartialEq)]
pub struct UnionsOfUnionsQ {
    pub v: String,
}
impl bridge::convert::ToJson for UnionsOfUnionsQ {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("v", &self.v)], &[])
    }
}
impl bridge::convert::FromJson for UnionsOfUnionsQ {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            v: bridge::convert::FromJson::from_json(reader.take(level, "v"), reader),
        }
    }
}
bridge::generated! {
    UnionsOfUnionsQ = 14744214746578193800
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum UnionsOfUnionsLoose {
    Auto,
    Other(String),
}
impl UnionsOfUnionsLoose {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Auto => "auto",
            Self::Other(text) => text,
        }
    }
}
impl bridge::convert::GeneratedText for UnionsOfUnionsLoose {
    const TEXTS: &'static [&'static str] = &["auto"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "auto" => Self::Auto,
                _ => Self::Other(text.to_owned()),
            },
        )
    }
}
bridge::generated! {
    UnionsOfUnionsLoose = 14809016853320217121
}
bridge::generated_text! {
    UnionsOfUnionsLoose;
}

#[derive(Debug, Clone, PartialEq)]
pub enum UnionsOfUnionsList {
    Text(String),
    Object(X),
}
impl bridge::convert::ToJson for UnionsOfUnionsList {
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::Text(inner) => bridge::convert::ToJson::to_json(inner),
            Self::Object(inner) => bridge::convert::ToJson::to_json(inner),
        }
    }
}
impl bridge::convert::FromJson for UnionsOfUnionsList {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value {
            bridge::convert::Value::String(_) => {
                Self::Text(bridge::convert::FromJson::from_json(value, reader))
            }
            bridge::convert::Value::Object(_) => {
                Self::Object(bridge::convert::FromJson::from_json(value, reader))
            }
            _ => {
                reader.mismatch("text or object", &value);
                Self::Text(bridge::convert::FromJson::from_json(value, reader))
            }
        }
    }
}
bridge::generated! {
    UnionsOfUnionsList = 8411075234793771756
}
bridge::generated_union! {
    UnionsOfUnionsList { text Text(String), object Object(X) }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct UntaggedInput {
    pub target: UntaggedTarget,
    pub value: Option<UntaggedValue>,
    pub one_or_many: Option<NullableNestedF>,
    pub scalars: Option<bridge::Scalar>,
    pub numbers: Option<f64>,
    pub all_kinds: Option<UntaggedAllKinds>,
    pub lists: Option<Vec<bridge::Scalar>>,
    pub free: Option<bridge::convert::Value>,
    pub merged: Option<UntaggedMerged>,
    pub restricted: Option<String>,
}
impl bridge::convert::ToJson for UntaggedInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(
                &[("target", &self.target)],
                &[
                    ("value", &self.value),
                    ("one_or_many", &self.one_or_many),
                    ("scalars", &self.scalars),
                    ("numbers", &self.numbers),
                    ("all_kinds", &self.all_kinds),
                    ("lists", &self.lists),
                    ("merged", &self.merged),
                    ("restricted", &self.restricted),
                ],
            ),
            &[
                (
                    "free",
                    self.free.as_ref().map(|value| value as &dyn bridge::convert::ToJson),
                ),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for UntaggedInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            target: bridge::convert::FromJson::from_json(
                reader.take(level, "target"),
                reader,
            ),
            value: bridge::convert::FromJson::from_json(
                reader.take(level, "value"),
                reader,
            ),
            one_or_many: bridge::convert::FromJson::from_json(
                reader.take(level, "one_or_many"),
                reader,
            ),
            scalars: bridge::convert::FromJson::from_json(
                reader.take(level, "scalars"),
                reader,
            ),
            numbers: bridge::convert::FromJson::from_json(
                reader.take(level, "numbers"),
                reader,
            ),
            all_kinds: bridge::convert::FromJson::from_json(
                reader.take(level, "all_kinds"),
                reader,
            ),
            lists: bridge::convert::FromJson::from_json(
                reader.take(level, "lists"),
                reader,
            ),
            free: bridge::convert::read_nullable(reader.take(level, "free"), reader),
            merged: bridge::convert::FromJson::from_json(
                reader.take(level, "merged"),
                reader,
            ),
            restricted: bridge::convert::FromJson::from_json(
                reader.take(level, "restricted"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct UntaggedTarget {
    pub path: Option<bridge::Scalar>,
    pub id: Option<i64>,
}
impl bridge::convert::ToJson for UntaggedTarget {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("path", &self.path), ("id", &self.id)])
    }
}
impl bridge::convert::FromJson for UntaggedTarget {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            path: bridge::convert::FromJson::from_json(
                reader.take(level, "path"),
                reader,
            ),
            id: bridge::convert::FromJson::from_json(reader.take(level, "id"), reader),
        }
    }
}
bridge::generated! {
    UntaggedTarget = 16835887313830123030
}

#[derive(Debug, Clone, PartialEq)]
pub enum UntaggedValue {
    Text(String),
    Object(Text),
}
impl bridge::convert::ToJson for UntaggedValue {
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::Text(inner) => bridge::convert::ToJson::to_json(inner),
            Self::Object(inner) => bridge::convert::ToJson::to_json(inner),
        }
    }
}
impl bridge::convert::FromJson for UntaggedValue {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value {
            bridge::convert::Value::String(_) => {
                Self::Text(bridge::convert::FromJson::from_json(value, reader))
            }
            bridge::convert::Value::Object(_) => {
                Self::Object(bridge::convert::FromJson::from_json(value, reader))
            }
            _ => {
                reader.mismatch("text or object", &value);
                Self::Text(bridge::convert::FromJson::from_json(value, reader))
            }
        }
    }
}
bridge::generated! {
    UntaggedValue = 2150428410983346230
}
bridge::generated_union! {
    UntaggedValue { text Text(String), object Object(Text) }
}

#[derive(Debug, Clone, PartialEq)]
pub enum UntaggedAllKinds {
    Text(String),
    Number(f64),
    Boolean(bool),
    List(Vec<i64>),
    Object(ResultItem),
}
impl bridge::convert::ToJson for UntaggedAllKinds {
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::Text(inner) => bridge::convert::ToJson::to_json(inner),
            Self::Number(inner) => bridge::convert::ToJson::to_json(inner),
            Self::Boolean(inner) => bridge::convert::ToJson::to_json(inner),
            Self::List(inner) => bridge::convert::ToJson::to_json(inner),
            Self::Object(inner) => bridge::convert::ToJson::to_json(inner),
        }
    }
}
impl bridge::convert::FromJson for UntaggedAllKinds {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value {
            bridge::convert::Value::String(_) => {
                Self::Text(bridge::convert::FromJson::from_json(value, reader))
            }
            bridge::convert::Value::Number(_) => {
                Self::Number(bridge::convert::FromJson::from_json(value, reader))
            }
            bridge::convert::Value::Bool(_) => {
                Self::Boolean(bridge::convert::FromJson::from_json(value, reader))
            }
            bridge::convert::Value::Array(_) => {
                Self::List(bridge::convert::FromJson::from_json(value, reader))
            }
            bridge::convert::Value::Object(_) => {
                Self::Object(bridge::convert::FromJson::from_json(value, reader))
            }
            _ => {
                reader.mismatch("text or number or boolean or list or object", &value);
                Self::Text(bridge::convert::FromJson::from_json(value, reader))
            }
        }
    }
}
bridge::generated! {
    UntaggedAllKinds = 15232082271145272483
}
bridge::generated_union! {
    UntaggedAllKinds { text Text(String), number Number(f64), boolean Boolean(bool), list
    List(Vec < i64 >), object Object(ResultItem) }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct UntaggedMerged {
    pub a: Option<String>,
    pub b: Option<String>,
}
impl bridge::convert::ToJson for UntaggedMerged {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("a", &self.a), ("b", &self.b)])
    }
}
impl bridge::convert::FromJson for UntaggedMerged {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            b: bridge::convert::FromJson::from_json(reader.take(level, "b"), reader),
        }
    }
}
bridge::generated! {
    UntaggedMerged = 610542998655209090
}

#[derive(Clone, PartialEq)]
pub struct UntaggedOutput {
    pub value: UntaggedValue2,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for UntaggedOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "UntaggedOutput",
            &[("value", &self.value)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for UntaggedOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[("value", &self.value)], &[], &self.extra)
    }
}
impl bridge::convert::FromJson for UntaggedOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            value: bridge::convert::FromJson::from_json(
                reader.take(level, "value"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["value"]), reader),
        }
    }
}
bridge::generated! {
    UntaggedOutput = 2682225631675788947
}

#[derive(Debug, Clone, PartialEq)]
pub enum UntaggedValue2 {
    Text(String),
    List(Vec<i64>),
    Object(Text),
    Other(bridge::convert::Value),
}
impl bridge::convert::ToJson for UntaggedValue2 {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::Text(inner) => bridge::convert::ToJson::to_json(inner),
            Self::List(inner) => bridge::convert::ToJson::to_json(inner),
            Self::Object(inner) => bridge::convert::ToJson::to_json(inner),
            Self::Other(value) => value.clone(),
        }
    }
}
impl bridge::convert::FromJson for UntaggedValue2 {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value {
            bridge::convert::Value::String(_) => {
                Self::Text(bridge::convert::FromJson::from_json(value, reader))
            }
            bridge::convert::Value::Array(_) => {
                Self::List(bridge::convert::FromJson::from_json(value, reader))
            }
            bridge::convert::Value::Object(_) => {
                Self::Object(bridge::convert::FromJson::from_json(value, reader))
            }
            _ => Self::Other(reader.held(value)),
        }
    }
}
bridge::generated! {
    UntaggedValue2 = 3678991733107447913
}

pub type AB = There;

impl EmptyInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> EmptyCall {
        EmptyCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", ""),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct EmptyCall {
    input: EmptyInput,
    pending: bridge::call::Pending,
}
impl EmptyCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for EmptyCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.1aa36e777de7010019f694f24c2fcba4")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "",
            mark: *b"1aa36e777de7010019f694f24c2fcba4",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for EmptyCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// An empty name.
#[inline]
#[track_caller]
pub fn empty() -> EmptyCall {
    EmptyCall {
        input: EmptyInput {},
        pending: bridge::call::Pending::new("nasty", ""),
    }
}

impl N1stToolInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> N1stToolCall {
        N1stToolCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "1st_tool"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct N1stToolCall {
    input: N1stToolInput,
    pending: bridge::call::Pending,
}
impl N1stToolCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for N1stToolCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.663a3ee23171b0d3f751c7ee47eba735")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "1st_tool",
            mark: *b"663a3ee23171b0d3f751c7ee47eba735",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for N1stToolCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn n1st_tool() -> N1stToolCall {
    N1stToolCall {
        input: N1stToolInput {},
        pending: bridge::call::Pending::new("nasty", "1st_tool"),
    }
}

impl OptionInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> OptionCall {
        OptionCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "Option"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct OptionCall {
    input: OptionInput,
    pending: bridge::call::Pending,
}
impl OptionCall {
    pub fn some<F>(
        mut self,
        some: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.some = self
            .pending
            .with("Some", bridge::convert::OptionalArgument::into_optional(some));
        self
    }
    pub fn none<F>(
        mut self,
        none: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.none = self
            .pending
            .with("None", bridge::convert::OptionalArgument::into_optional(none));
        self
    }
}
impl OptionCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for OptionCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.a0c4be171f5a7a7d511010d6f9115268")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "Option",
            mark: *b"a0c4be171f5a7a7d511010d6f9115268",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for OptionCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn option() -> OptionCall {
    OptionCall {
        input: OptionInput {
            some: None,
            none: None,
        },
        pending: bridge::call::Pending::new("nasty", "Option"),
    }
}

impl ResultInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ResultCall {
        ResultCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "Result"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ResultCall {
    input: ResultInput,
    pending: bridge::call::Pending,
}
impl ResultCall {
    pub fn item<F>(
        mut self,
        item: impl bridge::convert::OptionalArgument<ResultItem, F>,
    ) -> Self {
        self.input.item = self
            .pending
            .with("item", bridge::convert::OptionalArgument::into_optional(item));
        self
    }
}
impl ResultCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ResultCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.46a23bb986cfbb2e03538d1dd694557d")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "Result",
            mark: *b"46a23bb986cfbb2e03538d1dd694557d",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ResultCall {
    type Output = Result<ResultOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn result() -> ResultCall {
    ResultCall {
        input: ResultInput { item: None },
        pending: bridge::call::Pending::new("nasty", "Result"),
    }
}

impl StringInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> StringCall {
        StringCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "String"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct StringCall {
    input: StringInput,
    pending: bridge::call::Pending,
}
impl StringCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for StringCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.8299c6b5153d174e46014bde635e46f5")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "String",
            mark: *b"8299c6b5153d174e46014bde635e46f5",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for StringCall {
    type Output = Result<StringOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[track_caller]
pub fn string(value: impl Into<String>) -> StringCall {
    StringCall {
        input: StringInput { value: value.into() },
        pending: bridge::call::Pending::new("nasty", "String"),
    }
}

impl AdditionalInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> AdditionalCall {
        AdditionalCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "additional"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct AdditionalCall {
    input: AdditionalInput,
    pending: bridge::call::Pending,
}
impl AdditionalCall {
    pub fn extra<F>(
        mut self,
        extra: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.extra = self
            .pending
            .with("extra", bridge::convert::OptionalArgument::into_optional(extra));
        self
    }
    pub fn extra2(
        mut self,
        extra2: impl bridge::convert::Argument<bridge::convert::IndexMap<String, i64>>,
    ) -> Self {
        self.input.extra2 = self
            .pending
            .with("extra", bridge::convert::Argument::into_argument(extra2));
        self
    }
}
impl AdditionalCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for AdditionalCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.981be4d563608a5845bbf684234bb398")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "additional",
            mark: *b"981be4d563608a5845bbf684234bb398",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for AdditionalCall {
    type Output = Result<AdditionalOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[track_caller]
pub fn additional(known: impl Into<String>) -> AdditionalCall {
    AdditionalCall {
        input: AdditionalInput {
            known: known.into(),
            extra: None,
            extra2: Default::default(),
        },
        pending: bridge::call::Pending::new("nasty", "additional"),
    }
}

pub type AnchorsHere = Here;
pub type AnchorsThere = There;
impl AnchorsInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> AnchorsCall {
        AnchorsCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "anchors"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct AnchorsCall {
    input: AnchorsInput,
    pending: bridge::call::Pending,
}
impl AnchorsCall {
    pub fn a<F>(mut self, a: impl bridge::convert::OptionalArgument<Here, F>) -> Self {
        self.input.a = self
            .pending
            .with("a", bridge::convert::OptionalArgument::into_optional(a));
        self
    }
    pub fn b<F>(mut self, b: impl bridge::convert::OptionalArgument<There, F>) -> Self {
        self.input.b = self
            .pending
            .with("b", bridge::convert::OptionalArgument::into_optional(b));
        self
    }
    pub fn c<F>(
        mut self,
        c: impl bridge::convert::OptionalArgument<Vec<i64>, F>,
    ) -> Self {
        self.input.c = self
            .pending
            .with("c", bridge::convert::OptionalArgument::into_optional(c));
        self
    }
}
impl AnchorsCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for AnchorsCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.e645d9af702bbc6f6b1451b0082737f5")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "anchors",
            mark: *b"e645d9af702bbc6f6b1451b0082737f5",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for AnchorsCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn anchors() -> AnchorsCall {
    AnchorsCall {
        input: AnchorsInput {
            a: None,
            b: None,
            c: None,
        },
        pending: bridge::call::Pending::new("nasty", "anchors"),
    }
}

pub type ArraysOutput = Vec<Option<X>>;
impl ArraysInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ArraysCall {
        ArraysCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "arrays"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ArraysCall {
    input: ArraysInput,
    pending: bridge::call::Pending,
}
impl ArraysCall {
    pub fn old_pair<F>(
        mut self,
        old_pair: impl bridge::convert::OptionalArgument<(i64, String), F>,
    ) -> Self {
        self.input.old_pair = self
            .pending
            .with(
                "old_pair",
                bridge::convert::OptionalArgument::into_optional(old_pair),
            );
        self
    }
    pub fn short<F>(
        mut self,
        short: impl bridge::convert::OptionalArgument<Vec<i64>, F>,
    ) -> Self {
        self.input.short = self
            .pending
            .with("short", bridge::convert::OptionalArgument::into_optional(short));
        self
    }
    pub fn same<F>(
        mut self,
        same: impl bridge::convert::OptionalArgument<Vec<i64>, F>,
    ) -> Self {
        self.input.same = self
            .pending
            .with("same", bridge::convert::OptionalArgument::into_optional(same));
        self
    }
    pub fn bounded<F>(
        mut self,
        bounded: impl bridge::convert::OptionalArgument<Vec<String>, F>,
    ) -> Self {
        self.input.bounded = self
            .pending
            .with("bounded", bridge::convert::OptionalArgument::into_optional(bounded));
        self
    }
    pub fn open_prefix<F>(
        mut self,
        open_prefix: impl bridge::convert::OptionalArgument<
            Vec<bridge::convert::Value>,
            F,
        >,
    ) -> Self {
        self.input.open_prefix = self
            .pending
            .with(
                "open_prefix",
                bridge::convert::OptionalArgument::into_optional(open_prefix),
            );
        self
    }
    pub fn contains<F>(
        mut self,
        contains: impl bridge::convert::OptionalArgument<Vec<bridge::convert::Value>, F>,
    ) -> Self {
        self.input.contains = self
            .pending
            .with(
                "contains",
                bridge::convert::OptionalArgument::into_optional(contains),
            );
        self
    }
    pub fn of_null<F>(
        mut self,
        of_null: impl bridge::convert::OptionalArgument<Vec<()>, F>,
    ) -> Self {
        self.input.of_null = self
            .pending
            .with("of_null", bridge::convert::OptionalArgument::into_optional(of_null));
        self
    }
}
impl ArraysCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ArraysCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.e371d53d629cdfd6803267471376a331")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "arrays",
            mark: *b"e371d53d629cdfd6803267471376a331",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ArraysCall {
    type Output = Result<ArraysOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Arrays with and without a type for each place.
#[track_caller]
pub fn arrays(pair: impl bridge::convert::Argument<(i64, String)>) -> ArraysCall {
    ArraysCall {
        input: ArraysInput {
            pair: bridge::convert::named(
                "pair",
                bridge::convert::Argument::into_argument(pair),
            ),
            old_pair: None,
            short: None,
            same: None,
            bounded: None,
            open_prefix: None,
            contains: None,
            of_null: None,
        },
        pending: bridge::call::Pending::new("nasty", "arrays"),
    }
}

impl AsyncInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> AsyncCall {
        AsyncCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "async"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct AsyncCall {
    input: AsyncInput,
    pending: bridge::call::Pending,
}
impl AsyncCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for AsyncCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.1127ff20db50fe90965cf4daea22fc92")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "async",
            mark: *b"1127ff20db50fe90965cf4daea22fc92",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for AsyncCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[track_caller]
pub fn async_(await_: bool) -> AsyncCall {
    AsyncCall {
        input: AsyncInput { await_: await_ },
        pending: bridge::call::Pending::new("nasty", "async"),
    }
}

impl BooleanSchemasInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> BooleanSchemasCall {
        BooleanSchemasCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "boolean_schemas"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct BooleanSchemasCall {
    input: BooleanSchemasInput,
    pending: bridge::call::Pending,
}
impl BooleanSchemasCall {
    pub fn empty(mut self, empty: impl bridge::convert::Serialize) -> Self {
        self.input.empty = self
            .pending
            .with("empty", Some(bridge::convert::value(&empty)));
        self
    }
    pub fn any_items<F>(
        mut self,
        any_items: impl bridge::convert::OptionalArgument<Vec<bridge::convert::Value>, F>,
    ) -> Self {
        self.input.any_items = self
            .pending
            .with(
                "any_items",
                bridge::convert::OptionalArgument::into_optional(any_items),
            );
        self
    }
    pub fn no_items<F>(
        mut self,
        no_items: impl bridge::convert::OptionalArgument<Vec<bridge::convert::Value>, F>,
    ) -> Self {
        self.input.no_items = self
            .pending
            .with(
                "no_items",
                bridge::convert::OptionalArgument::into_optional(no_items),
            );
        self
    }
}
impl BooleanSchemasCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for BooleanSchemasCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.2c5058e12f291026f92904b4d2885bd5")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "boolean_schemas",
            mark: *b"2c5058e12f291026f92904b4d2885bd5",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for BooleanSchemasCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[track_caller]
pub fn boolean_schemas(anything: impl bridge::convert::Serialize) -> BooleanSchemasCall {
    BooleanSchemasCall {
        input: BooleanSchemasInput {
            anything: bridge::convert::value(&anything),
            empty: None,
            any_items: None,
            no_items: None,
        },
        pending: bridge::call::Pending::new("nasty", "boolean_schemas"),
    }
}

impl CallInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> CallCall {
        CallCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "call"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct CallCall {
    input: CallInput,
    pending: bridge::call::Pending,
}
impl CallCall {
    pub fn input<F>(
        mut self,
        input: impl bridge::convert::OptionalArgument<CallInput2, F>,
    ) -> Self {
        self.input.input = self
            .pending
            .with("input", bridge::convert::OptionalArgument::into_optional(input));
        self
    }
}
impl CallCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for CallCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.8a03bc531e40b43817c79745b59d44f4")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "call",
            mark: *b"8a03bc531e40b43817c79745b59d44f4",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for CallCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn call() -> CallCall {
    CallCall {
        input: CallInput { input: None },
        pending: bridge::call::Pending::new("nasty", "call"),
    }
}

pub type ConditionsMode = Mode;
impl ConditionsInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ConditionsCall {
        ConditionsCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "conditions"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ConditionsCall {
    input: ConditionsInput,
    pending: bridge::call::Pending,
}
impl ConditionsCall {
    pub fn nested<F>(
        mut self,
        nested: impl bridge::convert::OptionalArgument<ConditionsNested, F>,
    ) -> Self {
        self.input.nested = self
            .pending
            .with("nested", bridge::convert::OptionalArgument::into_optional(nested));
        self
    }
    pub fn either<F>(
        mut self,
        either: impl bridge::convert::OptionalArgument<ConditionsEither, F>,
    ) -> Self {
        self.input.either = self
            .pending
            .with("either", bridge::convert::OptionalArgument::into_optional(either));
        self
    }
    pub fn one_of_many<F>(
        mut self,
        one_of_many: impl bridge::convert::OptionalArgument<ConditionsOneOfMany, F>,
    ) -> Self {
        self.input.one_of_many = self
            .pending
            .with(
                "one_of_many",
                bridge::convert::OptionalArgument::into_optional(one_of_many),
            );
        self
    }
    pub fn with_b<F>(
        mut self,
        with_b: impl bridge::convert::OptionalArgument<bool, F>,
    ) -> Self {
        self.input.with_b = self
            .pending
            .with("with_b", bridge::convert::OptionalArgument::into_optional(with_b));
        self
    }
    pub fn with_a<F>(
        mut self,
        with_a: impl bridge::convert::OptionalArgument<bool, F>,
    ) -> Self {
        self.input.with_a = self
            .pending
            .with("with_a", bridge::convert::OptionalArgument::into_optional(with_a));
        self
    }
    pub fn for_b<F>(
        mut self,
        for_b: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.for_b = self
            .pending
            .with("for_b", bridge::convert::OptionalArgument::into_optional(for_b));
        self
    }
    pub fn for_a<F>(
        mut self,
        for_a: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.for_a = self
            .pending
            .with("for_a", bridge::convert::OptionalArgument::into_optional(for_a));
        self
    }
}
impl ConditionsCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ConditionsCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.2d35b36b11fc3c5ffd6312bcef9a2aec")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "conditions",
            mark: *b"2d35b36b11fc3c5ffd6312bcef9a2aec",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ConditionsCall {
    type Output = Result<ConditionsOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// What holds under a condition only.
#[track_caller]
pub fn conditions(mode: impl bridge::convert::Argument<Mode>) -> ConditionsCall {
    ConditionsCall {
        input: ConditionsInput {
            mode: bridge::convert::named(
                "mode",
                bridge::convert::Argument::into_argument(mode),
            ),
            nested: None,
            either: None,
            one_of_many: None,
            with_b: None,
            with_a: None,
            for_b: None,
            for_a: None,
        },
        pending: bridge::call::Pending::new("nasty", "conditions"),
    }
}

pub type DanglingC = Item;
impl DanglingInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> DanglingCall {
        DanglingCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "dangling"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct DanglingCall {
    input: DanglingInput,
    pending: bridge::call::Pending,
}
impl DanglingCall {
    pub fn a(mut self, a: impl bridge::convert::Serialize) -> Self {
        self.input.a = self.pending.with("a", Some(bridge::convert::value(&a)));
        self
    }
    pub fn b(mut self, b: impl bridge::convert::Serialize) -> Self {
        self.input.b = self.pending.with("b", Some(bridge::convert::value(&b)));
        self
    }
    pub fn c<F>(mut self, c: impl bridge::convert::OptionalArgument<Item, F>) -> Self {
        self.input.c = self
            .pending
            .with("c", bridge::convert::OptionalArgument::into_optional(c));
        self
    }
    pub fn d<F>(
        mut self,
        d: impl bridge::convert::OptionalArgument<DanglingD, F>,
    ) -> Self {
        self.input.d = self
            .pending
            .with("d", bridge::convert::OptionalArgument::into_optional(d));
        self
    }
    pub fn e<F>(
        mut self,
        e: impl bridge::convert::OptionalArgument<DanglingD, F>,
    ) -> Self {
        self.input.e = self
            .pending
            .with("e", bridge::convert::OptionalArgument::into_optional(e));
        self
    }
}
impl DanglingCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for DanglingCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.ae889b7e2a5d3d9f53243c5f68349509")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "dangling",
            mark: *b"ae889b7e2a5d3d9f53243c5f68349509",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for DanglingCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn dangling() -> DanglingCall {
    DanglingCall {
        input: DanglingInput {
            a: None,
            b: None,
            c: None,
            d: None,
            e: None,
        },
        pending: bridge::call::Pending::new("nasty", "dangling"),
    }
}

impl DescriptionInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> DescriptionCall {
        DescriptionCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "description"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct DescriptionCall {
    input: DescriptionInput,
    pending: bridge::call::Pending,
}
impl DescriptionCall {
    /// * / } #![evil] '''rust fn main() { loop {} } '''
    pub fn x<F>(mut self, x: impl bridge::convert::OptionalArgument<String, F>) -> Self {
        self.input.x = self
            .pending
            .with("x", bridge::convert::OptionalArgument::into_optional(x));
        self
    }
}
impl DescriptionCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for DescriptionCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.d3e0623a1deab8f29435598de18228c6")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "description",
            mark: *b"d3e0623a1deab8f29435598de18228c6",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for DescriptionCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Ends * / a comment, `quotes`, '''fences''', #![allow(everything)] //! and turns around. New line / * begin
#[inline]
#[track_caller]
pub fn description() -> DescriptionCall {
    DescriptionCall {
        input: DescriptionInput { x: None },
        pending: bridge::call::Pending::new("nasty", "description"),
    }
}

pub type Draft3EitherObject = Here;
impl Draft3Input {
    #[inline]
    #[track_caller]
    pub fn call(self) -> Draft3Call {
        Draft3Call {
            input: self,
            pending: bridge::call::Pending::new("nasty", "draft3"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct Draft3Call {
    input: Draft3Input,
    pending: bridge::call::Pending,
}
impl Draft3Call {
    pub fn free(mut self, free: impl bridge::convert::Serialize) -> Self {
        self.input.free = self.pending.with("free", Some(bridge::convert::value(&free)));
        self
    }
    pub fn above<F>(
        mut self,
        above: impl bridge::convert::OptionalArgument<f64, F>,
    ) -> Self {
        self.input.above = self
            .pending
            .with("above", bridge::convert::OptionalArgument::into_optional(above));
        self
    }
    pub fn either<F>(
        mut self,
        either: impl bridge::convert::OptionalArgument<Draft3Either, F>,
    ) -> Self {
        self.input.either = self
            .pending
            .with("either", bridge::convert::OptionalArgument::into_optional(either));
        self
    }
    pub fn extended<F>(
        mut self,
        extended: impl bridge::convert::OptionalArgument<Draft3Extended, F>,
    ) -> Self {
        self.input.extended = self
            .pending
            .with(
                "extended",
                bridge::convert::OptionalArgument::into_optional(extended),
            );
        self
    }
    pub fn disallowed(mut self, disallowed: impl bridge::convert::Serialize) -> Self {
        self.input.disallowed = self
            .pending
            .with("disallowed", Some(bridge::convert::value(&disallowed)));
        self
    }
}
impl Draft3Call {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for Draft3Call {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.9a1b2531f78bcd264684c9f440efa506")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "draft3",
            mark: *b"9a1b2531f78bcd264684c9f440efa506",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for Draft3Call {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// What drafts 3 and 4 wrote.
#[track_caller]
pub fn draft3(
    needed: impl bridge::convert::Argument<i64>,
    base: impl Into<String>,
) -> Draft3Call {
    Draft3Call {
        input: Draft3Input {
            needed: bridge::convert::named(
                "needed",
                bridge::convert::Argument::into_argument(needed),
            ),
            base: base.into(),
            free: None,
            above: None,
            either: None,
            extended: None,
            disallowed: None,
        },
        pending: bridge::call::Pending::new("nasty", "draft3"),
    }
}

pub type EnumsTwice = Mode;
impl EnumsInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> EnumsCall {
        EnumsCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "enums"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct EnumsCall {
    input: EnumsInput,
    pending: bridge::call::Pending,
}
impl EnumsCall {
    pub fn null_const<F>(
        mut self,
        null_const: impl bridge::convert::OptionalArgument<(), F>,
    ) -> Self {
        self.input.null_const = self
            .pending
            .with(
                "null_const",
                bridge::convert::OptionalArgument::into_optional(null_const),
            );
        self
    }
    pub fn null_type<F>(
        mut self,
        null_type: impl bridge::convert::OptionalArgument<Mode, F>,
    ) -> Self {
        self.input.null_type = self
            .pending
            .with(
                "null_type",
                Some(bridge::convert::OptionalArgument::into_optional(null_type)),
            );
        self
    }
    pub fn empty(mut self, empty: impl bridge::convert::Serialize) -> Self {
        self.input.empty = self
            .pending
            .with("empty", Some(bridge::convert::value(&empty)));
        self
    }
    pub fn big<F>(
        mut self,
        big: impl bridge::convert::OptionalArgument<u64, F>,
    ) -> Self {
        self.input.big = self
            .pending
            .with("big", bridge::convert::OptionalArgument::into_optional(big));
        self
    }
    pub fn typed<F>(
        mut self,
        typed: impl bridge::convert::OptionalArgument<EnumsNullValue, F>,
    ) -> Self {
        self.input.typed = self
            .pending
            .with(
                "typed",
                Some(bridge::convert::OptionalArgument::into_optional(typed)),
            );
        self
    }
    pub fn objects(mut self, objects: impl bridge::convert::Serialize) -> Self {
        self.input.objects = self
            .pending
            .with("objects", Some(bridge::convert::value(&objects)));
        self
    }
    pub fn floats<F>(
        mut self,
        floats: impl bridge::convert::OptionalArgument<f64, F>,
    ) -> Self {
        self.input.floats = self
            .pending
            .with("floats", bridge::convert::OptionalArgument::into_optional(floats));
        self
    }
    pub fn booleans<F>(
        mut self,
        booleans: impl bridge::convert::OptionalArgument<bool, F>,
    ) -> Self {
        self.input.booleans = self
            .pending
            .with(
                "booleans",
                bridge::convert::OptionalArgument::into_optional(booleans),
            );
        self
    }
}
impl EnumsCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for EnumsCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.036cb0a6b72a4e765436b8c6b52e561f")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "enums",
            mark: *b"036cb0a6b72a4e765436b8c6b52e561f",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for EnumsCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Enumerations in all forms.
#[track_caller]
pub fn enums<F>(
    null_value: impl bridge::convert::OptionalArgument<EnumsNullValue, F>,
    twice: impl bridge::convert::Argument<Mode>,
) -> EnumsCall {
    EnumsCall {
        input: EnumsInput {
            null_value: bridge::convert::named(
                "null_value",
                bridge::convert::OptionalArgument::into_optional(null_value),
            ),
            twice: bridge::convert::named(
                "twice",
                bridge::convert::Argument::into_argument(twice),
            ),
            null_const: None,
            null_type: None,
            empty: None,
            big: None,
            typed: None,
            objects: None,
            floats: None,
            booleans: None,
        },
        pending: bridge::call::Pending::new("nasty", "enums"),
    }
}

impl FourRequiredInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> FourRequiredCall {
        FourRequiredCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "four_required"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct FourRequiredCall {
    input: FourRequiredInput,
    pending: bridge::call::Pending,
}
impl FourRequiredCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for FourRequiredCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.0eccb739c7a9f76bd8d339230e50cc81")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "four_required",
            mark: *b"0eccb739c7a9f76bd8d339230e50cc81",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for FourRequiredCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Strings that could be swapped.
#[track_caller]
pub fn four_required(
    source: impl Into<String>,
    target: impl Into<String>,
    owner: impl Into<String>,
    repo: impl Into<String>,
    zeta: impl Into<String>,
) -> FourRequiredCall {
    FourRequiredCall {
        input: FourRequiredInput {
            source: source.into(),
            target: target.into(),
            owner: owner.into(),
            repo: repo.into(),
            zeta: zeta.into(),
        },
        pending: bridge::call::Pending::new("nasty", "four_required"),
    }
}

pub type InputNonsenseOutput = bridge::convert::Value;
impl InputNonsenseInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> InputNonsenseCall {
        InputNonsenseCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "input_nonsense"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct InputNonsenseCall {
    input: InputNonsenseInput,
    pending: bridge::call::Pending,
}
impl InputNonsenseCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for InputNonsenseCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.170db79fab5a1742c7e4e2db682bd62c")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "input_nonsense",
            mark: *b"170db79fab5a1742c7e4e2db682bd62c",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for InputNonsenseCall {
    type Output = Result<InputNonsenseOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[track_caller]
pub fn input_nonsense(arguments: impl bridge::convert::Serialize) -> InputNonsenseCall {
    InputNonsenseInput {
        arguments: bridge::convert::value(&arguments),
    }
        .call()
}

pub type InputNotObjectOutput = Vec<ResultItem>;
impl InputNotObjectInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> InputNotObjectCall {
        InputNotObjectCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "input_not_object"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct InputNotObjectCall {
    input: InputNotObjectInput,
    pending: bridge::call::Pending,
}
impl InputNotObjectCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for InputNotObjectCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.bf93d2e60a2fabd2a427284d1de846b6")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "input_not_object",
            mark: *b"bf93d2e60a2fabd2a427284d1de846b6",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for InputNotObjectCall {
    type Output = Result<InputNotObjectOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[track_caller]
pub fn input_not_object(
    arguments: impl bridge::convert::Serialize,
) -> InputNotObjectCall {
    InputNotObjectInput {
        arguments: bridge::convert::value(&arguments),
    }
        .call()
}

pub type InputOpenOutput = bridge::convert::Value;
impl InputOpenInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> InputOpenCall {
        InputOpenCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "input_open"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct InputOpenCall {
    input: InputOpenInput,
    pending: bridge::call::Pending,
}
impl InputOpenCall {
    pub fn extra(
        mut self,
        extra: impl bridge::convert::Argument<
            bridge::convert::IndexMap<String, bridge::convert::Value>,
        >,
    ) -> Self {
        self.input.extra = self
            .pending
            .with("extra", bridge::convert::Argument::into_argument(extra));
        self
    }
}
impl InputOpenCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for InputOpenCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.836a4531a2f3ec56e2a673800e0fc2f8")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "input_open",
            mark: *b"836a4531a2f3ec56e2a673800e0fc2f8",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for InputOpenCall {
    type Output = Result<InputOpenOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn input_open() -> InputOpenCall {
    InputOpenCall {
        input: InputOpenInput {
            extra: Default::default(),
        },
        pending: bridge::call::Pending::new("nasty", "input_open"),
    }
}

pub type InputTrueOutput = bridge::convert::Value;
impl InputTrueInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> InputTrueCall {
        InputTrueCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "input_true"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct InputTrueCall {
    input: InputTrueInput,
    pending: bridge::call::Pending,
}
impl InputTrueCall {
    pub fn extra(
        mut self,
        extra: impl bridge::convert::Argument<
            bridge::convert::IndexMap<String, bridge::convert::Value>,
        >,
    ) -> Self {
        self.input.extra = self
            .pending
            .with("extra", bridge::convert::Argument::into_argument(extra));
        self
    }
}
impl InputTrueCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for InputTrueCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.4339bf883b02fad552a5b06d607bf2bf")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "input_true",
            mark: *b"4339bf883b02fad552a5b06d607bf2bf",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for InputTrueCall {
    type Output = Result<InputTrueOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn input_true() -> InputTrueCall {
    InputTrueCall {
        input: InputTrueInput {
            extra: Default::default(),
        },
        pending: bridge::call::Pending::new("nasty", "input_true"),
    }
}

impl InputUnionInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> InputUnionCall {
        InputUnionCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "input_union"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct InputUnionCall {
    input: InputUnionInput,
    pending: bridge::call::Pending,
}
impl InputUnionCall {
    pub fn a<F>(mut self, a: impl bridge::convert::OptionalArgument<String, F>) -> Self {
        self.input.a = self
            .pending
            .with("a", bridge::convert::OptionalArgument::into_optional(a));
        self
    }
    pub fn b<F>(mut self, b: impl bridge::convert::OptionalArgument<i64, F>) -> Self {
        self.input.b = self
            .pending
            .with("b", bridge::convert::OptionalArgument::into_optional(b));
        self
    }
}
impl InputUnionCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for InputUnionCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.e1506bcbdc4aea43818c15bf819e73d8")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "input_union",
            mark: *b"e1506bcbdc4aea43818c15bf819e73d8",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for InputUnionCall {
    type Output = Result<InputUnionOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn input_union() -> InputUnionCall {
    InputUnionCall {
        input: InputUnionInput {
            a: None,
            b: None,
        },
        pending: bridge::call::Pending::new("nasty", "input_union"),
    }
}

impl ListOrders2Input {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ListOrders2Call {
        ListOrders2Call {
            input: self,
            pending: bridge::call::Pending::new("nasty", "list-orders"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ListOrders2Call {
    input: ListOrders2Input,
    pending: bridge::call::Pending,
}
impl ListOrders2Call {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ListOrders2Call {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.fe30b3bab7fb82beb3c494d605e1d554")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "list-orders",
            mark: *b"fe30b3bab7fb82beb3c494d605e1d554",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ListOrders2Call {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn list_orders2() -> ListOrders2Call {
    ListOrders2Call {
        input: ListOrders2Input {},
        pending: bridge::call::Pending::new("nasty", "list-orders"),
    }
}

impl ListOrders3Input {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ListOrders3Call {
        ListOrders3Call {
            input: self,
            pending: bridge::call::Pending::new("nasty", "listOrders"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ListOrders3Call {
    input: ListOrders3Input,
    pending: bridge::call::Pending,
}
impl ListOrders3Call {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ListOrders3Call {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.f35bae88a54a05c214e5bfb251fe1904")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "listOrders",
            mark: *b"f35bae88a54a05c214e5bfb251fe1904",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ListOrders3Call {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Meets list_orders.
#[inline]
#[track_caller]
pub fn list_orders3() -> ListOrders3Call {
    ListOrders3Call {
        input: ListOrders3Input {},
        pending: bridge::call::Pending::new("nasty", "listOrders"),
    }
}

impl ListOrdersInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ListOrdersCall {
        ListOrdersCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "list_orders"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ListOrdersCall {
    input: ListOrdersInput,
    pending: bridge::call::Pending,
}
impl ListOrdersCall {
    pub fn input<F>(
        mut self,
        input: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.input = self
            .pending
            .with("input", bridge::convert::OptionalArgument::into_optional(input));
        self
    }
}
impl ListOrdersCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ListOrdersCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.f234ab8018ed4ace0c83698b3ed7b5af")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "list_orders",
            mark: *b"f234ab8018ed4ace0c83698b3ed7b5af",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ListOrdersCall {
    type Output = Result<ListOrdersOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn list_orders() -> ListOrdersCall {
    ListOrdersCall {
        input: ListOrdersInput { input: None },
        pending: bridge::call::Pending::new("nasty", "list_orders"),
    }
}

impl ListOrdersInputInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ListOrdersInputCall {
        ListOrdersInputCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "list_orders_input"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ListOrdersInputCall {
    input: ListOrdersInputInput,
    pending: bridge::call::Pending,
}
impl ListOrdersInputCall {
    pub fn a<F>(
        mut self,
        a: impl bridge::convert::OptionalArgument<ListOrdersInputA, F>,
    ) -> Self {
        self.input.a = self
            .pending
            .with("a", bridge::convert::OptionalArgument::into_optional(a));
        self
    }
}
impl ListOrdersInputCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ListOrdersInputCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.60673764ad176e6f08779a8328884985")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "list_orders_input",
            mark: *b"60673764ad176e6f08779a8328884985",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ListOrdersInputCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Its Call and Input meet names of another tool.
#[inline]
#[track_caller]
pub fn list_orders_input() -> ListOrdersInputCall {
    ListOrdersInputCall {
        input: ListOrdersInputInput { a: None },
        pending: bridge::call::Pending::new("nasty", "list_orders_input"),
    }
}

impl MainInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> MainCall {
        MainCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "main"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct MainCall {
    input: MainInput,
    pending: bridge::call::Pending,
}
impl MainCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for MainCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.bdec9746edce875c3c93542678e5680e")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "main",
            mark: *b"bdec9746edce875c3c93542678e5680e",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for MainCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn main() -> MainCall {
    MainCall {
        input: MainInput {},
        pending: bridge::call::Pending::new("nasty", "main"),
    }
}

impl MapsInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> MapsCall {
        MapsCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "maps"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct MapsCall {
    input: MapsInput,
    pending: bridge::call::Pending,
}
impl MapsCall {
    pub fn nested<F>(
        mut self,
        nested: impl bridge::convert::OptionalArgument<
            bridge::convert::IndexMap<String, Vec<MapsNested>>,
            F,
        >,
    ) -> Self {
        self.input.nested = self
            .pending
            .with("nested", bridge::convert::OptionalArgument::into_optional(nested));
        self
    }
    pub fn patterns<F>(
        mut self,
        patterns: impl bridge::convert::OptionalArgument<
            bridge::convert::IndexMap<String, bridge::convert::Value>,
            F,
        >,
    ) -> Self {
        self.input.patterns = self
            .pending
            .with(
                "patterns",
                bridge::convert::OptionalArgument::into_optional(patterns),
            );
        self
    }
    pub fn both<F>(
        mut self,
        both: impl bridge::convert::OptionalArgument<
            bridge::convert::IndexMap<String, bridge::Scalar>,
            F,
        >,
    ) -> Self {
        self.input.both = self
            .pending
            .with("both", bridge::convert::OptionalArgument::into_optional(both));
        self
    }
    pub fn free(mut self, free: impl bridge::convert::Serialize) -> Self {
        self.input.free = self.pending.with("free", Some(bridge::convert::value(&free)));
        self
    }
    pub fn closed(mut self, closed: impl bridge::convert::Serialize) -> Self {
        self.input.closed = self
            .pending
            .with("closed", Some(bridge::convert::value(&closed)));
        self
    }
}
impl MapsCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for MapsCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.b59e853d667b8a6581ffc05d2d19da64")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "maps",
            mark: *b"b59e853d667b8a6581ffc05d2d19da64",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for MapsCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[track_caller]
pub fn maps(
    labels: impl bridge::convert::Argument<bridge::convert::IndexMap<String, String>>,
) -> MapsCall {
    MapsCall {
        input: MapsInput {
            labels: bridge::convert::named(
                "labels",
                bridge::convert::Argument::into_argument(labels),
            ),
            nested: None,
            patterns: None,
            both: None,
            free: None,
            closed: None,
        },
        pending: bridge::call::Pending::new("nasty", "maps"),
    }
}

pub type MergedOutput = Beside;
impl MergedInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> MergedCall {
        MergedCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "merged"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct MergedCall {
    input: MergedInput,
    pending: bridge::call::Pending,
}
impl MergedCall {
    pub fn shared<F>(
        mut self,
        shared: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.shared = self
            .pending
            .with("shared", bridge::convert::OptionalArgument::into_optional(shared));
        self
    }
}
impl MergedCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for MergedCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.f3a1172a41ebd042652ed641317fc849")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "merged",
            mark: *b"f3a1172a41ebd042652ed641317fc849",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for MergedCall {
    type Output = Result<MergedOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[track_caller]
pub fn merged(
    a: impl Into<String>,
    b: impl bridge::convert::Argument<i64>,
) -> MergedCall {
    MergedCall {
        input: MergedInput {
            a: a.into(),
            b: bridge::convert::named("b", bridge::convert::Argument::into_argument(b)),
            shared: None,
        },
        pending: bridge::call::Pending::new("nasty", "merged"),
    }
}

impl MethodNamesInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> MethodNamesCall {
        MethodNamesCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "method_names"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct MethodNamesCall {
    input: MethodNamesInput,
    pending: bridge::call::Pending,
}
impl MethodNamesCall {
    pub fn call<F>(
        mut self,
        call: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.call = self
            .pending
            .with("call", bridge::convert::OptionalArgument::into_optional(call));
        self
    }
    pub fn poll<F>(
        mut self,
        poll: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.poll = self
            .pending
            .with("poll", bridge::convert::OptionalArgument::into_optional(poll));
        self
    }
    pub fn clone<F>(
        mut self,
        clone: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.clone = self
            .pending
            .with("clone", bridge::convert::OptionalArgument::into_optional(clone));
        self
    }
    pub fn into_future<F>(
        mut self,
        into_future: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.into_future = self
            .pending
            .with(
                "into_future",
                bridge::convert::OptionalArgument::into_optional(into_future),
            );
        self
    }
    pub fn drop<F>(
        mut self,
        drop: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.drop = self
            .pending
            .with("drop", bridge::convert::OptionalArgument::into_optional(drop));
        self
    }
    pub fn to_json<F>(
        mut self,
        to_json: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.to_json = self
            .pending
            .with("to_json", bridge::convert::OptionalArgument::into_optional(to_json));
        self
    }
    pub fn from_json<F>(
        mut self,
        from_json: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.from_json = self
            .pending
            .with(
                "from_json",
                bridge::convert::OptionalArgument::into_optional(from_json),
            );
        self
    }
    pub fn map<F>(
        mut self,
        map: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.map = self
            .pending
            .with("map", bridge::convert::OptionalArgument::into_optional(map));
        self
    }
    pub fn then<F>(
        mut self,
        then: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.then = self
            .pending
            .with("then", bridge::convert::OptionalArgument::into_optional(then));
        self
    }
    pub fn boxed<F>(
        mut self,
        boxed: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.boxed = self
            .pending
            .with("boxed", bridge::convert::OptionalArgument::into_optional(boxed));
        self
    }
    pub fn input<F>(
        mut self,
        input: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.input = self
            .pending
            .with("input", bridge::convert::OptionalArgument::into_optional(input));
        self
    }
    pub fn pending<F>(
        mut self,
        pending: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.pending = self
            .pending
            .with("pending", bridge::convert::OptionalArgument::into_optional(pending));
        self
    }
    pub fn context<F>(
        mut self,
        context: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.context = self
            .pending
            .with("context", bridge::convert::OptionalArgument::into_optional(context));
        self
    }
}
impl MethodNamesCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for MethodNamesCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.bb3ecf296fbc844ccf72b0261041c59a")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "method_names",
            mark: *b"bb3ecf296fbc844ccf72b0261041c59a",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for MethodNamesCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Optional properties named like the methods of a call.
#[inline]
#[track_caller]
pub fn method_names() -> MethodNamesCall {
    MethodNamesCall {
        input: MethodNamesInput {
            call: None,
            poll: None,
            clone: None,
            into_future: None,
            drop: None,
            to_json: None,
            from_json: None,
            map: None,
            then: None,
            boxed: None,
            input: None,
            pending: None,
            context: None,
        },
        pending: bridge::call::Pending::new("nasty", "method_names"),
    }
}

pub type MissingTypeA = ResultItem2;
impl MissingTypeInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> MissingTypeCall {
        MissingTypeCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "missing_type"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct MissingTypeCall {
    input: MissingTypeInput,
    pending: bridge::call::Pending,
}
impl MissingTypeCall {
    pub fn c<F>(
        mut self,
        c: impl bridge::convert::OptionalArgument<Vec<i64>, F>,
    ) -> Self {
        self.input.c = self
            .pending
            .with("c", bridge::convert::OptionalArgument::into_optional(c));
        self
    }
    /// no type at all
    pub fn d(mut self, d: impl bridge::convert::Serialize) -> Self {
        self.input.d = self.pending.with("d", Some(bridge::convert::value(&d)));
        self
    }
}
impl MissingTypeCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for MissingTypeCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.a3f8a7601ff6ab38316e3cce28e4f425")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "missing_type",
            mark: *b"a3f8a7601ff6ab38316e3cce28e4f425",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for MissingTypeCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[track_caller]
pub fn missing_type(a: impl bridge::convert::Argument<ResultItem2>) -> MissingTypeCall {
    MissingTypeCall {
        input: MissingTypeInput {
            a: bridge::convert::named("a", bridge::convert::Argument::into_argument(a)),
            c: None,
            d: None,
        },
        pending: bridge::call::Pending::new("nasty", "missing_type"),
    }
}

impl NonsenseInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> NonsenseCall {
        NonsenseCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "nonsense"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct NonsenseCall {
    input: NonsenseInput,
    pending: bridge::call::Pending,
}
impl NonsenseCall {
    pub fn a(mut self, a: impl bridge::convert::Serialize) -> Self {
        self.input.a = self.pending.with("a", Some(bridge::convert::value(&a)));
        self
    }
    pub fn b(mut self, b: impl bridge::convert::Serialize) -> Self {
        self.input.b = self.pending.with("b", Some(bridge::convert::value(&b)));
        self
    }
    pub fn c(mut self, c: impl bridge::convert::Serialize) -> Self {
        self.input.c = self.pending.with("c", Some(bridge::convert::value(&c)));
        self
    }
    pub fn d<F>(
        mut self,
        d: impl bridge::convert::OptionalArgument<Vec<bridge::convert::Value>, F>,
    ) -> Self {
        self.input.d = self
            .pending
            .with("d", bridge::convert::OptionalArgument::into_optional(d));
        self
    }
    pub fn e(mut self, e: impl bridge::convert::Serialize) -> Self {
        self.input.e = self.pending.with("e", Some(bridge::convert::value(&e)));
        self
    }
    pub fn f(mut self, f: impl bridge::convert::Serialize) -> Self {
        self.input.f = self.pending.with("f", Some(bridge::convert::value(&f)));
        self
    }
    pub fn g(mut self, g: impl bridge::convert::Serialize) -> Self {
        self.input.g = self.pending.with("g", Some(bridge::convert::value(&g)));
        self
    }
    pub fn h(mut self, h: impl bridge::convert::Serialize) -> Self {
        self.input.h = self.pending.with("h", Some(bridge::convert::value(&h)));
        self
    }
    pub fn i(mut self, i: impl bridge::convert::Serialize) -> Self {
        self.input.i = self.pending.with("i", Some(bridge::convert::value(&i)));
        self
    }
}
impl NonsenseCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for NonsenseCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.dc20094f79dd118c802867c3efd14a7f")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "nonsense",
            mark: *b"dc20094f79dd118c802867c3efd14a7f",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for NonsenseCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn nonsense() -> NonsenseCall {
    NonsenseCall {
        input: NonsenseInput {
            a: None,
            b: None,
            c: None,
            d: None,
            e: None,
            f: None,
            g: None,
            h: None,
            i: None,
        },
        pending: bridge::call::Pending::new("nasty", "nonsense"),
    }
}

impl NullDefaultInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> NullDefaultCall {
        NullDefaultCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "null_default"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct NullDefaultCall {
    input: NullDefaultInput,
    pending: bridge::call::Pending,
}
impl NullDefaultCall {
    pub fn text<F>(
        mut self,
        text: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.text = self
            .pending
            .with("text", bridge::convert::OptionalArgument::into_optional(text));
        self
    }
    pub fn flag<F>(
        mut self,
        flag: impl bridge::convert::OptionalArgument<bool, F>,
    ) -> Self {
        self.input.flag = self
            .pending
            .with("flag", bridge::convert::OptionalArgument::into_optional(flag));
        self
    }
    pub fn list<F>(
        mut self,
        list: impl bridge::convert::OptionalArgument<Vec<String>, F>,
    ) -> Self {
        self.input.list = self
            .pending
            .with("list", bridge::convert::OptionalArgument::into_optional(list));
        self
    }
}
impl NullDefaultCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for NullDefaultCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.14da92ef47853ebee16a3a6cd1613ea9")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "null_default",
            mark: *b"14da92ef47853ebee16a3a6cd1613ea9",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for NullDefaultCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn null_default() -> NullDefaultCall {
    NullDefaultCall {
        input: NullDefaultInput {
            text: None,
            flag: None,
            list: None,
        },
        pending: bridge::call::Pending::new("nasty", "null_default"),
    }
}

pub type NullableRequiredObject = ResultItem;
pub type NullableEnumerated = Mode;
pub type NullableX = X;
impl NullableInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> NullableCall {
        NullableCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "nullable"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct NullableCall {
    input: NullableInput,
    pending: bridge::call::Pending,
}
impl NullableCall {
    pub fn list<F>(
        mut self,
        list: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.list = self
            .pending
            .with("list", Some(bridge::convert::OptionalArgument::into_optional(list)));
        self
    }
    pub fn any_of<F>(
        mut self,
        any_of: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.any_of = self
            .pending
            .with(
                "any_of",
                Some(bridge::convert::OptionalArgument::into_optional(any_of)),
            );
        self
    }
    pub fn one_of<F>(
        mut self,
        one_of: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.one_of = self
            .pending
            .with(
                "one_of",
                Some(bridge::convert::OptionalArgument::into_optional(one_of)),
            );
        self
    }
    pub fn open_api<F>(
        mut self,
        open_api: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.open_api = self
            .pending
            .with(
                "open_api",
                Some(bridge::convert::OptionalArgument::into_optional(open_api)),
            );
        self
    }
    pub fn enumerated<F>(
        mut self,
        enumerated: impl bridge::convert::OptionalArgument<Mode, F>,
    ) -> Self {
        self.input.enumerated = self
            .pending
            .with(
                "enumerated",
                Some(bridge::convert::OptionalArgument::into_optional(enumerated)),
            );
        self
    }
    pub fn null_only<F>(
        mut self,
        null_only: impl bridge::convert::OptionalArgument<(), F>,
    ) -> Self {
        self.input.null_only = self
            .pending
            .with(
                "null_only",
                bridge::convert::OptionalArgument::into_optional(null_only),
            );
        self
    }
    pub fn twice<F>(
        mut self,
        twice: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.twice = self
            .pending
            .with(
                "twice",
                Some(bridge::convert::OptionalArgument::into_optional(twice)),
            );
        self
    }
    pub fn items<F>(
        mut self,
        items: impl bridge::convert::OptionalArgument<Vec<Option<String>>, F>,
    ) -> Self {
        self.input.items = self
            .pending
            .with("items", bridge::convert::OptionalArgument::into_optional(items));
        self
    }
}
impl NullableCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for NullableCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.2dd82ae75f6f2579d9b817ccced284f4")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "nullable",
            mark: *b"2dd82ae75f6f2579d9b817ccced284f4",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for NullableCall {
    type Output = Result<NullableOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// All spellings of a value that may be null.
#[track_caller]
pub fn nullable<F, F1>(
    required_one: impl bridge::convert::OptionalArgument<i64, F>,
    required_object: impl bridge::convert::OptionalArgument<ResultItem, F1>,
) -> NullableCall {
    NullableCall {
        input: NullableInput {
            required_one: bridge::convert::named(
                "required_one",
                bridge::convert::OptionalArgument::into_optional(required_one),
            ),
            required_object: bridge::convert::named(
                "required_object",
                bridge::convert::OptionalArgument::into_optional(required_object),
            ),
            list: None,
            any_of: None,
            one_of: None,
            open_api: None,
            enumerated: None,
            null_only: None,
            twice: None,
            items: None,
        },
        pending: bridge::call::Pending::new("nasty", "nullable"),
    }
}

pub type NullableNestedMaybe = Maybe;
impl NullableNestedInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> NullableNestedCall {
        NullableNestedCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "nullable_nested"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct NullableNestedCall {
    input: NullableNestedInput,
    pending: bridge::call::Pending,
}
impl NullableNestedCall {
    pub fn b<F>(mut self, b: impl bridge::convert::OptionalArgument<Maybe, F>) -> Self {
        self.input.b = self
            .pending
            .with("b", Some(bridge::convert::OptionalArgument::into_optional(b)));
        self
    }
    /// Perhaps.
    pub fn d<F>(mut self, d: impl bridge::convert::OptionalArgument<Maybe, F>) -> Self {
        self.input.d = self
            .pending
            .with("d", Some(bridge::convert::OptionalArgument::into_optional(d)));
        self
    }
    pub fn e<F>(
        mut self,
        e: impl bridge::convert::OptionalArgument<
            bridge::convert::IndexMap<String, Option<String>>,
            F,
        >,
    ) -> Self {
        self.input.e = self
            .pending
            .with("e", bridge::convert::OptionalArgument::into_optional(e));
        self
    }
}
impl NullableNestedCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for NullableNestedCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.8477c50446667b44890f3b7fc38611e9")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "nullable_nested",
            mark: *b"8477c50446667b44890f3b7fc38611e9",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for NullableNestedCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Null within null.
#[track_caller]
pub fn nullable_nested<F, F2>(
    a: impl bridge::convert::OptionalArgument<i64, F>,
    c: impl bridge::convert::Argument<Vec<Option<Maybe>>>,
    f: impl bridge::convert::OptionalArgument<NullableNestedF, F2>,
) -> NullableNestedCall {
    NullableNestedCall {
        input: NullableNestedInput {
            a: bridge::convert::named(
                "a",
                bridge::convert::OptionalArgument::into_optional(a),
            ),
            c: bridge::convert::named("c", bridge::convert::Argument::into_argument(c)),
            f: bridge::convert::named(
                "f",
                bridge::convert::OptionalArgument::into_optional(f),
            ),
            b: None,
            d: None,
            e: None,
        },
        pending: bridge::call::Pending::new("nasty", "nullable_nested"),
    }
}

impl NumericEnumsInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> NumericEnumsCall {
        NumericEnumsCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "numeric_enums"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct NumericEnumsCall {
    input: NumericEnumsInput,
    pending: bridge::call::Pending,
}
impl NumericEnumsCall {
    pub fn priority<F>(
        mut self,
        priority: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.priority = self
            .pending
            .with(
                "priority",
                bridge::convert::OptionalArgument::into_optional(priority),
            );
        self
    }
    pub fn ratio<F>(
        mut self,
        ratio: impl bridge::convert::OptionalArgument<f64, F>,
    ) -> Self {
        self.input.ratio = self
            .pending
            .with("ratio", bridge::convert::OptionalArgument::into_optional(ratio));
        self
    }
    pub fn flag<F>(
        mut self,
        flag: impl bridge::convert::OptionalArgument<bool, F>,
    ) -> Self {
        self.input.flag = self
            .pending
            .with("flag", bridge::convert::OptionalArgument::into_optional(flag));
        self
    }
    pub fn mixed<F>(
        mut self,
        mixed: impl bridge::convert::OptionalArgument<bridge::Scalar, F>,
    ) -> Self {
        self.input.mixed = self
            .pending
            .with("mixed", bridge::convert::OptionalArgument::into_optional(mixed));
        self
    }
    pub fn none(mut self, none: impl bridge::convert::Serialize) -> Self {
        self.input.none = self.pending.with("none", Some(bridge::convert::value(&none)));
        self
    }
    pub fn big<F>(
        mut self,
        big: impl bridge::convert::OptionalArgument<u64, F>,
    ) -> Self {
        self.input.big = self
            .pending
            .with("big", bridge::convert::OptionalArgument::into_optional(big));
        self
    }
    pub fn large<F>(
        mut self,
        large: impl bridge::convert::OptionalArgument<u64, F>,
    ) -> Self {
        self.input.large = self
            .pending
            .with("large", bridge::convert::OptionalArgument::into_optional(large));
        self
    }
}
impl NumericEnumsCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for NumericEnumsCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.fe294947128f1017ba95a9cedd8162d3")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "numeric_enums",
            mark: *b"fe294947128f1017ba95a9cedd8162d3",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for NumericEnumsCall {
    type Output = Result<NumericEnumsOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn numeric_enums() -> NumericEnumsCall {
    NumericEnumsCall {
        input: NumericEnumsInput {
            priority: None,
            ratio: None,
            flag: None,
            mixed: None,
            none: None,
            big: None,
            large: None,
        },
        pending: bridge::call::Pending::new("nasty", "numeric_enums"),
    }
}

pub type OpenObjectsClosed = ResultItem;
impl OpenObjectsInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> OpenObjectsCall {
        OpenObjectsCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "open_objects"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct OpenObjectsCall {
    input: OpenObjectsInput,
    pending: bridge::call::Pending,
}
impl OpenObjectsCall {
    pub fn described<F>(
        mut self,
        described: impl bridge::convert::OptionalArgument<
            bridge::convert::IndexMap<String, bridge::convert::Value>,
            F,
        >,
    ) -> Self {
        self.input.described = self
            .pending
            .with(
                "described",
                bridge::convert::OptionalArgument::into_optional(described),
            );
        self
    }
    pub fn unevaluated<F>(
        mut self,
        unevaluated: impl bridge::convert::OptionalArgument<
            bridge::convert::IndexMap<String, i64>,
            F,
        >,
    ) -> Self {
        self.input.unevaluated = self
            .pending
            .with(
                "unevaluated",
                bridge::convert::OptionalArgument::into_optional(unevaluated),
            );
        self
    }
    pub fn with_fields<F>(
        mut self,
        with_fields: impl bridge::convert::OptionalArgument<OpenObjectsWithFields, F>,
    ) -> Self {
        self.input.with_fields = self
            .pending
            .with(
                "with_fields",
                bridge::convert::OptionalArgument::into_optional(with_fields),
            );
        self
    }
    pub fn closed<F>(
        mut self,
        closed: impl bridge::convert::OptionalArgument<ResultItem, F>,
    ) -> Self {
        self.input.closed = self
            .pending
            .with("closed", bridge::convert::OptionalArgument::into_optional(closed));
        self
    }
    pub fn forbidden<F>(
        mut self,
        forbidden: impl bridge::convert::OptionalArgument<OpenObjectsWithFields, F>,
    ) -> Self {
        self.input.forbidden = self
            .pending
            .with(
                "forbidden",
                bridge::convert::OptionalArgument::into_optional(forbidden),
            );
        self
    }
    pub fn named<F>(
        mut self,
        named: impl bridge::convert::OptionalArgument<
            bridge::convert::IndexMap<String, bool>,
            F,
        >,
    ) -> Self {
        self.input.named = self
            .pending
            .with("named", bridge::convert::OptionalArgument::into_optional(named));
        self
    }
    pub fn maps<F>(
        mut self,
        maps: impl bridge::convert::OptionalArgument<
            bridge::convert::IndexMap<
                String,
                bridge::convert::IndexMap<String, Option<i64>>,
            >,
            F,
        >,
    ) -> Self {
        self.input.maps = self
            .pending
            .with("maps", bridge::convert::OptionalArgument::into_optional(maps));
        self
    }
}
impl OpenObjectsCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for OpenObjectsCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.f66ea24189acc046e6076852cd9dab7f")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "open_objects",
            mark: *b"f66ea24189acc046e6076852cd9dab7f",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for OpenObjectsCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Objects with more fields than they name.
#[track_caller]
pub fn open_objects(any: impl bridge::convert::Serialize) -> OpenObjectsCall {
    OpenObjectsCall {
        input: OpenObjectsInput {
            any: bridge::convert::value(&any),
            described: None,
            unevaluated: None,
            with_fields: None,
            closed: None,
            forbidden: None,
            named: None,
            maps: None,
        },
        pending: bridge::call::Pending::new("nasty", "open_objects"),
    }
}

impl OutputsEnumInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> OutputsEnumCall {
        OutputsEnumCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "outputs_enum"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct OutputsEnumCall {
    input: OutputsEnumInput,
    pending: bridge::call::Pending,
}
impl OutputsEnumCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for OutputsEnumCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.13c6a647b87ce4761112eaf95bcb591e")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "outputs_enum",
            mark: *b"13c6a647b87ce4761112eaf95bcb591e",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for OutputsEnumCall {
    type Output = Result<OutputsEnumOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn outputs_enum() -> OutputsEnumCall {
    OutputsEnumCall {
        input: OutputsEnumInput {},
        pending: bridge::call::Pending::new("nasty", "outputs_enum"),
    }
}

pub type OutputsNullableOutput = Option<X>;
impl OutputsNullableInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> OutputsNullableCall {
        OutputsNullableCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "outputs_nullable"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct OutputsNullableCall {
    input: OutputsNullableInput,
    pending: bridge::call::Pending,
}
impl OutputsNullableCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for OutputsNullableCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.8912134fe255fb74cedf7949fa4ebac4")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "outputs_nullable",
            mark: *b"8912134fe255fb74cedf7949fa4ebac4",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for OutputsNullableCall {
    type Output = Result<OutputsNullableOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn outputs_nullable() -> OutputsNullableCall {
    OutputsNullableCall {
        input: OutputsNullableInput {},
        pending: bridge::call::Pending::new("nasty", "outputs_nullable"),
    }
}

pub type OutputsScalarOutput = String;
impl OutputsScalarInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> OutputsScalarCall {
        OutputsScalarCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "outputs_scalar"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct OutputsScalarCall {
    input: OutputsScalarInput,
    pending: bridge::call::Pending,
}
impl OutputsScalarCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for OutputsScalarCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.6856165f01db19567bfb7eac8c7f706a")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "outputs_scalar",
            mark: *b"6856165f01db19567bfb7eac8c7f706a",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for OutputsScalarCall {
    type Output = Result<OutputsScalarOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn outputs_scalar() -> OutputsScalarCall {
    OutputsScalarCall {
        input: OutputsScalarInput {},
        pending: bridge::call::Pending::new("nasty", "outputs_scalar"),
    }
}

impl PropertyNamesInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> PropertyNamesCall {
        PropertyNamesCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "property-names"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct PropertyNamesCall {
    input: PropertyNamesInput,
    pending: bridge::call::Pending,
}
impl PropertyNamesCall {
    pub fn async_<F>(
        mut self,
        async_: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.async_ = self
            .pending
            .with("async", bridge::convert::OptionalArgument::into_optional(async_));
        self
    }
    pub fn ref_<F>(
        mut self,
        ref_: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.ref_ = self
            .pending
            .with("$ref", bridge::convert::OptionalArgument::into_optional(ref_));
        self
    }
    pub fn foo_bar2<F>(
        mut self,
        foo_bar2: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.foo_bar2 = self
            .pending
            .with("foo-bar", bridge::convert::OptionalArgument::into_optional(foo_bar2));
        self
    }
    pub fn foo_bar3<F>(
        mut self,
        foo_bar3: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.foo_bar3 = self
            .pending
            .with("Foo Bar", bridge::convert::OptionalArgument::into_optional(foo_bar3));
        self
    }
    pub fn foo_bar<F>(
        mut self,
        foo_bar: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.foo_bar = self
            .pending
            .with("foo_bar", bridge::convert::OptionalArgument::into_optional(foo_bar));
        self
    }
    pub fn reactions_plus_1<F>(
        mut self,
        reactions_plus_1: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.reactions_plus_1 = self
            .pending
            .with(
                "reactions-+1",
                bridge::convert::OptionalArgument::into_optional(reactions_plus_1),
            );
        self
    }
    pub fn reactions_minus_1<F>(
        mut self,
        reactions_minus_1: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.reactions_minus_1 = self
            .pending
            .with(
                "reactions--1",
                bridge::convert::OptionalArgument::into_optional(reactions_minus_1),
            );
        self
    }
    pub fn call<F>(
        mut self,
        call: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.call = self
            .pending
            .with("call", bridge::convert::OptionalArgument::into_optional(call));
        self
    }
    pub fn poll<F>(
        mut self,
        poll: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.poll = self
            .pending
            .with("poll", bridge::convert::OptionalArgument::into_optional(poll));
        self
    }
    pub fn clone<F>(
        mut self,
        clone: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.clone = self
            .pending
            .with("clone", bridge::convert::OptionalArgument::into_optional(clone));
        self
    }
    pub fn await_<F>(
        mut self,
        await_: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.await_ = self
            .pending
            .with("await", bridge::convert::OptionalArgument::into_optional(await_));
        self
    }
    pub fn input<F>(
        mut self,
        input: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.input = self
            .pending
            .with("input", bridge::convert::OptionalArgument::into_optional(input));
        self
    }
    pub fn pending<F>(
        mut self,
        pending: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.pending = self
            .pending
            .with("pending", bridge::convert::OptionalArgument::into_optional(pending));
        self
    }
    pub fn empty<F>(
        mut self,
        empty: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.empty = self
            .pending
            .with("", bridge::convert::OptionalArgument::into_optional(empty));
        self
    }
    pub fn gr_uf6_udf_e<F>(
        mut self,
        gr_uf6_udf_e: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.gr_uf6_udf_e = self
            .pending
            .with(
                "größe",
                bridge::convert::OptionalArgument::into_optional(gr_uf6_udf_e),
            );
        self
    }
    pub fn u540d_u524d<F>(
        mut self,
        u540d_u524d: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.u540d_u524d = self
            .pending
            .with(
                "名前",
                bridge::convert::OptionalArgument::into_optional(u540d_u524d),
            );
        self
    }
    pub fn self_2<F>(
        mut self,
        self_2: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.self_2 = self
            .pending
            .with("Self", bridge::convert::OptionalArgument::into_optional(self_2));
        self
    }
    pub fn crate_<F>(
        mut self,
        crate_: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.crate_ = self
            .pending
            .with("crate", bridge::convert::OptionalArgument::into_optional(crate_));
        self
    }
    pub fn empty2<F>(
        mut self,
        empty2: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.empty2 = self
            .pending
            .with("_", bridge::convert::OptionalArgument::into_optional(empty2));
        self
    }
    pub fn empty3<F>(
        mut self,
        empty3: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.empty3 = self
            .pending
            .with("__", bridge::convert::OptionalArgument::into_optional(empty3));
        self
    }
    pub fn foo_bar4<F>(
        mut self,
        foo_bar4: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.foo_bar4 = self
            .pending
            .with("fooBar", bridge::convert::OptionalArgument::into_optional(foo_bar4));
        self
    }
    pub fn extra<F>(
        mut self,
        extra: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.extra = self
            .pending
            .with("extra", bridge::convert::OptionalArgument::into_optional(extra));
        self
    }
}
impl PropertyNamesCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for PropertyNamesCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.30c26fdd393d0650b08326b2c6ec0faa")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "property-names",
            mark: *b"30c26fdd393d0650b08326b2c6ec0faa",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for PropertyNamesCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Names that Rust or JSON Schema use themselves.
#[track_caller]
pub fn property_names(
    type_: impl Into<String>,
    self_: impl Into<String>,
    id: impl Into<String>,
    n1st: impl Into<String>,
) -> PropertyNamesCall {
    PropertyNamesCall {
        input: PropertyNamesInput {
            type_: type_.into(),
            self_: self_.into(),
            id: id.into(),
            n1st: n1st.into(),
            async_: None,
            ref_: None,
            foo_bar2: None,
            foo_bar3: None,
            foo_bar: None,
            reactions_plus_1: None,
            reactions_minus_1: None,
            call: None,
            poll: None,
            clone: None,
            await_: None,
            input: None,
            pending: None,
            empty: None,
            gr_uf6_udf_e: None,
            u540d_u524d: None,
            self_2: None,
            crate_: None,
            empty2: None,
            empty3: None,
            foo_bar4: None,
            extra: None,
        },
        pending: bridge::call::Pending::new("nasty", "property-names"),
    }
}

pub type RecursiveNode = Node;
impl RecursiveInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> RecursiveCall {
        RecursiveCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "recursive"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct RecursiveCall {
    input: RecursiveInput,
    pending: bridge::call::Pending,
}
impl RecursiveCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for RecursiveCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.7a4c726296b6a9d943ed5cb08b021cc9")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "recursive",
            mark: *b"7a4c726296b6a9d943ed5cb08b021cc9",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for RecursiveCall {
    type Output = Result<RecursiveOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[track_caller]
pub fn recursive(root: impl bridge::convert::Argument<Node>) -> RecursiveCall {
    RecursiveCall {
        input: RecursiveInput {
            root: bridge::convert::named(
                "root",
                bridge::convert::Argument::into_argument(root),
            ),
        },
        pending: bridge::call::Pending::new("nasty", "recursive"),
    }
}

impl RecursiveListInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> RecursiveListCall {
        RecursiveListCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "recursive_list"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct RecursiveListCall {
    input: RecursiveListInput,
    pending: bridge::call::Pending,
}
impl RecursiveListCall {
    pub fn a<F>(
        mut self,
        a: impl bridge::convert::OptionalArgument<Vec<bridge::convert::Value>, F>,
    ) -> Self {
        self.input.a = self
            .pending
            .with("a", bridge::convert::OptionalArgument::into_optional(a));
        self
    }
    pub fn b(mut self, b: impl bridge::convert::Serialize) -> Self {
        self.input.b = self.pending.with("b", Some(bridge::convert::value(&b)));
        self
    }
}
impl RecursiveListCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for RecursiveListCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.b023b2f5f4f063efe146c48bf23c612c")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "recursive_list",
            mark: *b"b023b2f5f4f063efe146c48bf23c612c",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for RecursiveListCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// A list of itself has no name.
#[inline]
#[track_caller]
pub fn recursive_list() -> RecursiveListCall {
    RecursiveListCall {
        input: RecursiveListInput {
            a: None,
            b: None,
        },
        pending: bridge::call::Pending::new("nasty", "recursive_list"),
    }
}

pub type RecursiveMergeA = A;
pub type RecursiveMergeChild = AChild;
impl RecursiveMergeInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> RecursiveMergeCall {
        RecursiveMergeCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "recursive_merge"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct RecursiveMergeCall {
    input: RecursiveMergeInput,
    pending: bridge::call::Pending,
}
impl RecursiveMergeCall {
    pub fn a<F>(mut self, a: impl bridge::convert::OptionalArgument<A, F>) -> Self {
        self.input.a = self
            .pending
            .with("a", bridge::convert::OptionalArgument::into_optional(a));
        self
    }
}
impl RecursiveMergeCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for RecursiveMergeCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.4029d465fc658acebfbd2db5a4e44608")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "recursive_merge",
            mark: *b"4029d465fc658acebfbd2db5a4e44608",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for RecursiveMergeCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn recursive_merge() -> RecursiveMergeCall {
    RecursiveMergeCall {
        input: RecursiveMergeInput { a: None },
        pending: bridge::call::Pending::new("nasty", "recursive_merge"),
    }
}

pub type RecursiveRequiredB = B;
impl RecursiveRequiredInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> RecursiveRequiredCall {
        RecursiveRequiredCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "recursive_required"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct RecursiveRequiredCall {
    input: RecursiveRequiredInput,
    pending: bridge::call::Pending,
}
impl RecursiveRequiredCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for RecursiveRequiredCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.308fb08352058ac86d346ad4a4171115")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "recursive_required",
            mark: *b"308fb08352058ac86d346ad4a4171115",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for RecursiveRequiredCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Can have no finite value.
#[track_caller]
pub fn recursive_required(
    a: impl bridge::convert::Argument<RecursiveRequiredA>,
) -> RecursiveRequiredCall {
    RecursiveRequiredCall {
        input: RecursiveRequiredInput {
            a: bridge::convert::named("a", bridge::convert::Argument::into_argument(a)),
        },
        pending: bridge::call::Pending::new("nasty", "recursive_required"),
    }
}

pub type RecursiveRootOutput = List;
pub type RecursiveRootList = List;
impl RecursiveRootInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> RecursiveRootCall {
        RecursiveRootCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "recursive_root"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct RecursiveRootCall {
    input: RecursiveRootInput,
    pending: bridge::call::Pending,
}
impl RecursiveRootCall {
    pub fn next<F>(
        mut self,
        next: impl bridge::convert::OptionalArgument<RecursiveRootInput, F>,
    ) -> Self {
        self.input.next = self
            .pending
            .with(
                "next",
                bridge::convert::OptionalArgument::into_optional(next).map(Box::new),
            );
        self
    }
}
impl RecursiveRootCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for RecursiveRootCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.ab4a558ef032af15d988f6e0735537f5")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "recursive_root",
            mark: *b"ab4a558ef032af15d988f6e0735537f5",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for RecursiveRootCall {
    type Output = Result<RecursiveRootOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[track_caller]
pub fn recursive_root(value: impl bridge::convert::Argument<i64>) -> RecursiveRootCall {
    RecursiveRootCall {
        input: RecursiveRootInput {
            value: bridge::convert::named(
                "value",
                bridge::convert::Argument::into_argument(value),
            ),
            next: None,
        },
        pending: bridge::call::Pending::new("nasty", "recursive_root"),
    }
}

pub type RecursiveUnionExpression = Expression;
pub type RecursiveUnionLiteral = Literal;
pub type RecursiveUnionSum = Sum;
pub type RecursiveUnionE = E;
pub type RecursiveUnionEObject = EObject;
impl RecursiveUnionInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> RecursiveUnionCall {
        RecursiveUnionCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "recursive_union"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct RecursiveUnionCall {
    input: RecursiveUnionInput,
    pending: bridge::call::Pending,
}
impl RecursiveUnionCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for RecursiveUnionCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.caff91d66e8abdba4afa4134261cb337")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "recursive_union",
            mark: *b"caff91d66e8abdba4afa4134261cb337",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for RecursiveUnionCall {
    type Output = Result<RecursiveUnionOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[track_caller]
pub fn recursive_union(
    expression: impl bridge::convert::Argument<Expression>,
) -> RecursiveUnionCall {
    RecursiveUnionCall {
        input: RecursiveUnionInput {
            expression: bridge::convert::named(
                "expression",
                bridge::convert::Argument::into_argument(expression),
            ),
        },
        pending: bridge::call::Pending::new("nasty", "recursive_union"),
    }
}

pub type ReferencesBeside = Beside;
pub type ReferencesBase = Base;
pub type ReferencesAB = AB;
pub type ReferencesInner = Inner;
pub type ReferencesResource = Resource;
impl ReferencesInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ReferencesCall {
        ReferencesCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "references"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ReferencesCall {
    input: ReferencesInput,
    pending: bridge::call::Pending,
}
impl ReferencesCall {
    pub fn closed<F>(
        mut self,
        closed: impl bridge::convert::OptionalArgument<Base, F>,
    ) -> Self {
        self.input.closed = self
            .pending
            .with("closed", bridge::convert::OptionalArgument::into_optional(closed));
        self
    }
    pub fn dynamic<F>(
        mut self,
        dynamic: impl bridge::convert::OptionalArgument<ReferencesNode, F>,
    ) -> Self {
        self.input.dynamic = self
            .pending
            .with("dynamic", bridge::convert::OptionalArgument::into_optional(dynamic));
        self
    }
    pub fn recursive<F>(
        mut self,
        recursive: impl bridge::convert::OptionalArgument<ReferencesInput, F>,
    ) -> Self {
        self.input.recursive = self
            .pending
            .with(
                "recursive",
                bridge::convert::OptionalArgument::into_optional(recursive).map(Box::new),
            );
        self
    }
    pub fn draft4<F>(
        mut self,
        draft4: impl bridge::convert::OptionalArgument<Vec<i64>, F>,
    ) -> Self {
        self.input.draft4 = self
            .pending
            .with("draft4", bridge::convert::OptionalArgument::into_optional(draft4));
        self
    }
    pub fn percent<F>(
        mut self,
        percent: impl bridge::convert::OptionalArgument<There, F>,
    ) -> Self {
        self.input.percent = self
            .pending
            .with("percent", bridge::convert::OptionalArgument::into_optional(percent));
        self
    }
    pub fn deep<F>(
        mut self,
        deep: impl bridge::convert::OptionalArgument<Inner, F>,
    ) -> Self {
        self.input.deep = self
            .pending
            .with("deep", bridge::convert::OptionalArgument::into_optional(deep));
        self
    }
    pub fn outer<F>(
        mut self,
        outer: impl bridge::convert::OptionalArgument<ReferencesOuter, F>,
    ) -> Self {
        self.input.outer = self
            .pending
            .with("outer", bridge::convert::OptionalArgument::into_optional(outer));
        self
    }
    pub fn resource<F>(
        mut self,
        resource: impl bridge::convert::OptionalArgument<Resource, F>,
    ) -> Self {
        self.input.resource = self
            .pending
            .with(
                "resource",
                bridge::convert::OptionalArgument::into_optional(resource),
            );
        self
    }
    pub fn nested_anchor<F>(
        mut self,
        nested_anchor: impl bridge::convert::OptionalArgument<ReferencesNestedAnchor, F>,
    ) -> Self {
        self.input.nested_anchor = self
            .pending
            .with(
                "nested_anchor",
                bridge::convert::OptionalArgument::into_optional(nested_anchor),
            );
        self
    }
}
impl ReferencesCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ReferencesCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.9a8f3ce19f7c2d1d3f70933c14632996")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "references",
            mark: *b"9a8f3ce19f7c2d1d3f70933c14632996",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ReferencesCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// References in all spellings, with keywords beside them.
#[track_caller]
pub fn references(beside: impl bridge::convert::Argument<Beside>) -> ReferencesCall {
    ReferencesCall {
        input: ReferencesInput {
            beside: bridge::convert::named(
                "beside",
                bridge::convert::Argument::into_argument(beside),
            ),
            closed: None,
            dynamic: None,
            recursive: None,
            draft4: None,
            percent: None,
            deep: None,
            outer: None,
            resource: None,
            nested_anchor: None,
        },
        pending: bridge::call::Pending::new("nasty", "references"),
    }
}

impl RequiredUnknownInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> RequiredUnknownCall {
        RequiredUnknownCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "required_unknown"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct RequiredUnknownCall {
    input: RequiredUnknownInput,
    pending: bridge::call::Pending,
}
impl RequiredUnknownCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for RequiredUnknownCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.d6ec57877c13c37fb93e8237a2426cf9")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "required_unknown",
            mark: *b"d6ec57877c13c37fb93e8237a2426cf9",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for RequiredUnknownCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[track_caller]
pub fn required_unknown(
    a: impl Into<String>,
    b: impl bridge::convert::Serialize,
) -> RequiredUnknownCall {
    RequiredUnknownCall {
        input: RequiredUnknownInput {
            a: a.into(),
            b: bridge::convert::value(&b),
        },
        pending: bridge::call::Pending::new("nasty", "required_unknown"),
    }
}

impl RunInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> RunCall {
        RunCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "run"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct RunCall {
    input: RunInput,
    pending: bridge::call::Pending,
}
impl RunCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for RunCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.a3a8cbdde1795c2c97a886156f23080e")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "run",
            mark: *b"a3a8cbdde1795c2c97a886156f23080e",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for RunCall {
    type Output = Result<RunOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[track_caller]
pub fn run(x: impl Into<String>) -> RunCall {
    RunCall {
        input: RunInput { x: x.into() },
        pending: bridge::call::Pending::new("nasty", "run"),
    }
}

impl SameTitlesInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> SameTitlesCall {
        SameTitlesCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "same_titles"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct SameTitlesCall {
    input: SameTitlesInput,
    pending: bridge::call::Pending,
}
impl SameTitlesCall {
    /// Item
    pub fn a<F>(mut self, a: impl bridge::convert::OptionalArgument<Item, F>) -> Self {
        self.input.a = self
            .pending
            .with("a", bridge::convert::OptionalArgument::into_optional(a));
        self
    }
    /// Item
    pub fn b<F>(
        mut self,
        b: impl bridge::convert::OptionalArgument<SameTitlesItem, F>,
    ) -> Self {
        self.input.b = self
            .pending
            .with("b", bridge::convert::OptionalArgument::into_optional(b));
        self
    }
    pub fn item<F>(
        mut self,
        item: impl bridge::convert::OptionalArgument<SameTitlesItem2, F>,
    ) -> Self {
        self.input.item = self
            .pending
            .with("item", bridge::convert::OptionalArgument::into_optional(item));
        self
    }
    pub fn items<F>(
        mut self,
        items: impl bridge::convert::OptionalArgument<Vec<SameTitlesItem2>, F>,
    ) -> Self {
        self.input.items = self
            .pending
            .with("items", bridge::convert::OptionalArgument::into_optional(items));
        self
    }
}
impl SameTitlesCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for SameTitlesCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.30cad90e6340e007f05af9e9ef07f2e8")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "same_titles",
            mark: *b"30cad90e6340e007f05af9e9ef07f2e8",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for SameTitlesCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
#[inline]
#[track_caller]
pub fn same_titles() -> SameTitlesCall {
    SameTitlesCall {
        input: SameTitlesInput {
            a: None,
            b: None,
            item: None,
            items: None,
        },
        pending: bridge::call::Pending::new("nasty", "same_titles"),
    }
}

impl SharedTypesInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> SharedTypesCall {
        SharedTypesCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "shared_types"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct SharedTypesCall {
    input: SharedTypesInput,
    pending: bridge::call::Pending,
}
impl SharedTypesCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for SharedTypesCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.964129b752e3a9c2665469a7bf0596b0")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "shared_types",
            mark: *b"964129b752e3a9c2665469a7bf0596b0",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for SharedTypesCall {
    type Output = Result<SharedTypesOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// The same structure in and out is one type.
#[track_caller]
pub fn shared_types(
    entities: impl bridge::convert::Argument<Vec<SharedTypesEntity>>,
) -> SharedTypesCall {
    SharedTypesCall {
        input: SharedTypesInput {
            entities: bridge::convert::named(
                "entities",
                bridge::convert::Argument::into_argument(entities),
            ),
        },
        pending: bridge::call::Pending::new("nasty", "shared_types"),
    }
}

pub type TaggedText = Text;
impl TaggedInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> TaggedCall {
        TaggedCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "tagged"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct TaggedCall {
    input: TaggedInput,
    pending: bridge::call::Pending,
}
impl TaggedCall {
    pub fn content<F>(
        mut self,
        content: impl bridge::convert::OptionalArgument<TaggedContent, F>,
    ) -> Self {
        self.input.content = self
            .pending
            .with("content", bridge::convert::OptionalArgument::into_optional(content));
        self
    }
}
impl TaggedCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for TaggedCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.2bf654d4fe1f1f8bed76bf3f1b31da65")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "tagged",
            mark: *b"2bf654d4fe1f1f8bed76bf3f1b31da65",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for TaggedCall {
    type Output = Result<TaggedOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[track_caller]
pub fn tagged(shape: impl bridge::convert::Argument<TaggedShape>) -> TaggedCall {
    TaggedCall {
        input: TaggedInput {
            shape: bridge::convert::named(
                "shape",
                bridge::convert::Argument::into_argument(shape),
            ),
            content: None,
        },
        pending: bridge::call::Pending::new("nasty", "tagged"),
    }
}

impl TextEnumsInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> TextEnumsCall {
        TextEnumsCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "text_enums"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct TextEnumsCall {
    input: TextEnumsInput,
    pending: bridge::call::Pending,
}
impl TextEnumsCall {
    pub fn single<F>(
        mut self,
        single: impl bridge::convert::OptionalArgument<TextEnumsSingle, F>,
    ) -> Self {
        self.input.single = self
            .pending
            .with("single", bridge::convert::OptionalArgument::into_optional(single));
        self
    }
    pub fn any_string<F>(
        mut self,
        any_string: impl bridge::convert::OptionalArgument<TextEnumsAnyString, F>,
    ) -> Self {
        self.input.any_string = self
            .pending
            .with(
                "any_string",
                bridge::convert::OptionalArgument::into_optional(any_string),
            );
        self
    }
    pub fn titled<F>(
        mut self,
        titled: impl bridge::convert::OptionalArgument<TextEnumsTitled, F>,
    ) -> Self {
        self.input.titled = self
            .pending
            .with("titled", bridge::convert::OptionalArgument::into_optional(titled));
        self
    }
}
impl TextEnumsCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for TextEnumsCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.b4e532d97a63a187dd9144de685c4f0e")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "text_enums",
            mark: *b"b4e532d97a63a187dd9144de685c4f0e",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for TextEnumsCall {
    type Output = Result<TextEnumsOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[track_caller]
pub fn text_enums(
    keywords: impl bridge::convert::Argument<TextEnumsKeywords>,
) -> TextEnumsCall {
    TextEnumsCall {
        input: TextEnumsInput {
            keywords: bridge::convert::named(
                "keywords",
                bridge::convert::Argument::into_argument(keywords),
            ),
            single: None,
            any_string: None,
            titled: None,
        },
        pending: bridge::call::Pending::new("nasty", "text_enums"),
    }
}

pub type TuplesDraft2020 = ResultItem;
impl TuplesInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> TuplesCall {
        TuplesCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "tuples"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct TuplesCall {
    input: TuplesInput,
    pending: bridge::call::Pending,
}
impl TuplesCall {
    pub fn draft2020<F>(
        mut self,
        draft2020: impl bridge::convert::OptionalArgument<(String, i64, ResultItem), F>,
    ) -> Self {
        self.input.draft2020 = self
            .pending
            .with(
                "draft2020",
                bridge::convert::OptionalArgument::into_optional(draft2020),
            );
        self
    }
    pub fn open<F>(
        mut self,
        open: impl bridge::convert::OptionalArgument<Vec<bridge::Scalar>, F>,
    ) -> Self {
        self.input.open = self
            .pending
            .with("open", bridge::convert::OptionalArgument::into_optional(open));
        self
    }
    pub fn long<F>(
        mut self,
        long: impl bridge::convert::OptionalArgument<Vec<String>, F>,
    ) -> Self {
        self.input.long = self
            .pending
            .with("long", bridge::convert::OptionalArgument::into_optional(long));
        self
    }
    pub fn none<F>(
        mut self,
        none: impl bridge::convert::OptionalArgument<Vec<bridge::convert::Value>, F>,
    ) -> Self {
        self.input.none = self
            .pending
            .with("none", bridge::convert::OptionalArgument::into_optional(none));
        self
    }
    pub fn bare<F>(
        mut self,
        bare: impl bridge::convert::OptionalArgument<Vec<bridge::convert::Value>, F>,
    ) -> Self {
        self.input.bare = self
            .pending
            .with("bare", bridge::convert::OptionalArgument::into_optional(bare));
        self
    }
    pub fn single<F>(
        mut self,
        single: impl bridge::convert::OptionalArgument<(String,), F>,
    ) -> Self {
        self.input.single = self
            .pending
            .with("single", bridge::convert::OptionalArgument::into_optional(single));
        self
    }
}
impl TuplesCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for TuplesCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.bf10a3307bba7f23c868469fb20042bf")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "tuples",
            mark: *b"bf10a3307bba7f23c868469fb20042bf",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for TuplesCall {
    type Output = Result<TuplesOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[track_caller]
pub fn tuples(draft7: impl bridge::convert::Argument<(f64, f64)>) -> TuplesCall {
    TuplesCall {
        input: TuplesInput {
            draft7: bridge::convert::named(
                "draft7",
                bridge::convert::Argument::into_argument(draft7),
            ),
            draft2020: None,
            open: None,
            long: None,
            none: None,
            bare: None,
            single: None,
        },
        pending: bridge::call::Pending::new("nasty", "tuples"),
    }
}

pub type UnionsOfUnionsListObject = X;
impl UnionsOfUnionsInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> UnionsOfUnionsCall {
        UnionsOfUnionsCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "unions_of_unions"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct UnionsOfUnionsCall {
    input: UnionsOfUnionsInput,
    pending: bridge::call::Pending,
}
impl UnionsOfUnionsCall {
    pub fn both<F>(
        mut self,
        both: impl bridge::convert::OptionalArgument<UnionsOfUnionsBoth, F>,
    ) -> Self {
        self.input.both = self
            .pending
            .with("both", bridge::convert::OptionalArgument::into_optional(both));
        self
    }
    pub fn tagged_or_text<F>(
        mut self,
        tagged_or_text: impl bridge::convert::OptionalArgument<
            UnionsOfUnionsTaggedOrText,
            F,
        >,
    ) -> Self {
        self.input.tagged_or_text = self
            .pending
            .with(
                "tagged_or_text",
                bridge::convert::OptionalArgument::into_optional(tagged_or_text),
            );
        self
    }
    pub fn loose<F>(
        mut self,
        loose: impl bridge::convert::OptionalArgument<UnionsOfUnionsLoose, F>,
    ) -> Self {
        self.input.loose = self
            .pending
            .with(
                "loose",
                Some(bridge::convert::OptionalArgument::into_optional(loose)),
            );
        self
    }
    pub fn lists<F>(
        mut self,
        lists: impl bridge::convert::OptionalArgument<Vec<UnionsOfUnionsList>, F>,
    ) -> Self {
        self.input.lists = self
            .pending
            .with("lists", bridge::convert::OptionalArgument::into_optional(lists));
        self
    }
}
impl UnionsOfUnionsCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for UnionsOfUnionsCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.6b42e3911cf81454da85306847de7153")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "unions_of_unions",
            mark: *b"6b42e3911cf81454da85306847de7153",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for UnionsOfUnionsCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Unions in unions, and two at once.
#[track_caller]
pub fn unions_of_unions(
    flat: impl bridge::convert::Argument<UnionsOfUnionsFlat>,
    parts: impl bridge::convert::Argument<UnionsOfUnionsParts>,
) -> UnionsOfUnionsCall {
    UnionsOfUnionsCall {
        input: UnionsOfUnionsInput {
            flat: bridge::convert::named(
                "flat",
                bridge::convert::Argument::into_argument(flat),
            ),
            parts: bridge::convert::named(
                "parts",
                bridge::convert::Argument::into_argument(parts),
            ),
            both: None,
            tagged_or_text: None,
            loose: None,
            lists: None,
        },
        pending: bridge::call::Pending::new("nasty", "unions_of_unions"),
    }
}

pub type UntaggedValueObject = Text;
pub type UntaggedOneOrMany = NullableNestedF;
pub type UntaggedAllKindsObject = ResultItem;
impl UntaggedInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> UntaggedCall {
        UntaggedCall {
            input: self,
            pending: bridge::call::Pending::new("nasty", "untagged"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct UntaggedCall {
    input: UntaggedInput,
    pending: bridge::call::Pending,
}
impl UntaggedCall {
    pub fn value<F>(
        mut self,
        value: impl bridge::convert::OptionalArgument<UntaggedValue, F>,
    ) -> Self {
        self.input.value = self
            .pending
            .with("value", bridge::convert::OptionalArgument::into_optional(value));
        self
    }
    pub fn one_or_many<F>(
        mut self,
        one_or_many: impl bridge::convert::OptionalArgument<NullableNestedF, F>,
    ) -> Self {
        self.input.one_or_many = self
            .pending
            .with(
                "one_or_many",
                bridge::convert::OptionalArgument::into_optional(one_or_many),
            );
        self
    }
    pub fn scalars<F>(
        mut self,
        scalars: impl bridge::convert::OptionalArgument<bridge::Scalar, F>,
    ) -> Self {
        self.input.scalars = self
            .pending
            .with("scalars", bridge::convert::OptionalArgument::into_optional(scalars));
        self
    }
    pub fn numbers<F>(
        mut self,
        numbers: impl bridge::convert::OptionalArgument<f64, F>,
    ) -> Self {
        self.input.numbers = self
            .pending
            .with("numbers", bridge::convert::OptionalArgument::into_optional(numbers));
        self
    }
    pub fn all_kinds<F>(
        mut self,
        all_kinds: impl bridge::convert::OptionalArgument<UntaggedAllKinds, F>,
    ) -> Self {
        self.input.all_kinds = self
            .pending
            .with(
                "all_kinds",
                bridge::convert::OptionalArgument::into_optional(all_kinds),
            );
        self
    }
    pub fn lists<F>(
        mut self,
        lists: impl bridge::convert::OptionalArgument<Vec<bridge::Scalar>, F>,
    ) -> Self {
        self.input.lists = self
            .pending
            .with("lists", bridge::convert::OptionalArgument::into_optional(lists));
        self
    }
    pub fn free(mut self, free: impl bridge::convert::Serialize) -> Self {
        self.input.free = self.pending.with("free", Some(bridge::convert::value(&free)));
        self
    }
    pub fn merged<F>(
        mut self,
        merged: impl bridge::convert::OptionalArgument<UntaggedMerged, F>,
    ) -> Self {
        self.input.merged = self
            .pending
            .with("merged", bridge::convert::OptionalArgument::into_optional(merged));
        self
    }
    pub fn restricted<F>(
        mut self,
        restricted: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.restricted = self
            .pending
            .with(
                "restricted",
                bridge::convert::OptionalArgument::into_optional(restricted),
            );
        self
    }
}
impl UntaggedCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for UntaggedCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.e5669c23ee5f0bc22711cef48cf43ad3")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "nasty",
            name: "untagged",
            mark: *b"e5669c23ee5f0bc22711cef48cf43ad3",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for UntaggedCall {
    type Output = Result<UntaggedOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
#[track_caller]
pub fn untagged(target: impl bridge::convert::Argument<UntaggedTarget>) -> UntaggedCall {
    UntaggedCall {
        input: UntaggedInput {
            target: bridge::convert::named(
                "target",
                bridge::convert::Argument::into_argument(target),
            ),
            value: None,
            one_or_many: None,
            scalars: None,
            numbers: None,
            all_kinds: None,
            lists: None,
            free: None,
            merged: None,
            restricted: None,
        },
        pending: bridge::call::Pending::new("nasty", "untagged"),
    }
}
