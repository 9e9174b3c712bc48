//! A module that is loaded, compiled and instantiated as another, and then does nothing.
//!
//! ```text
//!  functions f0 … fn     export _start = fk        the program
//!  functions f0 … fn, g  export _start = g         g is empty
//! ```
//!
//! What an engine takes for one, from its start to its end, is what it takes for the other
//! but for the run. What must stay true: everything else is left as it was, byte for byte,
//! so that every function keeps its number.

use wasm_encoder::{
    CodeSection, ExportSection, Function, FunctionSection, Instruction, Module, NameMap,
    NameSection,
    reencode::{Error, Reencode, utils},
};
use wasmparser::{
    CodeSectionReader, ExportSectionReader, ExternalKind, FunctionSectionReader, Name, Parser,
    Payload, TypeRef,
};

/// What is called to run a command (WASI, `design/application-abi.md`).
const START: &str = "_start";
/// What the program's own is named instead, with as many bytes: wasm3 looks for what is
/// exported among names, too, and would find it there.
const RENAMED: &str = "_begin";

/// The module that does nothing; nothing for one that cannot be read, or that has no
/// function of its own to start with.
pub(crate) fn empty_start(module: &[u8]) -> Option<Vec<u8>> {
    let mut change = Change::read(module)?;
    let mut empty_start = Module::new();
    let parsed = change.parse_core_module(&mut empty_start, Parser::new(0), module);
    parsed.ok()?;
    Some(empty_start.finish())
}

/// Where the empty function comes.
struct Change {
    /// Its number, behind all others.
    index: u32,
    /// Its type: that of what it stands for.
    ty: u32,
}

impl Change {
    fn read(module: &[u8]) -> Option<Change> {
        let (mut imported, mut types, mut start) = (0, Vec::new(), None);
        for payload in Parser::new(0).parse_all(module) {
            match payload.ok()? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        let ty = import.ok()?.ty;
                        let is_function = matches!(ty, TypeRef::Func(_) | TypeRef::FuncExact(_));
                        imported += u32::from(is_function);
                    }
                }
                Payload::FunctionSection(functions) => {
                    types = functions.into_iter().collect::<Result<_, _>>().ok()?;
                }
                Payload::ExportSection(exports) => {
                    for export in exports {
                        let export = export.ok()?;
                        let is_start = export.name == START && export.kind == ExternalKind::Func;
                        start = is_start.then_some(export.index).or(start);
                    }
                }
                _ => {}
            }
        }
        let own = start?.checked_sub(imported)?;
        Some(Change {
            index: imported + u32::try_from(types.len()).ok()?,
            ty: *types.get(own as usize)?,
        })
    }
}

/// Nothing goes wrong here that is not the module's fault.
#[derive(Debug)]
enum Never {}

impl Reencode for Change {
    type Error = Never;

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error<Never>> {
        utils::parse_function_section(self, functions, section)?;
        functions.function(self.ty);
        Ok(())
    }

    fn parse_export_section(
        &mut self,
        exports: &mut ExportSection,
        section: ExportSectionReader<'_>,
    ) -> Result<(), Error<Never>> {
        for export in section {
            let mut export = export?;
            if export.name == START {
                export.index = self.index;
            }
            self.parse_export(exports, export)?;
        }
        Ok(())
    }

    fn parse_custom_name_subsection(
        &mut self,
        names: &mut NameSection,
        section: Name<'_>,
    ) -> Result<(), Error<Never>> {
        let Name::Function(all) = section else {
            return utils::parse_custom_name_subsection(self, names, section);
        };
        let mut renamed = NameMap::new();
        for one in all {
            let one = one?;
            let name = if one.name == START { RENAMED } else { one.name };
            renamed.append(one.index, name);
        }
        names.functions(&renamed);
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error<Never>> {
        utils::parse_code_section(self, code, section)?;
        let mut empty = Function::new([]);
        empty.instruction(&Instruction::End);
        code.function(&empty);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use fathom_engine::{Caller, Config, Engine, Linker, Module, Store};

    use super::*;

    /// Whether a function of a module returns.
    fn returns(wasm: &[u8], name: &str) -> bool {
        let engine = Engine::new(&Config::new()).unwrap();
        let module = Module::new(&engine, wasm).unwrap();
        let mut linker = Linker::new(&engine);
        let called = |_: Caller<'_, ()>| {};
        linker.func_wrap("host", "called", called).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = linker.instantiate(&mut store, &module).unwrap();
        let func = instance.get_func(&store, name).unwrap();
        func.call(&mut store, &[], &mut []).is_ok()
    }

    #[test]
    fn what_is_started_does_nothing_and_all_else_stays() {
        let program = wat::parse_str(
            r#"(module
              (type $other (func (param i32) (result i32)))
              (import "host" "called" (func $called))
              (table (export "table") funcref (elem $one $_start))
              (memory (export "memory") 1)
              (data (i32.const 8) "kept")
              (func $one (type $other) (local.get 0))
              (func $_start (export "_start") (export "again") (call $called) (unreachable)))"#,
        )
        .unwrap();
        let not_run = empty_start(&program).unwrap();
        assert!(!returns(&program, "_start") && returns(&not_run, "_start"));
        // The same function under another name is still the program.
        assert!(!returns(&not_run, "again"));
        // An index, a type, an empty body more; no more than that.
        assert!(not_run.len() <= program.len() + 8, "{}", not_run.len());
        assert!(not_run.windows(4).any(|bytes| bytes == b"kept"));
        // One export, and no function that is named so.
        let starts = not_run.windows(6).filter(|bytes| bytes == b"_start");
        assert_eq!(starts.count(), 1);
    }

    #[test]
    fn what_has_no_start_of_its_own_is_refused() {
        for text in [
            "(module)",
            "(module (memory (export \"_start\") 1))",
            "(module (func (export \"start\")))",
            "(module (import \"a\" \"b\" (func $f)) (export \"_start\" (func $f)))",
        ] {
            assert_eq!(empty_start(&wat::parse_str(text).unwrap()), None, "{text}");
        }
        assert_eq!(empty_start(b"\0asm\x01\0\0\0\x01"), None);
        assert_eq!(empty_start(b"no module"), None);
    }
}
