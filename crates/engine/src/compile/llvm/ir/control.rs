//! Branches and traps.
//!
//! A trap is an undefined instruction in a block of its own, which writes its place, the
//! function and the site into the section `.fathom.traps`. Sites differ, so no two are
//! merged. A switch of stacks is assembly as well (`switch.rs`).

use cranelift_codegen::ir::{
    Block, BlockArg, BlockCall, Inst, InstructionData, Opcode, TrapCode, types,
};

use super::super::switch;
use super::{Printer, Printing, label, unknown};

impl Printer<'_> {
    /// Prints what ends a block or may trap; `false` when it is neither.
    pub(super) fn control(&mut self, inst: Inst) -> Printing<bool> {
        match self.func.dfg.insts[inst] {
            InstructionData::Jump { destination, .. } => {
                let to = self.edge(destination)?;
                self.line(&format!("br label %{to}"));
            }
            InstructionData::Brif { arg, blocks, .. } => {
                let arg = self.func.dfg.resolve_aliases(arg);
                let condition = self.truth(arg)?;
                let is_cold = |call: BlockCall| {
                    let to = call.block(&self.func.dfg.value_lists);
                    self.func.layout.is_cold(to)
                };
                let how_often = match blocks.map(is_cold) {
                    [true, false] => ", !prof !1",
                    [false, true] => ", !prof !6",
                    _ => "",
                };
                let [then, otherwise] = [self.edge(blocks[0])?, self.edge(blocks[1])?];
                self.line(&format!(
                    "br i1 {condition}, label %{then}, label %{otherwise}{how_often}"
                ));
            }
            InstructionData::BranchTable { .. } => self.table(inst)?,
            InstructionData::Trap { code, .. } => self.trap(code),
            InstructionData::CondTrap { opcode, arg, code } => {
                let arg = self.func.dfg.resolve_aliases(arg);
                let (ty, text) = (self.name(arg)?, self.op(arg));
                let compare = if opcode == Opcode::Trapz { "eq" } else { "ne" };
                let fails = self.temp(&format!("icmp {compare} {ty} {text}, 0"));
                self.trap_if(&fails, code);
            }
            InstructionData::NullAry {
                opcode: Opcode::Nop,
            } => {}
            InstructionData::NullAry {
                opcode: Opcode::SequencePoint,
            } => self.line("call void asm sideeffect \"\", \"~{memory}\"() nounwind"),
            _ if self.opcode(inst) == Opcode::StackSwitch => self.switch(inst),
            _ => return self.returns(inst),
        }
        Ok(true)
    }

    /// A switch of stacks.
    fn switch(&mut self, inst: Inst) {
        let args = self.args(inst);
        let [from, to, word] = [0, 1, 2].map(|i| self.op(args[i]));
        let all = self.temp(&switch::text(&from, &to, &word));
        let back = self.func.dfg.first_result(inst);
        self.set(back, &format!("extractvalue {{ i64, i64, i64 }} {all}, 0"));
    }

    /// Where a branch goes: to the block, or to one in front of it that has the
    /// arguments.
    fn edge(&mut self, call: BlockCall) -> Printing<String> {
        let pool = &self.func.dfg.value_lists;
        let block = call.block(pool);
        let mut args = Vec::new();
        for (arg, param) in call.args(pool).zip(self.func.dfg.block_params(block)) {
            let BlockArg::Value(value) = arg else {
                return unknown("what a call in a try_table leaves");
            };
            let value = self.func.dfg.resolve_aliases(value);
            let is_hidden = self.known.is_told(value) && self.known.is_compared(*param);
            args.push(match is_hidden {
                true => self.concealed(value)?,
                false => self.handed_on(value)?,
            });
        }
        if args.is_empty() {
            self.incoming.entry(block).or_default();
            if Some(block) == self.func.layout.entry_block() {
                return unknown("a loop that begins with the function");
            }
            return Ok(label(block));
        }
        Ok(self.edge_block(block, args))
    }

    fn edge_block(&mut self, block: Block, args: Vec<String>) -> String {
        let name = format!("e{}", self.number());
        let (dbg, to) = (self.dbg(), label(block));
        self.edges
            .push_str(&format!("{name}:\n  br label %{to}, {dbg}\n"));
        let incoming = self.incoming.entry(block).or_default();
        incoming.push((name.clone(), args));
        name
    }

    /// A table of branches. With guards against speculation the index is brought into
    /// range by an instruction that LLVM does not look into, and the table has a place for
    /// each that it can be: so there is no branch in front of it to be predicted wrong.
    fn table(&mut self, inst: Inst) -> Printing {
        let InstructionData::BranchTable { table, .. } = self.func.dfg.insts[inst] else {
            return unknown("br_table");
        };
        let index = self.args(inst)[0];
        if self.ty(index) != types::I32 {
            return unknown("br_table of another type");
        }
        let table = self.func.dfg.jump_tables[table].clone();
        let default = self.edge(table.default_block())?;
        let mut cases = String::new();
        for (i, call) in table.as_slice().iter().enumerate() {
            let to = self.edge(*call)?;
            cases.push_str(&format!(" i32 {i}, label %{to}"));
        }
        let index = self.op(index);
        if !self.around.spectre || table.as_slice().is_empty() {
            self.line(&format!("switch i32 {index}, label %{default} [{cases} ]"));
            return Ok(());
        }
        let most = table.as_slice().len();
        let index = self.temp(&format!(
            "call i32 asm \"cmpl $2, $0\\0Acmoval $2, $0\", \"=&r,0,r,~{{flags}}\"\
             (i32 {index}, i32 {most}) #3"
        ));
        let never = format!("n{}", self.number());
        self.line(&format!(
            "switch i32 {index}, label %{never} [{cases} i32 {most}, label %{default} ]"
        ));
        self.edges.push_str(&format!("{never}:\n  unreachable\n"));
        Ok(())
    }

    /// A trap where `condition` holds.
    pub(super) fn trap_if(&mut self, condition: &str, code: TrapCode) {
        let number = self.number();
        self.line(&format!(
            "br i1 {condition}, label %x{number}, label %g{number}, !prof !1"
        ));
        self.text.push_str(&format!("x{number}:\n"));
        self.trap(code);
        self.text.push_str(&format!("g{number}:\n"));
    }

    fn trap(&mut self, code: TrapCode) {
        let (site, func) = (self.site(code), self.around.func);
        self.line(&format!(
            "call void asm sideeffect \"1: ud2\\0A.pushsection .fathom.traps,\\22\\22,@progbits\\0A\
             .long 1b - wf{func}, {func}, {site}\\0A.popsection\", \"~{{memory}}\"() #2"
        ));
        self.text.push_str("  unreachable\n");
    }
}
