//! Which instructions a strategy added: a bit of their source location.
//!
//! Cranelift carries source locations through to the machine code without
//! looking at them, so the mark changes no code. A module is smaller than
//! 2^31 bytes, which leaves the topmost bit of its offsets free; the location
//! of all ones, which means none, is left as it is.

use cranelift_codegen::ir::SourceLoc;
use cranelift_frontend::FunctionBuilder;

/// The bit.
const CHECK: u32 = 1 << 31;

/// Append instructions that check an access.
pub(super) fn checking<R>(
    builder: &mut FunctionBuilder<'_>,
    emit: impl FnOnce(&mut FunctionBuilder<'_>) -> R,
) -> R {
    located(builder, |bits| bits | CHECK, emit)
}

/// From here on to [`end_check`], which is given the result, what is appended
/// checks an access.
pub(crate) fn begin_check(builder: &mut FunctionBuilder<'_>) -> SourceLoc {
    let outside = builder.srcloc();
    if !outside.is_default() {
        builder.set_srcloc(SourceLoc::new(outside.bits() | CHECK));
    }
    outside
}

/// The location of what checks an access there.
pub(crate) fn check_location(location: SourceLoc) -> SourceLoc {
    match location.is_default() {
        true => location,
        false => SourceLoc::new(location.bits() | CHECK),
    }
}

/// See [`begin_check`].
pub(crate) fn end_check(builder: &mut FunctionBuilder<'_>, outside: SourceLoc) {
    builder.set_srcloc(outside);
}

/// Append, among those, what the access needs under any strategy.
pub(super) fn plainly<R>(
    builder: &mut FunctionBuilder<'_>,
    emit: impl FnOnce(&mut FunctionBuilder<'_>) -> R,
) -> R {
    located(builder, |bits| bits & !CHECK, emit)
}

fn located<R>(
    builder: &mut FunctionBuilder<'_>,
    mark: impl FnOnce(u32) -> u32,
    emit: impl FnOnce(&mut FunctionBuilder<'_>) -> R,
) -> R {
    let outside = builder.srcloc();
    if !outside.is_default() {
        builder.set_srcloc(SourceLoc::new(mark(outside.bits())));
    }
    let result = emit(builder);
    builder.set_srcloc(outside);
    result
}

/// A location's offset in the module, and whether it is a check's; nothing
/// where it has none.
pub(crate) fn offset_and_check(location: SourceLoc) -> Option<(u32, bool)> {
    let bits = location.bits();
    (!location.is_default()).then_some((bits & !CHECK, bits & CHECK != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_leaves_the_offset() {
        let plain = SourceLoc::new(0x1234);
        let marked = SourceLoc::new(0x1234 | CHECK);
        assert_eq!(offset_and_check(plain), Some((0x1234, false)));
        assert_eq!(offset_and_check(marked), Some((0x1234, true)));
        assert_eq!(offset_and_check(SourceLoc::default()), None);
    }
}
