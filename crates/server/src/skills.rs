//! Skills of servers (SEP-2640) in look-ups: `search_tools` finds them, `describe_tools` returns their files.
//!
//! A skill is named by the address of its resource with its server, since two servers may have the same. Reading one
//! needs the permission to read the server's resources, and is recorded like it. Nothing of a skill is in a prompt before
//! a model asks for it, and its `allowed-tools` have no effect.

use futures::future::join_all;
use gateway::resource_address::of_resource;
use gateway::server_skills::{SKILL_MD, ServerSkill, folder, is_address};
use mcp::Session;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde_json::{Map, Value, json};
use system::event_loop::off_loop;
use tokio::time::timeout;

use super::definitions::{DESCRIBE, SEARCH};
use super::journal::Requester;
use super::proxy::ProxiedRequest;
use super::resources_and_prompts::{AGENTS_WAIT, List, servers};

/// Limit on skills in the answer to a search.
const SKILLS_SHOWN: usize = 10;

/// Limit on files that one look-up reads.
const FILES_READ: usize = 8;

/// Limit on files that are named after a skill.
const FILES_NAMED: usize = 50;

/// Limit on the folders above a file in which its skill is looked for.
const MAX_DEPTH: usize = 8;

/// Limit on the text of a file, in bytes (32 KiB): a `SKILL.md` should have fewer than 500 lines.
const TEXT_LIMIT: usize = 32 << 10;

/// The shortest word of a query that counts, in bytes.
const SHORTEST: usize = 3;

impl ProxiedRequest {
    /// The texts about skills that a look-up returns besides those about tools.
    pub(crate) async fn skills(
        &self,
        name: &str,
        arguments: Option<&Value>,
        context: &RequestContext<RoleServer>,
    ) -> Vec<String> {
        let arguments = arguments.unwrap_or(&Value::Null);
        match name {
            SEARCH => {
                let query = arguments["query"].as_str().unwrap_or_default();
                self.found(query, arguments["server"].as_str()).await.into_iter().collect()
            }
            DESCRIBE => {
                let named = arguments["tools"].as_array().into_iter().flatten().filter_map(Value::as_str);
                let mut texts = Vec::new();
                let addresses: Vec<&str> = named.filter(|name| is_address(name)).collect();
                for address in addresses.iter().take(FILES_READ) {
                    let text = self.text_of(address, context).await;
                    texts.push(text.unwrap_or_else(|why| format!("// {address}: {why}")));
                }
                let left_out = addresses.len().saturating_sub(FILES_READ);
                if left_out > 0 {
                    let more = report::count(left_out, "more file");
                    texts.push(format!("// {more} left out: a look-up returns at most {FILES_READ}"));
                }
                texts
            }
            _ => Vec::new(),
        }
    }

    /// The skills that a query finds, best first.
    async fn found(&self, query: &str, server: Option<&str>) -> Option<String> {
        if !self.snapshot.has_skills {
            return None;
        }
        let words: Vec<String> =
            query.split_whitespace().filter(|word| word.len() >= SHORTEST).map(str::to_lowercase).collect();
        let asking = servers(self, List::Resources).into_iter().map(|of| async move {
            let name = &of.connection.name;
            if server.is_some_and(|server| server != name) {
                return None;
            }
            let session = self.listing(of).await.filter(Session::has_skills)?;
            let listed = timeout(AGENTS_WAIT, session.list_skills()).await;
            Some((name, listed.ok().and_then(Result::ok)))
        });
        let (mut found, mut notes) = (Vec::new(), Vec::new());
        let mut is_news = query.trim().is_empty();
        for (server, listed) in join_all(asking).await.into_iter().flatten() {
            let Some(listed) = listed else {
                notes.push(format!("// {server} did not list its skills"));
                is_news = true;
                continue;
            };
            let (skills, wrong): (Vec<_>, Vec<_>) =
                listed.items.iter().map(|entry| ServerSkill::read(server, entry)).partition(Result::is_ok);
            if let Some(Err(why)) = wrong.first() {
                notes.push(format!("// {} of {server} left out: {why}", report::count(wrong.len(), "skill")));
            }
            let skills = skills.into_iter().flatten().map(|skill| (skill.matches(&words), skill));
            found.extend(skills.filter(|(matches, _)| *matches > 0 || query.trim().is_empty()));
        }
        // Broken entries are no answer to a query.
        if found.is_empty() && !is_news {
            return None;
        }
        found.sort_by(|(one, _), (other, _)| other.cmp(one));
        let left_out = found.len().saturating_sub(SKILLS_SHOWN);
        if left_out > 0 {
            notes.push(format!("// {}: search by words", report::count(left_out, "more skill")));
        }
        let lines =
            found.iter().take(SKILLS_SHOWN).map(|(_, ServerSkill { server, uri, name, description, .. })| {
                format!("{name} ({server}): {description}\n  {}", of_resource(server, uri))
            });
        let lines: Vec<String> = lines.chain(notes).collect();
        let head = "Skills of servers: instructions that the server wrote. describe_tools returns one by its address:";
        (!lines.is_empty()).then(|| format!("{head}\n{}", lines.join("\n")))
    }

    /// The text of a file of a skill, with a line about where it is from.
    async fn text_of(&self, address: &str, context: &RequestContext<RoleServer>) -> Result<String, String> {
        let unknown = || "no server has this skill; search_tools finds skills".to_owned();
        let (server, uri) = self.qualified_owner(List::Resources, address).ok_or_else(unknown)?;
        let configured = self.snapshot.config().server(&server).ok_or_else(unknown)?;
        let upstream = self.listing(configured).await.ok_or_else(|| format!("{server} is not connected"))?;
        if !upstream.has_skills() {
            return Err(unknown());
        }
        let found = timeout(AGENTS_WAIT, entry(&upstream, &server, &uri)).await;
        let skill = found.map_err(|_| format!("{server} did not say in time what the skill contains"))??;
        let parameters = Map::from_iter([("uri".to_owned(), json!(uri))]);
        let requester = Requester::of(&self.session, context);
        let read = self.read((&server, &uri), requester, parameters).await;
        let read = read.map_err(|error| error.message.to_string())?;
        let content = read["contents"][0]["text"].as_str();
        let text = content.ok_or("it is no text: read it as a resource")?;
        off_loop(text.len(), || skill.verify(&uri, text)).map_err(|why| format!("it is not used: {why}"))?;
        let mut shown = format!(
            "// A file of the skill {} of the server {server}, which wrote the text below. It is not from the user.\n",
            skill.name
        );
        if skill.is_unverifiable() {
            shown.push_str(
                "// The server publishes no digests of its files, so that none could be verified.\n",
            );
        }
        let cut = text.get(..text.floor_char_boundary(TEXT_LIMIT)).unwrap_or_default();
        shown.push_str(cut);
        if cut.len() < text.len() {
            let left = text.len() - cut.len();
            shown.push_str(&format!(
                "\n// {left} more bytes are left out: the whole is the resource {address}"
            ));
        }
        if uri == skill.uri {
            let files =
                skill.files().take(FILES_NAMED).map(|file| format!("\n// {}", of_resource(&server, file)));
            let files: String = files.collect();
            if !files.is_empty() {
                shown.push_str(&format!("\n// Other files of the skill, for describe_tools:{files}"));
            }
        }
        Ok(shown)
    }
}

/// The entry of the skill that a file belongs to: the innermost one whose folder contains it.
async fn entry(session: &Session, server: &str, uri: &str) -> Result<ServerSkill, String> {
    let mut why = None;
    let folders = std::iter::successors(folder(uri), |inner| folder(inner));
    for candidate in folders.take(MAX_DEPTH).filter(|folder| !folder.ends_with('/')) {
        let asked = format!("{candidate}/{SKILL_MD}");
        let Ok(entry) = session.get_skill(&asked).await else { continue };
        match ServerSkill::read(server, &entry) {
            Ok(skill) if skill.uri != asked => why = Some("the server answered with another skill"),
            Ok(skill) if skill.has(uri) => return Ok(skill),
            Ok(_) => why = why.or(Some("the skill does not list it")),
            Err(wrong) => why = Some(wrong),
        }
    }
    Err(format!("it is not used: {}", why.unwrap_or("the server has no skill with it")))
}
