//! The resumer's side: the switch to a continuation, and what comes back from it.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, BlockCall, InstBuilder, JumpTableData, StackSlotData, StackSlotKind, Value,
    types,
};
use wasmparser::{Handle, ResumeTable};

use super::{SLOT_BYTES, Translator};
use crate::facts::vmcont::{RAISED, SUSPENDED, SUSPENDED_MORE, WORD_BITS, offsets as at};

/// Clauses that are compared one after the other.
const FEW_CLAUSES: usize = 3;

/// Where a `resume` takes what comes back.
struct Site {
    /// Between the values and the tags of the clauses.
    address: Value,
}

impl Translator<'_> {
    /// Switches to a continuation, and goes on with what it comes back with.
    pub(super) fn enter(&mut self, cont: Value, word: Value, ty: u32, table: &ResumeTable) {
        let leaf = self.leaf_of(cont);
        self.enter_at(cont, leaf, word, ty, table);
    }

    /// The one that goes on where a suspended one is resumed: as a rule itself, which is taken
    /// before it is read. What follows need not wait for the continuation to come from memory.
    pub(super) fn leaf_of(&mut self, cont: Value) -> Value {
        let leaf = self.get(cont, at::CONT_LINK);
        let is_itself = self.b.ins().icmp(IntCC::Equal, leaf, cont);
        self.unless(is_itself, &[cont], |_| vec![leaf])[0]
    }

    /// The same where it is known which one goes on.
    pub(super) fn enter_at(
        &mut self,
        cont: Value,
        leaf: Value,
        word: Value,
        ty: u32,
        table: &ResumeTable,
    ) {
        let site = self.open_site(ty, table);
        let runtime = self.runtime();
        self.put(site.address, cont, at::CONT_SITE);
        let current = self.get(runtime, at::CURRENT);
        self.put(current, cont, at::CONT_LINK);
        // What it had is over, what it will have is not yet written.
        let zero = self.b.ins().iconst(types::I64, 0);
        self.put(zero, current, at::CONT_FP);
        self.make_current(leaf);
        let back = self.b.ins().stack_switch(current, leaf, word);
        let runtime = self.b.ins().band_imm_s(back, !(WORD_BITS as i64));
        self.keep_runtime_at(runtime);
        self.fuel_read();
        let code = self.b.ins().band_imm_u(back, WORD_BITS as i64);
        self.come_back(code, &site, ty, table);
    }

    /// Room for what comes back to a `resume`, with the tags of its clauses.
    fn open_site(&mut self, ty: u32, table: &ResumeTable) -> Site {
        let carried = |handle: &Handle| match handle {
            // And the reference.
            Handle::OnLabel { tag, .. } => self.params(self.tag_type(*tag)).len() + 1,
            Handle::OnSwitch { .. } => 0,
        };
        let most = table.handlers.iter().map(carried).max().unwrap_or(0);
        let values = most.max(self.results(ty).len()).max(1) as u32;
        let tags = table.handlers.len() as u32 + 1;
        let bytes = values * SLOT_BYTES + tags * 8;
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4);
        let slot = self.b.create_sized_stack_slot(slot);
        let middle = (values * SLOT_BYTES) as i32;
        let address = self.b.ins().stack_addr(types::I64, slot, middle);
        for (i, handle) in table.handlers.iter().enumerate() {
            let tag = match *handle {
                Handle::OnLabel { tag, .. } => self.clause(tag, false),
                Handle::OnSwitch { tag } => self.clause(tag, true),
            };
            self.put(tag, address, at::SITE_CLAUSES + 8 * i as i32);
        }
        let zero = self.b.ins().iconst(types::I64, 0);
        let end = at::SITE_CLAUSES + 8 * table.handlers.len() as i32;
        self.put(zero, address, end);
        Site { address }
    }

    /// Behind the switch of a `resume`.
    fn come_back(&mut self, word: Value, site: &Site, ty: u32, table: &ResumeTable) {
        let (returned, raised) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(raised);
        let clauses: Vec<(u32, u32, Block)> = (0..)
            .zip(&table.handlers)
            .filter_map(|(i, handle)| match *handle {
                Handle::OnLabel { tag, label } => Some((i, (tag, label))),
                Handle::OnSwitch { .. } => None,
            })
            .map(|(i, (tag, label))| {
                let block = self.b.create_block();
                self.state
                    .work
                    .handed_on(self.params(self.tag_type(tag)).len());
                // Kept beside its clause's position.
                debug_assert!(tag < u32::MAX);
                (i, label, block)
            })
            .collect();
        match clauses.len() {
            0..=FEW_CLAUSES => {
                for (i, _, block) in &clauses {
                    let is_it = self.b.ins().icmp_imm_u(
                        IntCC::Equal,
                        word,
                        SUSPENDED as i64 + i64::from(*i),
                    );
                    let next = self.b.create_block();
                    self.b.ins().brif(is_it, *block, &[], next, &[]);
                    self.b.switch_to_block(next);
                    self.b.seal_block(next);
                }
                self.b.ins().brif(word, raised, &[], returned, &[]);
            }
            _ => self.branch_to_clause(word, &clauses, returned, raised, table),
        }
        for (i, label, block) in clauses {
            self.b.switch_to_block(block);
            self.b.seal_block(block);
            let Handle::OnLabel { tag, .. } = table.handlers[i as usize] else {
                unreachable!("only clauses with labels are here")
            };
            self.suspended(site, tag, label);
        }
        self.b.switch_to_block(raised);
        self.b.seal_block(raised);
        let exception = self.get(site.address, at::site_value(0));
        self.raise(exception);
        self.go_on_in(returned);
        let results = self.results(ty);
        for (i, ty) in results.iter().enumerate() {
            let value = self.value(*ty, site.address, at::site_value(i));
            self.push(value);
        }
    }

    fn branch_to_clause(
        &mut self,
        word: Value,
        clauses: &[(u32, u32, Block)],
        returned: Block,
        raised: Block,
        table: &ResumeTable,
    ) {
        let mut targets = vec![returned];
        targets.extend(table.handlers.iter().map(|_| raised));
        for (i, _, block) in clauses {
            targets[*i as usize + 1] = *block;
        }
        let pool = &mut self.b.func.dfg.value_lists;
        let mut call = |block| BlockCall::new(block, [], pool);
        let targets: Vec<BlockCall> = targets.into_iter().map(&mut call).collect();
        let default = call(raised);
        let targets_len = targets.len();
        self.state.work.entries(targets_len);
        let table = self
            .b
            .create_jump_table(JumpTableData::new(default, &targets));
        let word = match targets_len > SUSPENDED_MORE as usize {
            true => self.exact_clause(word),
            false => word,
        };
        let word = self.b.ins().ireduce(types::I32, word);
        self.b.ins().br_table(word, table);
    }

    /// The clause where the word has no room for it.
    fn exact_clause(&mut self, word: Value) -> Value {
        let runtime = self.runtime();
        let found = self.get(runtime, at::FOUND);
        let found = self.b.ins().iadd_imm_s(found, SUSPENDED as i64);
        let more = SUSPENDED_MORE as i64;
        let is_more = self.b.ins().icmp_imm_u(IntCC::Equal, word, more);
        let clause = self.b.ins().select(is_more, found, word);
        // Beyond all entries.
        let raised = self.b.ins().iconst(types::I64, i64::from(u32::MAX));
        let is_raised = self.b.ins().icmp_imm_u(IntCC::Equal, word, RAISED as i64);
        self.b.ins().select(is_raised, raised, clause)
    }

    /// Branches to a clause's label with what was suspended with.
    fn suspended(&mut self, site: &Site, tag: u32, label: u32) {
        let params = self.params(self.tag_type(tag));
        let mut args = Vec::with_capacity(params.len() + 1);
        for (i, ty) in params.iter().enumerate() {
            let value = self.value(*ty, site.address, at::site_value(i));
            args.push(BlockArg::Value(value));
        }
        let reference = self.get(site.address, at::site_value(params.len()));
        args.push(BlockArg::Value(reference));
        let (block, arity) = self.state.branch_to(label);
        debug_assert_eq!(arity, args.len());
        self.b.ins().jump(block, &args);
    }
}
