//! The caches of package managers that start servers, such as `npx` and `uvx`.
//!
//! Each server has its own. A server may replace the packages in its cache, and so what another server, or an unconfined
//! program of the user, would later execute from a cache that they share.

use std::path::{Path, PathBuf};

/// A variable that names a folder of a package manager, and the folder in a server's private one.
type Cache = (&'static str, &'static str);

/// Package managers by their programs, with their caches.
const MANAGERS: &[(&[&str], &[Cache])] = &[
    (&["npx", "npm"], &[("npm_config_cache", "npm")]),
    (
        &["pnpm", "pnpx"],
        &[
            ("npm_config_cache_dir", "pnpm/cache"),
            ("npm_config_store_dir", "pnpm/store"),
            ("npm_config_state_dir", "pnpm/state"),
        ],
    ),
    (&["yarn", "yarnpkg"], &[("YARN_CACHE_FOLDER", "yarn/cache"), ("YARN_GLOBAL_FOLDER", "yarn/global")]),
    (&["bun", "bunx"], &[("BUN_INSTALL_CACHE_DIR", "bun")]),
    (&["deno"], &[("DENO_DIR", "deno")]),
    (
        &["uv", "uvx"],
        &[("UV_CACHE_DIR", "uv/cache"), ("UV_TOOL_DIR", "uv/tools"), ("UV_TOOL_BIN_DIR", "uv/bin")],
    ),
    (&["pipx"], &[("PIPX_HOME", "pipx/home"), ("PIPX_BIN_DIR", "pipx/bin"), ("PIP_CACHE_DIR", "pip")]),
    (&["go"], &[("GOPATH", "go/path"), ("GOCACHE", "go/cache")]),
];

/// Options of package managers that name a folder with a project.
const FOLDER_OPTIONS: &[&str] = &["--directory", "--project", "--prefix", "--dir", "-C", "--from"];

/// The variables of a command's caches, with their folders in a private one. Empty for a command that has none.
pub(crate) fn caches(program: &str) -> &'static [Cache] {
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let of = MANAGERS.iter().find(|(names, _)| names.contains(&name));
    of.map_or(&[], |(_, variables)| variables)
}

/// Where `uv` keeps the Pythons that it has installed for this user. Servers read them.
pub(crate) fn pythons(home: &Path) -> PathBuf {
    home.join(".local/share/uv/python")
}

/// The folders of projects that a package manager's arguments name.
pub(crate) fn projects<'a>(args: &'a [String], folder: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
    let named = args.iter().enumerate().filter_map(|(index, arg)| {
        let option = FOLDER_OPTIONS.iter().copied().find(|option| arg.starts_with(option))?;
        match &arg[option.len()..] {
            "" => args.get(index + 1).map(String::as_str),
            value => value.strip_prefix('='),
        }
    });
    named.map(|project| folder.join(project)).filter(|project| project.is_dir())
}
