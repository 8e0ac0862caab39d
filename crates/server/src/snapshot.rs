//! The configuration, tools, bindings and descriptions at one moment. An execution keeps the snapshot that it started
//! with; `settings_in_force` checks calls against the current settings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use audit::Audit;
use config::{Config, Glob, SessionMode};
use gateway::catalog::{ServerIntroduction, ToolLists};
use gateway::config_secrets;
use gateway::direct::{Partition, presented};
use gateway::failure::Failure;
use gateway::pins::Known;
use gateway::reference::Reference;
use gateway::resources;
use gateway::tool_list::ToolList;
use gateway::unavailable::UnavailableTools;
use gateway::unmatched;
use parking_lot::Mutex;
use report::Report;
use runner::{Cache, Catalog};
use serde_json::Value;
use terminal::{Masker, Notifier};

use crate::programs::{CheckedPrograms, OfferedPrograms};
use crate::tool_forms::ToolForms;

/// Limit on notes about tools under one configuration: servers can change their tools indefinitely.
const NOTES_LIMIT: usize = 1_000;

/// A configuration and the state that depends on it.
pub struct Settings {
    /// The configuration.
    pub config: Arc<Config>,
    /// The contents of the lock file.
    pub known: Known,
    /// Its secrets.
    pub masker: Masker,
    /// The audit log.
    pub(crate) audit: Option<Arc<Audit>>,
    /// The saved programs that are offered as tools.
    pub(crate) programs: Arc<OfferedPrograms>,
    /// The notes about tools that were already shown.
    noted: Mutex<BTreeSet<String>>,
}

/// The tools offered at one moment.
pub struct Snapshot {
    /// The settings that it was built with.
    pub settings: Arc<Settings>,
    /// The tools as servers list them, by server.
    pub lists: BTreeMap<String, Arc<ToolList>>,
    /// The reason of each server without a list.
    pub absent: BTreeMap<String, String>,
    /// The unavailable tools and servers, including those whose tools are remembered.
    pub missing: Arc<UnavailableTools>,
    /// The tools for snippets, with their bindings.
    pub catalog: Arc<Catalog>,
    /// The division of the tools into those called by snippets, and those called directly.
    pub partition: Partition,
    /// The descriptions of the tools for models.
    pub(crate) reference: Arc<Reference>,
    /// The saved programs as checked against these lists.
    pub(crate) programs: Arc<CheckedPrograms>,
    /// Whether each server has a list, or a reason for having none.
    pub(crate) is_whole: bool,
    /// The connected servers that have prompts, and those that have resources.
    pub(crate) prompts_and_resources: [BTreeSet<String>; 2],
    /// Whether it reflects the servers; the initial snapshot does not.
    pub(crate) is_built: bool,
    /// Whether any server has resources that may be listed.
    has_resources: bool,
    /// Whether any of these has skills.
    pub(crate) has_skills: bool,
    /// The servers' descriptions of themselves.
    about: BTreeMap<String, String>,
    /// The servers with `session: auto` that keep nothing between requests (MCP 2026-07-28), by name.
    pub(crate) stateless: BTreeSet<String>,
    /// The reason of each unavailable server, including those with remembered lists.
    reasons: BTreeMap<String, String>,
    /// The tools of code mode as clients see them, once they are needed.
    pub(crate) own_tools: ToolForms,
}

/// The known lists of the servers.
#[derive(Default)]
pub(crate) struct Lists {
    pub(crate) lists: BTreeMap<String, Arc<ToolList>>,
    pub(crate) absent: BTreeMap<String, String>,
    /// The reason of each unavailable server, including those with remembered lists.
    pub(crate) reasons: BTreeMap<String, String>,
    pub(crate) is_whole: bool,
    /// The connected servers that have prompts, and those that have resources.
    pub(crate) prompts_and_resources: [BTreeSet<String>; 2],
    /// Whether any server has resources that may be listed.
    pub(crate) has_resources: bool,
    /// Whether any of these has skills.
    pub(crate) has_skills: bool,
    /// The servers' descriptions of themselves.
    pub(crate) about: BTreeMap<String, String>,
    /// The servers with `session: auto` that keep nothing between requests, by name.
    pub(crate) stateless: BTreeSet<String>,
}

impl Lists {
    /// Adds a server's description of itself.
    pub(crate) fn introduce(&mut self, settings: &Settings, server: &str, introduction: ServerIntroduction) {
        let may_list = resources::may_be_listed(&settings.config, server);
        self.has_resources |= introduction.has_resources && may_list;
        self.has_skills |= introduction.has_skills && may_list;
        if !introduction.about.is_empty() {
            self.about.insert(server.to_owned(), introduction.about);
        }
        let is_shared =
            settings.config.server(server).is_some_and(|server| server.session == SessionMode::Auto);
        self.stateless.extend((introduction.is_stateless && is_shared).then(|| server.to_owned()));
    }
}

impl Settings {
    /// Settings for a configuration and the `token` of this server, which is masked like the configuration's secrets.
    ///
    /// # Errors
    /// If the audit log can't be used.
    pub fn new(config: Config, known: Known, token: Option<&str>) -> Result<Arc<Self>, Failure> {
        let masker = config_secrets::masker(&config);
        let masker = token.map_or(masker.clone(), |token| masker.hiding(token));
        let audit = config.serve.audit.as_ref();
        let audit = audit.map(|audit| Audit::open(&audit.file, audit.arguments)).transpose()?.map(Arc::new);
        let (config, programs) = (Arc::new(config), Arc::default());
        Ok(Arc::new(Settings { config, known, masker, audit, programs, noted: Mutex::default() }))
    }

    /// The same settings with these programs.
    pub(crate) fn with_programs(&self, programs: OfferedPrograms) -> Arc<Self> {
        Arc::new(Settings {
            config: self.config.clone(),
            known: self.known.clone(),
            masker: self.masker.clone(),
            audit: self.audit.clone(),
            programs: Arc::new(programs),
            noted: Mutex::default(),
        })
    }

    /// The same settings as a subject may see them that may call only these tools, as globs of `server.tool`.
    pub(crate) fn restricted(&self, tools: Vec<Glob>) -> Arc<Self> {
        self.with_config(self.config.restricted(tools))
    }

    fn with_config(&self, config: Config) -> Arc<Self> {
        Arc::new(Settings {
            config: Arc::new(config),
            known: self.known.clone(),
            masker: self.masker.clone(),
            audit: self.audit.clone(),
            programs: self.programs.clone(),
            noted: Mutex::default(),
        })
    }

    /// Whether a text was not noted before; records it.
    fn is_news(&self, text: &str) -> bool {
        let mut noted = self.noted.lock();
        noted.len() < NOTES_LIMIT && noted.insert(text.to_owned())
    }
}

impl Snapshot {
    /// The initial snapshot, before any server has answered.
    pub(crate) fn empty(settings: Arc<Settings>) -> Self {
        Snapshot {
            settings,
            lists: BTreeMap::new(),
            absent: BTreeMap::new(),
            missing: Arc::default(),
            catalog: Arc::default(),
            partition: Partition::default(),
            reference: Arc::default(),
            programs: Arc::default(),
            is_whole: false,
            prompts_and_resources: Default::default(),
            is_built: false,
            has_resources: false,
            has_skills: false,
            about: BTreeMap::new(),
            stateless: BTreeSet::new(),
            reasons: BTreeMap::new(),
            own_tools: ToolForms::default(),
        }
    }

    /// Builds a snapshot from these lists. Generating bindings takes time, so this is for a blocking thread.
    pub(crate) fn build(settings: Arc<Settings>, lists: Lists, cache: &Cache, notifier: &Notifier) -> Self {
        let programs = settings.programs.checked(&lists.lists);
        Self::with_programs(settings, lists, programs, (cache, notifier))
    }

    /// Like [`Snapshot::build`], with these results of checks.
    fn with_programs(
        settings: Arc<Settings>,
        lists: Lists,
        programs: Arc<CheckedPrograms>,
        (cache, notifier): (&Cache, &Notifier),
    ) -> Self {
        let config = &settings.config;
        let all = tool_lists(&settings.known, &lists.lists);
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
            let name = |tool: Value| tool["name"].as_str().unwrap_or_default().to_owned();
            let is_listed = |tool: &Value| is_listed(config, server, tool, &mut malformed);
            let listed: Vec<String> = tools.tools().filter(is_listed).map(name).collect();
            let free = listed.into_iter().filter(move |tool| !held.contains(tool));
            free.map(move |tool| (server.as_str(), tool)).collect::<Vec<_>>()
        });
        let names: Vec<(&str, String)> = names.collect();
        let is_for_apps =
            |server: &str, tool: &str| lists.lists.get(server).is_some_and(|list| list.is_for_apps(tool));
        let named = names.iter().map(|(server, tool)| (*server, tool.as_str()));
        let partition = Partition::new(config, named, is_for_apps);
        let mut unmatched = unmatched::of_all(config, &lists.lists);
        for (server, tools) in &lists.lists {
            unmatched.extend(unmatched::of_server(config, server, tools));
        }
        let warnings = partition.warnings.iter().chain(&malformed).chain(&unmatched);
        // They are about the whole configuration, and noted for it.
        let is_whole_view = config.access.is_none();
        let news = warnings.filter(|warning| is_whole_view && settings.is_news(warning));
        news.for_each(|warning| notifier.note(&format!("warning: {warning}")));
        let reference = Reference::new(catalog.clone(), &lists.about).unwrap_or_else(|error| {
            // The catalog was just written to the cache; if it was removed since, there are no descriptions.
            let why = Report::from(error).for_terminal();
            notifier.error(&format!("the tools can't be described: {why}"));
            Reference::default()
        });
        let Lists {
            lists,
            absent,
            reasons,
            is_whole,
            prompts_and_resources,
            has_resources,
            has_skills,
            about,
            stateless,
        } = lists;
        let reference = reference
            .with_resources(has_resources)
            .with_skills(has_skills)
            .with_grants(config.code_mode.grants.clone());
        let lines = settings.programs.callable(config).map(|(name, program)| programs.line(name, program));
        let reference = reference.with_programs(lines.collect());
        let reference = Arc::new(reference.with_missing(missing.clone()));
        let is_built = true;
        Snapshot {
            settings,
            lists,
            absent,
            missing,
            catalog,
            partition,
            reference,
            programs,
            is_whole,
            prompts_and_resources,
            is_built,
            has_resources,
            has_skills,
            about,
            stateless,
            reasons,
            own_tools: ToolForms::default(),
        }
    }

    /// Whether it is built with these settings, or with a subject's part of them: that shares the programs, of which each
    /// reading of the configuration has its own.
    pub(crate) fn follows(&self, settings: &Settings) -> bool {
        Arc::ptr_eq(&self.settings.programs, &settings.programs)
    }

    /// The part of a snapshot that a subject may use that may call only these tools, as globs of `server.tool`. For a
    /// blocking thread, as [`Snapshot::build`].
    pub(crate) fn restricted(whole: &Snapshot, tools: Vec<Glob>, cache: &Cache, notifier: &Notifier) -> Self {
        let mut config = whole.config().restricted(tools);
        // A server none of whose tools may be called is not even named.
        let has_some = |config: &Config, server: &str| {
            let names = whole.lists.get(server).map(|list| list.names());
            names.is_none_or(|mut names| names.any(|tool| config.permits(server, tool)))
                || [resources::LIST, resources::READ, resources::PROMPT]
                    .iter()
                    .any(|name| config.permits(server, name))
        };
        let may_be_seen = config.clone();
        config.servers.retain(|server| has_some(&may_be_seen, &server.connection.name));
        let settings = whole.settings.with_config(config);
        let config = settings.config.clone();
        let is_seen = |server: &String| config.has_entry(server);
        let of_seen = |texts: &BTreeMap<String, String>| -> BTreeMap<String, String> {
            texts.iter().filter(|(server, _)| is_seen(server)).map(|(a, b)| (a.clone(), b.clone())).collect()
        };
        let [prompts, with_resources] = &whole.prompts_and_resources;
        let may_list = |server: &&String| is_seen(server) && resources::may_be_listed(&config, server);
        let may_prompt = |server: &&String| is_seen(server) && config.permits(server, resources::PROMPT);
        let with_resources: BTreeSet<String> = with_resources.iter().filter(may_list).cloned().collect();
        let lists = Lists {
            lists: whole
                .lists
                .iter()
                .filter(|(server, _)| is_seen(server))
                .map(|(a, b)| (a.clone(), b.clone()))
                .collect(),
            absent: of_seen(&whole.absent),
            reasons: of_seen(&whole.reasons),
            is_whole: whole.is_whole,
            has_resources: whole.has_resources && !with_resources.is_empty(),
            has_skills: whole.has_skills && !with_resources.is_empty(),
            prompts_and_resources: [prompts.iter().filter(may_prompt).cloned().collect(), with_resources],
            about: of_seen(&whole.about),
            stateless: whole.stateless.iter().filter(|server| is_seen(server)).cloned().collect(),
        };
        let snapshot = Snapshot::with_programs(settings, lists, whole.programs.clone(), (cache, notifier));
        // Work that waits for a server learns that it has answered, even if none of its tools may be called.
        Snapshot { lists: whole.lists.clone(), ..snapshot }
    }

    /// The lists, for bindings and approvals.
    pub(crate) fn tool_lists(&self) -> ToolLists {
        tool_lists(&self.settings.known, &self.lists)
    }

    /// The configuration that it was built with.
    pub fn config(&self) -> &Arc<Config> {
        &self.settings.config
    }

    /// Whether another snapshot offers the same.
    pub(crate) fn offers_the_same(&self, other: &Snapshot) -> bool {
        let digests = |snapshot: &Snapshot| -> BTreeMap<String, String> {
            snapshot.lists.iter().map(|(name, list)| (name.clone(), list.digest().to_owned())).collect()
        };
        digests(self) == digests(other)
            && self.absent == other.absent
            && self.missing.is_as(&other.missing)
            && self.has_resources == other.has_resources
            && self.has_skills == other.has_skills
            && self.about == other.about
            && self.stateless == other.stateless
            && self.partition == other.partition
            && self.programs == other.programs
            && self.settings.config == other.settings.config
            && self.settings.known == other.settings.known
    }
}

fn tool_lists(known: &Known, lists: &BTreeMap<String, Arc<ToolList>>) -> ToolLists {
    let mut all = ToolLists::new(known.clone());
    lists.iter().for_each(|(server, tools)| all.insert(server, tools.clone()));
    all
}

/// Whether a tool can be listed: a direct one must have a form that clients and providers accept. Adds a warning to
/// `malformed` otherwise.
fn is_listed(config: &Config, server: &str, tool: &Value, malformed: &mut Vec<String>) -> bool {
    let name = tool["name"].as_str().unwrap_or_default();
    if !config.admits(server, name) || !config.is_direct(server, name) {
        return true;
    }
    let presented = presented(server, tool);
    if let Err(why) = &presented {
        let tool = printable::name(&format!("{server}.{name}"));
        malformed
            .push(format!("the direct tool {tool} is left out, because clients could not accept it: {why}"));
    }
    presented.is_ok()
}
