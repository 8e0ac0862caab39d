//! What is offered at one moment: configuration, tools, their bindings, and the text about them. Executions keep the
//! one that they began with; whether a call may still be made is asked of the one in force (`settings_in_force`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use config::Config;
use gateway::catalog::{ServerIntroduction, ToolLists};
use gateway::config_secrets;
use gateway::direct::{Partition, presented};
use gateway::failure::Failure;
use gateway::pins::Known;
use gateway::reference::Reference;
use gateway::resources;
use gateway::tool_list::ToolList;
use gateway::unavailable::UnavailableTools;
use runner::{Cache, Catalog};
use serde_json::Value;
use terminal::{Masker, Notifier};

use crate::audit::Audit;

/// Most texts that people are told of the tools under one configuration: servers can change their tools for ever.
const MOST_TOLD: usize = 1_000;

/// A configuration with what goes with it.
pub struct Settings {
    /// The configuration.
    pub config: Arc<Config>,
    /// What a lock file says of the tools.
    pub known: Known,
    /// Its secrets.
    pub masker: Masker,
    /// The log of who ran what.
    pub(crate) audit: Option<Audit>,
    /// What people were told of the tools under it.
    told: Mutex<BTreeSet<String>>,
}

/// What is offered at one moment.
pub struct Snapshot {
    /// The settings that it was made with.
    pub settings: Arc<Settings>,
    /// The tools as servers list them, by server.
    pub lists: BTreeMap<String, Arc<ToolList>>,
    /// Why servers have no list.
    pub absent: BTreeMap<String, String>,
    /// What can't be used now, whether its tools are known or not.
    pub(crate) missing: Arc<UnavailableTools>,
    /// The tools for snippets, with their bindings.
    pub catalog: Arc<Catalog>,
    /// Which tools snippets call, and which are called directly.
    pub partition: Partition,
    /// What models are told of the tools.
    pub(crate) reference: Arc<Reference>,
    /// Whether each server has a list, or a reason for having none.
    pub(crate) is_whole: bool,
    /// The servers that have been connected to and have prompts, and those that have resources.
    pub(crate) beside_tools: [BTreeSet<String>; 2],
    /// Whether it says what is known of the servers; the first one that there is does not.
    pub(crate) is_put_together: bool,
    /// Whether any server has resources that may be listed.
    has_resources: bool,
    /// What servers say of themselves, by server.
    about: BTreeMap<String, String>,
}

/// What is known of the servers' lists.
#[derive(Default)]
pub(crate) struct Lists {
    pub(crate) lists: BTreeMap<String, Arc<ToolList>>,
    pub(crate) absent: BTreeMap<String, String>,
    /// Why servers can't be used now, those included whose lists are remembered.
    pub(crate) reasons: BTreeMap<String, String>,
    pub(crate) is_whole: bool,
    /// The servers that have been connected to and have prompts, and those that have resources.
    pub(crate) beside_tools: [BTreeSet<String>; 2],
    /// Whether any server has resources that may be listed.
    pub(crate) has_resources: bool,
    /// What servers say of themselves, by server.
    pub(crate) about: BTreeMap<String, String>,
}

impl Lists {
    /// With what a server says of itself.
    pub(crate) fn introduce(&mut self, settings: &Settings, server: &str, introduction: ServerIntroduction) {
        self.has_resources |=
            introduction.has_resources && resources::may_be_listed(&settings.config, server);
        if !introduction.about.is_empty() {
            self.about.insert(server.to_owned(), introduction.about);
        }
    }
}

impl Settings {
    /// With the `token` of this server, which is as secret as what the configuration holds.
    ///
    /// # Errors
    /// Where the audit log can't be used.
    pub(crate) fn new(config: Config, known: Known, token: Option<&str>) -> Result<Arc<Self>, Failure> {
        let masker = config_secrets::masker(&config);
        let masker = token.map_or(masker.clone(), |token| masker.hiding(token));
        let audit = config.serve.audit.as_ref();
        let audit = audit.map(|audit| Audit::open(&audit.file, audit.arguments)).transpose()?;
        Ok(Arc::new(Settings { config: Arc::new(config), known, masker, audit, told: Mutex::default() }))
    }

    /// Whether a text was not told yet; it is from now on.
    fn is_news(&self, text: &str) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.len() < MOST_TOLD && told.insert(text.to_owned())
    }
}

impl Snapshot {
    /// Nothing is known of any server yet.
    pub(crate) fn empty(settings: Arc<Settings>) -> Self {
        Snapshot {
            settings,
            lists: BTreeMap::new(),
            absent: BTreeMap::new(),
            missing: Arc::default(),
            catalog: Arc::default(),
            partition: Partition::default(),
            reference: Arc::default(),
            is_whole: false,
            beside_tools: Default::default(),
            is_put_together: false,
            has_resources: false,
            about: BTreeMap::new(),
        }
    }

    /// What these lists come to. Generates bindings, which takes its time: for a thread of its own.
    pub(crate) fn build(settings: Arc<Settings>, lists: Lists, cache: &Cache, notifier: &Notifier) -> Self {
        let config = &settings.config;
        let mut all = ToolLists::new(settings.known.clone());
        for (server, tools) in &lists.lists {
            all.insert(server, tools.clone());
        }
        let missing = Arc::new(UnavailableTools::new(
            config,
            &settings.known.pins,
            lists.lists.clone(),
            &lists.reasons,
        ));
        let catalog = Arc::new(all.generate(cache, config, notifier).with_absences(missing.clone()));
        let mut malformed = Vec::new();
        let names = lists.lists.iter().flat_map(|(server, tools)| {
            let held = settings.known.pins.held(server, tools);
            let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
            let is_listed = |tool: &&Value| is_listed(config, server, tool, &mut malformed);
            let listed: Vec<String> = tools.tools().iter().filter(is_listed).map(name).collect();
            let free = listed.into_iter().filter(move |tool| !held.contains(tool));
            free.map(move |tool| (server.as_str(), tool)).collect::<Vec<_>>()
        });
        let names: Vec<(&str, String)> = names.collect();
        let partition = Partition::new(config, names.iter().map(|(server, tool)| (*server, tool.as_str())));
        let warnings = partition.warnings.iter().chain(&malformed);
        let news = warnings.filter(|warning| settings.is_news(warning));
        news.for_each(|warning| notifier.note(warning));
        let reference = Reference::new(catalog.clone(), &lists.about).unwrap_or_else(|error| {
            // The catalog was written to the cache just now: whoever removes it has to live without descriptions.
            notifier.tell(&format!("the tools can't be described: {error}"));
            Reference::default()
        });
        let Lists { lists, absent, is_whole, beside_tools, has_resources, about, .. } = lists;
        let reference = Arc::new(reference.with_resources(has_resources).with_missing(missing.clone()));
        let is_put_together = true;
        Snapshot {
            settings,
            lists,
            absent,
            missing,
            catalog,
            partition,
            reference,
            is_whole,
            beside_tools,
            is_put_together,
            has_resources,
            about,
        }
    }

    /// The configuration that it was made with.
    pub fn config(&self) -> &Arc<Config> {
        &self.settings.config
    }

    /// Whether the same is offered as by another one.
    pub(crate) fn offers_the_same(&self, other: &Snapshot) -> bool {
        let digests = |snapshot: &Snapshot| -> BTreeMap<String, String> {
            snapshot.lists.iter().map(|(name, list)| (name.clone(), list.digest().to_owned())).collect()
        };
        digests(self) == digests(other)
            && self.absent == other.absent
            && self.missing.is_as(&other.missing)
            && self.has_resources == other.has_resources
            && self.about == other.about
            && self.partition == other.partition
            && self.settings.config == other.settings.config
            && self.settings.known == other.settings.known
    }
}

/// Whether a tool can be told of: a direct one has a form that clients and providers take. `malformed` gets a warning.
fn is_listed(config: &Config, server: &str, tool: &Value, malformed: &mut Vec<String>) -> bool {
    let name = tool["name"].as_str().unwrap_or_default();
    if !config.admits(server, name) || !config.is_direct(server, name) {
        return true;
    }
    let presented = presented(server, tool);
    if let Err(why) = &presented {
        let tool = printable::name(&format!("{server}.{name}"));
        malformed.push(format!("the direct tool {tool} is left out, which no client could take: {why}"));
    }
    presented.is_ok()
}
