//! The code that would be made of a module, listed.

use super::{Around, Module, budget, inlinable, missing_feature, module_env, plans};
use crate::compile::{self, Listing};
use crate::facts::error::Result;
use crate::facts::module::decode;
use crate::facts::vmctx::VmLayout;
use crate::run::engine::Engine;

impl Module {
    /// The machine code of functions by their indices, or of all that are defined, beside
    /// the Wasm it stems from.
    ///
    /// # Errors
    /// As [`Module::new`], and where the host's code cannot be disassembled.
    pub fn disassemble(engine: &Engine, wasm: &[u8], only: Option<&[u32]>) -> Result<Vec<Listing>> {
        Module::disassemble_each(engine, wasm, only, |listing| listing)
    }

    /// As [`Module::disassemble`], where of each function only what `each` makes of it is wanted:
    /// a listing takes hundreds of bytes for each instruction. It is called by several threads.
    ///
    /// # Errors
    /// As [`Module::disassemble`].
    pub fn disassemble_each<T: Send>(
        engine: &Engine,
        wasm: &[u8],
        only: Option<&[u32]>,
        each: impl Fn(Listing) -> T + Send + Sync,
    ) -> Result<Vec<T>> {
        let features = engine.config().features;
        let listings = || {
            let (info, bodies) = decode(wasm, features)?;
            let around = Around {
                info: &info,
                layout: &VmLayout::new(&info),
                plans: &plans(engine, &info)?,
                inlinable: &inlinable(engine, &info, &bodies),
                budget: &budget(engine, &bodies),
                countdowns: None,
                wasm,
            };
            let env = module_env(engine, &around);
            compile::listings(&env, bodies, only, engine.llvm(), each)
        };
        let listings = compile::by_threads(engine.config().end_threads, listings).flatten();
        listings.map_err(|error| missing_feature(error, wasm, features))
    }
}
