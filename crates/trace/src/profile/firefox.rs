//! Profiles as the Firefox Profiler has them (<https://profiler.firefox.com>), in its processed
//! format (docs-developer/processed-profile-format.md and src/types/profile.ts there), one file
//! for several engines: a thread each. It is our own writing, since the weights of the crate
//! `fxprof-processed-profile` are whole numbers.
//!
//! What must stay true: a stack's weight is its processor time in milliseconds; the sum of a
//! thread's weights is that of its samples. When a sample was taken is not kept, so that stacks
//! stand one behind the other.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Frame, Of, Origin};

/// The version of the format; the profiler reads this and all before its own.
const VERSION: u32 = 55;

/// What functions are of, and its colour. The grey one has what is nothing else.
const CATEGORIES: [(&str, &str); 5] = [
    ("Other", "grey"),
    ("WebAssembly", "orange"),
    ("Native", "green"),
    ("Engine", "blue"),
    ("Kernel", "purple"),
];

/// Where in the list a frame's is.
fn category(frame: &Frame, is_native: bool) -> usize {
    match (&frame.origin, is_native) {
        (Origin::Unnamed, _) => 0,
        (Origin::Program, false) => 1,
        (Origin::Kernel, _) => 4,
        (_, true) => 2,
        (Origin::Made | Origin::File { .. }, false) => 3,
    }
}

/// The file's text.
pub fn text(name: &str, exporter: &str, profiles: &[Of<'_>]) -> String {
    let categories = CATEGORIES
        .map(|(name, color)| json!({ "name": name, "color": color, "subcategories": ["Other"] }));
    let interval_ms = profiles.first().map_or(1.0, |of| ms(of.profile.period_ns));
    let threads = profiles.iter().enumerate();
    let file = json!({
        "meta": {
            "interval": interval_ms,
            "startTime": 0,
            "processType": 0,
            "product": name,
            "importedFrom": exporter,
            "version": 24,
            "preprocessedProfileVersion": VERSION,
            "symbolicated": true,
            "debug": false,
            "stackwalk": 1,
            "categories": categories,
            "markerSchema": [],
            "extensions": { "length": 0, "baseURL": [], "id": [], "name": [] },
            "sampleUnits": { "time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns" },
            "usesOnlyOneStackType": true,
            "sourceCodeIsNotOnSearchfox": true,
        },
        "libs": [],
        "pages": [],
        "counters": [],
        "profilerOverhead": [],
        "threads": threads.map(|(at, of)| thread(at, of)).collect::<Vec<_>>(),
    });
    format!("{file}\n")
}

fn thread(at: usize, of: &Of<'_>) -> Value {
    let mut tables = Tables::default();
    let (mut stacks, mut times, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let mut before = 0;
    for (stack, count) in &of.profile.stacks {
        let frames = stack.iter();
        stacks.push(frames.fold(None, |below, frame| Some(tables.stack(below, frame))));
        times.push(ms(before));
        let ns = count * of.profile.period_ns;
        weights.push(ms(ns));
        before += ns;
    }
    json!({
        "name": of.name,
        "processName": of.name,
        "processType": "default",
        "isMainThread": true,
        "pid": at.to_string(),
        "tid": at,
        "processStartupTime": 0,
        "processShutdownTime": ms(before),
        "registerTime": 0,
        "unregisterTime": ms(before),
        "pausedRanges": [],
        "samples": {
            "length": stacks.len(),
            "stack": stacks,
            "time": times,
            "weight": weights,
            "weightType": "tracing-ms",
        },
        "markers": {
            "length": 0, "name": [], "data": [], "category": [],
            "startTime": [], "endTime": [], "phase": [],
        },
        "stackTable": tables.stack_table(),
        "frameTable": tables.frame_table(of.is_native),
        "funcTable": tables.func_table(),
        "resourceTable": { "length": 0, "lib": [], "name": [], "host": [], "type": [] },
        "nativeSymbols": { "length": 0, "address": [], "functionSize": [], "libIndex": [], "name": [] },
        "stringArray": tables.strings,
    })
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// A thread's tables. Each function is one frame.
#[derive(Default)]
struct Tables<'a> {
    strings: Vec<&'a str>,
    string_numbers: BTreeMap<&'a str, usize>,
    frames: Vec<&'a Frame>,
    /// By function: names and files, in `strings`.
    names: Vec<usize>,
    files: Vec<Option<usize>>,
    frame_numbers: BTreeMap<&'a Frame, usize>,
    /// By stack: what it stands on, and its innermost frame.
    below: Vec<Option<usize>>,
    innermost: Vec<usize>,
    stack_numbers: BTreeMap<(Option<usize>, usize), usize>,
}

impl<'a> Tables<'a> {
    fn string(&mut self, text: &'a str) -> usize {
        *self.string_numbers.entry(text).or_insert_with(|| {
            self.strings.push(text);
            self.strings.len() - 1
        })
    }

    fn frame(&mut self, frame: &'a Frame) -> usize {
        if let Some(number) = self.frame_numbers.get(frame) {
            return *number;
        }
        let name = self.string(&frame.name);
        let file = match &frame.origin {
            Origin::File { path, .. } => Some(self.string(path)),
            Origin::Program | Origin::Made | Origin::Unnamed | Origin::Kernel => None,
        };
        let number = self.frames.len();
        self.frames.push(frame);
        self.names.push(name);
        self.files.push(file);
        self.frame_numbers.insert(frame, number);
        number
    }

    fn stack(&mut self, below: Option<usize>, frame: &'a Frame) -> usize {
        let frame = self.frame(frame);
        *self.stack_numbers.entry((below, frame)).or_insert_with(|| {
            self.below.push(below);
            self.innermost.push(frame);
            self.below.len() - 1
        })
    }

    fn stack_table(&self) -> Value {
        json!({ "length": self.below.len(), "prefix": self.below, "frame": self.innermost })
    }

    fn frame_table(&self, is_native: bool) -> Value {
        let frames = self.frames.iter();
        let categories: Vec<usize> = frames.map(|frame| category(frame, is_native)).collect();
        let length = categories.len();
        let nothing = vec![Value::Null; length];
        json!({
            "length": length,
            "func": Vec::from_iter(0..length),
            "category": categories,
            "subcategory": vec![0; length],
            "address": vec![-1; length],
            "inlineDepth": vec![0; length],
            "innerWindowID": vec![0; length],
            "nativeSymbol": nothing,
            "line": nothing,
            "column": nothing,
        })
    }

    fn func_table(&self) -> Value {
        let length = self.names.len();
        let nothing = vec![Value::Null; length];
        json!({
            "length": length,
            "name": self.names,
            "fileName": self.files,
            "isJS": vec![false; length],
            "relevantForJS": vec![false; length],
            "resource": vec![-1; length],
            "lineNumber": nothing,
            "columnNumber": nothing,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Profile;
    use super::super::difference::tests::profile;
    use super::super::speedscope::tests::{frame, of};
    use super::*;

    /// The names of a sample's stack, outermost first, and the category of its innermost frame.
    fn stack(thread: &Value, sample: usize) -> (Vec<&str>, &str) {
        let number = |table: &str, column: &str, at: usize| thread[table][column][at].as_u64();
        let mut at = number("samples", "stack", sample);
        let (mut names, mut of) = (Vec::new(), Vec::new());
        while let Some(stack) = at {
            let stack = stack as usize;
            let frame = number("stackTable", "frame", stack).unwrap() as usize;
            let func = number("frameTable", "func", frame).unwrap() as usize;
            let name = number("funcTable", "name", func).unwrap() as usize;
            names.push(thread["stringArray"][name].as_str().unwrap());
            of.push(number("frameTable", "category", frame).unwrap() as usize);
            at = number("stackTable", "prefix", stack);
        }
        names.reverse();
        (names, CATEGORIES[of[0]].0)
    }

    #[test]
    fn threads_are_engines_and_weights_are_times() {
        let mut engine = profile(&[("<run> main sort", 300), ("<run> main", 20), ("<run> ?", 1)]);
        engine.period_ns = 1_003_009;
        engine
            .stacks
            .insert(vec![frame("(kernel)", Origin::Kernel)], 9);
        let native = profile(&[("main sort", 100), ("main <copy>", 7)]);
        let native = Of {
            is_native: true,
            ..of("native", &native)
        };
        let file = text("app", "fathom 1", &[of("a", &engine), native]);
        let file: Value = serde_json::from_str(&file).unwrap();
        for (thread, profile) in file["threads"]
            .as_array()
            .unwrap()
            .iter()
            .zip([&engine, native.profile])
        {
            let column = |name: &str| thread["samples"][name].as_array().unwrap();
            let weights = column("weight").iter().map(|one| one.as_f64().unwrap());
            let sum = (profile.samples() * profile.period_ns) as f64 / 1e6;
            assert!((weights.sum::<f64>() - sum).abs() < 1e-6, "{thread}");
            assert_eq!(column("stack").len(), profile.stacks.len());
            assert!(column("time").is_sorted_by_key(|time| time.as_f64()));
            let stacks = (0..profile.stacks.len()).map(|sample| stack(thread, sample).0);
            for (found, meant) in stacks.zip(profile.stacks.keys()) {
                assert!(found.iter().eq(meant.iter().map(|frame| &frame.name)));
            }
            for table in ["stackTable", "frameTable", "funcTable", "samples"] {
                let length = thread[table]["length"].as_u64().unwrap() as usize;
                let columns = thread[table].as_object().unwrap().values();
                let lengths = columns.filter_map(Value::as_array).map(Vec::len);
                assert!(lengths.into_iter().all(|one| one == length), "{table}");
            }
        }
        let categories = |at: usize| -> Vec<&str> {
            let thread = &file["threads"][at];
            let samples = thread["samples"]["stack"].as_array().unwrap().len();
            (0..samples).map(|sample| stack(thread, sample).1).collect()
        };
        let engines = categories(0);
        for (category, count) in [("WebAssembly", 2), ("Kernel", 1), ("Other", 1)] {
            assert_eq!(
                engines.iter().filter(|one| **one == category).count(),
                count
            );
        }
        assert_eq!(categories(1), ["Native"; 2]);
        assert_eq!(
            category(&engine.stacks.keys().next_back().unwrap()[0], false),
            3
        );
    }

    #[test]
    fn no_sample_is_a_file_too() {
        let nothing = Profile::default();
        let file = text("", "", &[of("a", &nothing)]);
        let file: Value = serde_json::from_str(&file).unwrap();
        assert_eq!(file["threads"][0]["samples"]["length"], 0);
    }
}
