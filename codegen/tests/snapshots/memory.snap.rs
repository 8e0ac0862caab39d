// Generated from the tools of the MCP server "memory". Do not edit: changes are lost.

#![allow(missing_docs, non_camel_case_types, unreachable_pub, clippy::all, clippy::pedantic)]

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct AddObservationsInput {
    pub observations: Vec<AddObservationsObservation>,
}
impl bridge::convert::ToJson for AddObservationsInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("observations", &self.observations)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for AddObservationsInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            observations: bridge::convert::FromJson::from_json(
                reader.take(level, "observations"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct AddObservationsObservation {
    /// The name of the entity to add the observations to
    pub entity_name: String,
    /// An array of observation contents to add
    pub contents: Vec<String>,
}
impl bridge::convert::ToJson for AddObservationsObservation {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("entityName", &self.entity_name), ("contents", &self.contents)],
            &[],
        )
    }
}
impl bridge::convert::FromJson for AddObservationsObservation {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            entity_name: bridge::convert::FromJson::from_json(
                reader.take(level, "entityName"),
                reader,
            ),
            contents: bridge::convert::FromJson::from_json(
                reader.take(level, "contents"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    AddObservationsObservation = 6182699036269477861
}

#[derive(Clone, PartialEq)]
pub struct AddObservationsOutput {
    pub results: Vec<AddObservationsResult>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for AddObservationsOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "AddObservationsOutput",
            &[("results", &self.results)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for AddObservationsOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("results", &self.results)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for AddObservationsOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            results: bridge::convert::FromJson::from_json(
                reader.take(level, "results"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["results"]), reader),
        }
    }
}
bridge::generated! {
    AddObservationsOutput = 15686896272856642757
}

#[derive(Clone, PartialEq)]
pub struct AddObservationsResult {
    pub entity_name: String,
    pub added_observations: Vec<String>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for AddObservationsResult {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "AddObservationsResult",
            &[
                ("entity_name", &self.entity_name),
                ("added_observations", &self.added_observations),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for AddObservationsResult {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[
                ("entityName", &self.entity_name),
                ("addedObservations", &self.added_observations),
            ],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for AddObservationsResult {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            entity_name: bridge::convert::FromJson::from_json(
                reader.take(level, "entityName"),
                reader,
            ),
            added_observations: bridge::convert::FromJson::from_json(
                reader.take(level, "addedObservations"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader.rest(level, &["entityName", "addedObservations"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    AddObservationsResult = 6890301429671709426
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct CreateEntitiesInput {
    pub entities: Vec<Entity>,
}
impl bridge::convert::ToJson for CreateEntitiesInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("entities", &self.entities)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for CreateEntitiesInput {
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
pub struct Entity {
    /// The name of the entity
    pub name: String,
    /// The type of the entity
    pub entity_type: String,
    /// An array of observation contents associated with the entity
    pub observations: Vec<String>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for Entity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "Entity",
            &[
                ("name", &self.name),
                ("entity_type", &self.entity_type),
                ("observations", &self.observations),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for Entity {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[
                ("name", &self.name),
                ("entityType", &self.entity_type),
                ("observations", &self.observations),
            ],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for Entity {
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
            entity_type: bridge::convert::FromJson::from_json(
                reader.take(level, "entityType"),
                reader,
            ),
            observations: bridge::convert::FromJson::from_json(
                reader.take(level, "observations"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader.rest(level, &["name", "entityType", "observations"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    Entity = 997371055835175349
}

#[derive(Clone, PartialEq)]
pub struct CreateEntitiesOutput {
    pub entities: Vec<Entity>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for CreateEntitiesOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "CreateEntitiesOutput",
            &[("entities", &self.entities)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for CreateEntitiesOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("entities", &self.entities)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for CreateEntitiesOutput {
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
    CreateEntitiesOutput = 16815479315782238525
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct CreateRelationsInput {
    pub relations: Vec<Relation>,
}
impl bridge::convert::ToJson for CreateRelationsInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("relations", &self.relations)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for CreateRelationsInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            relations: bridge::convert::FromJson::from_json(
                reader.take(level, "relations"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct Relation {
    /// The name of the entity where the relation starts
    pub from: String,
    /// The name of the entity where the relation ends
    pub to: String,
    /// The type of the relation
    pub relation_type: String,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for Relation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "Relation",
            &[
                ("from", &self.from),
                ("to", &self.to),
                ("relation_type", &self.relation_type),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for Relation {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[
                ("from", &self.from),
                ("to", &self.to),
                ("relationType", &self.relation_type),
            ],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for Relation {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            from: bridge::convert::FromJson::from_json(
                reader.take(level, "from"),
                reader,
            ),
            to: bridge::convert::FromJson::from_json(reader.take(level, "to"), reader),
            relation_type: bridge::convert::FromJson::from_json(
                reader.take(level, "relationType"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader.rest(level, &["from", "to", "relationType"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    Relation = 7834562384743245310
}

#[derive(Clone, PartialEq)]
pub struct CreateRelationsOutput {
    pub relations: Vec<Relation>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for CreateRelationsOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "CreateRelationsOutput",
            &[("relations", &self.relations)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for CreateRelationsOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("relations", &self.relations)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for CreateRelationsOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            relations: bridge::convert::FromJson::from_json(
                reader.take(level, "relations"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["relations"]), reader),
        }
    }
}
bridge::generated! {
    CreateRelationsOutput = 15406062885314033268
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct DeleteEntitiesInput {
    /// An array of entity names to delete
    pub entity_names: Vec<String>,
}
impl bridge::convert::ToJson for DeleteEntitiesInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("entityNames", &self.entity_names)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for DeleteEntitiesInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            entity_names: bridge::convert::FromJson::from_json(
                reader.take(level, "entityNames"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct DeleteEntitiesOutput {
    pub success: bool,
    pub message: String,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for DeleteEntitiesOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "DeleteEntitiesOutput",
            &[("success", &self.success), ("message", &self.message)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for DeleteEntitiesOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("success", &self.success), ("message", &self.message)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for DeleteEntitiesOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            success: bridge::convert::FromJson::from_json(
                reader.take(level, "success"),
                reader,
            ),
            message: bridge::convert::FromJson::from_json(
                reader.take(level, "message"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader.rest(level, &["success", "message"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    DeleteEntitiesOutput = 3949049447817223166
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct DeleteObservationsInput {
    pub deletions: Vec<DeleteObservationsDeletion>,
}
impl bridge::convert::ToJson for DeleteObservationsInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("deletions", &self.deletions)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for DeleteObservationsInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            deletions: bridge::convert::FromJson::from_json(
                reader.take(level, "deletions"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct DeleteObservationsDeletion {
    /// The name of the entity containing the observations
    pub entity_name: String,
    /// An array of observations to delete
    pub observations: Vec<String>,
}
impl bridge::convert::ToJson for DeleteObservationsDeletion {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("entityName", &self.entity_name), ("observations", &self.observations)],
            &[],
        )
    }
}
impl bridge::convert::FromJson for DeleteObservationsDeletion {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            entity_name: bridge::convert::FromJson::from_json(
                reader.take(level, "entityName"),
                reader,
            ),
            observations: bridge::convert::FromJson::from_json(
                reader.take(level, "observations"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    DeleteObservationsDeletion = 3953850283655790325
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct DeleteRelationsInput {
    /// An array of relations to delete
    pub relations: Vec<Relation>,
}
impl bridge::convert::ToJson for DeleteRelationsInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("relations", &self.relations)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for DeleteRelationsInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            relations: bridge::convert::FromJson::from_json(
                reader.take(level, "relations"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct OpenNodesInput {
    /// An array of entity names to retrieve
    pub names: Vec<String>,
}
impl bridge::convert::ToJson for OpenNodesInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("names", &self.names)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for OpenNodesInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            names: bridge::convert::FromJson::from_json(
                reader.take(level, "names"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct OpenNodesOutput {
    pub entities: Vec<Entity>,
    pub relations: Vec<Relation>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for OpenNodesOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "OpenNodesOutput",
            &[("entities", &self.entities), ("relations", &self.relations)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for OpenNodesOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("entities", &self.entities), ("relations", &self.relations)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for OpenNodesOutput {
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
            relations: bridge::convert::FromJson::from_json(
                reader.take(level, "relations"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader.rest(level, &["entities", "relations"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    OpenNodesOutput = 10562476190965842711
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadGraphInput {}
impl bridge::convert::ToJson for ReadGraphInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ReadGraphInput {
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
pub struct SearchNodesInput {
    /// The search query to match against entity names, types, and observation content
    pub query: String,
}
impl bridge::convert::ToJson for SearchNodesInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("query", &self.query)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for SearchNodesInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            query: bridge::convert::FromJson::from_json(
                reader.take(level, "query"),
                reader,
            ),
        }
    }
}

impl AddObservationsInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> AddObservationsCall {
        AddObservationsCall {
            input: self,
            pending: bridge::call::Pending::new("memory", "add_observations"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct AddObservationsCall {
    input: AddObservationsInput,
    pending: bridge::call::Pending,
}
impl AddObservationsCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for AddObservationsCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.4155ba5c26252ce537b8e05298d0f01e")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "memory",
            name: "add_observations",
            mark: *b"4155ba5c26252ce537b8e05298d0f01e",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for AddObservationsCall {
    type Output = Result<AddObservationsOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Add new observations to existing entities in the knowledge graph
#[track_caller]
pub fn add_observations(
    observations: impl bridge::convert::Argument<Vec<AddObservationsObservation>>,
) -> AddObservationsCall {
    AddObservationsCall {
        input: AddObservationsInput {
            observations: bridge::convert::named(
                "observations",
                bridge::convert::Argument::into_argument(observations),
            ),
        },
        pending: bridge::call::Pending::new("memory", "add_observations"),
    }
}

pub type CreateEntitiesEntity = Entity;
impl CreateEntitiesInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> CreateEntitiesCall {
        CreateEntitiesCall {
            input: self,
            pending: bridge::call::Pending::new("memory", "create_entities"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct CreateEntitiesCall {
    input: CreateEntitiesInput,
    pending: bridge::call::Pending,
}
impl CreateEntitiesCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for CreateEntitiesCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.57fdd986472a081d0c8acd23970c0b78")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "memory",
            name: "create_entities",
            mark: *b"57fdd986472a081d0c8acd23970c0b78",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for CreateEntitiesCall {
    type Output = Result<CreateEntitiesOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Create multiple new entities in the knowledge graph
#[track_caller]
pub fn create_entities(
    entities: impl bridge::convert::Argument<Vec<Entity>>,
) -> CreateEntitiesCall {
    CreateEntitiesCall {
        input: CreateEntitiesInput {
            entities: bridge::convert::named(
                "entities",
                bridge::convert::Argument::into_argument(entities),
            ),
        },
        pending: bridge::call::Pending::new("memory", "create_entities"),
    }
}

pub type CreateRelationsRelation = Relation;
impl CreateRelationsInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> CreateRelationsCall {
        CreateRelationsCall {
            input: self,
            pending: bridge::call::Pending::new("memory", "create_relations"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct CreateRelationsCall {
    input: CreateRelationsInput,
    pending: bridge::call::Pending,
}
impl CreateRelationsCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for CreateRelationsCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.0fd8179d53314f12019430403412f92f")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "memory",
            name: "create_relations",
            mark: *b"0fd8179d53314f12019430403412f92f",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for CreateRelationsCall {
    type Output = Result<CreateRelationsOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Create multiple new relations between entities in the knowledge graph. Relations should be in active voice
#[track_caller]
pub fn create_relations(
    relations: impl bridge::convert::Argument<Vec<Relation>>,
) -> CreateRelationsCall {
    CreateRelationsCall {
        input: CreateRelationsInput {
            relations: bridge::convert::named(
                "relations",
                bridge::convert::Argument::into_argument(relations),
            ),
        },
        pending: bridge::call::Pending::new("memory", "create_relations"),
    }
}

impl DeleteEntitiesInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> DeleteEntitiesCall {
        DeleteEntitiesCall {
            input: self,
            pending: bridge::call::Pending::new("memory", "delete_entities"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct DeleteEntitiesCall {
    input: DeleteEntitiesInput,
    pending: bridge::call::Pending,
}
impl DeleteEntitiesCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for DeleteEntitiesCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.98208afc1eb5ca6b86a6c35172ac3f04")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "memory",
            name: "delete_entities",
            mark: *b"98208afc1eb5ca6b86a6c35172ac3f04",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for DeleteEntitiesCall {
    type Output = Result<DeleteEntitiesOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Delete multiple entities and their associated relations from the knowledge graph
#[track_caller]
pub fn delete_entities(
    entity_names: impl bridge::convert::Argument<Vec<String>>,
) -> DeleteEntitiesCall {
    DeleteEntitiesCall {
        input: DeleteEntitiesInput {
            entity_names: bridge::convert::named(
                "entityNames",
                bridge::convert::Argument::into_argument(entity_names),
            ),
        },
        pending: bridge::call::Pending::new("memory", "delete_entities"),
    }
}

pub type DeleteObservationsOutput = DeleteEntitiesOutput;
impl DeleteObservationsInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> DeleteObservationsCall {
        DeleteObservationsCall {
            input: self,
            pending: bridge::call::Pending::new("memory", "delete_observations"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct DeleteObservationsCall {
    input: DeleteObservationsInput,
    pending: bridge::call::Pending,
}
impl DeleteObservationsCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for DeleteObservationsCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.cd200ab81b0203b43d2b2587e567ecf3")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "memory",
            name: "delete_observations",
            mark: *b"cd200ab81b0203b43d2b2587e567ecf3",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for DeleteObservationsCall {
    type Output = Result<DeleteObservationsOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Delete specific observations from entities in the knowledge graph
#[track_caller]
pub fn delete_observations(
    deletions: impl bridge::convert::Argument<Vec<DeleteObservationsDeletion>>,
) -> DeleteObservationsCall {
    DeleteObservationsCall {
        input: DeleteObservationsInput {
            deletions: bridge::convert::named(
                "deletions",
                bridge::convert::Argument::into_argument(deletions),
            ),
        },
        pending: bridge::call::Pending::new("memory", "delete_observations"),
    }
}

pub type DeleteRelationsOutput = DeleteEntitiesOutput;
pub type DeleteRelationsRelation = Relation;
impl DeleteRelationsInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> DeleteRelationsCall {
        DeleteRelationsCall {
            input: self,
            pending: bridge::call::Pending::new("memory", "delete_relations"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct DeleteRelationsCall {
    input: DeleteRelationsInput,
    pending: bridge::call::Pending,
}
impl DeleteRelationsCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for DeleteRelationsCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.e382894e32522f663f5c5fd51bb36004")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "memory",
            name: "delete_relations",
            mark: *b"e382894e32522f663f5c5fd51bb36004",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for DeleteRelationsCall {
    type Output = Result<DeleteRelationsOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Delete multiple relations from the knowledge graph
#[track_caller]
pub fn delete_relations(
    relations: impl bridge::convert::Argument<Vec<Relation>>,
) -> DeleteRelationsCall {
    DeleteRelationsCall {
        input: DeleteRelationsInput {
            relations: bridge::convert::named(
                "relations",
                bridge::convert::Argument::into_argument(relations),
            ),
        },
        pending: bridge::call::Pending::new("memory", "delete_relations"),
    }
}

pub type OpenNodesEntity = Entity;
pub type OpenNodesRelation = Relation;
impl OpenNodesInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> OpenNodesCall {
        OpenNodesCall {
            input: self,
            pending: bridge::call::Pending::new("memory", "open_nodes"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct OpenNodesCall {
    input: OpenNodesInput,
    pending: bridge::call::Pending,
}
impl OpenNodesCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for OpenNodesCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.5078020f1dd3b3ccdd9c522ad9954f8e")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "memory",
            name: "open_nodes",
            mark: *b"5078020f1dd3b3ccdd9c522ad9954f8e",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for OpenNodesCall {
    type Output = Result<OpenNodesOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Open specific nodes in the knowledge graph by their names
#[track_caller]
pub fn open_nodes(names: impl bridge::convert::Argument<Vec<String>>) -> OpenNodesCall {
    OpenNodesCall {
        input: OpenNodesInput {
            names: bridge::convert::named(
                "names",
                bridge::convert::Argument::into_argument(names),
            ),
        },
        pending: bridge::call::Pending::new("memory", "open_nodes"),
    }
}

pub type ReadGraphOutput = OpenNodesOutput;
pub type ReadGraphEntity = Entity;
pub type ReadGraphRelation = Relation;
impl ReadGraphInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ReadGraphCall {
        ReadGraphCall {
            input: self,
            pending: bridge::call::Pending::new("memory", "read_graph"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ReadGraphCall {
    input: ReadGraphInput,
    pending: bridge::call::Pending,
}
impl ReadGraphCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ReadGraphCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.585b17deaf5aa07390d7d715391b5bc0")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "memory",
            name: "read_graph",
            mark: *b"585b17deaf5aa07390d7d715391b5bc0",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ReadGraphCall {
    type Output = Result<ReadGraphOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Read the entire knowledge graph
#[inline]
#[track_caller]
pub fn read_graph() -> ReadGraphCall {
    ReadGraphCall {
        input: ReadGraphInput {},
        pending: bridge::call::Pending::new("memory", "read_graph"),
    }
}

pub type SearchNodesOutput = OpenNodesOutput;
pub type SearchNodesEntity = Entity;
pub type SearchNodesRelation = Relation;
impl SearchNodesInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> SearchNodesCall {
        SearchNodesCall {
            input: self,
            pending: bridge::call::Pending::new("memory", "search_nodes"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct SearchNodesCall {
    input: SearchNodesInput,
    pending: bridge::call::Pending,
}
impl SearchNodesCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for SearchNodesCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.0b5ee6482d0695e0f72e524ff671cee6")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "memory",
            name: "search_nodes",
            mark: *b"0b5ee6482d0695e0f72e524ff671cee6",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for SearchNodesCall {
    type Output = Result<SearchNodesOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Search for nodes in the knowledge graph based on a query
#[track_caller]
pub fn search_nodes(query: impl Into<String>) -> SearchNodesCall {
    SearchNodesCall {
        input: SearchNodesInput {
            query: query.into(),
        },
        pending: bridge::call::Pending::new("memory", "search_nodes"),
    }
}
