//! The sections of a module, filled one after another by whoever rewrites it, and put
//! together in the order that the format asks for.

use wasm_encoder::reencode::{self, Reencode, utils};
use wasm_encoder::{
    CodeSection, CustomSection, DataCountSection, DataSection, ElementSection, ExportSection,
    FunctionSection, GlobalSection, ImportSection, MemorySection, Module, NameSection,
    StartSection, TableSection, TagSection, TypeSection,
};
use wasmparser::{KnownCustom, Payload};

/// Who writes a module again.
pub trait Writer: Reencode<Error = std::convert::Infallible> {
    /// From here on, or no longer, indices are those of names, not of uses.
    fn naming(&mut self, is_naming: bool);
}

/// The sections, as they are filled. The start section is who rewrites' alone.
#[derive(Default)]
pub struct Sections<'a> {
    /// Types.
    pub types: TypeSection,
    /// Imports.
    pub imports: ImportSection,
    /// The types of functions.
    pub functions: FunctionSection,
    /// Tables.
    pub tables: TableSection,
    /// Memories.
    pub memories: MemorySection,
    /// Tags.
    pub tags: TagSection,
    /// Globals.
    pub globals: GlobalSection,
    /// Exports.
    pub exports: ExportSection,
    /// The function of the start section.
    pub initial: Option<u32>,
    /// Segments of elements.
    pub elements: ElementSection,
    /// How many segments of data there are, where that is said in front.
    pub data_count: Option<u32>,
    /// The bodies of functions.
    pub code: CodeSection,
    /// Segments of data.
    pub data: DataSection,
    /// Custom sections that do not speak of places in the code.
    pub customs: Vec<CustomSection<'a>>,
    /// Names.
    pub names: Option<NameSection>,
}

impl<'a> Sections<'a> {
    /// Adds what a part of a module becomes.
    ///
    /// # Errors
    /// What cannot be read, or cannot be written again.
    pub fn take(
        &mut self,
        writer: &mut impl Writer,
        payload: Payload<'a>,
    ) -> Result<(), reencode::Error> {
        match payload {
            Payload::TypeSection(s) => writer.parse_type_section(&mut self.types, s)?,
            Payload::ImportSection(s) => writer.parse_import_section(&mut self.imports, s)?,
            Payload::FunctionSection(s) => writer.parse_function_section(&mut self.functions, s)?,
            Payload::TableSection(s) => writer.parse_table_section(&mut self.tables, s)?,
            Payload::MemorySection(s) => writer.parse_memory_section(&mut self.memories, s)?,
            Payload::TagSection(s) => writer.parse_tag_section(&mut self.tags, s)?,
            Payload::GlobalSection(s) => writer.parse_global_section(&mut self.globals, s)?,
            Payload::ExportSection(s) => writer.parse_export_section(&mut self.exports, s)?,
            Payload::ElementSection(s) => writer.parse_element_section(&mut self.elements, s)?,
            Payload::DataCountSection { count, .. } => self.data_count = Some(count),
            Payload::CodeSectionEntry(body) => writer.parse_function_body(&mut self.code, body)?,
            Payload::DataSection(s) => writer.parse_data_section(&mut self.data, s)?,
            Payload::CustomSection(s) => match s.as_known() {
                KnownCustom::Name(names) => {
                    writer.naming(true);
                    // A broken name is no reason to refuse the module.
                    self.names = writer.custom_name_section(names).ok();
                    writer.naming(false);
                }
                // Others speak of places in the code, which moves.
                _ if ["producers", "target_features"].contains(&s.name()) => {
                    self.customs.push(utils::custom_section(writer, s));
                }
                _ => {}
            },
            _ => {}
        }
        Ok(())
    }

    /// The module.
    pub fn assemble(&self) -> Vec<u8> {
        let mut module = Module::new();
        module.section(&self.types);
        if !self.imports.is_empty() {
            module.section(&self.imports);
        }
        module.section(&self.functions);
        if !self.tables.is_empty() {
            module.section(&self.tables);
        }
        if !self.memories.is_empty() {
            module.section(&self.memories);
        }
        if !self.tags.is_empty() {
            module.section(&self.tags);
        }
        if !self.globals.is_empty() {
            module.section(&self.globals);
        }
        module.section(&self.exports);
        if let Some(function_index) = self.initial {
            module.section(&StartSection { function_index });
        }
        if !self.elements.is_empty() {
            module.section(&self.elements);
        }
        if let Some(count) = self.data_count {
            module.section(&DataCountSection { count });
        }
        module.section(&self.code);
        if !self.data.is_empty() {
            module.section(&self.data);
        }
        for custom in &self.customs {
            module.section(custom);
        }
        if let Some(names) = &self.names {
            module.section(names);
        }
        module.finish()
    }
}
