//! The frames behind a trap, and what their places are in the sources.

use fathom_engine::{Frame, FrameSymbol, Symbols, Trap};

use crate::one_line::{clipped, say};
use crate::source;

/// How many frames are said after a trap, from each end.
const FRAMES_INNER: usize = 20;
const FRAMES_OUTER: usize = 4;

/// The innermost and the outermost frames: after a stack overflow there are
/// too many between.
pub fn say_frames(file: &str, frames: &[Frame], wasm: &[u8]) {
    let skipped = FRAMES_INNER..frames.len().saturating_sub(FRAMES_OUTER);
    let depths = || (0..frames.len()).filter(|depth| !skipped.contains(depth));
    let offsets = depths().filter_map(|depth| frames[depth].offset);
    let symbols = match frames.is_empty() {
        true => Symbols::default(),
        false => source::of_offsets(wasm, offsets),
    };
    for depth in depths() {
        if depth == skipped.end && !skipped.is_empty() {
            say(&format!("  ... {} more", skipped.len()));
        }
        let frame = &frames[depth];
        let places = frame.offset.map_or(&[][..], |offset| symbols.at(offset));
        for (line, said) in lines(frame, places).enumerate() {
            match line {
                0 => say(&format!("  {depth:>3}: {said}")),
                _ => say(&format!("       {said}")),
            }
        }
    }
    if let Some(trouble) = symbols.trouble() {
        say(&source::trouble(file, trouble));
    }
}

/// A trap as it is told in a line, with its innermost frame.
pub fn in_a_line(trap: &Trap) -> Trap {
    Trap {
        code: trap.code,
        frames: trap.frames.first().map(as_written).into_iter().collect(),
        access: trap.access,
        limit: trap.limit.clone(),
    }
}

/// A frame whose function has the name that its source has.
fn as_written(frame: &Frame) -> Frame {
    let name = frame.func_name.as_deref();
    Frame {
        func_name: name.map(|name| source::as_written(name).into_owned()),
        ..frame.clone()
    }
}

/// The calls that were inlined, innermost first, and the frame that they are in.
fn lines(frame: &Frame, places: &[FrameSymbol]) -> impl Iterator<Item = String> {
    let (outer, inlined) = match places.split_last() {
        Some((outer, inlined)) => (source::place(outer), inlined),
        None => (None, places),
    };
    let inlined = inlined.iter().map(|symbol| {
        let name = clipped(symbol.name().unwrap_or("a function without a name"));
        match source::place(symbol) {
            Some(place) => format!("{name} (inlined): {place}"),
            None => format!("{name} (inlined)"),
        }
    });
    let frame = as_written(frame);
    let outer = match outer {
        Some(place) => format!("{frame}: {place}"),
        None => frame.to_string(),
    };
    inlined.chain([outer])
}
