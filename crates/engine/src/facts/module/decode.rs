//! From the binary to [`ModuleInfo`]: one pass that validates everything but
//! the function bodies, which are validated while they are compiled.

use std::sync::Arc;

use wasmparser::{
    ConstExpr as ParsedExpr, DataKind, ElementItems as ParsedItems, ElementKind, ExternalKind,
    FuncToValidate, FunctionBody, Name, Operator, Parser, Payload, TableInit, TypeRef,
    ValidPayload, Validator, ValidatorResources,
};

use super::info::*;
use crate::facts::error::{Error, ErrorKind, Refused};
use crate::facts::features::Features;
use crate::facts::object::Layout;
use crate::facts::types::{
    DefKind, DefType, FuncType, GlobalType, MemoryType, RefType, TableType, TypeBuildError,
    TypeBuilder, TypeId, ValType,
};

type Result<T, E = Refused> = std::result::Result<T, E>;

/// A function body that is yet to be validated.
pub(crate) type Body<'a> = (FuncToValidate<ValidatorResources>, FunctionBody<'a>);

/// How a component begins: version 13 of layer 1 (component model, Binary.md).
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// Decode and validate all but the bodies, which are returned, with the
/// features a module may use.
///
/// # Errors
/// [`ErrorKind::Invalid`] and [`ErrorKind::Unsupported`], with the offset.
pub(crate) fn decode(
    wasm: &[u8],
    features: Features,
) -> Result<(ModuleInfo, Vec<Body<'_>>), Error> {
    Ok(read(wasm, features)?)
}

fn read(wasm: &[u8], features: Features) -> Result<(ModuleInfo, Vec<Body<'_>>)> {
    if wasm.starts_with(COMPONENT) {
        let message = "a component, not a module: build for wasm32-wasip1, or take the module out \
                       of it"
            .to_owned();
        return Err(Error::from(ErrorKind::Unsupported { message, offset: 4 }).into());
    }
    if is_text(wasm) {
        let message = "the text format: make it binary first (wat::parse_str)".to_owned();
        return Err(Error::from(ErrorKind::Invalid { message, offset: 0 }).into());
    }
    let mut decoder = Decoder::default();
    let mut validator = Validator::new_with_features(features.flags());
    let mut bodies = Vec::new();
    // Some encodings are well-formed only with later features.
    let mut parser = Parser::new(0);
    parser.set_features(features.flags());
    for payload in parser.parse_all(wasm) {
        let payload = payload?;
        if let ValidPayload::Func(to_validate, body) = validator.payload(&payload)? {
            decoder.info.bodies.push(range(body.range()));
            bodies.push((to_validate, body));
        }
        decoder.payload(payload)?;
    }
    Ok((decoder.finish(), bodies))
}

/// Whether the first thing that is no blank begins a module's text, or a comment.
fn is_text(wasm: &[u8]) -> bool {
    let first = wasm.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(first, Some(b'(' | b';'))
}

fn range(range: std::ops::Range<u64>) -> std::ops::Range<usize> {
    range.start as usize..range.end as usize
}

#[derive(Default)]
struct Decoder {
    info: ModuleInfo,
    types: TypeBuilder,
}

impl Decoder {
    fn payload(&mut self, payload: Payload<'_>) -> Result<()> {
        match payload {
            Payload::TypeSection(section) => self.types(section)?,
            Payload::ImportSection(section) => {
                let offset = section.range().start as usize;
                for import in section.into_imports() {
                    self.import(import?, offset)?;
                }
            }
            Payload::FunctionSection(section) => {
                for ty in section {
                    self.info.funcs.push(ty?);
                }
            }
            Payload::TableSection(section) => {
                for table in section.into_iter_with_offsets() {
                    let (offset, table) = table?;
                    self.table(table, offset as usize)?;
                }
            }
            Payload::MemorySection(section) => {
                for ty in section {
                    self.info.memories.push(memory_type(&ty?));
                }
            }
            Payload::TagSection(section) => {
                for tag in section {
                    self.info.tags.push(tag?.func_type_idx);
                }
            }
            Payload::GlobalSection(section) => {
                for global in section.into_iter_with_offsets() {
                    let (offset, global) = global?;
                    self.global(&global, offset as usize)?;
                }
            }
            Payload::ExportSection(section) => {
                for export in section {
                    self.export(&export?);
                }
            }
            Payload::StartSection { func, .. } => {
                self.info.escaping.push(func);
                self.info.start = Some(func);
            }
            Payload::ElementSection(section) => {
                for element in section {
                    self.element(element?)?;
                }
            }
            Payload::DataSection(section) => {
                for data in section {
                    self.data(data?)?;
                }
            }
            Payload::CustomSection(section) => {
                if let wasmparser::KnownCustom::Name(names) = section.as_known() {
                    self.names(names);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn types(&mut self, section: wasmparser::TypeSectionReader<'_>) -> Result<()> {
        let mut are_final = Vec::new();
        for group in section.into_iter_with_offsets() {
            let (offset, group) = group?;
            let refused = |e| refused(e, offset as usize);
            let types = self.types.push(group).map_err(refused)?;
            self.info.types.extend(types.iter().map(signature));
            let layouts = types.iter().map(|ty| Layout::of(ty).map(Arc::new));
            self.info.layouts.extend(layouts);
            are_final.extend(types.iter().map(|ty| ty.is_final));
        }
        self.info.type_ids = self.types.ids().to_vec();
        self.info.cont_types = self.types.conts();
        self.info.type_numbers = self.types.ids().iter().map(|id| id.number()).collect();
        let places = self.info.type_numbers.iter().zip(are_final);
        let places = places.map(|(number, is_final)| TypePlace {
            is_final,
            depth: TypeId::lineage(*number).len() as u32 - 1,
        });
        self.info.places = places.collect();
        self.info.has_objects = self.info.layouts.iter().any(Option::is_some);
        self.info.held_types = Arc::new(self.types.take_hold());
        Ok(())
    }

    fn global(&mut self, global: &wasmparser::Global<'_>, offset: usize) -> Result<()> {
        let ty = self.global_type(&global.ty, offset)?;
        let init = self.expr(&global.init_expr)?;
        // One step, however long the chain of globals is: those in front are known.
        let constant = match init.0[..] {
            _ if ty.mutable || ty.content.is_ref() => None,
            [ConstOp::GlobalGet(index)] => self.info.constant_global(index),
            [op] => Some(op),
            _ => None,
        };
        let def = GlobalDef { ty, init, constant };
        self.info.globals.push(def.ty);
        self.info.global_defs.push(def);
        Ok(())
    }

    fn import(&mut self, import: wasmparser::Import<'_>, offset: usize) -> Result<()> {
        let kind = match import.ty {
            TypeRef::Func(ty) | TypeRef::FuncExact(ty) => {
                self.info.funcs.push(ty);
                self.info.imported_funcs += 1;
                ImportKind::Func(ty)
            }
            TypeRef::Table(ty) => {
                let ty = self.table_type(&ty, offset)?;
                self.info.tables.push(ty);
                self.info.imported_tables += 1;
                ImportKind::Table(ty)
            }
            TypeRef::Memory(ty) => {
                let ty = memory_type(&ty);
                self.info.memories.push(ty);
                self.info.imported_memories += 1;
                ImportKind::Memory(ty)
            }
            TypeRef::Global(ty) => {
                let ty = self.global_type(&ty, offset)?;
                self.info.globals.push(ty);
                self.info.imported_globals += 1;
                ImportKind::Global(ty)
            }
            TypeRef::Tag(ty) => {
                self.info.tags.push(ty.func_type_idx);
                self.info.imported_tags += 1;
                ImportKind::Tag(ty.func_type_idx)
            }
        };
        let (module, name) = (import.module.to_owned(), import.name.to_owned());
        self.info.imports.push(Import { module, name, kind });
        Ok(())
    }

    fn table(&mut self, table: wasmparser::Table<'_>, offset: usize) -> Result<()> {
        let ty = self.table_type(&table.ty, offset)?;
        let init = match &table.init {
            TableInit::RefNull => None,
            TableInit::Expr(expr) => Some(self.expr(expr)?),
        };
        self.info.tables.push(ty);
        self.info.table_defs.push(TableDef { ty, init });
        Ok(())
    }

    fn export(&mut self, export: &wasmparser::Export<'_>) {
        let index = export.index;
        let entity = match export.kind {
            ExternalKind::Func | ExternalKind::FuncExact => {
                self.info.escaping.push(index);
                EntityIndex::Func(index)
            }
            ExternalKind::Table => EntityIndex::Table(index),
            ExternalKind::Memory => EntityIndex::Memory(index),
            ExternalKind::Global => EntityIndex::Global(index),
            ExternalKind::Tag => EntityIndex::Tag(index),
        };
        self.info.exports.push((export.name.to_owned(), entity));
    }

    fn element(&mut self, element: wasmparser::Element<'_>) -> Result<()> {
        let mode = match element.kind {
            ElementKind::Passive => SegmentMode::Passive,
            ElementKind::Declared => SegmentMode::Declared,
            ElementKind::Active {
                table_index,
                offset_expr,
            } => SegmentMode::Active {
                index: table_index.unwrap_or(0),
                offset: self.expr(&offset_expr)?,
            },
        };
        let items = match element.items {
            ParsedItems::Functions(funcs) => {
                let funcs = funcs.into_iter().collect::<Result<Vec<u32>, _>>()?;
                self.info.escaping.extend(&funcs);
                ElementItems::Funcs(funcs)
            }
            ParsedItems::Expressions(_, exprs) => ElementItems::Exprs(
                exprs
                    .into_iter()
                    .map(|expr| self.expr(&expr?))
                    .collect::<Result<Vec<ConstExpr>>>()?,
            ),
        };
        self.info.elements.push(ElementSegment { mode, items });
        Ok(())
    }

    fn data(&mut self, data: wasmparser::Data<'_>) -> Result<()> {
        let mode = match data.kind {
            DataKind::Passive => SegmentMode::Passive,
            DataKind::Active {
                memory_index,
                offset_expr,
            } => SegmentMode::Active {
                index: memory_index,
                offset: self.expr(&offset_expr)?,
            },
        };
        let end = data.range.end as usize;
        let bytes = end - data.data.len()..end;
        self.info.data.push(DataSegment { mode, bytes });
        Ok(())
    }

    /// A name section that is malformed is ignored (specification, appendix).
    fn names(&mut self, names: wasmparser::NameSectionReader<'_>) {
        for name in names.into_iter().map_while(Result::ok) {
            match name {
                Name::Module { name, .. } => self.info.name = Some(name.to_owned()),
                Name::Function(funcs) => {
                    for naming in funcs.into_iter().map_while(Result::ok) {
                        self.info
                            .func_names
                            .insert(naming.index, naming.name.to_owned());
                    }
                }
                _ => {}
            }
        }
    }

    fn expr(&mut self, expr: &ParsedExpr<'_>) -> Result<ConstExpr> {
        let mut ops = Vec::with_capacity(1);
        let mut reader = expr.get_operators_reader();
        loop {
            let (op, offset) = reader.read_with_offset()?;
            ops.push(match op {
                Operator::End => break,
                Operator::I32Const { value } => ConstOp::I32(value),
                Operator::I64Const { value } => ConstOp::I64(value),
                Operator::F32Const { value } => ConstOp::F32(value.bits()),
                Operator::F64Const { value } => ConstOp::F64(value.bits()),
                Operator::V128Const { value } => ConstOp::V128(value.i128().cast_unsigned()),
                Operator::GlobalGet { global_index } => ConstOp::GlobalGet(global_index),
                Operator::RefNull { .. } => ConstOp::RefNull,
                Operator::RefFunc { function_index } => {
                    self.info.escaping.push(function_index);
                    ConstOp::RefFunc(function_index)
                }
                Operator::I32Add => ConstOp::I32Arith(Arith::Add),
                Operator::I32Sub => ConstOp::I32Arith(Arith::Sub),
                Operator::I32Mul => ConstOp::I32Arith(Arith::Mul),
                Operator::I64Add => ConstOp::I64Arith(Arith::Add),
                Operator::I64Sub => ConstOp::I64Arith(Arith::Sub),
                Operator::I64Mul => ConstOp::I64Arith(Arith::Mul),
                Operator::StructNew { struct_type_index } => ConstOp::StructNew(struct_type_index),
                Operator::StructNewDefault { struct_type_index } => {
                    ConstOp::StructNewDefault(struct_type_index)
                }
                Operator::ArrayNew { array_type_index } => ConstOp::ArrayNew(array_type_index),
                Operator::ArrayNewDefault { array_type_index } => {
                    ConstOp::ArrayNewDefault(array_type_index)
                }
                Operator::ArrayNewFixed {
                    array_type_index,
                    array_size,
                } => ConstOp::ArrayNewFixed(array_type_index, array_size),
                Operator::RefI31 => ConstOp::RefI31,
                Operator::AnyConvertExtern => ConstOp::AnyConvertExtern,
                Operator::ExternConvertAny => ConstOp::ExternConvertAny,
                _ => {
                    return Err(unsupported(
                        "an instruction in a constant expression",
                        offset as usize,
                    )
                    .into());
                }
            });
        }
        Ok(ConstExpr(ops))
    }

    fn finish(mut self) -> ModuleInfo {
        self.info.escaping.sort_unstable();
        self.info.escaping.dedup();
        self.info.exported = ExportOrder::of(&self.info.exports);
        self.info
    }
}

/// The signature of a type of functions, or of the functions that continuations of a type
/// come from; nothing for objects.
fn signature(ty: &DefType) -> FuncType {
    match &ty.kind {
        DefKind::Func(ty) => ty.clone(),
        DefKind::Cont(func) => TypeId::signature(func.number()),
        DefKind::Struct(_) | DefKind::Array(_) => FuncType::new([], []),
    }
}

fn unsupported(message: impl Into<String>, offset: usize) -> Error {
    ErrorKind::Unsupported {
        message: message.into(),
        offset,
    }
    .into()
}

fn refused(error: TypeBuildError, offset: usize) -> Error {
    unsupported(error.to_string(), offset)
}

fn memory_type(ty: &wasmparser::MemoryType) -> MemoryType {
    MemoryType {
        min: ty.initial,
        max: ty.maximum,
        memory64: ty.memory64,
        shared: ty.shared,
    }
}

impl Decoder {
    fn ref_type(&self, ty: wasmparser::RefType, offset: usize) -> Result<RefType> {
        Ok(self.types.ref_type(ty).map_err(|e| refused(e, offset))?)
    }

    fn val_type(&self, ty: wasmparser::ValType, offset: usize) -> Result<ValType> {
        Ok(self.types.val_type(ty).map_err(|e| refused(e, offset))?)
    }

    fn table_type(&self, ty: &wasmparser::TableType, offset: usize) -> Result<TableType> {
        Ok(TableType {
            element: self.ref_type(ty.element_type, offset)?,
            min: ty.initial,
            max: ty.maximum,
            table64: ty.table64,
        })
    }

    fn global_type(&self, ty: &wasmparser::GlobalType, offset: usize) -> Result<GlobalType> {
        Ok(GlobalType {
            content: self.val_type(ty.content_type, offset)?,
            mutable: ty.mutable,
        })
    }
}
