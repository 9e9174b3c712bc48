//! Where ways join: a parameter of a block that was accessed on each way there.
//!
//! What must stay true: every value that is handed in was accessed before the
//! branch that hands it in, or is again such a parameter, unchanged. Then by
//! induction over the steps of an execution the parameter is a value whose
//! access went well, and what that says of the value holds of the parameter,
//! wherever it is used. So `last` in a loop that ends with `last = accessed` needs
//! no check, though no access of `last` itself is on every way.

use std::collections::HashMap;

use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::{Block, Function, Opcode, Value, ValueDef};
use smallvec::SmallVec;

use super::facts::{Interval, Room};
use super::form::{Forms, Linear, Root, signed};
use super::loops::args_to;
use super::{Index, Site};

/// Parameters that may hand one on to another, and ways to them in all.
const PARAMETERS_MAX: usize = 12;
const WAYS_MAX: usize = 200;
/// Accesses of one root that are looked through for one way.
const ACCESSES_MAX: usize = 64;

/// An access, by the root of its index.
struct Accessed {
    block: Block,
    /// What it says of its root.
    fact: Interval,
}

/// What the pass knows of joins.
pub(super) struct Joins<'a> {
    cfg: &'a ControlFlowGraph,
    domtree: &'a DominatorTree,
    accessed: HashMap<Root, Vec<Accessed>>,
    known: HashMap<Value, Option<Interval>>,
}

impl<'a> Joins<'a> {
    /// For a function with these accesses.
    pub fn new(
        cfg: &'a ControlFlowGraph,
        domtree: &'a DominatorTree,
        func: &Function,
        forms: &mut Forms,
        rooms: &[Room],
        sites: &[Site],
    ) -> Joins<'a> {
        let mut accessed: HashMap<Root, Vec<Accessed>> = HashMap::new();
        for site in sites {
            let Some(index) = Index::of(func, forms, site) else {
                continue;
            };
            let constant = signed(index.form.constant, index.needs.bits);
            let inside = rooms[site.memory as usize].inside(site.memory, index.needs.end);
            let fact = constant.checked_neg().and_then(|by| inside.moved(by));
            if let Some(fact) = fact {
                let root = forms.root(&index.form, index.needs.bits);
                let block = site.block;
                accessed
                    .entry(root)
                    .or_default()
                    .push(Accessed { block, fact });
            }
        }
        Joins {
            cfg,
            domtree,
            accessed,
            known: HashMap::new(),
        }
    }

    /// What is known of a parameter.
    pub fn of(&mut self, func: &Function, forms: &mut Forms, value: Value) -> Option<Interval> {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        let found = self.find(func, forms, value);
        self.known.insert(value, found);
        found
    }

    fn find(&self, func: &Function, forms: &mut Forms, value: Value) -> Option<Interval> {
        let mut parameters: SmallVec<[Value; PARAMETERS_MAX]> = SmallVec::new();
        let mut all: Option<Interval> = None;
        parameters.push(value);
        let mut next = 0;
        let mut seen = 0;
        while let Some(&parameter) = parameters.get(next) {
            next += 1;
            let ValueDef::Param(block, number) = func.dfg.value_def(parameter) else {
                return None;
            };
            // The function's own come from no branch.
            if func.layout.entry_block() == Some(block) {
                return None;
            }
            for pred in self.cfg.pred_iter(block) {
                // An unreachable way is never taken.
                if !self.domtree.is_reachable(pred.block) {
                    continue;
                }
                for arg in args_to(func, pred.inst, block, number)? {
                    for way in ways(func, arg) {
                        seen += 1;
                        if seen > WAYS_MAX {
                            return None;
                        }
                        if parameters.contains(&way) {
                            continue;
                        }
                        match self.at_end(func, forms, way, pred.block) {
                            Some(fact) => all = Some(all.map_or(Some(fact), |all| all.hull(fact))?),
                            None if parameters.len() < PARAMETERS_MAX => parameters.push(way),
                            None => return None,
                        }
                    }
                }
            }
        }
        all
    }

    /// What accesses say of a value that are on every way to the end of a block.
    fn at_end(
        &self,
        func: &Function,
        forms: &mut Forms,
        value: Value,
        block: Block,
    ) -> Option<Interval> {
        let form: Linear = forms.linear(&func.dfg, value);
        let bits = func.dfg.value_type(value).bits();
        let root = forms.root(&form, bits);
        let by = signed(form.constant, bits);
        self.accessed
            .get(&root)?
            .iter()
            .take(ACCESSES_MAX)
            .find(|accessed| self.domtree.block_dominates(accessed.block, block))?
            .fact
            .moved(by)
    }
}

/// What a value is one of.
fn ways(func: &Function, value: Value) -> SmallVec<[Value; 2]> {
    let dfg = &func.dfg;
    let value = dfg.resolve_aliases(value);
    match dfg.value_def(value) {
        ValueDef::Result(inst, _) if dfg.insts[inst].opcode() == Opcode::Select => dfg
            .inst_args(inst)[1..]
            .iter()
            .map(|way| dfg.resolve_aliases(*way))
            .collect(),
        _ => SmallVec::from_slice(&[value]),
    }
}
