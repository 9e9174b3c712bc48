//! Sequences as a module: each in its forms, the functions that prepare a call, the
//! memories and tables that instructions work on.
//!
//! What must stay true: all forms of a sequence have the same values, and an operand
//! that is loaded lies in the last bytes that the first memory has at the start.

use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, DataSection, ElementSection, Elements, ExportKind,
    ExportSection, Function, FunctionSection, MemorySection, MemoryType, Module, RefType,
    TableSection, TableType, TypeSection, ValType,
};

use super::{Call, Sequence, Step, values};
use crate::generate::Stream;

/// Calls of a function with parameters besides that with its sequence's own values.
const MORE_CALLS: usize = 12;
/// Bytes of a memory at first.
const PAGE_BYTES: u32 = 65_536;
/// What each letter's setter is called.
const LETTERS: [char; 5] = ['i', 'I', 'f', 'F', 'v'];

/// Where operands come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Constant,
    Parameter,
    Mixed,
    /// Parameters, of which a comparison in front says what they are.
    Compared,
}

fn val_type(letter: char) -> ValType {
    match letter {
        'i' => ValType::I32,
        'I' => ValType::I64,
        'f' | 'n' => ValType::F32,
        'F' | 'N' => ValType::F64,
        'r' => ValType::FUNCREF,
        _ => ValType::V128,
    }
}

/// Bytes of a value of a letter's type.
fn size(letter: char) -> u32 {
    match letter {
        'i' | 'f' | 'n' => 4,
        'I' | 'F' | 'N' => 8,
        _ => 16,
    }
}

fn constant(body: &mut Function, letter: char, value: u128) {
    match letter {
        'i' => body.instructions().i32_const(value as u32 as i32),
        'I' => body.instructions().i64_const(value as u64 as i64),
        'f' | 'n' => body
            .instructions()
            .f32_const(f32::from_bits(value as u32).into()),
        'F' | 'N' => body
            .instructions()
            .f64_const(f64::from_bits(value as u64).into()),
        'r' if value == 0 => body.instructions().ref_null(wasm_encoder::HeapType::FUNC),
        'r' => body.instructions().ref_func(0),
        _ => body.instructions().v128_const(value.cast_signed()),
    };
}

/// A load from, or a store to, the last bytes of the first memory.
fn at_the_end(body: &mut Function, letter: char, store: bool) {
    let (prefix, load, save): (&[u8], u8, u8) = match letter {
        'i' => (&[], 0x28, 0x36),
        'I' => (&[], 0x29, 0x37),
        'f' | 'n' => (&[], 0x2a, 0x38),
        'F' | 'N' => (&[], 0x2b, 0x39),
        _ => (&[0xfd], 0x00, 0x0b),
    };
    body.raw(prefix.iter().copied());
    body.raw([if store { save } else { load }, 0, 0]);
}

/// A trap unless a parameter equals a value. No NaN equals anything.
fn compare(body: &mut Function, param: u32, letter: char, value: u128) {
    let is_nan = match letter {
        'f' | 'n' => f32::from_bits(value as u32).is_nan(),
        'F' | 'N' => f64::from_bits(value as u64).is_nan(),
        _ => false,
    };
    if is_nan {
        return;
    }
    body.instructions().local_get(param);
    constant(body, letter, value);
    match letter {
        'i' => body.instructions().i32_eq(),
        'I' => body.instructions().i64_eq(),
        'f' | 'n' => body.instructions().f32_eq(),
        'F' | 'N' => body.instructions().f64_eq(),
        _ => body.instructions().i64x2_eq().i64x2_all_true(),
    };
    body.instructions()
        .i32_eqz()
        .if_(BlockType::Empty)
        .unreachable()
        .end();
}

/// A module in the making.
pub(super) struct Builder {
    types: TypeSection,
    functions: FunctionSection,
    exports: ExportSection,
    code: CodeSection,
    pub(super) calls: Vec<Call>,
}

impl Builder {
    /// With the functions of the table and one that sets the memory's last bytes for
    /// each letter.
    pub(super) fn new() -> Builder {
        let mut builder = Builder {
            types: TypeSection::new(),
            functions: FunctionSection::new(),
            exports: ExportSection::new(),
            code: CodeSection::new(),
            calls: Vec::new(),
        };
        let mut answer = Function::new([]);
        answer.instructions().i32_const(42).end();
        builder.function("answer", &[], "i", &answer);
        for letter in LETTERS {
            let mut body = Function::new([]);
            body.instructions()
                .i32_const((PAGE_BYTES - size(letter)) as i32)
                .local_get(0);
            at_the_end(&mut body, letter, true);
            body.instructions().end();
            builder.function(&format!("set {letter}"), &[letter], "", &body);
        }
        builder
    }

    fn function(&mut self, name: &str, params: &[char], results: &str, body: &Function) {
        let index = self.functions.len();
        let params: Vec<ValType> = params.iter().map(|letter| val_type(*letter)).collect();
        let results: Vec<ValType> = results.chars().map(val_type).collect();
        self.types.ty().function(params, results);
        self.functions.function(index);
        self.exports.export(name, ExportKind::Func, index);
        self.code.function(body);
    }

    /// Add a sequence in all forms, and their calls.
    pub(super) fn add(&mut self, at: usize, sequence: &Sequence, stream: &mut Stream) {
        for form in [Form::Constant, Form::Parameter, Form::Mixed, Form::Compared] {
            self.add_form(at, sequence, form, stream);
        }
    }

    /// Add a sequence in one form, and its calls.
    fn add_form(&mut self, at: usize, sequence: &Sequence, form: Form, stream: &mut Stream) {
        let given: Vec<(char, u128)> = sequence.given().collect();
        let mut from: Vec<Form> = given
            .iter()
            .map(|(letter, _)| match (form, letter) {
                (_, 'r') => Form::Constant,
                (Form::Mixed, _) if stream.below(2) == 0 => Form::Constant,
                (Form::Mixed | Form::Compared, _) => Form::Parameter,
                (form, _) => form,
            })
            .collect();
        if form == Form::Mixed && !given.is_empty() {
            self.load_one(&given, &mut from, stream);
        }
        let params = |values: &[u128]| -> Vec<u128> {
            let values = values.iter().zip(&from);
            let passed = values.filter(|(_, from)| **from == Form::Parameter);
            passed.map(|(value, _)| *value).collect()
        };
        let letters = given.iter().zip(&from);
        let letters = letters.filter(|(_, from)| **from == Form::Parameter);
        let letters: Vec<char> = letters.map(|((letter, _), _)| *letter).collect();
        let name = format!(
            "sequence {at} {}",
            ["constant", "parameter", "mixed", "compared"][form as usize]
        );
        let compared: Vec<(char, u128)> = match form {
            Form::Compared => {
                let passed = given.iter().zip(&from);
                let passed = passed.filter(|(_, from)| **from == Form::Parameter);
                passed.map(|(given, _)| *given).collect()
            }
            _ => Vec::new(),
        };
        let body = body(sequence, &from, letters.len() as u32, &compared);
        self.function(&name, &letters, sequence.gives(), &body);
        let own: Vec<u128> = given.iter().map(|(_, value)| *value).collect();
        let mut call = |values: &[u128], others| {
            self.calls.push(Call {
                name: name.clone(),
                arguments: params(values),
                gives: sequence.gives(),
                sequence: Some(at),
                others,
            });
        };
        call(&own, None);
        if form == Form::Parameter && !letters.is_empty() {
            for _ in 0..MORE_CALLS {
                let values = given
                    .iter()
                    .zip(&from)
                    .map(|((letter, value), from)| match from {
                        Form::Parameter => values::edge(stream, *letter),
                        _ => *value,
                    });
                let values: Vec<u128> = values.collect();
                call(&values, Some(values.clone()));
            }
        }
    }

    /// Have one operand loaded, from where a call just before puts it.
    fn load_one(&mut self, given: &[(char, u128)], from: &mut [Form], stream: &mut Stream) {
        let loaded = stream.below(given.len());
        let (letter, value) = given[loaded];
        let letter = match letter {
            'r' => return,
            'n' => 'f',
            'N' => 'F',
            'p' | 'P' => 'v',
            other => other,
        };
        // Only the loaded operand's place keeps the form's own name.
        from[loaded] = Form::Mixed;
        self.calls.push(Call {
            name: format!("set {letter}"),
            arguments: vec![value],
            gives: "",
            sequence: None,
            others: None,
        });
    }

    /// The module.
    pub(super) fn finish(self) -> Vec<u8> {
        let memory = |memory64| MemoryType {
            minimum: 1,
            maximum: Some(3),
            memory64,
            shared: false,
            page_size_log2: None,
        };
        let mut memories = MemorySection::new();
        memories.memory(memory(false)).memory(memory(true));
        let mut tables = TableSection::new();
        tables.table(TableType {
            element_type: RefType::FUNCREF,
            table64: false,
            minimum: 10,
            maximum: Some(20),
            shared: false,
        });
        let mut elements = ElementSection::new();
        elements.passive(Elements::Functions(vec![0; 8].into()));
        elements.active(
            None,
            &ConstExpr::i32_const(0),
            Elements::Functions(vec![0, 1, 2, 0].into()),
        );
        let mut data = DataSection::new();
        let mut stream = Stream::new(1);
        data.passive(stream.bytes(64));
        data.active(
            0,
            &ConstExpr::i32_const(PAGE_BYTES as i32 - 128),
            stream.bytes(128),
        );
        data.active(
            1,
            &ConstExpr::i64_const(i64::from(PAGE_BYTES) - 128),
            stream.bytes(128),
        );
        data.active(0, &ConstExpr::i32_const(0), stream.bytes(128));
        data.active(1, &ConstExpr::i64_const(0), stream.bytes(128));
        let mut exports = self.exports;
        exports
            .export("memory 0", ExportKind::Memory, 0)
            .export("memory 1", ExportKind::Memory, 1);
        let mut module = Module::new();
        module
            .section(&self.types)
            .section(&self.functions)
            .section(&tables)
            .section(&memories)
            .section(&exports)
            .section(&elements)
            .section(&wasm_encoder::DataCountSection { count: 5 })
            .section(&self.code)
            .section(&data);
        module.finish()
    }
}

/// The body of a function that runs a sequence, some of whose parameters are compared first.
fn body(sequence: &Sequence, from: &[Form], params: u32, compared: &[(char, u128)]) -> Function {
    let gives = |step: &Step| step.op.gives.chars().map(val_type).collect::<Vec<_>>();
    let locals: Vec<(u32, ValType)> = sequence
        .steps
        .iter()
        .flat_map(gives)
        .map(|ty| (1, ty))
        .collect();
    let mut body = Function::new(locals);
    for (param, (letter, value)) in (0..).zip(compared) {
        compare(&mut body, param, *letter, *value);
    }
    let (mut next_param, mut next_given, mut next_local) = (0, from.iter(), params);
    let last = sequence.steps.len() - 1;
    let mut previous = 0;
    for (at, step) in sequence.steps.iter().enumerate() {
        for (letter, value) in &step.operands {
            let Some(value) = value else {
                body.instructions().local_get(previous);
                continue;
            };
            match next_given.next().expect("one for each operand") {
                Form::Constant => constant(&mut body, *letter, *value),
                Form::Parameter | Form::Compared => {
                    body.instructions().local_get(next_param);
                    next_param += 1;
                }
                Form::Mixed => {
                    body.instructions()
                        .i32_const((PAGE_BYTES - size(*letter)) as i32);
                    at_the_end(&mut body, *letter, false);
                }
            }
        }
        body.raw(step.bytes.iter().copied());
        if at != last {
            previous = next_local;
            let count = step.op.gives.len() as u32;
            // The last result is on top; the next step takes the first.
            for result in (0..count).rev() {
                body.instructions().local_set(previous + result);
            }
            next_local += count;
        }
    }
    body.instructions().end();
    body
}
