//! Lists the components of a bundle as CycloneDX: the compiler and the crates for snippets. The list of the program's
//! own crates comes from the caller, because only the build of the program knows it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use runner::{LayerCrate, Toolchain};
use serde::Serialize;

use crate::error::{Result, at, failed};
use crate::folders;

/// The folder in a bundle.
pub(crate) const LISTS: &str = "share/sbom";
/// The list of what snippets are compiled with and against.
const OWN: &str = "snippets.cdx.json";
/// The version of the format.
const VERSION: &str = "1.5";

/// A list of components, without time and serial number, so that equal bundles have equal lists.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    bom_format: &'static str,
    spec_version: &'static str,
    version: u32,
    metadata: Metadata<'a>,
    components: Vec<Component<'a>>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    component: Component<'a>,
}

#[derive(Serialize)]
struct Component<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "bom-ref")]
    reference: String,
    name: &'a str,
    version: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hashes: Vec<Hash<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    licenses: Vec<Licence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    purl: Option<String>,
}

#[derive(Serialize)]
struct Hash<'a> {
    alg: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Licence {
    expression: String,
}

impl<'a> Component<'a> {
    fn own(kind: &'static str, name: &'a str, version: &'a str) -> Self {
        // Toolsmith's and Rust's.
        let licenses = vec![Licence { expression: "MIT OR Apache-2.0".to_owned() }];
        let reference = format!("{name}@{version}");
        Component { kind, reference, name, version, hashes: Vec::new(), licenses, purl: None }
    }

    fn of_crate(one: &'a LayerCrate) -> Self {
        let LayerCrate { name, version, licence, sha256, .. } = one;
        let purl = format!("pkg:cargo/{name}@{version}");
        Component {
            kind: "library",
            reference: purl.clone(),
            name,
            version,
            hashes: vec![Hash { alg: "SHA-256", content: sha256 }],
            // Old manifests separate alternatives with a slash, which is not SPDX.
            licenses: licence.iter().map(|text| Licence { expression: text.replace('/', " OR ") }).collect(),
            purl: Some(purl),
        }
    }
}

/// Writes the list of what snippets are compiled with, and copies the `given` ones, into the bundle in `root`.
pub(crate) fn write(
    root: &Path,
    version: &str,
    toolchain: &Toolchain,
    crates: &[LayerCrate],
    given: &[PathBuf],
) -> Result<()> {
    let to = root.join(LISTS);
    folders::write_file(&to.join(OWN), list(version, toolchain, crates)?)?;
    for path in given {
        copy(path, &to)?;
    }
    Ok(())
}

fn list(version: &str, toolchain: &Toolchain, crates: &[LayerCrate]) -> Result<String> {
    let compiler = toolchain.name().strip_prefix("rustc ").unwrap_or(toolchain.name());
    let compiler = compiler.split(' ').next().unwrap_or_default();
    let components = [Component::own("application", "rustc", compiler)].into_iter();
    let list = List {
        bom_format: "CycloneDX",
        spec_version: VERSION,
        version: 1,
        metadata: Metadata { component: Component::own("application", "toolsmith-bundle", version) },
        components: components.chain(crates.iter().map(Component::of_crate)).collect(),
    };
    let text = serde_json::to_string_pretty(&list);
    text.map_err(|error| failed(format!("the list of components can't be written: {error}")))
}

/// Copies a list of components, if it is one.
fn copy(path: &Path, to: &Path) -> Result<()> {
    let (name, text) = read(path)?;
    folders::write_file(&to.join(name), text)
}

/// Checks that these lists can be in one bundle.
pub(crate) fn check(lists: &[PathBuf]) -> Result<()> {
    let mut names = BTreeSet::from([OsStr::new(OWN)]);
    for path in lists {
        let (name, _) = read(path)?;
        if !names.insert(name) {
            let message =
                format!("the bundle has another list named {}: rename {}", name.display(), path.display());
            return Err(failed(message));
        }
    }
    Ok(())
}

/// The name and the text of a list.
fn read(path: &Path) -> Result<(&OsStr, Vec<u8>)> {
    let text = fs_err::read(path).map_err(at(path))?;
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(at(path))?;
    match path.file_name() {
        Some(name) if value["bomFormat"] == "CycloneDX" => Ok((name, text)),
        _ => Err(failed(format!("{} is not a list of components in CycloneDX's JSON", path.display()))
            .hint("`cargo cyclonedx --format json` writes one")),
    }
}

#[cfg(test)]
mod tests {
    use runner::Origin;

    use super::*;

    fn toolchain() -> Toolchain {
        let none = PathBuf::new();
        Toolchain {
            rustc: none.clone(),
            cargo: none.clone(),
            sysroot: none.clone(),
            linker: none,
            version: "rustc 1.95.0 (59807616e 2026-04-14)\nbinary: rustc\n".to_owned(),
            origin: Origin::RustupDefault,
        }
    }

    #[test]
    fn the_list_names_the_compiler_and_each_crate_with_licence_and_hash() {
        let one = LayerCrate {
            name: "one".to_owned(),
            version: "1.2.3".to_owned(),
            licence: Some("MIT/Apache-2.0".to_owned()),
            sha256: "ab".to_owned(),
            sources: PathBuf::new(),
        };
        let text = list("0.1.0", &toolchain(), &[one]).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["bomFormat"], &value["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
        let [compiler, one] = &value["components"].as_array().unwrap()[..] else { panic!("{text}") };
        assert_eq!((&compiler["name"], &compiler["version"]), (&"rustc".into(), &"1.95.0".into()));
        assert_eq!(one["purl"], "pkg:cargo/one@1.2.3");
        assert_eq!(one["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(one["hashes"][0]["content"], "ab");
    }

    #[test]
    fn only_lists_of_components_are_copied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program.cdx.json");
        fs_err::write(&path, "{}").unwrap();
        assert!(copy(&path, folder.path()).is_err());
        fs_err::write(&path, "{\"bomFormat\":\"CycloneDX\"}").unwrap();
        let to = folder.path().join("to");
        copy(&path, &to).unwrap();
        assert!(to.join("program.cdx.json").is_file());
    }
}
