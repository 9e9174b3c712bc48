//! What is run: programs, and how they are measured unless the user says otherwise.

use std::path::PathBuf;

use fathom_engine::Bounds;
use fathom_record::{
    Compared, Variant,
    campaign::{ModuleNote, WorkloadNote},
};

use crate::{
    check::Expected,
    choose::{NATIVES, Program},
    home::Home,
    plan::Folder,
    request::{Request, RequestError, Strategies, ensure},
    settings::Choices,
    suite::{Suite, Workload},
    tolerance::Tolerance,
};

/// What is run, and how it is measured unless the user says otherwise.
pub struct Measured {
    /// For folders and headings.
    pub title: String,
    /// The programs.
    pub programs: Vec<Program<'static>>,
    /// What is recorded of each.
    pub notes: Vec<WorkloadNote>,
    /// A user's own module.
    pub module: Option<ModuleNote>,
    /// Modules that go into the results, by the name of their file.
    pub written: Vec<(String, Vec<u8>)>,
    /// What is compared.
    pub compared: Compared,
    /// Builds.
    pub variants: Vec<Variant>,
    /// Instances at once.
    pub threads: Vec<u32>,
    /// Our engine's settings.
    pub settings: Choices,
    /// Our strategies.
    pub strategies: Vec<Strategies>,
    /// Native builds to measure where nothing is named; none if there is no native build.
    pub natives: Vec<Variant>,
}

/// Programs, and what is recorded of each.
pub type Programs = (Vec<Program<'static>>, Vec<WorkloadNote>);

impl Measured {
    /// Programs of a suite alone, by the time of their kernels, under every strategy.
    pub fn new(title: String, (programs, notes): Programs) -> Measured {
        Measured {
            title,
            programs,
            notes,
            module: None,
            written: Vec::new(),
            compared: Compared::Kernel,
            variants: vec![Variant::WasmSimd],
            threads: vec![1],
            settings: Choices::default(),
            strategies: vec![Strategies::All],
            natives: NATIVES.to_vec(),
        }
    }
}

/// A suite of the home.
pub fn suite(home: &Home, name: &str) -> Result<Suite, RequestError> {
    Ok(Suite::load(&home.suite(name))?)
}

/// The problem size: what is named, or a middle one, or for a first impression a small
/// one.
pub fn size(request: &Request) -> String {
    let default = if request.duration.is_quick {
        "small"
    } else {
        "medium"
    };
    let named = request.size.as_deref().map(str::to_lowercase);
    named.unwrap_or_else(|| default.to_owned())
}

/// The workloads that are named, or for a first impression these.
pub fn names(request: &Request, quick: &[&str]) -> Vec<String> {
    match request.duration.is_quick && request.workloads.is_empty() {
        true => quick.iter().map(|name| (*name).to_owned()).collect(),
        false => request.workloads.clone(),
    }
}

/// Workloads of a suite at a size, each of which has an answer there.
pub fn answered(suite: &Suite, names: &[String], size: &str) -> Result<Programs, RequestError> {
    let (mut programs, mut notes) = (Vec::new(), Vec::new());
    for workload in suite.select(names)? {
        has_answer(&workload.name, workload.answer_at(size), size)?;
        programs.push(program(suite, workload, size));
        notes.push(note(suite, workload, size));
    }
    Ok((programs, notes))
}

/// Refuses what could not be checked.
pub fn has_answer(name: &str, answer: Option<&str>, size: &str) -> Result<(), RequestError> {
    ensure(answer.is_some(), || {
        format!("{name} has no answer for size {size}")
    })
}

/// A workload of a suite at a size.
pub fn program(suite: &Suite, workload: &Workload, size: &str) -> Program<'static> {
    let name = workload.program.as_ref().unwrap_or(&workload.name).clone();
    let (suite_of, size_of) = (suite.clone(), size.to_owned());
    let folder = match (&workload.inputs, workload.writes) {
        (Some(inputs), _) => Some(Folder::At(suite.folder.join(inputs))),
        (None, true) => Some(Folder::Empty),
        (None, false) => None,
    };
    Program {
        suite: suite.name.clone(),
        name: workload.name.clone(),
        size: size.to_owned(),
        args: workload.args_at(size),
        artifact: Box::new(move |variant: Variant| {
            suite_of.artifact(variant.name(), &size_of, &name)
        }),
        expected: match (workload.answer_at(size), &workload.stdout, &workload.output) {
            (Some(answer), ..) => Expected::Answer(answer.to_ascii_lowercase()),
            (None, Some(text), _) => Expected::Text(text.clone()),
            (None, None, Some(output)) => Expected::Near(Tolerance {
                file: suite.folder.join(&output.file),
                absolute: output.absolute,
                relative: output.relative,
            }),
            // Relative to the results folder, which is not known yet.
            (None, None, None) => {
                Expected::SameAs(PathBuf::from(format!("{}.stdout", workload.name)))
            }
        },
        folder,
        is_cached: false,
        stack_bytes: workload.stack_bytes,
        load: None,
    }
}

/// What a campaign records of a workload.
pub fn note(suite: &Suite, workload: &Workload, size: &str) -> WorkloadNote {
    WorkloadNote {
        suite: suite.name.clone(),
        name: workload.name.clone(),
        why: workload.why.clone(),
        answer: workload.answer_at(size).map(str::to_owned),
        category: workload.category.clone(),
        trips: workload.trips.get(size).copied(),
        ..WorkloadNote::default()
    }
}

/// Programs that grow to some pages, some at a time.
pub fn growing(suite: &Suite, growths: &[(u32, u32)]) -> Result<Programs, RequestError> {
    let chosen = suite.select(&["grow".to_owned()])?;
    let (mut programs, mut notes) = (Vec::new(), Vec::new());
    for (pages, step) in growths {
        let name = format!("grow-{pages}-by-{step}");
        let mut program = program(suite, chosen[0], "");
        program.args = vec![pages.to_string(), step.to_string()];
        program.expected = Expected::SameAs(PathBuf::from(format!("{name}.stdout")));
        notes.push(WorkloadNote {
            suite: suite.name.clone(),
            name: name.clone(),
            why: format!("an instance grown to {pages} pages, {step} at a time, each touched"),
            answer: None,
            category: None,
            bytes: None,
            ..WorkloadNote::default()
        });
        program.name = name;
        programs.push(program);
    }
    Ok((programs, notes))
}

/// The strategy that users of 32-bit memories get.
pub const DEFAULT: Strategies = Strategies::one(Bounds::Guard);
