//! Data images: what a module's memories hold at first, made once for all its
//! instances.
//!
//! ```text
//!  active data segments ──► Image { at, exact, bytes }    whole host pages, zeros between
//!                             │
//!     few bytes: Copied ──────┤ copied into each new memory
//!     more:      Frozen ──────┘ mapped into it, shared until a page is written
//! ```
//!
//! A memory has an image when all the active segments that name it are in bounds
//! of its minimal size at constant offsets; applying them can then not fail, so
//! that nobody sees when it was done. Segments of other memories are applied one
//! by one, in order (`init.rs`).
//!
//! Inequality: with f the cost of a first fault on a page, copying n pages costs
//! n × f more than copying nothing; mapping them costs two mappings more to make
//! and to unmap, m, and a cheaper fault, r, for each group of 16 pages that is
//! read. Measured on Linux 6.18 in a virtual machine: f = 1.1 µs, m = 1.4 µs,
//! r = 0.4 µs. So mapping is cheaper from 2 or 3 pages on; a written page costs
//! both faults, hence 4.

use std::ops::Range;

use fathom_sys::cells::Domain;
use fathom_sys::frozen::Frozen;
use fathom_sys::map::page_bytes;

use crate::bounds::WASM_PAGE_BYTES;
use crate::facts::module::{ConstOp, ModuleInfo, SegmentMode};

/// From this many bytes on, an image is mapped.
const FROZEN_BYTES_MIN: usize = 4 * 4096;
/// Bytes of zeros between segments that an image may hold beside as many bytes as
/// the segments have: beyond, it is larger than what it saves.
const GAPS_BYTES_MAX: usize = 64 << 10;

/// The images of a module's memories.
#[derive(Debug, Default)]
pub(crate) struct Images {
    /// For each memory that the module defines.
    memories: Vec<Option<Image>>,
    /// For each data segment, whether it is in one of them.
    covered: Vec<bool>,
}

/// What a memory holds at first where that is not zero.
#[derive(Debug)]
pub(crate) struct Image {
    /// Where it begins in the memory, a multiple of the host's page.
    at: usize,
    /// Bytes of it that segments gave.
    exact: Range<usize>,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    Copied(Box<[u8]>),
    Frozen(Frozen),
}

impl Images {
    /// The images for `info`, whose data segments have the bytes that `bytes` gives.
    pub fn new<'a>(info: &ModuleInfo, domain: Domain, bytes: impl Fn(u32) -> &'a [u8]) -> Images {
        let mut images = Images {
            memories: Vec::new(),
            covered: vec![false; info.data.len()],
        };
        // A failure among those would let others see how far instantiation got:
        // functions of the instance are in the table then.
        let is_seen = info.elements.iter().any(|segment| match segment.mode {
            SegmentMode::Active { index, .. } => index < info.imported_tables,
            SegmentMode::Passive | SegmentMode::Declared => false,
        });
        for (index, ty) in info.memories.iter().enumerate() {
            if index < info.imported_memories as usize {
                continue;
            }
            let segments = match is_seen || ty.shared {
                true => None,
                false => placed(info, index as u32, ty.min.saturating_mul(WASM_PAGE_BYTES)),
            };
            let image = segments
                .as_deref()
                .and_then(|segments| Image::new(segments, &bytes, domain));
            if let (Some(_), Some(segments)) = (&image, segments) {
                for (segment, _) in segments {
                    images.covered[segment as usize] = true;
                }
            }
            images.memories.push(image);
        }
        images
    }

    /// That of a memory the module defines, counted without the imported ones.
    pub fn of(&self, defined: usize) -> Option<&Image> {
        self.memories.get(defined)?.as_ref()
    }

    /// Which data segments are in an image.
    pub fn covered(&self) -> &[bool] {
        &self.covered
    }
}

/// The active segments of a memory and where their bytes go, where that is known
/// and inside its first `min_bytes`.
fn placed(info: &ModuleInfo, memory: u32, min_bytes: u64) -> Option<Vec<(u32, Range<usize>)>> {
    let mut placed = Vec::new();
    for (i, segment) in info.data.iter().enumerate() {
        match &segment.mode {
            SegmentMode::Active { index, offset } if *index == memory => {
                let start = match offset.0.as_slice() {
                    [ConstOp::I32(v)] => u64::from(v.cast_unsigned()),
                    [ConstOp::I64(v)] => v.cast_unsigned(),
                    _ => return None,
                };
                let end = start.checked_add(segment.bytes.len() as u64)?;
                if end > min_bytes {
                    return None;
                }
                let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
                placed.push((i as u32, range));
            }
            _ => {}
        }
    }
    Some(placed)
}

impl Image {
    fn new<'a>(
        segments: &[(u32, Range<usize>)],
        bytes: impl Fn(u32) -> &'a [u8],
        domain: Domain,
    ) -> Option<Image> {
        let filled = || segments.iter().filter(|(_, range)| !range.is_empty());
        let start = filled().map(|(_, range)| range.start).min()?;
        let end = filled().map(|(_, range)| range.end).max()?;
        let sum: usize = filled().map(|(_, range)| range.len()).sum();
        if end - start > sum.saturating_mul(2).saturating_add(GAPS_BYTES_MAX) {
            return None;
        }
        let page = page_bytes();
        let at = start - start % page;
        let mut whole = vec![0; end.next_multiple_of(page) - at].into_boxed_slice();
        for (segment, range) in filled() {
            whole[range.start - at..range.end - at].copy_from_slice(bytes(*segment));
        }
        // A mapping would not have the key; and where there is no descriptor or
        // no memory for one, copying does as well.
        let frozen = match (whole.len() >= FROZEN_BYTES_MIN, domain) {
            (true, Domain::Open) => Frozen::new(&whole).ok(),
            _ => None,
        };
        Some(Image {
            at,
            exact: start - at..end - at,
            bytes: match frozen {
                Some(frozen) => Bytes::Frozen(frozen),
                None => Bytes::Copied(whole),
            },
        })
    }

    /// Where it begins in the memory.
    pub fn start(&self) -> usize {
        self.at
    }

    /// What is to be mapped; nothing where it is to be copied.
    pub fn frozen(&self) -> Option<&Frozen> {
        match &self.bytes {
            Bytes::Frozen(frozen) => Some(frozen),
            Bytes::Copied(_) => None,
        }
    }

    /// All of it, whole pages.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Frozen(frozen) => frozen.bytes(),
            Bytes::Copied(bytes) => bytes,
        }
    }

    /// Where in the memory the bytes go that segments gave, and the bytes.
    pub fn exact(&self) -> (usize, &[u8]) {
        (
            self.at + self.exact.start,
            &self.bytes()[self.exact.clone()],
        )
    }

    /// What the page at `at` of the memory holds at first; nothing where it is
    /// zero.
    pub fn page(&self, at: usize) -> Option<&[u8]> {
        let start = at.checked_sub(self.at)?;
        self.bytes().get(start..start + page_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::module::{ConstExpr, DataSegment, ElementItems, ElementSegment};
    use crate::facts::types::MemoryType;

    fn info(segments: &[(ConstOp, usize)]) -> ModuleInfo {
        let mut info = ModuleInfo {
            memories: vec![MemoryType {
                min: 4,
                ..MemoryType::default()
            }],
            ..ModuleInfo::default()
        };
        for (offset, len) in segments {
            let offset = ConstExpr(vec![*offset]);
            info.data.push(DataSegment {
                mode: SegmentMode::Active { index: 0, offset },
                bytes: 0..*len,
            });
        }
        info
    }

    fn images(info: &ModuleInfo) -> Images {
        let data: &[u8] = &[9; 100_000];
        let lens: Vec<usize> = info.data.iter().map(|d| d.bytes.len()).collect();
        Images::new(info, Domain::Open, |i| &data[..lens[i as usize]])
    }

    #[test]
    fn segments_at_constant_offsets_make_an_image() {
        let images = images(&info(&[(ConstOp::I32(5000), 3), (ConstOp::I32(5001), 4)]));
        let image = images.of(0).expect("an image");
        assert_eq!(image.exact(), (5000, &[9; 5][..]));
        assert!(image.frozen().is_none());
        assert_eq!(image.start() % page_bytes(), 0);
        let page = 5000 - 5000 % page_bytes();
        assert_eq!(image.page(page).unwrap()[5000 - page], 9);
        assert!(image.page(page + image.bytes().len()).is_none());
        assert_eq!(images.covered(), [true, true]);
    }

    #[test]
    fn many_bytes_are_frozen() {
        let images = images(&info(&[(ConstOp::I32(1), 40_000)]));
        let image = images.of(0).expect("an image");
        assert!(image.frozen().is_some());
        assert_eq!(image.exact(), (1, &[9; 40_000][..]));
        assert_eq!(image.bytes()[0], 0);
    }

    #[test]
    fn there_is_none_where_applying_may_fail_or_be_seen() {
        let beyond = ConstOp::I32((4 << 16) - 2);
        assert!(images(&info(&[(beyond, 2)])).of(0).is_some());
        for bad in [
            info(&[(beyond, 3)]),
            info(&[(ConstOp::I32(-1), 1)]),
            info(&[(ConstOp::GlobalGet(0), 1)]),
            info(&[(ConstOp::I32(0), 1), (ConstOp::GlobalGet(0), 1)]),
            // Far apart.
            info(&[(ConstOp::I32(0), 1), (ConstOp::I32(200_000), 1)]),
            info(&[(ConstOp::I32(0), 0)]),
        ] {
            let images = images(&bad);
            assert!(images.of(0).is_none());
            assert!(!images.covered().contains(&true));
        }
        let mut seen = info(&[(ConstOp::I32(0), 1)]);
        let offset = ConstExpr(vec![ConstOp::I32(0)]);
        seen.elements.push(ElementSegment {
            mode: SegmentMode::Active { index: 0, offset },
            items: ElementItems::Funcs(vec![0]),
        });
        assert!(images(&seen).of(0).is_some(), "a table of its own");
        seen.imported_tables = 1;
        assert!(images(&seen).of(0).is_none());
    }
}
