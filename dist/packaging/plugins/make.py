"""Writes the plugins: make.py SOURCES LICENCES VERSION REPOSITORY RESULTS, where REPOSITORY may be empty. `build` calls it."""

import hashlib
import json
import pathlib
import re
import sys
import zipfile

sources, licences, version, repository, results = sys.argv[1:]
sources, licences, results = map(pathlib.Path, (sources, licences, results))

NAME = "toolsmith"
LICENCE = "MIT OR Apache-2.0"
PACKAGE = "@toolsmith/cli"
SUMMARY = "One Rust snippet calls the tools of all your MCP servers"
KEYWORDS = ["mcp", "code-mode", "rust", "sandbox"]
SERVER = {"command": NAME, "args": ["serve"]}
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
# Files of an archive have this time, so that an archive has the same bytes each time.
TIME = (1980, 1, 1, 0, 0, 0)

skill = (sources / "skill.md").read_text(encoding="utf-8")
session = (sources / "session.txt").read_text(encoding="utf-8").splitlines()
author = {"name": "Toolsmith"} | ({"url": repository} if repository else {})
described = {"name": NAME, "version": version, "description": SUMMARY}
links = {"homepage": repository, "repository": repository} if repository else {}


def write(path, content):
    """Writes a text, or a value as JSON."""
    path = results / path
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")


def write_documents(folder):
    """Writes the files that users of a plugin read."""
    write(f"{folder}/README.md", (sources / "README.md").read_text(encoding="utf-8"))
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        write(f"{folder}/{name}", (licences / name).read_text(encoding="utf-8"))


def make_plugin():
    """The folder for Claude Code and Codex, and the marketplace that both find it in."""
    manifest = described | {"author": author, "license": LICENCE, "keywords": KEYWORDS} | links
    # Claude Code finds the skill, the hook and `.mcp.json` by itself.
    write("toolsmith/.claude-plugin/plugin.json", manifest)
    parts = {"skills": "./skills/", "mcpServers": "./.mcp.json", "hooks": "./hooks/hooks.json"}
    write("toolsmith/.codex-plugin/plugin.json", manifest | parts)
    # Claude Code would otherwise show its model only the tool's name.
    write("toolsmith/.mcp.json", {"mcpServers": {NAME: SERVER | {"alwaysLoad": True}}})
    write("toolsmith/skills/toolsmith/SKILL.md", skill)
    lines = " ".join("'" + line.replace("'", "'\\''") + "'" for line in session)
    hook = {"type": "command", "command": f"printf '%s\\n' {lines}"}
    write("toolsmith/hooks/hooks.json", {"hooks": {"SessionStart": [{"hooks": [hook]}]}})
    write_documents("toolsmith")
    entry = {"name": NAME, "source": "./toolsmith", "description": SUMMARY}
    catalog = {"name": NAME, "owner": author, "metadata": {"description": SUMMARY}, "plugins": [entry]}
    write(".claude-plugin/marketplace.json", catalog)


def make_extension():
    """The extension for Gemini CLI. Its context is the skill without the head."""
    write("gemini/gemini-extension.json", described | {"contextFileName": "TOOLSMITH.md", "mcpServers": {NAME: SERVER}})
    write("gemini/TOOLSMITH.md", re.sub(r"\A---\n.*?\n---\n\s*", "", skill, flags=re.DOTALL))
    write_documents("gemini")


def make_bundle():
    """The MCP Bundle. It starts the installed program, whose path a user can set."""
    start = "#!/bin/sh\n# Starts the program that the user has installed.\nexec \"${TOOLSMITH_PROGRAM:-toolsmith}\" serve\n"
    program = {
        "type": "string",
        "title": "Program",
        "description": "The path of the program toolsmith",
        "default": NAME,
        "required": False,
    }
    manifest = {"manifest_version": "0.3"} | described | {
        "display_name": "Toolsmith",
        "author": author,
        "license": LICENCE,
        "keywords": KEYWORDS,
        "server": {
            "type": "binary",
            "entry_point": "server/start",
            "mcp_config": {
                "command": "/bin/sh",
                "args": ["${__dirname}/server/start"],
                "env": {"TOOLSMITH_PROGRAM": "${user_config.program}"},
            },
        },
        "tools": [{"name": "execute_code", "description": "Runs a Rust snippet that calls the tools of MCP servers"}],
        "tools_generated": True,
        "user_config": {"program": program},
        "compatibility": {"platforms": ["linux"]},
    }
    if repository:
        manifest |= {"homepage": repository, "repository": {"type": "git", "url": f"{repository}.git"}}
    write("bundle/manifest.json", manifest)
    write("bundle/server/start", start)
    write_documents("bundle")
    folder = results / "bundle"
    archive = results / f"toolsmith-{version}.mcpb"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (0o755 if path.name == "start" else 0o644) << 16
                packed.writestr(entry, path.read_bytes())
    return archive


def make_registry_entry(archive):
    """The entry for the MCP Registry: the npm package, and the bundle if its address is known."""
    argument = {"type": "positional", "value": "serve"}
    npm = {
        "registryType": "npm",
        "registryBaseUrl": "https://registry.npmjs.org",
        "identifier": PACKAGE,
        "version": version,
        "runtimeHint": "npx",
        "packageArguments": [argument],
        "transport": {"type": "stdio"},
    }
    entry = {
        "$schema": SCHEMA,
        "name": registry_name(),
        "title": "Toolsmith",
        "description": SUMMARY,
        "version": version,
        "packages": [npm],
    }
    if repository:
        entry["repository"] = {"url": repository, "source": "github"}
        entry["websiteUrl"] = repository
        bundle = {
            "registryType": "mcpb",
            "identifier": f"{repository}/releases/download/v{version}/{archive.name}",
            "fileSha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
            "transport": {"type": "stdio"},
        }
        entry["packages"].append(bundle)
    check_registry_entry(entry)
    write("server.json", entry)


def registry_name():
    """The name in the registry, which belongs to the repository's owner. `mcpName` of the npm package is the same."""
    found = re.fullmatch(r"https://github\.com/([^/]+)/([^/]+)", repository)
    return f"io.github.{found[1]}/{found[2]}" if found else f"local.{NAME}/{NAME}"


def check_registry_entry(entry):
    """Checks the rules of the registry's schema that an entry of this form can break."""
    rules = [
        ("name", re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"]) and 3 <= len(entry["name"]) <= 200),
        ("description", 1 <= len(entry["description"]) <= 100),
        ("title", 1 <= len(entry["title"]) <= 100),
        ("version", len(entry["version"]) <= 255 and not re.search(r"[\^~<>=*x]", entry["version"])),
        ("packages", all(re.fullmatch(r"[a-f0-9]{64}", p.get("fileSha256", "0" * 64)) for p in entry["packages"])),
        ("packages", all(p["identifier"] and p["transport"]["type"] == "stdio" for p in entry["packages"])),
    ]
    broken = [member for member, holds in rules if not holds]
    if broken:
        sys.exit(f"dist/packaging/plugins/make.py: the registry would refuse these members of server.json: {broken}")


make_plugin()
make_extension()
make_registry_entry(make_bundle())
