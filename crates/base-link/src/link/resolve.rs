//! Finds the definition of each symbol: in the program's objects, in the base, or in a library.

use std::collections::HashMap;

use object::ReadRef;

use super::input::{Definition, Inputs, Members, Object, Section, SectionId, Symbol, shown};
use crate::symbols::{self, OF_THE_LINKER, Symbols};
use crate::{Result, malformed, unsupported};

/// Beginning of the names of symbols that each object defines weakly for unwinding, all alike.
const UNWINDING: &[u8] = b"DW.ref.";

/// A symbol that static executables do not have; the C library's entry point asks for it.
const DYNAMIC: &[u8] = b"_DYNAMIC";

/// The only one of [`OF_THE_LINKER`] that belongs to programs.
const MAIN: &[u8] = b"main";

/// The meaning of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Target {
    /// A place in a section of the program.
    Section { place: SectionId, value: u64 },
    /// An address, also one in the base.
    Address(u64),
    /// A thread-local variable of the base, by its distance from the thread pointer in bytes.
    ThreadLocal(i64),
}

/// Objects with the definitions of their symbols.
pub(super) struct Resolved<'a> {
    pub(super) objects: Vec<Object<'a>>,
    globals: HashMap<&'a [u8], Global>,
    /// The meanings of each object's symbols, by their numbers; `None` if unknown.
    targets: Vec<Vec<Option<Target>>>,
}

/// A symbol that is not local.
struct Global {
    target: Target,
    is_weak: bool,
}

impl<'a> Resolved<'a> {
    pub(super) fn section(&self, id: SectionId) -> &Section<'a> {
        &self.objects[id.object].sections[id.section]
    }

    /// A symbol that is not local.
    pub(super) fn global(&self, name: &[u8]) -> Option<Target> {
        self.globals.get(name).map(|global| global.target)
    }

    /// A symbol of an object, to which something retained refers.
    pub(super) fn target(&self, object: usize, symbol: usize) -> Result<Target> {
        let target = self.targets[object].get(symbol).ok_or_else(|| malformed("a relocation's symbol"))?;
        target.ok_or_else(|| {
            let name = shown(self.objects[object].symbols[symbol].name);
            unsupported(format!("no definition of {name}"))
        })
    }

    /// Returns the meaning of an object's symbol.
    fn meaning(&self, object: usize, symbol: &Symbol<'_>) -> Option<Target> {
        let is_of_entry = object == 0;
        if symbol.is_local {
            // The first symbol of each table has no name, and stands for 0 (ELF, "Symbol Table").
            let nothing = symbol.name.is_empty().then_some(Target::Address(0));
            return defined(object, symbol).or(nothing);
        }
        match self.global(symbol.name) {
            Some(target @ Target::Section { .. }) => Some(target),
            // A linker does not look for weak symbols in libraries, so a whole program might not have this one.
            _ if symbol.is_weak && symbol.definition == Definition::Elsewhere && !is_of_entry => None,
            None if is_of_entry && symbol.name == DYNAMIC => Some(Target::Address(0)),
            found => found,
        }
    }

    /// Adds an object's definitions.
    fn add(&mut self, object: Object<'a>, symbols: &Symbols<'_>) -> Result<()> {
        let number = self.objects.len();
        for symbol in object.symbols.iter().filter(|symbol| !symbol.is_local) {
            let Some(target) = defined(number, symbol) else { continue };
            let is_of_linker = OF_THE_LINKER.iter().any(|name| name.as_bytes() == symbol.name);
            // A name with a version defines the one without it, too.
            if is_of_linker && symbol.name != MAIN || symbol.name.contains(&b'@') {
                return Err(unsupported(format!("a definition of {}", shown(symbol.name))));
            }
            if let Some(of_base) = symbols.get(symbol.name) {
                if !symbol.is_weak || !symbol.name.starts_with(UNWINDING) {
                    return Err(unsupported(format!(
                        "{}, which the base has or looks for",
                        shown(symbol.name)
                    )));
                }
                self.add_of_base(symbol.name, of_base);
                continue;
            }
            let replaces = match self.globals.get(symbol.name) {
                None => true,
                Some(_) if symbol.is_weak => false,
                Some(known) if known.is_weak => true,
                Some(_) => return Err(unsupported(format!("two definitions of {}", shown(symbol.name)))),
            };
            if replaces {
                self.globals.insert(symbol.name, Global { target, is_weak: symbol.is_weak });
            }
        }
        self.objects.push(object);
        Ok(())
    }
}

impl<'a> Resolved<'a> {
    /// Adds a symbol of the base, unless the base does not define it.
    fn add_of_base(&mut self, name: &'a [u8], symbol: symbols::Symbol) {
        let target = match symbol {
            symbols::Symbol::Address(address) => Target::Address(address),
            symbols::Symbol::ThreadLocal(distance) => Target::ThreadLocal(distance),
            symbols::Symbol::Undefined => return,
        };
        self.globals.insert(name, Global { target, is_weak: false });
    }
}

fn defined(object: usize, symbol: &Symbol<'_>) -> Option<Target> {
    match symbol.definition {
        Definition::Elsewhere => None,
        Definition::Absolute => Some(Target::Address(symbol.value)),
        Definition::Section(section) => {
            Some(Target::Section { place: SectionId { object, section }, value: symbol.value })
        }
    }
}

/// Reads the objects, and those members of libraries that they need.
pub(super) fn resolve<'a, R: ReadRef<'a>>(
    inputs: &Inputs<'a, R>,
    symbols: &Symbols<'_>,
) -> Result<Resolved<'a>> {
    let machine = symbols.machine();
    let members = Members::read(inputs.libraries)?;
    let mut program = Resolved { objects: Vec::new(), globals: HashMap::new(), targets: Vec::new() };
    for object in [&inputs.entry].into_iter().chain(inputs.objects) {
        program.add(Object::read(object, machine)?, symbols)?;
    }
    let mut next = 0;
    while let Some(object) = program.objects.get(next) {
        for symbol in wanted(object) {
            if program.globals.contains_key(symbol.name) {
                continue;
            }
            if let Some(of_base) = symbols.get(symbol.name) {
                program.add_of_base(symbol.name, of_base);
            } else if !symbol.is_weak
                && let Some(member) = members.get(symbol.name)?
            {
                program.add(Object::read(member, machine)?, symbols)?;
            }
        }
        next += 1;
    }
    program.targets = program
        .objects
        .iter()
        .enumerate()
        .map(|(number, object)| object.symbols.iter().map(|symbol| program.meaning(number, symbol)).collect())
        .collect();
    Ok(program)
}

/// The symbols that other inputs define.
fn wanted<'a>(object: &Object<'a>) -> Vec<Symbol<'a>> {
    let is_wanted = |symbol: &&Symbol<'_>| !symbol.is_local && symbol.definition == Definition::Elsewhere;
    object.symbols.iter().filter(is_wanted).copied().collect()
}
