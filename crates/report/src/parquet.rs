//! Columns as a Parquet file (<https://parquet.apache.org/docs/file-format/>): plain values, neither
//! compressed nor encoded, a page a column in each group of rows.
//!
//! ```text
//!  PAR1 │ page: header, which values there are, values │ … │ footer │ its length │ PAR1
//! ```
//!
//! Headers and footer are structures of Thrift's compact protocol, whose fields are named by number
//! (`parquet.thrift` of apache/parquet-format).

/// Rows of a group, so that no page is large.
const GROUP_ROWS: usize = 1 << 16;

const MAGIC: &[u8] = b"PAR1";

/// A column: text that is there in each row, or numbers that may be missing.
pub(crate) enum Column {
    Text(Vec<String>),
    Numbers(Vec<Option<u64>>),
}

/// Numbers of the format: of types, encodings and how often a value is there.
const INT64: i64 = 2;
const BYTE_ARRAY: i64 = 6;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const REQUIRED: i64 = 0;
const OPTIONAL: i64 = 1;
const UTF8: i64 = 0;

impl Column {
    fn rows(&self) -> usize {
        match self {
            Column::Text(all) => all.len(),
            Column::Numbers(all) => all.len(),
        }
    }

    fn ty(&self) -> i64 {
        match self {
            Column::Text(_) => BYTE_ARRAY,
            Column::Numbers(_) => INT64,
        }
    }

    /// What of some rows is in a page behind its header.
    fn page(&self, rows: std::ops::Range<usize>) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Column::Text(all) => {
                for text in &all[rows] {
                    bytes.extend((text.len() as u32).to_le_bytes());
                    bytes.extend(text.as_bytes());
                }
            }
            Column::Numbers(all) => {
                let levels = levels(&all[rows.clone()]);
                bytes.extend((levels.len() as u32).to_le_bytes());
                bytes.extend(levels);
                for number in all[rows].iter().flatten() {
                    bytes.extend(number.to_le_bytes());
                }
            }
        }
        bytes
    }
}

/// Which values there are: runs, each with its length, twice, and one byte.
fn levels(all: &[Option<u64>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for run in all.chunk_by(|a, b| a.is_some() == b.is_some()) {
        varint(&mut bytes, 2 * run.len() as u64);
        bytes.push(run[0].is_some().into());
    }
    bytes
}

fn varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Types of Thrift's compact protocol.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A structure as it is written.
#[derive(Default)]
struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    /// A field's number, greater than the last one's, and its type.
    fn field(&mut self, id: u8, ty: u8) {
        self.bytes.push((id - self.last) << 4 | ty);
        self.last = id;
    }

    fn number(mut self, id: u8, ty: u8, number: i64) -> Struct {
        self.field(id, ty);
        zigzag(&mut self.bytes, number);
        self
    }

    fn text(mut self, id: u8, text: &str) -> Struct {
        self.field(id, BINARY);
        binary(&mut self.bytes, text);
        self
    }

    fn nested(mut self, id: u8, inner: Struct) -> Struct {
        self.field(id, STRUCT);
        self.bytes.extend(inner.end());
        self
    }

    fn list(mut self, id: u8, ty: u8, items: impl ExactSizeIterator<Item = Vec<u8>>) -> Struct {
        self.field(id, LIST);
        match items.len() {
            few @ 0..15 => self.bytes.push((few as u8) << 4 | ty),
            many => {
                self.bytes.push(0xf0 | ty);
                varint(&mut self.bytes, many as u64);
            }
        }
        self.bytes.extend(items.flatten());
        self
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn zigzag(bytes: &mut Vec<u8>, number: i64) {
    varint(bytes, (number << 1 ^ number >> 63).cast_unsigned());
}

fn binary(bytes: &mut Vec<u8>, text: &str) {
    varint(bytes, text.len() as u64);
    bytes.extend(text.as_bytes());
}

/// The file of columns of as many rows, each with its name.
pub(crate) fn file(columns: &[(&str, Column)]) -> Vec<u8> {
    let rows = columns.first().map_or(0, |(_, column)| column.rows());
    let mut file = MAGIC.to_vec();
    let mut groups = Vec::new();
    for from in (0..rows).step_by(GROUP_ROWS) {
        let to = rows.min(from + GROUP_ROWS);
        groups.push(group(&mut file, columns, from..to));
    }
    let footer = Struct::default()
        .number(1, I32, 1)
        .list(2, STRUCT, schema(columns).into_iter())
        .number(3, I64, rows as i64)
        .list(4, STRUCT, groups.into_iter())
        .text(6, concat!("fathom ", env!("CARGO_PKG_VERSION")))
        .end();
    let len = footer.len() as u32;
    file.extend(footer);
    file.extend(len.to_le_bytes());
    file.extend(MAGIC);
    file
}

/// The root, and each column.
fn schema(columns: &[(&str, Column)]) -> Vec<Vec<u8>> {
    let root = Struct::default().text(4, "samples");
    let mut all = vec![root.number(5, I32, columns.len() as i64).end()];
    for (name, column) in columns {
        let element = Struct::default().number(1, I32, column.ty());
        all.push(match column {
            Column::Text(_) => {
                let named = element.number(3, I32, REQUIRED).text(4, name);
                named.number(6, I32, UTF8).end()
            }
            Column::Numbers(_) => element.number(3, I32, OPTIONAL).text(4, name).end(),
        });
    }
    all
}

/// Appends some rows, a page a column: what the footer says of them.
fn group(file: &mut Vec<u8>, columns: &[(&str, Column)], rows: std::ops::Range<usize>) -> Vec<u8> {
    let (start, count) = (file.len(), rows.len() as i64);
    let mut chunks = Vec::new();
    for (name, column) in columns {
        let page = column.page(rows.clone());
        let (at, len) = (file.len(), page.len() as i64);
        let values = Struct::default()
            .number(1, I32, count)
            .number(2, I32, PLAIN);
        let values = values.number(3, I32, RLE).number(4, I32, RLE);
        let header = Struct::default().number(1, I32, 0);
        let header = header.number(2, I32, len).number(3, I32, len);
        file.extend(header.nested(5, values).end());
        file.extend(page);
        let encodings = [PLAIN, RLE].map(|encoding| {
            let mut bytes = Vec::new();
            zigzag(&mut bytes, encoding);
            bytes
        });
        let mut path = Vec::new();
        binary(&mut path, name);
        let bytes = (file.len() - at) as i64;
        let about = Struct::default()
            .number(1, I32, column.ty())
            .list(2, I32, encodings.into_iter())
            .list(3, BINARY, [path].into_iter())
            .number(4, I32, 0)
            .number(5, I64, count)
            .number(6, I64, bytes)
            .number(7, I64, bytes)
            .number(9, I64, at as i64);
        let chunk = Struct::default().number(2, I64, at as i64);
        chunks.push(chunk.nested(3, about).end());
    }
    let bytes = (file.len() - start) as i64;
    let group = Struct::default().list(1, STRUCT, chunks.into_iter());
    group.number(2, I64, bytes).number(3, I64, count).end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_the_format_says() {
        let text = Column::Text(vec!["ä".to_owned(), String::new()]);
        let numbers = Column::Numbers(vec![None, Some(258)]);
        let file = file(&[("t", text), ("n", numbers)]);
        let (len, magic) = (file.len(), &file[file.len() - 4..]);
        assert_eq!((&file[..4], magic), (MAGIC, MAGIC));
        // A length and "ä", a length and nothing.
        let page = [2, 0, 0, 0, 0xc3, 0xa4, 0, 0, 0, 0];
        assert!(file.windows(page.len()).any(|bytes| bytes == page));
        // Four bytes of levels: one that is not there, one that is, and its value.
        let page = [4, 0, 0, 0, 2, 0, 2, 1, 2, 1, 0, 0, 0, 0, 0, 0];
        assert!(file.windows(page.len()).any(|bytes| bytes == page));
        let footer = u32::from_le_bytes(file[len - 8..len - 4].try_into().unwrap());
        let footer = &file[len - 8 - footer as usize..len - 8];
        // The version, a list of three structures, the root's name.
        assert!(footer.starts_with(b"\x15\x02\x19\x3c\x48\x07samples"));
    }

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        let written = |number| {
            let mut bytes = Vec::new();
            zigzag(&mut bytes, number);
            bytes
        };
        assert_eq!(written(0), [0]);
        assert_eq!(written(-1), [1]);
        assert_eq!(written(64), [0x80, 1]);
        assert_eq!(levels(&[Some(1); 100]), [0xc8, 1, 1]);
    }
}
