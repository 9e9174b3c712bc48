//! How often a body uses its locals: a use in a loop counts eight times one outside.
//!
//! What is read here need not be valid: it is validated when it is translated. Nothing is made of
//! operators that are not asked for, so that reading takes little beside translating.

use wasmparser::{
    BinaryReader, BlockType, FrameKind, FrameStack, TryTable, VisitOperator, VisitSimdOperator,
};

/// log2 of how many uses outside of a loop one in it counts, and how many loops count.
const LOOP: u32 = 3;
const DEPTH_MAX: u32 = 5;

/// How often a body uses its locals, and calls functions of the module or of the runtime.
pub(super) struct Uses {
    pub locals: Vec<u64>,
    pub calls: u64,
}

impl Uses {
    /// Of a body with so many locals.
    pub fn of(mut body: BinaryReader<'_>, locals: usize) -> Uses {
        let mut counter = Counter {
            uses: Uses {
                locals: vec![0; locals],
                calls: 0,
            },
            blocks: vec![FrameKind::Block],
            loops: 0,
            weight: 1,
        };
        while !body.eof() && body.visit_operator(&mut counter).is_ok() {}
        counter.uses
    }
}

/// Whether a body may have a loop with at most one result, by its bytes: those of a constant or
/// an index may be the same.
pub(super) fn may_have_loops(body: &[u8]) -> bool {
    const LOOP: u8 = 0x03;
    const EMPTY: u8 = 0x40;
    const F64: u8 = 0x7c;
    const I32: u8 = 0x7f;
    let mut pairs = body.windows(2);
    pairs.any(|pair| pair[0] == LOOP && matches!(pair[1], EMPTY | F64..=I32))
}

struct Counter {
    uses: Uses,
    blocks: Vec<FrameKind>,
    /// How many of them are loops.
    loops: u32,
    /// What a use counts here.
    weight: u64,
}

impl Counter {
    fn used(&mut self, local: u32) {
        if let Some(local) = self.uses.locals.get_mut(local as usize) {
            *local += self.weight;
        }
    }

    fn call(&mut self) {
        self.uses.calls += self.weight;
    }

    fn open(&mut self, kind: FrameKind) {
        self.blocks.push(kind);
        self.weigh(self.loops + u32::from(kind == FrameKind::Loop));
    }

    fn close(&mut self) {
        let is_loop = self.blocks.pop() == Some(FrameKind::Loop);
        self.weigh(self.loops - u32::from(is_loop));
    }

    fn weigh(&mut self, loops: u32) {
        self.loops = loops;
        self.weight = 1 << (LOOP * loops.min(DEPTH_MAX));
    }
}

impl FrameStack for Counter {
    fn current_frame(&self) -> Option<FrameKind> {
        self.blocks.last().copied()
    }
}

/// What an operator counts.
macro_rules! count {
    (LocalGet $this:ident $local:ident) => { $this.used($local) };
    (LocalSet $this:ident $local:ident) => { $this.used($local) };
    (LocalTee $this:ident $local:ident) => { $this.used($local) };
    (Block $this:ident $ty:ident) => {{ let _: BlockType = $ty; $this.open(FrameKind::Block) }};
    (Loop $this:ident $ty:ident) => {{ let _: BlockType = $ty; $this.open(FrameKind::Loop) }};
    (If $this:ident $ty:ident) => {{ let _: BlockType = $ty; $this.open(FrameKind::If) }};
    (TryTable $this:ident $table:ident) => {{ let _: TryTable = $table; $this.open(FrameKind::TryTable) }};
    (Try $this:ident $ty:ident) => {{ let _: BlockType = $ty; $this.open(FrameKind::LegacyTry) }};
    (Catch $this:ident $tag:ident) => {{ let _: u32 = $tag; $this.close(); $this.open(FrameKind::LegacyCatch) }};
    (CatchAll $this:ident) => {{ $this.close(); $this.open(FrameKind::LegacyCatchAll) }};
    (Delegate $this:ident $depth:ident) => {{ let _: u32 = $depth; $this.close() }};
    (Else $this:ident) => {{ $this.close(); $this.open(FrameKind::Else) }};
    (End $this:ident) => { $this.close() };
    (Call $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (CallIndirect $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (CallRef $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (MemoryAtomicNotify $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (MemoryAtomicWait32 $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (MemoryAtomicWait64 $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (MemoryGrow $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (MemoryFill $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (MemoryCopy $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (MemoryInit $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (TableGrow $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (TableFill $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (TableCopy $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (TableInit $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (DataDrop $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (ElemDrop $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (StructNew $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (StructNewDefault $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (ArrayNew $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (ArrayNewDefault $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (ArrayNewFixed $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (ArrayNewData $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (ArrayNewElem $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (ArrayFill $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (ArrayCopy $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (ArrayInitData $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (ArrayInitElem $this:ident $($arg:ident)*) => { count!(call $this $($arg)*) };
    (call $this:ident $($arg:ident)*) => {{ let _ = ($($arg,)*); $this.call() }};
    ($other:ident $this:ident $($arg:ident)*) => {{ let _ = ($this, $($arg,)*); }};
}

/// A method for each operator.
macro_rules! visit {
    ($(@$proposal:ident $op:ident $({ $($arg:ident: $argty:ty),* })? => $visit:ident ($($ann:tt)*))*) => {
        $(
            fn $visit(&mut self $($(, $arg: $argty)*)?) {
                let this = self;
                count!($op this $($($arg)*)?)
            }
        )*
    };
}

impl<'a> VisitOperator<'a> for Counter {
    type Output = ();

    /// Without it, reading ends at the first vector.
    fn simd_visitor(&mut self) -> Option<&mut dyn VisitSimdOperator<'a, Output = ()>> {
        Some(self)
    }

    wasmparser::for_each_visit_operator!(visit);
}

impl VisitSimdOperator<'_> for Counter {
    wasmparser::for_each_visit_simd_operator!(visit);
}
