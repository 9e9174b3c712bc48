//! Instantiation after allocation: constant expressions, globals, segments.

#![allow(unsafe_code)]

use crate::facts::error::Result;
use crate::facts::module::{Arith, ConstExpr, ConstOp, ElementItems, SegmentMode};
use crate::run::instance::InstanceData;
use crate::run::runtime;
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
        let value = evaluate(data, &def.init);
        let cell = data.globals[info.imported_globals as usize + i];
        // SAFETY: the cell is in this instance's context.
        unsafe { cell.as_ptr().write(value) };
    }
    for (i, def) in info.table_defs.iter().enumerate() {
        if let Some(init) = &def.init {
            let value = evaluate(data, init) as u64;
            let mut table = data.tables[info.imported_tables as usize + i];
            // SAFETY: the table is new and this instance's own.
            unsafe { table.as_mut() }.elements_mut().fill(value);
        }
    }
    data.elements = info
        .elements
        .iter()
        .map(|segment| match (&segment.mode, &segment.items) {
            (SegmentMode::Declared, _) => Box::default(),
            (_, ElementItems::Funcs(funcs)) => funcs
                .iter()
                .map(|f| data.func_ref(*f).as_ptr() as u64)
                .collect(),
            (_, ElementItems::Exprs(exprs)) => exprs
                .iter()
                .map(|expr| evaluate(data, expr) as u64)
                .collect(),
        })
        .collect();
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
            let dst = evaluate(data, offset) as u64;
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
            let dst = evaluate(data, offset) as u64;
            let len = segment.bytes.len() as u64;
            runtime::memory_init(data, *index, i as u32, dst, 0, len)
                .map_err(|code| trap_error(code, Vec::new()))?;
            data.dropped_data[i] = true;
        }
    }
    Ok(())
}

/// The value of a constant expression, as a slot. Validated, so the stack
/// holds what each instruction needs.
fn evaluate(data: &InstanceData, expr: &ConstExpr) -> u128 {
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
        };
        stack.push(value);
    }
    stack.pop().unwrap_or_default()
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
