//! From what was sampled on an engine to the rows of a table.

use fathom_engine::ModuleInfo;
use fathom_stats::sampled::{Column, Place};
use fathom_trace::profile::names::{Names, native};
use fathom_trace::profile::{Frame, Origin, Profile};

use crate::objdump::readable;

/// Of what a profile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program of this machine.
    Native,
    /// The module, on an engine.
    Engine,
}

/// The names of a module's functions.
pub fn names(module: &ModuleInfo) -> Names {
    let functions = (0..module.funcs.len() as u32).filter(|func| {
        let is_defined = module.defined_func(*func);
        is_defined.is_some()
    });
    let named = functions.map(|func| {
        let name = module.func_name(func).filter(|name| !name.is_empty());
        (func, name.map(str::to_owned))
    });
    Names::new(module.name.as_deref(), named, readable)
}

/// Frames by the names that the module's functions have.
pub fn named(profile: Profile, kind: Kind, names: &Names) -> Profile {
    profile.map(|frame| match kind {
        Kind::Native => of_native(frame),
        Kind::Engine => of_engine(frame, names),
    })
}

/// All that is named is the program's, or what it calls of the system's libraries.
fn of_native(frame: Frame) -> Frame {
    match &frame.origin {
        Origin::File { is_named: true, .. } => Frame {
            name: native(&frame.name, readable),
            origin: Origin::Program,
        },
        _ => frame,
    }
}

fn of_engine(frame: Frame, names: &Names) -> Frame {
    let program = match &frame.origin {
        Origin::Made => names.listed(&frame.name),
        Origin::File { is_named: true, .. } => names.translated(&frame.name),
        _ => None,
    };
    match program {
        Some(name) => Frame {
            name: name.to_owned(),
            origin: Origin::Program,
        },
        None => Frame {
            name: readable(&frame.name),
            ..frame
        },
    }
}

/// The rows of a profile with such frames.
pub fn column(profile: &Profile, kind: Kind) -> Column {
    let mut column = Column {
        period_ns: profile.period_ns,
        ..Column::default()
    };
    for (frame, count) in profile.own() {
        let place = match (&frame.origin, kind) {
            (Origin::Program, _) => Place::Function(frame.name.clone()),
            (Origin::Kernel, _) => Place::Kernel,
            (Origin::Unnamed, _) => Place::Unnamed,
            // What a native program is made of has no engine.
            (Origin::File { .. } | Origin::Made, Kind::Native) => Place::Unnamed,
            (Origin::File { .. } | Origin::Made, Kind::Engine) => Place::Engine,
        };
        *column.samples.entry(place).or_default() += count;
    }
    column
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn frame(name: &str, origin: Origin) -> Frame {
        Frame {
            name: name.to_owned(),
            origin,
        }
    }

    fn file(is_named: bool) -> Origin {
        Origin::File {
            path: "/x".to_owned(),
            is_named,
        }
    }

    #[test]
    fn each_frame_has_its_row() {
        let names = Names::new(None, [(0, Some("f".to_owned()))].into_iter(), readable);
        let stacks = [
            (vec![frame("wasm: f", Origin::Made)], 1),
            (vec![frame("stub", Origin::Made)], 2),
            (vec![frame("compile", file(true))], 4),
            (vec![frame("(x)", file(false))], 8),
            (vec![frame("(kernel)", Origin::Kernel)], 16),
            (vec![frame("?", Origin::Unnamed)], 32),
            (Vec::new(), 0),
        ];
        let profile = Profile {
            stacks: BTreeMap::from(stacks),
            ..Profile::default()
        };
        let of = |kind| {
            let column = column(&named(profile.clone(), kind, &names), kind);
            Vec::from_iter(column.samples)
        };
        let function = |name: &str| Place::Function(name.to_owned());
        assert_eq!(
            of(Kind::Engine),
            [
                (function("f"), 1),
                (Place::Engine, 14),
                (Place::Unnamed, 32),
                (Place::Kernel, 16)
            ]
        );
        assert_eq!(
            of(Kind::Native),
            [
                (function("compile"), 4),
                (Place::Unnamed, 43),
                (Place::Kernel, 16)
            ]
        );
    }
}
