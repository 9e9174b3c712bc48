//! Whether imports fit what a module asks for (specification §3.5.2, §4.5.3).

use crate::error::{Error, Result};
use crate::externs::Extern;
use crate::module::{ImportKind, Module};
use crate::store::StoreOpaque;
use crate::types::ExternType;

/// Check every import's store and type.
///
/// # Errors
/// The first one that does not fit.
pub(crate) fn check(store: &StoreOpaque, module: &Module, imports: &[Extern]) -> Result<()> {
    let declared = &module.info().imports;
    if imports.len() != declared.len() {
        return Err(Error::mismatch(format!(
            "{} imports expected, {} given",
            declared.len(),
            imports.len()
        )));
    }
    for (import, given) in declared.iter().zip(imports) {
        store.owns(given.store(), "import")?;
        let wanted = wanted_type(module, &import.kind);
        let given = given.ty_in(store);
        if !fits(&given, &wanted) {
            let message = format!("incompatible import type: {wanted} expected, {given} given");
            return Err(Error::link(&import.module, &import.name, message));
        }
    }
    Ok(())
}

/// The type that an import declares.
pub(crate) fn wanted_type(module: &Module, kind: &ImportKind) -> ExternType {
    match kind {
        ImportKind::Func(ty) => ExternType::Func(module.info().types[*ty as usize].clone()),
        ImportKind::Table(ty) => ExternType::Table(*ty),
        ImportKind::Memory(ty) => ExternType::Memory(*ty),
        ImportKind::Global(ty) => ExternType::Global(*ty),
    }
}

fn fits(given: &ExternType, wanted: &ExternType) -> bool {
    match (given, wanted) {
        (ExternType::Func(given), ExternType::Func(wanted)) => given == wanted,
        (ExternType::Global(given), ExternType::Global(wanted)) => given == wanted,
        (ExternType::Memory(given), ExternType::Memory(wanted)) => {
            limits_fit(given.min, given.max, wanted.min, wanted.max)
        }
        (ExternType::Table(given), ExternType::Table(wanted)) => {
            given.element == wanted.element
                && limits_fit(given.min, given.max, wanted.min, wanted.max)
        }
        _ => false,
    }
}

fn limits_fit<N: PartialOrd>(min: N, max: Option<N>, wanted_min: N, wanted_max: Option<N>) -> bool {
    min >= wanted_min
        && match (max, wanted_max) {
            (_, None) => true,
            (Some(max), Some(wanted)) => max <= wanted,
            (None, Some(_)) => false,
        }
}
