//! The binary format, as far as the shapes need it.

/// i32, funcref, and no value, as the binary format writes them.
pub const I32: u8 = 0x7f;
pub const FUNCREF: u8 = 0x70;
pub const NOTHING: u8 = 0x40;

pub const END: u8 = 0x0b;
pub const ADD: u8 = 0x6a;
pub const MUL: u8 = 0x6c;
pub const XOR: u8 = 0x73;
pub const DROP: u8 = 0x1a;
pub const BLOCK: u8 = 0x02;
pub const LOOP: u8 = 0x03;
pub const IF: u8 = 0x04;
pub const UNREACHABLE: u8 = 0x00;

/// `i32.load` and `i32.store` at offset 0.
pub const LOAD: [u8; 3] = [0x28, 2, 0];
pub const STORE: [u8; 3] = [0x36, 2, 0];

pub fn unsigned(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn signed(mut number: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let byte = number as u8 & 0x7f;
        number >>= 7;
        if (number == 0 && byte & 0x40 == 0) || (number == -1 && byte & 0x40 != 0) {
            bytes.push(byte);
            return bytes;
        }
        bytes.push(byte | 0x80);
    }
}

fn with_index(opcode: u8, index: usize) -> Vec<u8> {
    [vec![opcode], unsigned(index)].concat()
}

pub fn get(local: usize) -> Vec<u8> {
    with_index(0x20, local)
}

pub fn set(local: usize) -> Vec<u8> {
    with_index(0x21, local)
}

pub fn global(index: usize) -> Vec<u8> {
    with_index(0x23, index)
}

pub fn set_global(index: usize) -> Vec<u8> {
    with_index(0x24, index)
}

pub fn call(func: usize) -> Vec<u8> {
    with_index(0x10, func)
}

pub fn br_if(depth: usize) -> Vec<u8> {
    with_index(0x0d, depth)
}

/// A block, loop or `if` of a type of the module.
pub fn open(opcode: u8, ty: usize) -> Vec<u8> {
    with_index(opcode, ty)
}

pub fn number(value: usize) -> Vec<u8> {
    [vec![0x41], signed(value as i64)].concat()
}

pub fn br_table(targets: impl Iterator<Item = usize>, default: usize) -> Vec<u8> {
    let targets: Vec<Vec<u8>> = targets.map(unsigned).collect();
    [vec![0x0e], list(&targets), unsigned(default)].concat()
}

/// How many, and each.
pub fn list<T: AsRef<[u8]>>(items: &[T]) -> Vec<u8> {
    let mut bytes = unsigned(items.len());
    for item in items {
        bytes.extend_from_slice(item.as_ref());
    }
    bytes
}

pub fn name(text: &str) -> Vec<u8> {
    list(&text.bytes().map(|byte| [byte]).collect::<Vec<_>>())
}

/// A function type of so many i32.
pub fn ty(params: usize, results: usize) -> Vec<u8> {
    let values = |count| list(&vec![[I32]; count]);
    [vec![0x60], values(params), values(results)].concat()
}

/// A body with so many locals of type i32 besides its parameters.
pub fn body(locals: usize, code: &[u8]) -> Vec<u8> {
    let declared = match locals {
        0 => list::<[u8; 0]>(&[]),
        _ => list(&[[unsigned(locals), vec![I32]].concat()]),
    };
    let body = [&declared[..], code, &[END]].concat();
    [unsigned(body.len()), body].concat()
}

/// A module in the making. It exports its first function as `f`, and has one
/// memory of a page unless it is said otherwise.
pub struct Module {
    pub types: Vec<Vec<u8>>,
    /// Type index and body.
    pub funcs: Vec<(usize, Vec<u8>)>,
    pub memories: usize,
    pub exports: Vec<Vec<u8>>,
    /// Other sections, by id.
    pub sections: Vec<(u8, Vec<u8>)>,
}

impl Module {
    /// Of functions of these types.
    pub fn new(types: &[(usize, usize)], funcs: Vec<(usize, Vec<u8>)>) -> Module {
        Module {
            types: types.iter().map(|(p, r)| ty(*p, *r)).collect(),
            funcs,
            memories: 1,
            exports: vec![[name("f"), vec![0, 0]].concat()],
            sections: Vec::new(),
        }
    }

    /// Of one function of one type.
    pub fn of(ty: (usize, usize), locals: usize, code: &[u8]) -> Module {
        Module::new(&[ty], vec![(0, body(locals, code))])
    }

    pub fn with(mut self, id: u8, contents: Vec<u8>) -> Module {
        self.sections.push((id, contents));
        self
    }

    pub fn encode(self) -> Vec<u8> {
        let indices: Vec<Vec<u8>> = self.funcs.iter().map(|(ty, _)| unsigned(*ty)).collect();
        let bodies: Vec<&Vec<u8>> = self.funcs.iter().map(|(_, body)| body).collect();
        let mut sections = self.sections;
        sections.push((1, list(&self.types)));
        sections.push((3, list(&indices)));
        sections.push((5, list(&vec![[0, 1]; self.memories])));
        sections.push((7, list(&self.exports)));
        sections.push((10, list(&bodies)));
        // The order of the specification: tags stand behind memories, and the
        // count of data segments, which nobody here has, before the code.
        let place = |id: u8| match id {
            13 => 55,
            0 => 255,
            id => u32::from(id) * 10,
        };
        sections.sort_by_key(|(id, _)| place(*id));
        let mut bytes = b"\0asm\x01\0\0\0".to_vec();
        for (id, contents) in sections {
            bytes.push(id);
            bytes.extend(unsigned(contents.len()));
            bytes.extend(contents);
        }
        bytes
    }
}
