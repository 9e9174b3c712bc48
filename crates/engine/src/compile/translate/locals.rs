//! Where the locals of a body are: each a variable, of which the code generator
//! makes values, or each a cell of the frame.
//!
//! Cells are slower to use, and take no work beyond the use: a body with
//! many locals and many blocks is translated with them (`compile/budget.rs`).
//! Locals that nobody uses take no work either, where there are more of them than
//! the body is long: 50,000 are declared in four bytes.

use std::collections::HashMap;

use cranelift_codegen::ir::types;
use cranelift_codegen::ir::{InstBuilder, StackSlot, StackSlotData, StackSlotKind, Type, Value};
use cranelift_frontend::{FunctionBuilder, Variable};
use wasmparser::{FuncValidator, FunctionBody, Operator, WasmModuleResources};

use super::{TranslateError, Translator, env};
use crate::facts::types::FuncType;

/// Where one is.
#[derive(Clone, Copy, Debug)]
enum Place {
    Variable(Variable),
    Cell { offset: i32, ty: Type },
}

/// The locals of a body.
#[derive(Debug, Default)]
pub(crate) struct Locals {
    /// The first ones.
    first: Vec<Place>,
    /// Of the others, those that are used.
    others: HashMap<u32, Place>,
    /// The slot of their cells and its size in bytes, where they are cells.
    cells: Option<(StackSlot, u32)>,
}

/// Bytes of a cell, and of one of a vector.
const CELL_BYTES: u32 = 8;
const VECTOR_BYTES: u32 = 16;
const VECTOR_ALIGN_SHIFT: u8 = 4;

impl Locals {
    pub fn clear(&mut self) {
        self.first.clear();
        self.others.clear();
        self.cells = None;
    }

    /// Makes them cells.
    pub fn in_cells(&mut self, b: &mut FunctionBuilder<'_>) {
        let kind = StackSlotKind::ExplicitSlot;
        let slot = b.create_sized_stack_slot(StackSlotData::new(kind, 0, VECTOR_ALIGN_SHIFT));
        self.cells = Some((slot, 0));
    }

    fn place(&self, index: u32) -> Place {
        match self.first.get(index as usize) {
            Some(place) => *place,
            None => self.others[&index],
        }
    }

    /// A place for one more, with its first value.
    fn make(&mut self, b: &mut FunctionBuilder<'_>, value: Value) -> Place {
        let ty = b.func.dfg.value_type(value);
        let Some((slot, bytes)) = &mut self.cells else {
            let variable = b.declare_var(ty);
            b.def_var(variable, value);
            return Place::Variable(variable);
        };
        let size = match ty.bytes() {
            VECTOR_BYTES => VECTOR_BYTES,
            _ => CELL_BYTES,
        };
        let offset = bytes.next_multiple_of(size);
        *bytes = offset + size;
        b.func.sized_stack_slots[*slot].size = *bytes;
        let offset = offset.cast_signed();
        b.ins().stack_store(types::I64, value, *slot, offset);
        Place::Cell { offset, ty }
    }
}

/// The locals that a body uses, in order. What does not decode is told later.
fn used(body: &FunctionBody<'_>) -> Vec<u32> {
    let operators = body.get_operators_reader().into_iter().flatten();
    let local = |operator| match operator {
        Operator::LocalGet { local_index }
        | Operator::LocalSet { local_index }
        | Operator::LocalTee { local_index } => Some(local_index),
        _ => None,
    };
    let mut used: Vec<u32> = operators.map_while(Result::ok).filter_map(local).collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// How many locals a body declares; what does not decode is told later.
fn declared(body: &FunctionBody<'_>) -> u64 {
    let groups = body.get_locals_reader().into_iter().flatten();
    groups
        .map_while(Result::ok)
        .map(|(count, _)| u64::from(count))
        .sum()
}

impl Translator<'_> {
    /// Binds the parameters to the first locals.
    pub(super) fn declare_params(&mut self, ty: &FuncType) {
        let entry = self.b.current_block().expect("the entry block is current");
        let params = self.b.block_params(entry).to_vec();
        let passing = self.env.module.passing;
        for value in passing.take_over(&mut self.b, ty, &params) {
            self.declare_param(value);
        }
    }

    /// Binds a parameter to the next local.
    pub(super) fn declare_param(&mut self, value: Value) {
        let place = self.state.locals.make(&mut self.b, value);
        self.state.locals.first.push(place);
    }

    /// Whether there is a local of this number that the body uses.
    pub(super) fn is_local_used(&self, index: u32) -> bool {
        let locals = &self.state.locals;
        (index as usize) < locals.first.len() || locals.others.contains_key(&index)
    }

    /// Declares the other locals, zero.
    pub(super) fn declare_locals<R: WasmModuleResources>(
        &mut self,
        validator: &mut FuncValidator<R>,
        reader: &mut wasmparser::BinaryReader<'_>,
        body: &FunctionBody<'_>,
    ) -> Result<(), TranslateError> {
        let range = body.range();
        let few = declared(body) <= range.end - range.start && self.state.locals.cells.is_none();
        let used = if few { Vec::new() } else { used(body) };
        let mut first = self.state.locals.first.len() as u32;
        for _ in 0..reader.read_var_u32()? {
            let offset = reader.original_position();
            let count: u32 = reader.read()?;
            let ty: wasmparser::ValType = reader.read()?;
            validator.define_locals(offset, count, ty)?;
            let zero = self.zero(env::parsed_clif_type(ty));
            if few {
                for _ in 0..count {
                    let place = self.state.locals.make(&mut self.b, zero);
                    self.state.locals.first.push(place);
                }
                continue;
            }
            // Validation has made sure that there are not so many.
            let behind = first + count;
            let used = &used[used.partition_point(|index| *index < first)..];
            for index in used.iter().take_while(|index| **index < behind) {
                let place = self.state.locals.make(&mut self.b, zero);
                self.state.locals.others.insert(*index, place);
            }
            first = behind;
        }
        Ok(())
    }

    /// The value of a local, of this body or of the one that is inlined here.
    pub(super) fn get_local(&mut self, index: u32) -> Value {
        let variable = match self.local(index) {
            Place::Variable(variable) => variable,
            Place::Cell { offset, ty } => {
                let slot = self.cells();
                return self.b.ins().stack_load(types::I64, ty, slot, offset);
            }
        };
        self.state
            .work
            .local(variable.as_u32() as usize, self.b.func);
        self.b.use_var(variable)
    }

    /// Gives a local a value.
    pub(super) fn set_local(&mut self, index: u32, value: Value) {
        let variable = match self.local(index) {
            Place::Variable(variable) => variable,
            Place::Cell { offset, .. } => {
                let slot = self.cells();
                self.b.ins().stack_store(types::I64, value, slot, offset);
                return;
            }
        };
        self.state
            .work
            .local(variable.as_u32() as usize, self.b.func);
        self.b.def_var(variable, value);
    }

    fn local(&self, index: u32) -> Place {
        match self.state.inlined.local(index) {
            Some(variable) => Place::Variable(variable),
            None => self.state.locals.place(index),
        }
    }

    fn cells(&self) -> StackSlot {
        let cells = self.state.locals.cells;
        cells.expect("a cell is in the slot of cells").0
    }
}
