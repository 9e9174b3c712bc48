//! Where everything of a module is once imports of it have become its own.
//!
//! ```text
//!  before   import 0 | import 1 | import 2 | own …
//!  after    import 1 | added … | 0' | 2' | own … | new …        1 is kept
//! ```
//!
//! What is own moves by what is added; where nothing is, it stays where it was.

use crate::shape::{Import, Shape, Space};

/// One index space, before and after.
#[derive(Clone, Debug, Default)]
struct Moves {
    /// Where each import is.
    imports: Vec<u32>,
    /// Imports that stay.
    kept: u32,
    /// Imports that are added.
    added: u32,
    /// How many there were.
    count: u32,
}

impl Moves {
    fn new(kept: &[bool], added: u32, count: u32) -> Moves {
        let stay = kept.iter().filter(|kept| **kept).count() as u32;
        let (mut next_kept, mut next_own) = (0, stay + added);
        let place = |kept: &bool| {
            let next = if *kept { &mut next_kept } else { &mut next_own };
            *next += 1;
            *next - 1
        };
        Moves {
            imports: kept.iter().map(place).collect(),
            kept: stay,
            added,
            count,
        }
    }

    fn of(&self, index: u32) -> u32 {
        let import = self.imports.get(index as usize).copied();
        import.unwrap_or(index.saturating_add(self.added))
    }
}

/// Where everything is.
#[derive(Clone, Debug)]
pub struct Layout {
    kept: Vec<bool>,
    funcs: Moves,
    tables: Moves,
    memories: Moves,
    globals: Moves,
    tags: Moves,
    types: u32,
}

impl Layout {
    /// Of a module of this shape that keeps these of its imports (in its own order) and gets
    /// so many functions as further ones.
    pub fn new(shape: &Shape, kept: Vec<bool>, added: u32) -> Layout {
        let of = |space: Space| -> Vec<bool> {
            let both = shape.imports.iter().zip(&kept);
            both.filter(|(import, _)| import.space == space)
                .map(|(_, kept)| *kept)
                .collect()
        };
        Layout {
            funcs: Moves::new(&of(Space::Func), added, shape.funcs.len() as u32),
            tables: Moves::new(&of(Space::Table), 0, shape.tables.len() as u32),
            memories: Moves::new(&of(Space::Memory), 0, shape.memories.len() as u32),
            globals: Moves::new(&of(Space::Global), 0, shape.globals.len() as u32),
            tags: Moves::new(&of(Space::Tag), 0, shape.tags.len() as u32),
            types: shape.types.len() as u32,
            kept,
        }
    }

    /// The imports that become the module's own, in its order.
    pub fn closed<'a>(&self, shape: &'a Shape) -> impl Iterator<Item = &'a Import> {
        let both = shape.imports.iter().zip(self.kept.clone());
        both.filter(|(_, kept)| !kept).map(|(import, _)| import)
    }

    /// Whether the import at this place of the module's order stays one.
    pub fn keeps(&self, import: usize) -> bool {
        self.kept.get(import).copied().unwrap_or(true)
    }

    /// Where it is now.
    pub fn moved(&self, space: Space, index: u32) -> u32 {
        match space {
            Space::Func => self.funcs.of(index),
            Space::Table => self.tables.of(index),
            Space::Memory => self.memories.of(index),
            Space::Global => self.globals.of(index),
            Space::Tag => self.tags.of(index),
        }
    }

    /// The n-th function that is added as an import.
    pub fn added_import(&self, n: u32) -> u32 {
        self.funcs.kept + n
    }

    /// The n-th function that is new, behind all others.
    pub fn new_func(&self, n: u32) -> u32 {
        self.funcs.count + self.funcs.added + n
    }

    /// The n-th global that is new.
    pub fn new_global(&self, n: u32) -> u32 {
        self.globals.count + n
    }

    /// The n-th table that is new.
    pub fn new_table(&self, n: u32) -> u32 {
        self.tables.count + n
    }

    /// The n-th tag that is new.
    pub fn new_tag(&self, n: u32) -> u32 {
        self.tags.count + n
    }

    /// The n-th type that is new.
    pub fn new_type(&self, n: u32) -> u32 {
        self.types + n
    }
}
