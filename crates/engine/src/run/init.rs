//! Instantiation after allocation: constant expressions, globals, segments.

#![allow(unsafe_code)]

use crate::facts::error::Result;
use crate::facts::module::{Arith, ConstExpr, ConstOp, ElementItems, SegmentMode};
use crate::facts::object::tag;
use crate::run::instance::InstanceData;
use crate::run::runtime::{self, new_array, new_filled_array, new_struct};
use crate::run::store::trap_error;

/// Give globals and tables their first values and evaluate the element
/// segments.
///
/// # Safety
/// The instance's context is written but for its globals, and nobody else has
/// its address.
pub(crate) unsafe fn fill(data: &mut InstanceData) -> Result<()> {
    let module = data.module.clone();
    let info = module.info();
    for (i, def) in info.global_defs.iter().enumerate() {
        let value = evaluate(data, &def.init)?;
        let cell = data.globals[info.imported_globals as usize + i];
        // SAFETY: the cell is in this instance's context.
        unsafe { cell.as_ptr().write(value) };
    }
    for (i, def) in info.table_defs.iter().enumerate() {
        if let Some(init) = &def.init {
            let value = evaluate(data, init)? as u64;
            let mut table = data.tables[info.imported_tables as usize + i];
            // SAFETY: the table is new and this instance's own.
            unsafe { table.as_mut() }.elements_mut().fill(value);
        }
    }
    for segment in &info.elements {
        let elements = match (&segment.mode, &segment.items) {
            (SegmentMode::Declared, _) => Box::default(),
            (_, ElementItems::Funcs(funcs)) => funcs
                .iter()
                .map(|f| data.func_ref(*f).as_ptr() as u64)
                .collect(),
            (_, ElementItems::Exprs(exprs)) => exprs
                .iter()
                .map(|expr| Ok(evaluate(data, expr)? as u64))
                .collect::<Result<_>>()?,
        };
        data.elements.push(elements);
    }
    Ok(())
}

/// Copy the active element segments to their places, in order; they are dropped.
///
/// # Safety
/// The instance is complete and its store exclusively borrowed.
pub(crate) unsafe fn apply_elements(data: &mut InstanceData) -> Result<()> {
    let module = data.module.clone();
    for (i, segment) in module.info().elements.iter().enumerate() {
        if let SegmentMode::Active { index, offset } = &segment.mode {
            let dst = evaluate(data, offset)? as u64;
            let len = segment.items.len() as u64;
            runtime::table_init(data, *index, i as u32, dst, 0, len)
                .map_err(|code| trap_error(code, Vec::new()))?;
            runtime::elem_drop(data, i as u32);
            data.elements[i] = Box::default();
        }
    }
    Ok(())
}

/// Copy the active data segments that are in no image to their places, in order;
/// they are dropped.
///
/// # Safety
/// As [`apply_elements`].
pub(crate) unsafe fn apply_data(data: &mut InstanceData) -> Result<()> {
    if !data.dropped_data.contains(&false) {
        return Ok(());
    }
    let module = data.module.clone();
    let covered = module.images().covered();
    for (i, segment) in module.info().data.iter().enumerate() {
        if let SegmentMode::Active { index, offset } = &segment.mode
            && !covered[i]
        {
            let dst = evaluate(data, offset)? as u64;
            let len = segment.bytes.len() as u64;
            runtime::memory_init(data, *index, i as u32, dst, 0, len)
                .map_err(|code| trap_error(code, Vec::new()))?;
            data.dropped_data[i] = true;
        }
    }
    Ok(())
}

/// The value of a constant expression, as a slot. Validated, so the stack holds what each
/// instruction needs. Nothing is collected meanwhile: nobody would find what is on it.
fn evaluate(data: &mut InstanceData, expr: &ConstExpr) -> Result<u128> {
    let mut stack: Vec<u128> = Vec::with_capacity(2);
    for op in &expr.0 {
        let value = match op {
            ConstOp::I32(v) => u128::from(v.cast_unsigned()),
            ConstOp::I64(v) => u128::from(v.cast_unsigned()),
            ConstOp::F32(v) => u128::from(*v),
            ConstOp::F64(v) => u128::from(*v),
            ConstOp::V128(v) => *v,
            // SAFETY: globals are alive as long as the store.
            ConstOp::GlobalGet(index) => unsafe { *data.globals[*index as usize].as_ptr() },
            ConstOp::RefNull => 0,
            ConstOp::RefFunc(index) => data.func_ref(*index).as_ptr() as u128,
            ConstOp::I32Arith(arith) => {
                let (a, b) = operands(&mut stack);
                u128::from(arith.apply32(a as u32, b as u32))
            }
            ConstOp::I64Arith(arith) => {
                let (a, b) = operands(&mut stack);
                u128::from(arith.apply64(a as u64, b as u64))
            }
            op => object(data, *op, &mut stack)?,
        };
        stack.push(value);
    }
    Ok(stack.pop().unwrap_or_default())
}

/// What one of the instructions on references to objects gives.
fn object(data: &mut InstanceData, op: ConstOp, stack: &mut Vec<u128>) -> Result<u128> {
    let mut pop = || stack.pop().unwrap_or_default();
    let reference = match op {
        ConstOp::StructNew(ty) => {
            let fields = data.module.info().fields(ty).len();
            let values = stack.split_off(stack.len() - fields);
            new_struct(data, ty, &values)?
        }
        ConstOp::StructNewDefault(ty) => new_struct(data, ty, &[])?,
        ConstOp::ArrayNew(ty) => {
            let (len, value) = (pop() as u32, pop());
            new_filled_array(data, ty, len, value)?
        }
        ConstOp::ArrayNewDefault(ty) => new_array(data, ty, pop() as u32, std::iter::empty())?,
        ConstOp::ArrayNewFixed(ty, len) => {
            let values = stack.split_off(stack.len() - len as usize);
            new_array(data, ty, len, values.into_iter())?
        }
        ConstOp::RefI31 => (pop() as u32) << 1 | tag::I31,
        // SAFETY: an instance's store is alive while the instance is; nobody has borrowed it.
        ConstOp::AnyConvertExtern => unsafe { &mut *data.store }.any_of_extern(pop() as u64),
        ConstOp::ExternConvertAny => {
            // SAFETY: as above.
            let store = unsafe { &*data.store };
            return Ok(u128::from(store.extern_of_any(pop() as u32)));
        }
        other => unreachable!("no instruction on references: {other:?}"),
    };
    Ok(u128::from(reference))
}

fn operands(stack: &mut Vec<u128>) -> (u128, u128) {
    let b = stack.pop().unwrap_or_default();
    let a = stack.pop().unwrap_or_default();
    (a, b)
}

impl Arith {
    fn apply32(self, a: u32, b: u32) -> u32 {
        match self {
            Arith::Add => a.wrapping_add(b),
            Arith::Sub => a.wrapping_sub(b),
            Arith::Mul => a.wrapping_mul(b),
        }
    }

    fn apply64(self, a: u64, b: u64) -> u64 {
        match self {
            Arith::Add => a.wrapping_add(b),
            Arith::Sub => a.wrapping_sub(b),
            Arith::Mul => a.wrapping_mul(b),
        }
    }
}
