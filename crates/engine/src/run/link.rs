//! Whether imports fit what a module asks for (specification §3.5.2, §4.5.3).

use crate::facts::error::{Error, Result};
use crate::facts::module::{Import, ImportKind};
use crate::facts::types::{ExternType, TagType, TypeId};
use crate::run::externs::Extern;
use crate::run::handle::Module;
use crate::run::store::StoreOpaque;

/// Check every import's store and type.
///
/// # Errors
/// The first one that does not fit.
pub(crate) fn check_all(store: &StoreOpaque, module: &Module, imports: &[Extern]) -> Result<()> {
    let declared = &module.info().imports;
    if imports.len() != declared.len() {
        return Err(Error::mismatch(format!(
            "{} imports expected, {} given",
            declared.len(),
            imports.len()
        )));
    }
    let mut all = declared.iter().zip(imports);
    all.try_for_each(|(import, given)| check(store, module, import, given))
}

/// Check the store and the type of what is given for an import.
///
/// # Errors
/// Where it does not fit.
pub(crate) fn check(
    store: &StoreOpaque,
    module: &Module,
    import: &Import,
    given: &Extern,
) -> Result<()> {
    store.owns(given.store(), "import")?;
    let same_id = same_type_id(store, module, &import.kind, given);
    // Types are put into words where they are compared or shown, not for each function.
    if same_id == Some(true) {
        return Ok(());
    }
    let wanted = wanted_type(module, &import.kind);
    let given = given.ty_in(store);
    if same_id.unwrap_or_else(|| fits(&given, &wanted)) {
        return Ok(());
    }
    let message = format!("incompatible import type: {wanted} expected, {given} given");
    Err(Error::link(&import.module, &import.name, message))
}

/// The type that an import declares.
pub(crate) fn wanted_type(module: &Module, kind: &ImportKind) -> ExternType {
    match kind {
        ImportKind::Func(ty) => ExternType::Func(module.info().types[*ty as usize].clone()),
        ImportKind::Table(ty) => ExternType::Table(*ty),
        ImportKind::Memory(ty) => ExternType::Memory(*ty),
        ImportKind::Global(ty) => ExternType::Global(*ty),
        ImportKind::Tag(ty) => ExternType::Tag(TagType(module.info().types[*ty as usize].clone())),
    }
}

/// Whether a function or a tag has the type asked for, a function also one below it: by id,
/// for signatures that read the same may be of different recursive groups. Nothing for other items.
fn same_type_id(
    store: &StoreOpaque,
    module: &Module,
    wanted: &ImportKind,
    given: &Extern,
) -> Option<bool> {
    let numbers = &module.info().type_numbers;
    match (wanted, given) {
        (ImportKind::Func(ty), Extern::Func(func)) => {
            let wanted = TypeId::from_number(numbers[*ty as usize]);
            Some(func.type_id_in(store).is_subtype_of(wanted))
        }
        (ImportKind::Tag(ty), Extern::Tag(tag)) => Some(tag.type_number() == numbers[*ty as usize]),
        _ => None,
    }
}

fn fits(given: &ExternType, wanted: &ExternType) -> bool {
    match (given, wanted) {
        (ExternType::Global(given), ExternType::Global(wanted)) if wanted.mutable => {
            given == wanted
        }
        (ExternType::Global(given), ExternType::Global(wanted)) => {
            !given.mutable && given.content.is_subtype_of(wanted.content)
        }
        (ExternType::Memory(given), ExternType::Memory(wanted)) => {
            (given.memory64, given.shared) == (wanted.memory64, wanted.shared)
                && limits_fit(given.min, given.max, wanted.min, wanted.max)
        }
        (ExternType::Table(given), ExternType::Table(wanted)) => {
            (given.element, given.table64) == (wanted.element, wanted.table64)
                && limits_fit(given.min, given.max, wanted.min, wanted.max)
        }
        _ => false,
    }
}

fn limits_fit(min: u64, max: Option<u64>, wanted_min: u64, wanted_max: Option<u64>) -> bool {
    min >= wanted_min
        && match (max, wanted_max) {
            (_, None) => true,
            (Some(max), Some(wanted)) => max <= wanted,
            (None, Some(_)) => false,
        }
}
