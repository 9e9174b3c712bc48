//! Loads and stores.
//!
//! | CLIF says | becomes |
//! |---|---|
//! | may trap | volatile, unaligned, with its site |
//! | `notrap`, `readonly`, `can_move` | an invariant load |
//! | `notrap`, `aligned`, a number | an unordered load: another thread may write there |
//! | any other load | volatile: it stays behind what made it safe |
//! | any store | volatile |
//! | `notrap`, `can_move`, not `readonly` | plain: proved in front of a loop ([`crate::compile::versioning`]) |
//! | a load of an object, `notrap` | plain: behind a comparison with null, where LLVM loads nothing sooner |
//! | a slot of the frame | as it is: nobody else sees it |

use cranelift_codegen::ir::{
    Endianness, Inst, InstructionData, MemFlagsData, Opcode, StackSlot, Type, Value, types,
};

use super::{Precision, Printer, Printing, name_of, unknown};
use crate::compile::translate::{ObjectPart, part_of_object};

/// Instructions that are looked at to find out where a value stems from.
const LOOKED_MAX: u32 = 16;

/// How an access is printed.
pub(super) struct Access {
    pub pointer: String,
    flags: MemFlagsData,
    /// `align …` and what else stands behind the pointer.
    pub behind: String,
}

/// Which registers hold values of a type, as constraints of assembly name them.
pub(super) fn register_of(ty: Type) -> char {
    if ty.is_int() { 'r' } else { 'x' }
}

/// Whether an access is one of a loop that was proved in front.
fn is_proved(flags: MemFlagsData) -> bool {
    flags.notrap() && flags.can_move() && !flags.readonly()
}

/// The scope of accesses to a part of objects, which [`super::super::module`] defines.
fn scope_of(part: ObjectPart) -> &'static str {
    match part {
        ObjectPart::Header => "!8",
        ObjectPart::Cells => "!9",
    }
}

impl Printer<'_> {
    /// Prints an access; `false` when it is not one.
    pub(super) fn memory(&mut self, inst: Inst) -> Printing<bool> {
        let opcode = self.opcode(inst);
        match opcode {
            Opcode::Load => self.load(inst),
            Opcode::Uload8 | Opcode::Sload8 => self.load_part(inst, types::I8),
            Opcode::Uload16 | Opcode::Sload16 => self.load_part(inst, types::I16),
            Opcode::Uload32 | Opcode::Sload32 => self.load_part(inst, types::I32),
            Opcode::Store => self.store(inst, None),
            Opcode::Istore8 => self.store(inst, Some(types::I8)),
            Opcode::Istore16 => self.store(inst, Some(types::I16)),
            Opcode::Istore32 => self.store(inst, Some(types::I32)),
            Opcode::StackAddr => self.slot_address(inst),
            _ => self.atomic(inst),
        }
    }

    /// The address of an access: a pointer, as LLVM wants the start of what is accessed to
    /// be one, and what is added to it.
    fn pointer(&mut self, address: Value, offset: i32, space: &str, fact: &str) -> String {
        let ptr = format!("ptr{space}");
        let sum = self
            .maker(address)
            .filter(|inst| self.opcode(*inst) == Opcode::Iadd);
        let (start, added) = match sum.map(|inst| self.args(inst)) {
            Some(args) => match self.is_loaded(args[0]) || !self.is_loaded(args[1]) {
                true => (args[0], Some(args[1])),
                false => (args[1], Some(args[0])),
            },
            None => (address, None),
        };
        let mut at = match start == self.context() && !space.is_empty() {
            true => "%context".to_owned(),
            false => {
                let start = self.op(start);
                self.temp(&format!("inttoptr i64 {start} to {ptr}"))
            }
        };
        if let Some(added) = added {
            let added = self.op(added);
            at = self.temp(&format!("getelementptr{fact} i8, {ptr} {at}, i64 {added}"));
        }
        if offset != 0 {
            at = self.temp(&format!("getelementptr{fact} i8, {ptr} {at}, i64 {offset}"));
        }
        format!("{ptr} {at}")
    }

    fn is_loaded(&self, value: Value) -> bool {
        let maker = self.maker(value);
        maker.is_some_and(|inst| self.opcode(inst) == Opcode::Load)
    }

    /// The instance's context: the first parameter.
    fn context(&self) -> Value {
        let entry = self
            .func
            .layout
            .entry_block()
            .expect("a function has blocks");
        self.func.dfg.block_params(entry)[0]
    }

    /// An access of `ty` at `address + offset`, atomic or not.
    pub(super) fn access(
        &mut self,
        flags: MemFlagsData,
        address: Value,
        offset: i32,
        ty: Type,
        is_atomic: bool,
    ) -> Printing<Access> {
        if flags.explicit_endianness() == Some(Endianness::Big) {
            return unknown("an access in the other order of bytes");
        }
        let align = match flags.aligned() || is_atomic {
            true => ty.bytes(),
            false => 1,
        };
        let mut behind = format!("align {align}");
        let pointer = match flags.trap_code() {
            None => {
                let fact = if is_proved(flags) { " inbounds" } else { "" };
                self.pointer(address, offset, " addrspace(258)", fact)
            }
            Some(code) => {
                let pointer = self.pointer(address, offset, "", "");
                let site = self.site(code);
                behind.push_str(&format!(", !pcsections !{{!\"ft\", !{{i32 {site}}}}}"));
                pointer
            }
        };
        Ok(Access {
            pointer,
            flags,
            behind,
        })
    }

    /// What else LLVM may know of an access: that those of other groups of its loop are
    /// elsewhere, and that headers of objects, their cells and all else are apart.
    fn scopes(&self, inst: Inst, flags: MemFlagsData) -> String {
        if flags.readonly() {
            return String::new();
        }
        let (mut own, mut others) = (Vec::new(), Vec::new());
        if let Some(part) = self.apart.get(&inst).filter(|part| !part.others.is_empty()) {
            let domain = format!("{}.{}", self.around.func, part.of_loop);
            let scope = |group: &usize| format!("!{{!\"{domain}.{group}\", !{{!\"{domain}\"}}}}");
            own.push(scope(&part.group));
            others.extend(part.others.iter().map(scope));
        }
        if self.has_objects {
            let part = part_of_object(self.func, inst);
            for one in [ObjectPart::Header, ObjectPart::Cells] {
                let list = match part == Some(one) {
                    true => &mut own,
                    false => &mut others,
                };
                list.push(scope_of(one).to_owned());
            }
        }
        let mut text = String::new();
        for (name, list) in [("alias.scope", own), ("noalias", others)] {
            if !list.is_empty() {
                text.push_str(&format!(", !{name} !{{{}}}", list.join(", ")));
            }
        }
        text
    }

    /// The text of a load of `ty`.
    fn load_text(&mut self, inst: Inst, access: &Access, ty: Type) -> Printing<String> {
        let Access {
            pointer,
            flags,
            behind,
        } = access;
        let name = name_of(ty)?;
        let is_of_object = part_of_object(self.func, inst).is_some();
        let is_number = ty.is_int() && ty.bits() <= 64;
        Ok(match flags.notrap() {
            true if flags.readonly() && flags.can_move() => {
                format!("load {name}, {pointer}, {behind}, !invariant.load !0")
            }
            true if is_proved(*flags) || is_of_object => {
                format!("load {name}, {pointer}, {behind}")
            }
            true if !flags.readonly() && flags.aligned() && is_number => {
                format!("load atomic {name}, {pointer} unordered, {behind}")
            }
            _ => format!("load volatile {name}, {pointer}, {behind}"),
        })
    }

    /// What CLIF says of an access, its address and where it is from there.
    pub(super) fn plain(&self, inst: Inst) -> Option<(MemFlagsData, Value, i32)> {
        let (flags, address, offset) = match self.func.dfg.insts[inst] {
            InstructionData::Load {
                flags, arg, offset, ..
            } => (flags, arg, offset),
            InstructionData::Store {
                flags,
                args,
                offset,
                ..
            } => (flags, args[1], offset),
            InstructionData::LoadNoOffset { flags, arg, .. } => (flags, arg, 0.into()),
            InstructionData::StoreNoOffset { flags, args, .. } => (flags, args[1], 0.into()),
            InstructionData::AtomicRmw { flags, args, .. } => (flags, args[0], 0.into()),
            InstructionData::AtomicCas { flags, args, .. } => (flags, args[0], 0.into()),
            _ => return None,
        };
        let flags = self.func.dfg.mem_flags[flags];
        Some((flags, self.func.dfg.resolve_aliases(address), offset.into()))
    }

    fn load(&mut self, inst: Inst) -> Printing<bool> {
        let ty = self.result_ty(inst);
        let Some((flags, address, offset)) = self.plain(inst) else {
            return Ok(false);
        };
        let text = match self.in_slot(address, offset) {
            Some(at) => format!("load {}, ptr {at}, align 1", name_of(ty)?),
            None => {
                let mut access = self.access(flags, address, offset, ty, false)?;
                access.behind.push_str(&self.scopes(inst, flags));
                self.settled.insert(self.func.dfg.first_result(inst));
                let text = self.load_text(inst, &access, ty)?;
                // Folded and taken out again, it would lose its site.
                let is_careful = self.around.precision == Precision::Loaded;
                let is_hidden = is_careful || ty.is_float() && !self.around.has_avx;
                if flags.trap_code().is_some() && is_hidden {
                    return self.hidden(inst, &text);
                }
                text
            }
        };
        self.result(inst, &text)
    }

    /// A load of `part`, extended.
    fn load_part(&mut self, inst: Inst, part: Type) -> Printing<bool> {
        let loaded = self.load_whole(inst, part)?;
        let extend = match self.opcode(inst) {
            Opcode::Uload8 | Opcode::Uload16 | Opcode::Uload32 => "zext",
            _ => "sext",
        };
        let (from, to) = (name_of(part)?, name_of(self.result_ty(inst))?);
        let text = format!("{extend} {from} {loaded} to {to}");
        match self.around.precision {
            Precision::Loaded => self.hidden(inst, &text),
            _ => self.result(inst, &text),
        }
    }

    /// What an instruction loads before it extends it.
    pub(super) fn load_whole(&mut self, inst: Inst, ty: Type) -> Printing<String> {
        let Some((flags, address, offset)) = self.plain(inst) else {
            return unknown("a load of another form");
        };
        let mut access = self.access(flags, address, offset, ty, false)?;
        access.behind.push_str(&self.scopes(inst, flags));
        let text = self.load_text(inst, &access, ty)?;
        Ok(self.temp(&text))
    }

    /// A store of a value or of a part of it.
    fn store(&mut self, inst: Inst, part: Option<Type>) -> Printing<bool> {
        let Some((flags, address, offset)) = self.plain(inst) else {
            return Ok(false);
        };
        let value = self.args(inst)[0];
        let (text, ty) = self.stored(value, part)?;
        if let Some(at) = self.in_slot(address, offset) {
            self.line(&format!("store {} {text}, ptr {at}, align 1", name_of(ty)?));
            return Ok(true);
        }
        let mut access = self.access(flags, address, offset, ty, false)?;
        access.behind.push_str(&self.scopes(inst, flags));
        let (pointer, behind) = (access.pointer, access.behind);
        let name = name_of(ty)?;
        let (text, how) = match is_proved(flags) {
            true => (self.untold(value, text)?, ""),
            false => (text, " volatile"),
        };
        self.line(&format!("store{how} {name} {text}, {pointer}, {behind}"));
        Ok(true)
    }

    /// A float that is stored where a load may find it: LLVM is not to know what it is.
    pub(super) fn untold(&mut self, value: Value, text: String) -> Printing<String> {
        let ty = self.ty(value);
        if !(ty.is_float() || ty.is_vector()) || self.settled.contains(&value) {
            return Ok(text);
        }
        let name = name_of(ty)?;
        let hidden = format!("call {name} asm \"\", \"=x,0\"({name} {text}) #3");
        Ok(self.temp(&hidden))
    }

    /// A value as another block is handed it, or the caller. What two blocks load and hand on
    /// LLVM may load behind both, at once and so without a site. It makes no selection of
    /// branches either where it does not know of what.
    pub(super) fn handed_on(&mut self, value: Value) -> Printing<String> {
        let text = self.op(value);
        let ty = self.ty(value);
        // Numbers of 128 bits are never loaded.
        if self.around.precision < Precision::HandedOn
            || ty == types::I128
            || !self.stems_from_load(value)
        {
            return Ok(text);
        }
        let (name, of) = (name_of(ty)?, register_of(ty));
        Ok(self.temp(&format!(
            "call {name} asm \"\", \"={of},0\"({name} {text}) #3"
        )))
    }

    /// Whether a value is made, by nothing but arithmetic, of one that an access brings which may
    /// fault; where that takes long to find out, it is.
    fn stems_from_load(&self, value: Value) -> bool {
        let mut work = vec![value];
        let mut looked = 0;
        while let Some(value) = work.pop() {
            let Some(inst) = self.maker(value) else {
                continue;
            };
            let opcode = self.opcode(inst);
            if opcode.can_load() {
                let flags = self.plain(inst).map(|(flags, _, _)| flags);
                if flags.is_none_or(|flags| flags.trap_code().is_some()) {
                    return true;
                }
            } else if !opcode.is_call() {
                work.extend(self.args(inst));
            }
            looked += 1;
            if looked == LOOKED_MAX {
                return true;
            }
        }
        false
    }

    /// What is stored, and its type.
    fn stored(&mut self, value: Value, part: Option<Type>) -> Printing<(String, Type)> {
        let (ty, text) = (self.ty(value), self.op(value));
        let Some(part) = part.filter(|part| *part != ty) else {
            return Ok((text, ty));
        };
        let (from, to) = (name_of(ty)?, name_of(part)?);
        Ok((self.temp(&format!("trunc {from} {text} to {to}")), part))
    }

    /// A place in a slot of the frame, if an instruction makes an address of one.
    fn slot(&self, inst: Inst) -> Option<(StackSlot, i32)> {
        match self.func.dfg.insts[inst] {
            InstructionData::StackAddr {
                stack_slot, offset, ..
            } => Some((stack_slot, offset.into())),
            _ => None,
        }
    }

    fn slot_address(&mut self, inst: Inst) -> Printing<bool> {
        let Some((slot, offset)) = self.slot(inst) else {
            return Ok(false);
        };
        let slot = slot.as_u32();
        let at = self.temp(&format!("getelementptr i8, ptr %s{slot}, i64 {offset}"));
        self.result(inst, &format!("ptrtoint ptr {at} to i64"))
    }

    /// Where an access to a slot of the frame is; nothing where it is to something else.
    fn in_slot(&mut self, address: Value, offset: i32) -> Option<String> {
        let (slot, start) = self.slot(self.maker(address)?)?;
        let (slot, offset) = (slot.as_u32(), start + offset);
        Some(self.temp(&format!("getelementptr i8, ptr %s{slot}, i64 {offset}")))
    }
}
