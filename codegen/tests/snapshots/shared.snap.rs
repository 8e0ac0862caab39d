// Generated from the tools of the MCP server "shared". Do not edit: changes are lost.

#![allow(missing_docs, non_camel_case_types, unreachable_pub, clippy::all, clippy::pedantic)]

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GetPetInput {
    pub u540d_u524d: String,
    pub nothing: (),
    pub filter_status: Option<String>,
    pub filter_status2: Option<String>,
}
impl bridge::convert::ToJson for GetPetInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("名前", &self.u540d_u524d), ("nothing", &self.nothing)],
            &[
                ("filter[status]", &self.filter_status),
                ("filter-status", &self.filter_status2),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetPetInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            u540d_u524d: bridge::convert::FromJson::from_json(
                reader.take(level, "名前"),
                reader,
            ),
            nothing: bridge::convert::FromJson::from_json(
                reader.take(level, "nothing"),
                reader,
            ),
            filter_status: bridge::convert::FromJson::from_json(
                reader.take(level, "filter[status]"),
                reader,
            ),
            filter_status2: bridge::convert::FromJson::from_json(
                reader.take(level, "filter-status"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct GetPetOutput {
    pub pet: GetPetPet,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for GetPetOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "GetPetOutput",
            &[("pet", &self.pet)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for GetPetOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[("pet", &self.pet)], &[], &self.extra)
    }
}
impl bridge::convert::FromJson for GetPetOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            pet: bridge::convert::FromJson::from_json(reader.take(level, "pet"), reader),
            extra: bridge::Extra::kept(reader.rest(level, &["pet"]), reader),
        }
    }
}
bridge::generated! {
    GetPetOutput = 16638099698480872788
}

#[derive(Debug, Clone, PartialEq)]
pub enum GetPetPet {
    Cat(Cat),
    Dog(Dog),
    Other(bridge::convert::Value),
}
impl GetPetPet {
    #[inline]
    pub fn kind(&self) -> &str {
        match self {
            Self::Cat(_) => "cat",
            Self::Dog(_) => "dog",
            Self::Other(value) => {
                value
                    .get("kind")
                    .and_then(bridge::convert::Value::as_str)
                    .unwrap_or_default()
            }
        }
    }
    #[inline]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Cat(inner) => Some(&*inner.name),
            Self::Dog(inner) => Some(&*inner.name),
            Self::Other(value) => {
                value.get("name").and_then(bridge::convert::Value::as_str)
            }
        }
    }
    #[inline]
    pub fn age(&self) -> Option<i64> {
        match self {
            Self::Cat(inner) => Some(inner.age),
            Self::Dog(inner) => Some(inner.age),
            Self::Other(value) => {
                value.get("age").and_then(bridge::convert::Value::as_i64)
            }
        }
    }
    #[inline]
    pub fn tags(&self) -> Option<&[String]> {
        match self {
            Self::Cat(inner) => Some(&*inner.tags),
            Self::Dog(inner) => Some(&*inner.tags),
            Self::Other(_) => None,
        }
    }
    #[inline]
    pub fn owner(&self) -> Option<&Owner> {
        match self {
            Self::Cat(inner) => Some(&inner.owner),
            Self::Dog(inner) => Some(&inner.owner),
            Self::Other(_) => None,
        }
    }
    #[inline]
    pub fn none(&self) -> Option<()> {
        match self {
            Self::Cat(inner) => Some(inner.none),
            Self::Dog(inner) => Some(inner.none),
            Self::Other(_) => None,
        }
    }
    #[inline]
    pub fn weight(&self) -> Option<f64> {
        match self {
            Self::Cat(inner) => inner.weight,
            Self::Dog(inner) => Some(inner.weight),
            Self::Other(value) => {
                value.get("weight").and_then(bridge::convert::Value::as_f64)
            }
        }
    }
}
impl bridge::convert::ToJson for GetPetPet {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::Cat(inner) => {
                bridge::convert::tagged(
                    "kind",
                    "cat",
                    bridge::convert::ToJson::to_json(inner),
                )
            }
            Self::Dog(inner) => {
                bridge::convert::tagged(
                    "kind",
                    "dog",
                    bridge::convert::ToJson::to_json(inner),
                )
            }
            Self::Other(value) => value.clone(),
        }
    }
}
impl bridge::convert::FromJson for GetPetPet {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value.get("kind").and_then(bridge::convert::Value::as_str) {
            Some("cat") => {
                Self::Cat(
                    bridge::convert::FromJson::from_json(
                        reader.untagged(value, "kind"),
                        reader,
                    ),
                )
            }
            Some("dog") => {
                Self::Dog(
                    bridge::convert::FromJson::from_json(
                        reader.untagged(value, "kind"),
                        reader,
                    ),
                )
            }
            _ => Self::Other(reader.held(value)),
        }
    }
}
bridge::generated! {
    GetPetPet = 11605131693112644447
}

#[derive(Clone, PartialEq)]
pub struct Cat {
    pub name: String,
    pub age: i64,
    pub tags: Vec<String>,
    pub owner: Owner,
    pub none: (),
    pub weight: Option<f64>,
    pub lives: Option<i64>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for Cat {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "Cat",
            &[
                ("name", &self.name),
                ("age", &self.age),
                ("tags", &self.tags),
                ("owner", &self.owner),
                ("none", &self.none),
                ("weight", &self.weight),
                ("lives", &self.lives),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for Cat {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[
                ("name", &self.name),
                ("age", &self.age),
                ("tags", &self.tags),
                ("owner", &self.owner),
                ("none", &self.none),
            ],
            &[("weight", &self.weight), ("lives", &self.lives)],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for Cat {
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
            age: bridge::convert::FromJson::from_json(reader.take(level, "age"), reader),
            tags: bridge::convert::FromJson::from_json(
                reader.take(level, "tags"),
                reader,
            ),
            owner: bridge::convert::FromJson::from_json(
                reader.take(level, "owner"),
                reader,
            ),
            none: bridge::convert::FromJson::from_json(
                reader.take(level, "none"),
                reader,
            ),
            weight: bridge::convert::FromJson::from_json(
                reader.take(level, "weight"),
                reader,
            ),
            lives: bridge::convert::FromJson::from_json(
                reader.take(level, "lives"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader
                    .rest(
                        level,
                        &["name", "age", "tags", "owner", "none", "weight", "lives"],
                    ),
                reader,
            ),
        }
    }
}
bridge::generated! {
    Cat = 9936078829113735960
}

#[derive(Clone, PartialEq)]
pub struct Owner {
    pub name: String,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for Owner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(formatter, "Owner", &[("name", &self.name)], &self.extra)
    }
}
impl bridge::convert::ToJson for Owner {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[("name", &self.name)], &[], &self.extra)
    }
}
impl bridge::convert::FromJson for Owner {
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
            extra: bridge::Extra::kept(reader.rest(level, &["name"]), reader),
        }
    }
}
bridge::generated! {
    Owner = 17121416252982409146
}

#[derive(Clone, PartialEq)]
pub struct Dog {
    pub name: String,
    pub age: i64,
    pub weight: f64,
    pub tags: Vec<String>,
    pub owner: Owner,
    pub none: (),
    pub lives: Option<String>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for Dog {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "Dog",
            &[
                ("name", &self.name),
                ("age", &self.age),
                ("weight", &self.weight),
                ("tags", &self.tags),
                ("owner", &self.owner),
                ("none", &self.none),
                ("lives", &self.lives),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for Dog {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[
                ("name", &self.name),
                ("age", &self.age),
                ("weight", &self.weight),
                ("tags", &self.tags),
                ("owner", &self.owner),
                ("none", &self.none),
            ],
            &[("lives", &self.lives)],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for Dog {
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
            age: bridge::convert::FromJson::from_json(reader.take(level, "age"), reader),
            weight: bridge::convert::FromJson::from_json(
                reader.take(level, "weight"),
                reader,
            ),
            tags: bridge::convert::FromJson::from_json(
                reader.take(level, "tags"),
                reader,
            ),
            owner: bridge::convert::FromJson::from_json(
                reader.take(level, "owner"),
                reader,
            ),
            none: bridge::convert::FromJson::from_json(
                reader.take(level, "none"),
                reader,
            ),
            lives: bridge::convert::FromJson::from_json(
                reader.take(level, "lives"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader
                    .rest(
                        level,
                        &["name", "age", "weight", "tags", "owner", "none", "lives"],
                    ),
                reader,
            ),
        }
    }
}
bridge::generated! {
    Dog = 10225321382633743289
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GetReceivedEmailsInput {
    pub page: Option<i64>,
}
impl bridge::convert::ToJson for GetReceivedEmailsInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("page", &self.page)])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetReceivedEmailsInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            page: bridge::convert::FromJson::from_json(
                reader.take(level, "page"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct GetReceivedEmailsOutput {
    pub result: Vec<Email>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for GetReceivedEmailsOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "GetReceivedEmailsOutput",
            &[("result", &self.result)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for GetReceivedEmailsOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[("result", &self.result)], &[], &self.extra)
    }
}
impl bridge::convert::FromJson for GetReceivedEmailsOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            result: bridge::convert::FromJson::from_json(
                reader.take(level, "result"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["result"]), reader),
        }
    }
}
bridge::generated! {
    GetReceivedEmailsOutput = 5755835921263943922
}

#[derive(Clone, PartialEq)]
pub struct Email {
    /// Without prefixes.
    pub subject: String,
    pub id: String,
    pub status: EmailStatus,
    pub attachments: Option<Vec<Owner>>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for Email {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "Email",
            &[
                ("subject", &self.subject),
                ("id", &self.id),
                ("status", &self.status),
                ("attachments", &self.attachments),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for Email {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("subject", &self.subject), ("id", &self.id), ("status", &self.status)],
            &[("attachments", &self.attachments)],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for Email {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            subject: bridge::convert::FromJson::from_json(
                reader.take(level, "subject"),
                reader,
            ),
            id: bridge::convert::FromJson::from_json(reader.take(level, "id"), reader),
            status: bridge::convert::FromJson::from_json(
                reader.take(level, "status"),
                reader,
            ),
            attachments: bridge::convert::FromJson::from_json(
                reader.take(level, "attachments"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader.rest(level, &["subject", "id", "status", "attachments"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    Email = 14221519778215283840
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum EmailStatus {
    Read,
    Sent,
    Other(String),
}
impl EmailStatus {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Read => "read",
            Self::Sent => "sent",
            Self::Other(text) => text,
        }
    }
}
impl bridge::convert::GeneratedText for EmailStatus {
    const TEXTS: &'static [&'static str] = &["read", "sent"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "read" => Self::Read,
                "sent" => Self::Sent,
                _ => Self::Other(text.to_owned()),
            },
        )
    }
}
bridge::generated! {
    EmailStatus = 16223850352904378454
}
bridge::generated_text! {
    EmailStatus;
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GetSentEmailsInput {
    pub page: Option<i64>,
}
impl bridge::convert::ToJson for GetSentEmailsInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("page", &self.page)])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetSentEmailsInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            page: bridge::convert::FromJson::from_json(
                reader.take(level, "page"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GetTeamInput {
    pub id: i64,
}
impl bridge::convert::ToJson for GetTeamInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("id", &self.id)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetTeamInput {
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

#[derive(Clone, PartialEq)]
pub struct GetTeamOutput {
    pub lead: Person,
    pub root: Node,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for GetTeamOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "GetTeamOutput",
            &[("lead", &self.lead), ("root", &self.root)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for GetTeamOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("lead", &self.lead), ("root", &self.root)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for GetTeamOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            lead: bridge::convert::FromJson::from_json(
                reader.take(level, "lead"),
                reader,
            ),
            root: bridge::convert::FromJson::from_json(
                reader.take(level, "root"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["lead", "root"]), reader),
        }
    }
}
bridge::generated! {
    GetTeamOutput = 5078186079123829465
}

#[derive(Clone, PartialEq)]
pub struct Person {
    pub name: String,
    pub id: i64,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for Person {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "Person",
            &[("name", &self.name), ("id", &self.id)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for Person {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("name", &self.name), ("id", &self.id)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for Person {
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
            id: bridge::convert::FromJson::from_json(reader.take(level, "id"), reader),
            extra: bridge::Extra::kept(reader.rest(level, &["name", "id"]), reader),
        }
    }
}
bridge::generated! {
    Person = 4097146673532359136
}

#[derive(Clone, PartialEq, Default)]
pub struct Node {
    pub value: Option<String>,
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
                ("value", &self.value),
                ("children", &self.children),
                ("parent", &self.parent),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for Node {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[],
            &[
                ("value", &self.value),
                ("children", &self.children),
                ("parent", &self.parent),
            ],
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
            value: bridge::convert::FromJson::from_json(
                reader.take(level, "value"),
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
                reader.rest(level, &["value", "children", "parent"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    Node = 1781207943691531209
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GetTreeInput {}
impl bridge::convert::ToJson for GetTreeInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetTreeInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[derive(Clone, PartialEq)]
pub struct GetTreeOutput {
    pub top: Node,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for GetTreeOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "GetTreeOutput",
            &[("top", &self.top)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for GetTreeOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(&[("top", &self.top)], &[], &self.extra)
    }
}
impl bridge::convert::FromJson for GetTreeOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            top: bridge::convert::FromJson::from_json(reader.take(level, "top"), reader),
            extra: bridge::Extra::kept(reader.rest(level, &["top"]), reader),
        }
    }
}
bridge::generated! {
    GetTreeOutput = 10914803989520969493
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GetUserInput {
    pub id: i64,
}
impl bridge::convert::ToJson for GetUserInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("id", &self.id)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetUserInput {
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

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListClosedInput {
    pub cursor: Option<Option<String>>,
}
impl bridge::convert::ToJson for ListClosedInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(&[], &[]),
            &[
                (
                    "cursor",
                    self
                        .cursor
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ListClosedInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            cursor: bridge::convert::read_nullable(reader.take(level, "cursor"), reader),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct ListClosedOutput {
    pub issues: Vec<Issue>,
    pub next: Option<String>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for ListClosedOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "ListClosedOutput",
            &[("issues", &self.issues), ("next", &self.next)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for ListClosedOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("issues", &self.issues)],
            &[("next", &self.next)],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for ListClosedOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            issues: bridge::convert::FromJson::from_json(
                reader.take(level, "issues"),
                reader,
            ),
            next: bridge::convert::FromJson::from_json(
                reader.take(level, "next"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["issues", "next"]), reader),
        }
    }
}
bridge::generated! {
    ListClosedOutput = 12119843531610941232
}

#[derive(Clone, PartialEq)]
pub struct Issue {
    pub number: i64,
    pub title: String,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for Issue {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "Issue",
            &[("number", &self.number), ("title", &self.title)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for Issue {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("number", &self.number), ("title", &self.title)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for Issue {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            number: bridge::convert::FromJson::from_json(
                reader.take(level, "number"),
                reader,
            ),
            title: bridge::convert::FromJson::from_json(
                reader.take(level, "title"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["number", "title"]), reader),
        }
    }
}
bridge::generated! {
    Issue = 6861853966943116334
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListOpenInput {
    pub cursor: Option<Option<String>>,
}
impl bridge::convert::ToJson for ListOpenInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(&[], &[]),
            &[
                (
                    "cursor",
                    self
                        .cursor
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ListOpenInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            cursor: bridge::convert::read_nullable(reader.take(level, "cursor"), reader),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct PutPetInput {
    pub toy: PutPetToy,
}
impl bridge::convert::ToJson for PutPetInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("toy", &self.toy)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for PutPetInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            toy: bridge::convert::FromJson::from_json(reader.take(level, "toy"), reader),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum PutPetToy {
    Ball(PutPetBall),
    Bone(PutPetBone),
}
impl PutPetToy {
    #[inline]
    pub fn type_(&self) -> &str {
        match self {
            Self::Ball(_) => "ball",
            Self::Bone(_) => "bone",
        }
    }
    #[inline]
    pub fn color(&self) -> &PutPetColor {
        match self {
            Self::Ball(inner) => &inner.color,
            Self::Bone(inner) => &inner.color,
        }
    }
    #[inline]
    pub fn size(&self) -> Option<i64> {
        match self {
            Self::Ball(inner) => Some(inner.size),
            Self::Bone(inner) => inner.size,
        }
    }
}
impl bridge::convert::ToJson for PutPetToy {
    fn to_json(&self) -> bridge::convert::Value {
        match self {
            Self::Ball(inner) => {
                bridge::convert::tagged(
                    "type",
                    "ball",
                    bridge::convert::ToJson::to_json(inner),
                )
            }
            Self::Bone(inner) => {
                bridge::convert::tagged(
                    "type",
                    "bone",
                    bridge::convert::ToJson::to_json(inner),
                )
            }
        }
    }
}
impl bridge::convert::FromJson for PutPetToy {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        match value.get("type").and_then(bridge::convert::Value::as_str) {
            Some("ball") => {
                Self::Ball(
                    bridge::convert::FromJson::from_json(
                        reader.untagged(value, "type"),
                        reader,
                    ),
                )
            }
            Some("bone") => {
                Self::Bone(
                    bridge::convert::FromJson::from_json(
                        reader.untagged(value, "type"),
                        reader,
                    ),
                )
            }
            _ => {
                reader.unknown_tag("type", &["ball", "bone"], &value);
                Self::Ball(bridge::convert::FromJson::from_json(value, reader))
            }
        }
    }
}
bridge::generated! {
    PutPetToy = 506110333247360947
}
bridge::generated_union! {
    PutPetToy { object Ball(PutPetBall), object Bone(PutPetBone) }
}

#[derive(Debug, Clone, PartialEq)]
pub struct PutPetBall {
    pub color: PutPetColor,
    pub size: i64,
}
impl bridge::convert::ToJson for PutPetBall {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("color", &self.color), ("size", &self.size)], &[])
    }
}
impl bridge::convert::FromJson for PutPetBall {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            color: bridge::convert::FromJson::from_json(
                reader.take(level, "color"),
                reader,
            ),
            size: bridge::convert::FromJson::from_json(
                reader.take(level, "size"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    PutPetBall = 595677648597392663
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub enum PutPetColor {
    DarkBlue,
    Red,
}
impl PutPetColor {
    pub fn as_str(&self) -> &str {
        match self {
            Self::DarkBlue => "dark blue",
            Self::Red => "red",
        }
    }
}
impl bridge::convert::GeneratedText for PutPetColor {
    const TEXTS: &'static [&'static str] = &["dark blue", "red"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "dark blue" => Self::DarkBlue,
                "red" => Self::Red,
                _ => return Err((Self::DarkBlue, Self::TEXTS)),
            },
        )
    }
}
bridge::generated! {
    PutPetColor = 5154134284221954220
}
bridge::generated_text! {
    ; PutPetColor
}

#[derive(Debug, Clone, PartialEq)]
pub struct PutPetBone {
    pub color: PutPetColor,
    pub size: Option<i64>,
}
impl bridge::convert::ToJson for PutPetBone {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("color", &self.color)], &[("size", &self.size)])
    }
}
impl bridge::convert::FromJson for PutPetBone {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            color: bridge::convert::FromJson::from_json(
                reader.take(level, "color"),
                reader,
            ),
            size: bridge::convert::FromJson::from_json(
                reader.take(level, "size"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    PutPetBone = 13901700523798995284
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct SendEmailInput {
    pub recipient: String,
    pub subject: String,
    pub email: SendEmailEmail,
    pub priority: Option<SendEmailPriority>,
}
impl bridge::convert::ToJson for SendEmailInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[
                ("recipient", &self.recipient),
                ("subject", &self.subject),
                ("email", &self.email),
            ],
            &[("priority", &self.priority)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for SendEmailInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            recipient: bridge::convert::FromJson::from_json(
                reader.take(level, "recipient"),
                reader,
            ),
            subject: bridge::convert::FromJson::from_json(
                reader.take(level, "subject"),
                reader,
            ),
            email: bridge::convert::FromJson::from_json(
                reader.take(level, "email"),
                reader,
            ),
            priority: bridge::convert::FromJson::from_json(
                reader.take(level, "priority"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct SendEmailEmail {
    pub body: String,
}
impl bridge::convert::ToJson for SendEmailEmail {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("body", &self.body)], &[])
    }
}
impl bridge::convert::FromJson for SendEmailEmail {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            body: bridge::convert::FromJson::from_json(
                reader.take(level, "body"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    SendEmailEmail = 17508111515465963575
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub enum SendEmailPriority {
    DarkBlue,
    Low,
    InBetween,
}
impl SendEmailPriority {
    pub fn as_str(&self) -> &str {
        match self {
            Self::DarkBlue => "dark blue",
            Self::Low => "LOW",
            Self::InBetween => "in_between",
        }
    }
}
impl bridge::convert::GeneratedText for SendEmailPriority {
    const TEXTS: &'static [&'static str] = &["dark blue", "LOW", "in_between"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "dark blue" => Self::DarkBlue,
                "LOW" => Self::Low,
                "in_between" => Self::InBetween,
                _ => return Err((Self::DarkBlue, Self::TEXTS)),
            },
        )
    }
}
bridge::generated! {
    SendEmailPriority = 4081650599010594669
}
bridge::generated_text! {
    ; SendEmailPriority
}

pub type User = Person;

pub type GetPetCat = Cat;
pub type GetPetOwner = Owner;
pub type GetPetDog = Dog;
impl GetPetInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetPetCall {
        GetPetCall {
            input: self,
            pending: bridge::call::Pending::new("shared", "get_pet"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetPetCall {
    input: GetPetInput,
    pending: bridge::call::Pending,
}
impl GetPetCall {
    pub fn filter_status<F>(
        mut self,
        filter_status: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.filter_status = self
            .pending
            .with(
                "filter[status]",
                bridge::convert::OptionalArgument::into_optional(filter_status),
            );
        self
    }
    pub fn filter_status2<F>(
        mut self,
        filter_status2: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.filter_status2 = self
            .pending
            .with(
                "filter-status",
                bridge::convert::OptionalArgument::into_optional(filter_status2),
            );
        self
    }
}
impl GetPetCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetPetCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.5481ca415334a317b36f21849562f306")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "shared",
            name: "get_pet",
            mark: *b"5481ca415334a317b36f21849562f306",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetPetCall {
    type Output = Result<GetPetOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// A pet.
#[track_caller]
pub fn get_pet(
    u540d_u524d: impl Into<String>,
    nothing: impl bridge::convert::Argument<()>,
) -> GetPetCall {
    GetPetCall {
        input: GetPetInput {
            u540d_u524d: u540d_u524d.into(),
            nothing: bridge::convert::Argument::into_argument(nothing),
            filter_status: None,
            filter_status2: None,
        },
        pending: bridge::call::Pending::new("shared", "get_pet"),
    }
}

pub type GetReceivedEmailsEmail = Email;
pub type GetReceivedEmailsStatus = EmailStatus;
pub type GetReceivedEmailsAttachment = Owner;
impl GetReceivedEmailsInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetReceivedEmailsCall {
        GetReceivedEmailsCall {
            input: self,
            pending: bridge::call::Pending::new("shared", "get_received_emails"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetReceivedEmailsCall {
    input: GetReceivedEmailsInput,
    pending: bridge::call::Pending,
}
impl GetReceivedEmailsCall {
    pub fn page<F>(
        mut self,
        page: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.page = self
            .pending
            .with("page", bridge::convert::OptionalArgument::into_optional(page));
        self
    }
}
impl GetReceivedEmailsCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetReceivedEmailsCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.3399d2e93eb76d530a9f81720322e3bb")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "shared",
            name: "get_received_emails",
            mark: *b"3399d2e93eb76d530a9f81720322e3bb",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetReceivedEmailsCall {
    type Output = Result<GetReceivedEmailsOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Emails that were received.
#[inline]
#[track_caller]
pub fn get_received_emails() -> GetReceivedEmailsCall {
    GetReceivedEmailsCall {
        input: GetReceivedEmailsInput {
            page: None,
        },
        pending: bridge::call::Pending::new("shared", "get_received_emails"),
    }
}

pub type GetSentEmailsOutput = GetReceivedEmailsOutput;
pub type GetSentEmailsEmail = Email;
pub type GetSentEmailsStatus = EmailStatus;
pub type GetSentEmailsAttachment = Owner;
impl GetSentEmailsInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetSentEmailsCall {
        GetSentEmailsCall {
            input: self,
            pending: bridge::call::Pending::new("shared", "get_sent_emails"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetSentEmailsCall {
    input: GetSentEmailsInput,
    pending: bridge::call::Pending,
}
impl GetSentEmailsCall {
    pub fn page<F>(
        mut self,
        page: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.page = self
            .pending
            .with("page", bridge::convert::OptionalArgument::into_optional(page));
        self
    }
}
impl GetSentEmailsCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetSentEmailsCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.f9d7d391848fe35880d7b2dc81d7f2ac")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "shared",
            name: "get_sent_emails",
            mark: *b"f9d7d391848fe35880d7b2dc81d7f2ac",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetSentEmailsCall {
    type Output = Result<GetSentEmailsOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Emails that were sent.
#[inline]
#[track_caller]
pub fn get_sent_emails() -> GetSentEmailsCall {
    GetSentEmailsCall {
        input: GetSentEmailsInput { page: None },
        pending: bridge::call::Pending::new("shared", "get_sent_emails"),
    }
}

pub type GetTeamPerson = Person;
pub type GetTeamNode = Node;
impl GetTeamInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetTeamCall {
        GetTeamCall {
            input: self,
            pending: bridge::call::Pending::new("shared", "get_team"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetTeamCall {
    input: GetTeamInput,
    pending: bridge::call::Pending,
}
impl GetTeamCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetTeamCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.245b1c36a4e853b9b82fc7b71c03e9fa")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "shared",
            name: "get_team",
            mark: *b"245b1c36a4e853b9b82fc7b71c03e9fa",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetTeamCall {
    type Output = Result<GetTeamOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// A team, its place and its members.
#[track_caller]
pub fn get_team(id: impl bridge::convert::Argument<i64>) -> GetTeamCall {
    GetTeamCall {
        input: GetTeamInput {
            id: bridge::convert::named(
                "id",
                bridge::convert::Argument::into_argument(id),
            ),
        },
        pending: bridge::call::Pending::new("shared", "get_team"),
    }
}

pub type GetTreeNode = Node;
impl GetTreeInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetTreeCall {
        GetTreeCall {
            input: self,
            pending: bridge::call::Pending::new("shared", "get_tree"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetTreeCall {
    input: GetTreeInput,
    pending: bridge::call::Pending,
}
impl GetTreeCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetTreeCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.564efa06d83ff0211bcab927507df8a7")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "shared",
            name: "get_tree",
            mark: *b"564efa06d83ff0211bcab927507df8a7",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetTreeCall {
    type Output = Result<GetTreeOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// A tree, the same type as a team's.
#[inline]
#[track_caller]
pub fn get_tree() -> GetTreeCall {
    GetTreeCall {
        input: GetTreeInput {},
        pending: bridge::call::Pending::new("shared", "get_tree"),
    }
}

pub type GetUserOutput = User;
pub type GetUserUser = User;
impl GetUserInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetUserCall {
        GetUserCall {
            input: self,
            pending: bridge::call::Pending::new("shared", "get_user"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetUserCall {
    input: GetUserInput,
    pending: bridge::call::Pending,
}
impl GetUserCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetUserCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.a91086c19edf8959d500b51b79a8d7f7")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "shared",
            name: "get_user",
            mark: *b"a91086c19edf8959d500b51b79a8d7f7",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetUserCall {
    type Output = Result<GetUserOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// A user.
#[track_caller]
pub fn get_user(id: impl bridge::convert::Argument<i64>) -> GetUserCall {
    GetUserCall {
        input: GetUserInput {
            id: bridge::convert::named(
                "id",
                bridge::convert::Argument::into_argument(id),
            ),
        },
        pending: bridge::call::Pending::new("shared", "get_user"),
    }
}

pub type ListClosedIssue = Issue;
impl ListClosedInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ListClosedCall {
        ListClosedCall {
            input: self,
            pending: bridge::call::Pending::new("shared", "list_closed"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ListClosedCall {
    input: ListClosedInput,
    pending: bridge::call::Pending,
}
impl ListClosedCall {
    pub fn cursor<F>(
        mut self,
        cursor: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.cursor = self
            .pending
            .with(
                "cursor",
                Some(bridge::convert::OptionalArgument::into_optional(cursor)),
            );
        self
    }
}
impl ListClosedCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ListClosedCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.1c48d672041f48c1311507b7c6b4f429")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "shared",
            name: "list_closed",
            mark: *b"1c48d672041f48c1311507b7c6b4f429",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ListClosedCall {
    type Output = Result<ListClosedOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Closed issues, a page at a time.
#[inline]
#[track_caller]
pub fn list_closed() -> ListClosedCall {
    ListClosedCall {
        input: ListClosedInput { cursor: None },
        pending: bridge::call::Pending::new("shared", "list_closed"),
    }
}

pub type ListOpenOutput = ListClosedOutput;
pub type ListOpenIssue = Issue;
impl ListOpenInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ListOpenCall {
        ListOpenCall {
            input: self,
            pending: bridge::call::Pending::new("shared", "list_open"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ListOpenCall {
    input: ListOpenInput,
    pending: bridge::call::Pending,
}
impl ListOpenCall {
    pub fn cursor<F>(
        mut self,
        cursor: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.cursor = self
            .pending
            .with(
                "cursor",
                Some(bridge::convert::OptionalArgument::into_optional(cursor)),
            );
        self
    }
}
impl ListOpenCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ListOpenCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.f33dd56ed54aeffaf9aec46a1aaf8894")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "shared",
            name: "list_open",
            mark: *b"f33dd56ed54aeffaf9aec46a1aaf8894",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ListOpenCall {
    type Output = Result<ListOpenOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Open issues, a page at a time.
#[inline]
#[track_caller]
pub fn list_open() -> ListOpenCall {
    ListOpenCall {
        input: ListOpenInput { cursor: None },
        pending: bridge::call::Pending::new("shared", "list_open"),
    }
}

impl PutPetInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> PutPetCall {
        PutPetCall {
            input: self,
            pending: bridge::call::Pending::new("shared", "put_pet"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct PutPetCall {
    input: PutPetInput,
    pending: bridge::call::Pending,
}
impl PutPetCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for PutPetCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.16366283ca1b99818697ab227cc9b5ab")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "shared",
            name: "put_pet",
            mark: *b"16366283ca1b99818697ab227cc9b5ab",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for PutPetCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Stores a pet that no server returns.
#[track_caller]
pub fn put_pet(toy: impl bridge::convert::Argument<PutPetToy>) -> PutPetCall {
    PutPetCall {
        input: PutPetInput {
            toy: bridge::convert::named(
                "toy",
                bridge::convert::Argument::into_argument(toy),
            ),
        },
        pending: bridge::call::Pending::new("shared", "put_pet"),
    }
}

impl SendEmailInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> SendEmailCall {
        SendEmailCall {
            input: self,
            pending: bridge::call::Pending::new("shared", "send_email"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct SendEmailCall {
    input: SendEmailInput,
    pending: bridge::call::Pending,
}
impl SendEmailCall {
    pub fn priority<F>(
        mut self,
        priority: impl bridge::convert::OptionalArgument<SendEmailPriority, F>,
    ) -> Self {
        self.input.priority = self
            .pending
            .with(
                "priority",
                bridge::convert::OptionalArgument::into_optional(priority),
            );
        self
    }
}
impl SendEmailCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for SendEmailCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.297c74bd3b187fecb9b84652d33577eb")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "shared",
            name: "send_email",
            mark: *b"297c74bd3b187fecb9b84652d33577eb",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for SendEmailCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Sends an email.
#[track_caller]
pub fn send_email(
    recipient: impl Into<String>,
    subject: impl Into<String>,
    email: impl bridge::convert::Argument<SendEmailEmail>,
) -> SendEmailCall {
    SendEmailCall {
        input: SendEmailInput {
            recipient: recipient.into(),
            subject: subject.into(),
            email: bridge::convert::named(
                "email",
                bridge::convert::Argument::into_argument(email),
            ),
            priority: None,
        },
        pending: bridge::call::Pending::new("shared", "send_email"),
    }
}
