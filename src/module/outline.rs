//! The outline of a module: what stands in front of its code, and the names of what
//! stands behind it. Sections are stepped over by their sizes; none is validated.

use std::fmt;
use std::ops::Range;

use wasmparser::{
    BinaryReader, CodeSectionReader, CompositeInnerType, ExportSectionReader, ExternalKind,
    FuncType, ImportSectionReader, Operator, Parser, TypeRef, TypeSectionReader, ValType,
};

/// What is in front of the first section: the magic number and the version.
const HEAD: &[u8] = b"\0asm\x01\0\0\0";
const HEAD_BYTES: usize = HEAD.len();
/// Numbers of sections (core specification §5.5.2).
const CUSTOM: u8 = 0;
const TYPES: u8 = 1;
const IMPORTS: u8 = 2;
const EXPORTS: u8 = 7;
const CODE: u8 = 10;
const TAGS: u8 = 13;

/// What a module asks for and offers.
#[derive(Debug, Default)]
pub struct Outline<'a> {
    pub imports: Vec<Import<'a>>,
    /// Names of exported functions.
    pub functions: Vec<&'a str>,
    /// Names of custom sections.
    pub customs: Vec<&'a str>,
    /// Whether it declares structs or arrays.
    pub has_gc: bool,
    /// Whether it has tags, which exceptions need.
    pub has_tags: bool,
    /// Where it ends too early.
    pub cut: Option<Cut>,
    /// Whether a section cannot be found, so that what stands behind it is unknown.
    pub is_malformed: bool,
    code: Option<Range<usize>>,
}

/// What a module imports.
#[derive(Clone, Debug)]
pub struct Import<'a> {
    pub module: &'a str,
    pub name: &'a str,
    /// The type of a function, where it is one.
    pub func: Option<FuncType>,
    memory: Option<bool>,
}

impl Import<'_> {
    /// Whether programs are given this: a function of WASI, a memory that threads share.
    pub fn is_given(&self) -> bool {
        self.memory == Some(true)
            || (self.module, self.name) == super::THREADS
            || fathom_wasi::defines(self.module, self.name)
    }

    pub fn is_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Whether it is a function that takes so many `i32` and returns nothing.
    pub fn takes_i32(&self, count: usize) -> bool {
        self.func.as_ref().is_some_and(|ty| {
            ty.results().is_empty()
                && ty.params().len() == count
                && ty.params().iter().all(|param| *param == ValType::I32)
        })
    }
}

impl Outline<'_> {
    /// Whether a memory comes from the host that threads share.
    pub fn has_shared_memory(&self) -> bool {
        let mut imports = self.imports.iter();
        imports.any(|import| import.memory == Some(true))
    }
}

/// A file that ends in the middle of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Bytes there are.
    have: usize,
    /// Bytes there would be at least.
    need: usize,
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cut { have, need } = self;
        write!(
            f,
            "it is cut off: of at least {need} bytes, {have} are here; was it copied whole?"
        )
    }
}

impl<'a> Outline<'a> {
    /// Of a binary. What is malformed is left out: the engine says what is wrong with it.
    pub fn of(wasm: &'a [u8]) -> Outline<'a> {
        let mut outline = Outline::default();
        let mut types = Vec::new();
        let mut at = HEAD_BYTES.min(wasm.len());
        if wasm.len() < HEAD_BYTES {
            outline.cut = Some(Cut {
                have: wasm.len(),
                need: HEAD_BYTES,
            });
        }
        // Of another version nothing is known.
        let is_other = wasm.get(..HEAD_BYTES).is_some_and(|head| head != HEAD);
        if is_other && !Parser::is_component(wasm) {
            outline.is_malformed = true;
            return outline;
        }
        while at < wasm.len() {
            let mut head = BinaryReader::new(&wasm[at..], at as u64);
            let (Ok(id), Ok(size)) = (head.read_u8(), head.read_var_u32()) else {
                outline.is_malformed = true;
                break;
            };
            let start = head.original_position() as usize;
            let end = start + size as usize;
            let Some(section) = wasm.get(start..end) else {
                // A size that no file has is no cut.
                outline.cut = (id <= TAGS).then_some(Cut {
                    have: wasm.len(),
                    need: end,
                });
                outline.is_malformed = true;
                break;
            };
            let reader = BinaryReader::new(section, start as u64);
            match id {
                CUSTOM => outline.custom(reader),
                TYPES => types = outline.types(reader),
                IMPORTS => outline.imports(reader, &types),
                EXPORTS => outline.exports(reader),
                TAGS => outline.has_tags = true,
                CODE => outline.code = Some(start..end),
                _ => {}
            }
            at = end;
        }
        outline
    }

    fn custom(&mut self, mut reader: BinaryReader<'a>) {
        self.customs.extend(reader.read_string().ok());
    }

    /// Each by its index; of what is no function's type, nothing is kept.
    fn types(&mut self, reader: BinaryReader<'a>) -> Vec<Option<FuncType>> {
        let mut types = Vec::new();
        let Ok(section) = TypeSectionReader::new(reader) else {
            return types;
        };
        for ty in section
            .into_iter()
            .map_while(Result::ok)
            .flat_map(|group| group.into_types())
        {
            types.push(match ty.composite_type.inner {
                CompositeInnerType::Func(func) => Some(func),
                CompositeInnerType::Array(_) | CompositeInnerType::Struct(_) => {
                    self.has_gc = true;
                    None
                }
                CompositeInnerType::Cont(_) => None,
            });
        }
        types
    }

    fn imports(&mut self, reader: BinaryReader<'a>, types: &[Option<FuncType>]) {
        let Ok(section) = ImportSectionReader::new(reader) else {
            return;
        };
        for import in section.into_imports().map_while(Result::ok) {
            self.has_tags |= matches!(import.ty, TypeRef::Tag(_));
            self.imports.push(Import {
                module: import.module,
                name: import.name,
                func: match import.ty {
                    TypeRef::Func(ty) | TypeRef::FuncExact(ty) => {
                        types.get(ty as usize).cloned().flatten()
                    }
                    _ => None,
                },
                memory: match import.ty {
                    TypeRef::Memory(ty) => Some(ty.shared),
                    _ => None,
                },
            });
        }
    }

    fn exports(&mut self, reader: BinaryReader<'a>) {
        let Ok(section) = ExportSectionReader::new(reader) else {
            return;
        };
        let exports = section.into_iter().map_while(Result::ok);
        let functions = exports
            .filter(|export| matches!(export.kind, ExternalKind::Func | ExternalKind::FuncExact));
        self.functions.extend(functions.map(|export| export.name));
    }

    /// Whether the first `try` of its code is one of those before WebAssembly 3.0. Hardly a
    /// module has both, so that this looks no further: of one that has the engine tells it.
    pub fn has_old_exceptions(&self, wasm: &'a [u8]) -> bool {
        let Some(code) = self.code.clone() else {
            return false;
        };
        let reader = BinaryReader::new(&wasm[code.clone()], code.start as u64);
        let Ok(section) = CodeSectionReader::new(reader) else {
            return false;
        };
        for body in section.into_iter().map_while(Result::ok) {
            let Ok(mut operators) = body.get_operators_reader() else {
                continue;
            };
            while let Ok(operator) = operators.read() {
                match operator {
                    Operator::Try { .. } => return true,
                    Operator::TryTable { .. } => return false,
                    _ => {}
                }
                if operators.eof() {
                    break;
                }
            }
        }
        false
    }
}
