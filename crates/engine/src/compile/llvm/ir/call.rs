//! Calls and returns. Cranelift's convention `tail` keeps the registers that C's keeps,
//! and is C's but for the order of results and the stack.
//!
//! | | integers | floats and vectors |
//! |---|---|---|
//! | arguments, both | rdi rsi rdx rcx r8 r9 | xmm0–7 |
//! | results, `tail` | rax rcx rdx | xmm0 xmm1 |
//! | results, C's in LLVM | rax rdx rcx | xmm0 xmm1 |
//!
//! What has more is left to Cranelift: there a callee takes its arguments off the stack,
//! which no convention of LLVM's does in the same way.

use cranelift_codegen::ir::{
    ArgumentPurpose, ExternalName, Inst, InstructionData, Opcode, Signature, Value,
};
use cranelift_codegen::isa::CallConv;

use super::{Printer, Printing, name_of, unknown};
use crate::compile::translate::{NAMESPACE_START, NAMESPACE_WASM};

/// Registers for arguments: of integers, of others.
const ARGUMENTS: [usize; 2] = [6, 8];
/// The same for results.
const RESULTS: [usize; 2] = [3, 2];

/// The order in which LLVM is given results: of each place, which result it is, or
/// nothing where the place's register is not used.
type Order = Vec<Option<usize>>;

impl Printer<'_> {
    /// Prints a call, or where a continuation starts; `false` when it is neither.
    pub(super) fn any_call(&mut self, inst: Inst) -> Printing<bool> {
        let args = self.args(inst);
        match self.func.dfg.insts[inst] {
            InstructionData::Call {
                opcode: Opcode::Call,
                func_ref,
                ..
            } => {
                let data = &self.func.dfg.ext_funcs[func_ref];
                let signature = self.func.dfg.signatures[data.signature].clone();
                let ExternalName::User(name) = data.name else {
                    return unknown("a call of something without a name");
                };
                let name = &self.func.params.user_named_funcs()[name];
                if name.namespace != NAMESPACE_WASM || signature.call_conv != CallConv::Tail {
                    return unknown("a call of something else than a function");
                }
                let callee = name.index;
                let declared = self.declaration(&signature, callee)?;
                self.callees.insert(callee, declared);
                self.call(inst, &signature, &format!("@wc{callee}"), &args)
            }
            InstructionData::CallIndirect {
                opcode: Opcode::CallIndirect,
                sig_ref,
                ..
            } => {
                let signature = self.func.dfg.signatures[sig_ref].clone();
                let code = self.op(args[0]);
                let code = self.temp(&format!("inttoptr i64 {code} to ptr"));
                self.call(inst, &signature, &code, &args[1..])
            }
            InstructionData::FuncAddr { func_ref, .. } => {
                let data = &self.func.dfg.ext_funcs[func_ref];
                let ExternalName::User(name) = data.name else {
                    return unknown("the address of something without a name");
                };
                let name = &self.func.params.user_named_funcs()[name];
                if name.namespace != NAMESPACE_START {
                    return unknown("the address of something else than a start");
                }
                let start = name.index;
                self.starts.insert(start);
                self.result(inst, &format!("ptrtoint ptr @ws{start} to i64"))
            }
            _ => Ok(false),
        }
    }

    fn declaration(&self, signature: &Signature, callee: u32) -> Printing<String> {
        let result = self.result_type(signature)?;
        let names = signature
            .params
            .iter()
            .map(|param| name_of(param.value_type));
        let list = names.collect::<Printing<Vec<&str>>>()?.join(", ");
        Ok(format!("declare dso_local {result} @wc{callee}({list})\n"))
    }

    fn call(
        &mut self,
        inst: Inst,
        signature: &Signature,
        callee: &str,
        args: &[Value],
    ) -> Printing<bool> {
        self.in_registers(signature)?;
        let result = self.result_type(signature)?;
        if !matches!(signature.call_conv, CallConv::Tail | CallConv::SystemV) {
            return unknown(format!("calls of convention {}", signature.call_conv));
        }
        let mut list = Vec::new();
        for arg in args {
            list.push(format!("{} {}", self.name(*arg)?, self.op(*arg)));
        }
        let text = format!("call {result} {callee}({}) #1", list.join(", "));
        let results = self.func.dfg.inst_results(inst).to_vec();
        self.settled.extend(&results);
        match results[..] {
            [] => self.line(&text),
            [only] => self.set(only, &text),
            _ => {
                let all = self.temp(&text);
                for (place, found) in order(signature)?.iter().enumerate() {
                    if let Some(found) = found {
                        let text = format!("extractvalue {result} {all}, {place}");
                        self.set(results[*found], &text);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Prints a return; `false` when it is not one.
    pub(super) fn returns(&mut self, inst: Inst) -> Printing<bool> {
        if self.opcode(inst) != Opcode::Return {
            return Ok(false);
        }
        let args = self.args(inst);
        let signature = &self.func.signature;
        let result = self.result_type(signature)?;
        match args[..] {
            [] => self.line("ret void"),
            [only] => {
                let text = format!("ret {result} {}", self.handed_on(only)?);
                self.line(&text);
            }
            _ => {
                let mut all = "poison".to_owned();
                for (place, found) in order(signature)?.iter().enumerate() {
                    if let Some(found) = found {
                        let value = self.handed_on(args[*found])?;
                        let ty = self.name(args[*found])?;
                        let text = format!("insertvalue {result} {all}, {ty} {value}, {place}");
                        all = self.temp(&text);
                    }
                }
                self.line(&format!("ret {result} {all}"));
            }
        }
        Ok(true)
    }

    /// What a function returns.
    pub(super) fn result_type(&self, signature: &Signature) -> Printing<String> {
        Ok(match signature.returns[..] {
            [] => "void".to_owned(),
            [only] => name_of(only.value_type)?.to_owned(),
            _ => {
                let name = |place: &Option<usize>| match place {
                    Some(found) => name_of(signature.returns[*found].value_type),
                    None => Ok("i64"),
                };
                let all: Printing<Vec<&str>> = order(signature)?.iter().map(name).collect();
                format!("{{ {} }}", all?.join(", "))
            }
        })
    }

    /// Refuses what has arguments on the stack.
    pub(super) fn in_registers(&self, signature: &Signature) -> Printing {
        let mut counts = [0; 2];
        for param in &signature.params {
            let is_hidden = !matches!(
                param.purpose,
                ArgumentPurpose::Normal | ArgumentPurpose::VMContext
            );
            if is_hidden
                || param.value_type.bits() > 128
                || param.value_type.is_int() && param.value_type.bits() > 64
            {
                return unknown("an argument that is no plain value");
            }
            counts[usize::from(!param.value_type.is_int())] += 1;
        }
        match counts[0] > ARGUMENTS[0] || counts[1] > ARGUMENTS[1] {
            true => unknown("arguments on the stack"),
            false => Ok(()),
        }
    }
}

/// Where LLVM has to be given each result so that it is where `tail` has it: of two or
/// three integers, the second and the third change places.
fn order(signature: &Signature) -> Printing<Order> {
    let is_int = |i: &usize| signature.returns[*i].value_type.is_int();
    let all = 0..signature.returns.len();
    let (ints, others): (Vec<usize>, Vec<usize>) = all.partition(|i| is_int(i));
    if signature.call_conv != CallConv::Tail {
        return unknown("several results of a function of the runtime");
    }
    if ints.len() > RESULTS[0] || others.len() > RESULTS[1] {
        return unknown("results on the stack");
    }
    let mut places: Order = match ints[..] {
        [first, second] => vec![Some(first), None, Some(second)],
        [first, second, third] => vec![Some(first), Some(third), Some(second)],
        _ => ints.into_iter().map(Some).collect(),
    };
    places.extend(others.into_iter().map(Some));
    Ok(places)
}
