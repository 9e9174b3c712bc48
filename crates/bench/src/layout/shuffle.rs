//! A module's functions in another order: the layout of everybody's code, drawn anew.
//!
//! ```text
//!  types | imports | f0 f1 f2 f3 | … call 2 … | code of f0 f1 f2 f3
//!                       ▼ the round's seed
//!  types | imports | f2 f0 f3 f1 | … call 0 … | code of f2 f0 f3 f1
//! ```
//!
//! Compilers lay out functions in the module's order, so in another order each begins at
//! another address: another line of cache, another page, other neighbours in the branch
//! predictor. No engine has to be told how. The program stays the same: each index of a
//! function is written anew, and nothing in a program's meaning depends on an index.
//!
//! What must stay true: a module that cannot be read, or in which something beside the known
//! sections counts functions or places in their code, is left as it is, and the campaign says
//! that its layouts are fixed.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use fathom_sys::regular;
use wasm_encoder::{
    CodeSection, FunctionSection, IndirectNameMap, Module, NameMap, NameSection,
    reencode::{Error, Reencode, utils},
};
use wasmparser::{CodeSectionReader, FunctionBody, FunctionSectionReader, Name, Parser, Payload};

use crate::plan::Random;

/// Where a shuffled module is in the scratch folder.
const FOLDER: &str = "shuffled";
/// What the names of custom sections begin with that speak of places in code.
const OF_PLACES: &str = "metadata.code.";

/// Whether the functions of a module can be put in another order: there are two at least,
/// and it is known where they are counted.
pub(crate) fn can_shuffle(module: &[u8]) -> bool {
    let mut functions = 0;
    for payload in Parser::new(0).parse_all(module) {
        match payload {
            Ok(Payload::CodeSectionStart { count, .. }) => functions = count,
            Ok(Payload::CustomSection(section)) if section.name().starts_with(OF_PLACES) => {
                return false;
            }
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    functions > 1 && shuffle(module, 1).is_some()
}

/// The same program with its functions in the order that the seed says; nothing if it
/// cannot be read.
pub(crate) fn shuffle(module: &[u8], seed: u64) -> Option<Vec<u8>> {
    let mut order = Order::read(module, seed)?;
    let mut shuffled = Module::new();
    order
        .parse_core_module(&mut shuffled, Parser::new(0), module)
        .ok()?;
    Some(shuffled.finish())
}

/// Puts a shuffled copy of a module into the scratch folder, under the name it has: programs
/// see it as their own.
pub(crate) fn place(module: &Path, seed: u64, scratch: &Path) -> io::Result<PathBuf> {
    let unreadable = || io::Error::new(io::ErrorKind::InvalidData, "not a module any more");
    let shuffled = shuffle(&regular::read(module)?, seed).ok_or_else(unreadable)?;
    let folder = scratch.join(FOLDER);
    fs::create_dir_all(&folder)?;
    let copy = folder.join(module.file_name().ok_or_else(unreadable)?);
    fs::write(&copy, shuffled)?;
    Ok(copy)
}

/// Where each function comes to lie.
struct Order {
    /// Functions before those that the module has itself.
    imported: u32,
    /// The old position of each new one.
    from: Vec<usize>,
    /// The new position of each old one.
    to: Vec<u32>,
}

impl Order {
    fn read(module: &[u8], seed: u64) -> Option<Order> {
        let (mut imported, mut own) = (0, 0);
        for payload in Parser::new(0).parse_all(module) {
            match payload.ok()? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        let is_function = matches!(
                            import.ok()?.ty,
                            wasmparser::TypeRef::Func(_) | wasmparser::TypeRef::FuncExact(_)
                        );
                        imported += u32::from(is_function);
                    }
                }
                Payload::FunctionSection(functions) => own = functions.count() as usize,
                _ => {}
            }
        }
        let mut from: Vec<usize> = (0..own).collect();
        Random::new(seed).shuffle(&mut from);
        let mut to = vec![0; own];
        for (new, &old) in from.iter().enumerate() {
            to[old] = u32::try_from(new).ok()?;
        }
        Some(Order { imported, from, to })
    }

    /// What a list of one thing a function is in the new order; nothing if it is too short.
    fn put<T>(&self, list: Vec<T>) -> Result<Vec<T>, Error<NotOne>> {
        let mut list: Vec<Option<T>> = list.into_iter().map(Some).collect();
        let mut take = |&old: &usize| list.get_mut(old).and_then(Option::take);
        let put: Option<Vec<T>> = self.from.iter().map(&mut take).collect();
        put.ok_or(Error::UserError(NotOne))
    }

    fn name_map(&mut self, names: wasmparser::NameMap<'_>) -> Result<NameMap, Error<NotOne>> {
        let mut all = Vec::new();
        for naming in names {
            let naming = naming?;
            all.push((self.function_index(naming.index)?, naming.name));
        }
        all.sort_by_key(|(index, _)| *index);
        let mut map = NameMap::new();
        all.iter()
            .for_each(|(index, name)| map.append(*index, name));
        Ok(map)
    }

    fn indirect(
        &mut self,
        names: wasmparser::IndirectNameMap<'_>,
    ) -> Result<IndirectNameMap, Error<NotOne>> {
        let mut all = Vec::new();
        for naming in names {
            let naming = naming?;
            let mut map = NameMap::new();
            for inner in naming.names {
                let inner = inner?;
                map.append(inner.index, inner.name);
            }
            all.push((self.function_index(naming.index)?, map));
        }
        all.sort_by_key(|(index, _)| *index);
        let mut map = IndirectNameMap::new();
        all.iter()
            .for_each(|(index, names)| map.append(*index, names));
        Ok(map)
    }
}

/// There are not as many types of functions as bodies, or a function is named that is not.
#[derive(Debug)]
struct NotOne;

impl Reencode for Order {
    type Error = NotOne;

    fn function_index(&mut self, function: u32) -> Result<u32, Error<NotOne>> {
        let Some(own) = function.checked_sub(self.imported) else {
            return Ok(function);
        };
        let new = self.to.get(own as usize).ok_or(Error::UserError(NotOne))?;
        Ok(self.imported + new)
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error<NotOne>> {
        let types: Result<Vec<u32>, _> = section.into_iter().collect();
        for function in self.put(types?)? {
            functions.function(self.type_index(function)?);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error<NotOne>> {
        let bodies: Result<Vec<FunctionBody<'_>>, _> = section.into_iter().collect();
        for body in self.put(bodies?)? {
            self.parse_function_body(code, body)?;
        }
        Ok(())
    }

    fn parse_custom_name_subsection(
        &mut self,
        names: &mut NameSection,
        section: Name<'_>,
    ) -> Result<(), Error<NotOne>> {
        // Names must come in the order of what they name.
        match section {
            Name::Function(map) => names.functions(&self.name_map(map)?),
            Name::Local(map) => names.locals(&self.indirect(map)?),
            Name::Label(map) => names.labels(&self.indirect(map)?),
            other => return utils::parse_custom_name_subsection(self, names, other),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
