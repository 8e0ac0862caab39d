//! `toolsmith codegen`: prints what is generated from tools (signatures, documentation, code, the description for a
//! model, a report on types, a difference), or writes a crate.

mod definition;
mod difference;
mod export;
mod report;
pub(crate) mod source;

use codegen::{Bindings, Once, ToolBinding};
use gateway::exit_code;
use gateway::failure::Failure;
use serde_json::{Value, json};
use terminal::Terminal;

use crate::arguments::{CodegenArguments, Format};

/// Runs the command and returns the exit code.
pub(crate) async fn inspect(arguments: CodegenArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let done = work(&terminal, &arguments).await;
    match terminal.flush().await {
        Ok(()) => done.map(|()| exit_code::OK),
        Err(error) => Err(Failure::output(error)),
    }
}

async fn work(terminal: &Terminal, arguments: &CodegenArguments) -> Result<(), Failure> {
    if let [old, new] = arguments.diff.as_slice() {
        print(&difference::difference(old, new, arguments.json)?, arguments, terminal);
        return Ok(());
    }
    if arguments.json && matches!(arguments.format, Some(Format::Rust | Format::Description)) {
        return Err(Failure::command_line("--json can't print Rust code or a model's description")
            .hint("leave out --json, or use --format signatures, documentation or report"));
    }
    let found = source::tools(arguments, terminal).await?;
    let style = codegen::Style {
        description: arguments.description_length.unwrap_or(found.style.description),
        ..found.style
    };
    // Module names in a crate depend only on the servers in it.
    let own = codegen::module_names(found.servers.iter().map(|server| server.name.as_str()));
    let modules = if arguments.out.is_some() { &own } else { &found.modules };
    let bindings = found.servers.iter().filter_map(|server| {
        let module = modules.get(&server.name)?;
        Some(codegen::generate_with(server, module, &style))
    });
    let bindings: Vec<Bindings> = bindings.collect();
    if let Some(folder) = &arguments.out {
        return export::export(folder, &bindings, &found.lock, arguments, terminal).await;
    }
    let format = arguments.format.unwrap_or(Format::Signatures);
    if arguments.json && format != Format::Report {
        terminal.print_json(&as_json(&bindings).to_string());
        return Ok(());
    }
    let text = match format {
        Format::Signatures => signatures(&bindings),
        Format::Documentation => documentation(&bindings),
        Format::Rust => rust(&bindings),
        Format::Description => definition::description(&found.servers, &style, found.description_tokens)?,
        Format::Report => report::report(&bindings, arguments.json).map_err(Failure::system)?,
    };
    print(text.trim_end(), arguments, terminal);
    Ok(())
}

fn print(text: &str, arguments: &CodegenArguments, terminal: &Terminal) {
    if arguments.json {
        terminal.print_json(text);
    } else {
        terminal.print(text);
    }
}

/// The tools of each server, with their names in Rust, signatures and documentation.
fn as_json(bindings: &[Bindings]) -> Value {
    let tool = |tool: &ToolBinding| {
        json!({ "name": tool.name, "function": tool.function, "signature": tool.signature,
            "documentation": tool.documentation })
    };
    let server = |server: &Bindings| {
        let tools: Vec<Value> = server.tools.iter().map(tool).collect();
        json!({ "id": server.server, "module": server.module, "tools": tools })
    };
    json!({ "servers": bindings.iter().map(server).collect::<Vec<_>>() })
}

fn signatures(bindings: &[Bindings]) -> String {
    let section = |server: &Bindings| {
        let mut once = Once::default();
        let tools: Vec<String> = server.tools.iter().map(|tool| once.signature(&tool.signature)).collect();
        format!("mod {} {{\n{}\n}}\n", server.module, tools.join("\n\n"))
    };
    bindings.iter().map(section).collect::<Vec<_>>().join("\n")
}

fn documentation(bindings: &[Bindings]) -> String {
    let pages = bindings.iter().flat_map(|server| {
        let mut once = Once::default();
        server.tools.iter().map(move |tool| once.documentation(&tool.documentation))
    });
    pages.collect::<Vec<_>>().join("\n\n")
}

fn rust(bindings: &[Bindings]) -> String {
    if let [only] = bindings {
        return only.source();
    }
    let module = |server: &Bindings| {
        // A server's generated file is also valid as the body of a module.
        format!("pub mod {} {{\n{}}}\n", server.module, server.source())
    };
    bindings.iter().map(module).collect::<Vec<_>>().join("\n")
}
