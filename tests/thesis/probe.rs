//! The check that the thesis proposes, which looks the last address of an access up and
//! wraps: the probe must find it out.

use fathom_bench::probe::{Answers, Ending, Extent, Findings, Subject, SubjectError, probe};
use fathom_record::Guarantee;
use fathom_record::protocol::{Call, CallOutcome, WireValue};
use fathom_thesis::{
    BoundsChoice, Config, Engine, ErrorKind, Extern, ExternType, Instance, Memory, Module, Quota,
    Result, Store, Val,
};

/// Calls the engine directly. What lies around the memory is not watched: the answers
/// are what gives it away.
struct Wrong(Engine);

impl Subject for Wrong {
    fn call_all(
        &mut self,
        module: &[u8],
        calls: Vec<Call>,
    ) -> std::result::Result<Answers, SubjectError> {
        let mut outcomes = Vec::new();
        let ending = match self.answer(module, &calls, &mut outcomes) {
            Ok(()) => Ending::Done,
            Err(error) => Ending::Refused(error.to_string()),
        };
        Ok(Answers { outcomes, ending })
    }
}

impl Wrong {
    fn answer(&self, module: &[u8], calls: &[Call], outcomes: &mut Vec<CallOutcome>) -> Result<()> {
        let module = Module::new(&self.0, module)?;
        let mut store = Store::new(&self.0, ());
        let mut imports = Vec::new();
        for (_, _, ty) in module.imports() {
            let ExternType::Memory(ty) = ty else {
                unreachable!("a probe gives memories only");
            };
            imports.push(Memory::new(&mut store, ty)?.into());
        }
        let instance = Instance::new(&mut store, &module, &imports)?;
        for call in calls {
            let export = instance.get_export(&store, &call.export);
            let func = export.and_then(Extern::into_func).expect("a function");
            let args: Vec<Val> = call.args.iter().map(|text| val(text)).collect();
            let ty = func.ty(&store);
            let zeros = ty.results().iter().map(|ty| Val::default_for(*ty));
            let mut results: Vec<Val> = zeros.collect();
            outcomes.push(match func.call(&mut store, &args, &mut results) {
                Ok(()) => CallOutcome::Result(results.iter().map(text).collect()),
                Err(error) => match error.kind() {
                    ErrorKind::Trap(trap) => CallOutcome::Trap(trap.code.to_string()),
                    _ => return Err(error),
                },
            });
        }
        Ok(())
    }
}

fn val(text: &str) -> Val {
    match text.parse().expect("a value of the protocol's") {
        WireValue::I32(bits) => Val::I32(bits.cast_signed()),
        WireValue::I64(bits) => Val::I64(bits.cast_signed()),
        WireValue::F32(bits) => Val::F32(bits),
        WireValue::F64(bits) => Val::F64(bits),
        WireValue::V128(bits) => Val::V128(bits),
    }
}

fn text(value: &Val) -> String {
    let value = match value {
        Val::I32(value) => WireValue::I32(value.cast_unsigned()),
        Val::I64(value) => WireValue::I64(value.cast_unsigned()),
        Val::F32(bits) => WireValue::F32(*bits),
        Val::F64(bits) => WireValue::F64(*bits),
        Val::V128(bits) => WireValue::V128(*bits),
        _ => unreachable!("no probe has a reference"),
    };
    value.to_string()
}

/// What the probe finds of the engine with the formula or, for it is the same in all
/// else, without.
fn found(is_wrong: bool) -> Findings {
    let bounds = "shadow-compressed".parse().expect("a strategy's name");
    let config = Config::new()
        .bounds64(BoundsChoice::Named(bounds))
        .quota(Quota::UNLIMITED)
        .thesis_formula(is_wrong);
    let mut subject = Wrong(Engine::new(&config).expect("this host has it"));
    let extent = Extent {
        narrow: false,
        wide: true,
        random: 0,
        seed: 1,
        examples: Extent::EXAMPLES,
        until: None,
    };
    probe(&mut subject, extent, Guarantee::Exact, &mut |_| {}).expect("it can be probed")
}

#[test]
fn the_formula_of_the_thesis_is_found_out() {
    let found = found(true);
    assert!(!found.is_kept());
    assert!(found.violations > 100, "{}", found.violations);
    let example = found.examples.first().expect("there are some");
    assert!(
        example.contains("at address 0xffffffffffff"),
        "{:#?}",
        found.examples
    );
}

#[test]
fn without_it_the_same_engine_is_exact() {
    let found = found(false);
    assert!(found.is_kept(), "{:#?}", found.examples);
}
