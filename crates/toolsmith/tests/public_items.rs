//! The public items of this library, as a text that a change of them changes: a program that uses the library depends
//! on each line. Read from the sources, because rustdoc's JSON needs a nightly compiler.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Block, Field, Fields, File, ImplItem, Item, ItemImpl, ItemStruct, ItemUse, TraitItem, Type,
    UseTree, Visibility, parse_quote,
};

/// The crates of which items are re-exported, and their sources.
const REEXPORTED: [(&str, &str); 2] = [("runner", "../../runner/src"), ("snippet", "../snippet/src")];

#[test]
fn the_public_items_are_those_of_the_snapshot() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = parsed(&library.join("src/lib.rs"));
    let mut own = sources(&library.join("src"));
    let names: BTreeSet<String> =
        own.iter().flat_map(|file| &file.items).filter_map(name_if_public).collect();
    let mut items: Vec<Item> = own.iter_mut().flat_map(|file| public(file, &names)).collect();
    for (name, folder) in REEXPORTED {
        let names = root.items.iter().filter_map(|item| reexport(item, name)).flat_map(names_of).collect();
        let mut files = sources(&library.join(folder));
        items.extend(files.iter_mut().flat_map(|file| public(file, &names)).filter(|item| !is_use(item)));
    }
    let file = File { shebang: None, frontmatter: None, attrs: Vec::new(), items };
    assert_snapshot!(prettyplease::unparse(&file));
}

/// The types that cross threads do.
#[test]
fn futures_and_handles_can_be_sent() {
    fn sent<T: Send>() {}
    fn shared<T: Send + Sync + Clone>() {}
    shared::<toolsmith::Toolsmith>();
    shared::<toolsmith::Progress>();
    sent::<toolsmith::Execute<'_>>();
    sent::<<toolsmith::Execute<'_> as IntoFuture>::IntoFuture>();
    sent::<toolsmith::Events>();
    sent::<toolsmith::Error>();
}

fn parsed(path: &Path) -> File {
    syn::parse_file(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The files of a crate, by name.
fn sources(folder: &Path) -> Vec<File> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { paths.push(path) }
        }
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    paths.sort();
    paths.iter().map(|path| parsed(path)).collect()
}

/// The names that the library re-exports from a crate.
fn reexport<'a>(item: &'a Item, name: &str) -> Option<&'a UseTree> {
    let Item::Use(ItemUse { vis: Visibility::Public(_), tree: UseTree::Path(path), .. }) = item else {
        return None;
    };
    (path.ident == name).then_some(&*path.tree)
}

fn names_of(tree: &UseTree) -> Vec<String> {
    match tree {
        UseTree::Group(group) => group.items.iter().flat_map(names_of).collect(),
        UseTree::Name(name) => vec![name.ident.to_string()],
        other => panic!("a new form of re-export: {}", other.to_token_stream()),
    }
}

fn name_if_public(item: &Item) -> Option<String> {
    let (visibility, name) = match item {
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Trait(item) => (&item.vis, &item.ident),
        Item::Fn(item) => (&item.vis, &item.sig.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        Item::Const(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    is_public(visibility).then(|| name.to_string())
}

/// The public parts of a file's items with these names, without documentation and bodies.
fn public(file: &mut File, names: &BTreeSet<String>) -> Vec<Item> {
    std::mem::take(&mut file.items).into_iter().filter_map(|item| stripped(item, names)).collect()
}

fn stripped(mut item: Item, names: &BTreeSet<String>) -> Option<Item> {
    let is_named = name_if_public(&item).is_some_and(|name| names.contains(&name));
    match &mut item {
        Item::Use(item) if is_public(&item.vis) => strip(&mut item.attrs),
        Item::Mod(item) if is_public(&item.vis) => {
            strip(&mut item.attrs);
            item.content = None;
            item.semi = Some(Default::default());
        }
        Item::Impl(item) if concerns(item, names) => return of_impl(item.clone()).map(Item::Impl),
        Item::Struct(item) if is_named => {
            strip(&mut item.attrs);
            keep_public(&mut item.fields);
        }
        Item::Enum(item) if is_named => {
            strip(&mut item.attrs);
            for variant in &mut item.variants {
                strip(&mut variant.attrs);
                variant.fields.iter_mut().for_each(|field| strip(&mut field.attrs));
            }
        }
        Item::Trait(item) if is_named => {
            strip(&mut item.attrs);
            for item in &mut item.items {
                if let TraitItem::Fn(function) = item {
                    strip(&mut function.attrs);
                    function.default = function.default.as_ref().map(|_| nothing());
                }
            }
        }
        Item::Fn(item) if is_named => {
            strip(&mut item.attrs);
            *item.block = nothing();
        }
        Item::Type(item) if is_named => strip(&mut item.attrs),
        Item::Const(item) if is_named => strip(&mut item.attrs),
        _ => return None,
    }
    Some(item)
}

/// Whether an implementation belongs to one of these types, or names one in its trait.
fn concerns(item: &ItemImpl, names: &BTreeSet<String>) -> bool {
    let is_known = |of: &Type| match of {
        Type::Path(path) => {
            path.path.segments.last().is_some_and(|last| names.contains(&last.ident.to_string()))
        }
        _ => false,
    };
    let of_trait = item.trait_.as_ref().map(|(path, _)| path.to_token_stream().to_string());
    is_known(&item.self_ty) || of_trait.is_some_and(|text| text.split(' ').any(|word| names.contains(word)))
}

fn of_impl(mut item: ItemImpl) -> Option<ItemImpl> {
    strip(&mut item.attrs);
    let is_of_trait = item.trait_.is_some();
    item.items.retain(|member| match member {
        ImplItem::Type(_) => true,
        ImplItem::Fn(function) => !is_of_trait && is_public(&function.vis),
        _ => false,
    });
    for member in &mut item.items {
        if let ImplItem::Fn(function) = member {
            strip(&mut function.attrs);
            function.block = nothing();
        }
    }
    (is_of_trait || !item.items.is_empty()).then_some(item)
}

/// Leaves out private fields, but not that there are some.
fn keep_public(fields: &mut Fields) {
    let is_hidden = |field: &Field| !is_public(&field.vis);
    let has_hidden = fields.iter().any(is_hidden);
    fields.iter_mut().for_each(|field| strip(&mut field.attrs));
    let (shown, hidden): (&mut Punctuated<Field, _>, ItemStruct) = match fields {
        Fields::Named(fields) => (
            &mut fields.named,
            parse_quote!(
                struct Hidden {
                    private: (),
                }
            ),
        ),
        Fields::Unnamed(fields) => (
            &mut fields.unnamed,
            parse_quote!(
                struct Hidden(());
            ),
        ),
        Fields::Unit => return,
    };
    if has_hidden {
        let kept = std::mem::take(shown).into_iter().filter(|field| !is_hidden(field));
        *shown = kept.chain(hidden.fields).collect();
    }
}

/// Leaves the attributes that users of an item see.
fn strip(attributes: &mut Vec<Attribute>) {
    let seen = ["cfg", "deprecated", "derive", "must_use", "non_exhaustive"];
    attributes.retain(|attribute| seen.iter().any(|name| attribute.path().is_ident(name)));
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_use(item: &Item) -> bool {
    matches!(item, Item::Use(_) | Item::Mod(_))
}

fn nothing() -> Block {
    Block { brace_token: Default::default(), stmts: Vec::new() }
}
