//! What a campaign needs built: is it there, and what builds it.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fathom_record::Variant;

use crate::home::Home;
use crate::plan::{Plan, Task};

/// Workloads of one suite and size that are not built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} is not there ({cells} cells need what is missing): build it with `{}`",
    first.display(), self.command()
)]
pub struct NotBuilt {
    /// The first of them.
    pub first: PathBuf,
    /// How many cells of the campaign need something that is missing.
    pub cells: usize,
    /// The suite.
    pub suite: String,
    /// The size; empty for a suite whose programs take it as an argument.
    pub size: String,
    /// The builds that are missing.
    pub variants: Vec<Variant>,
    /// The names of those that are missing.
    pub workloads: Vec<String>,
}

/// The size that is built unless another is asked for.
const USUAL_SIZE: &str = "medium";

/// Whether all that a plan measures is there, but for what is made for it yet.
///
/// # Errors
/// [`NotBuilt`], of the first suite of which something is missing.
pub fn find(plan: &Plan, to_make: &[PathBuf]) -> Result<(), Box<NotBuilt>> {
    let absent = |task: &'_ Task| {
        let generator = task.load.as_ref().map(|load| &load.generator);
        let mut needed = [&task.artifact].into_iter().chain(generator);
        needed
            .find(|path| !to_make.contains(path) && !path.exists())
            .cloned()
    };
    let missing = plan.tasks.iter();
    let missing: Vec<(&Task, PathBuf)> = missing
        .filter_map(|task| Some((task, absent(task)?)))
        .collect();
    let Some((first, path)) = missing.first() else {
        return Ok(());
    };
    let (suite, size) = (&first.cell.suite, &first.cell.size);
    let alike = || {
        let cells = missing.iter().map(|(task, _)| &task.cell);
        cells.filter(|cell| cell.suite == *suite && cell.size == *size)
    };
    let variants: BTreeSet<Variant> = alike().map(|cell| cell.variant).collect();
    let workloads: BTreeSet<String> = alike().map(|cell| cell.workload.clone()).collect();
    Err(Box::new(NotBuilt {
        first: path.clone(),
        cells: missing.len(),
        suite: suite.clone(),
        // How long a server is driven is nothing of its build.
        size: match first.load {
            Some(_) => String::new(),
            None => size.clone(),
        },
        variants: variants.into_iter().collect(),
        workloads: workloads.into_iter().collect(),
    }))
}

impl NotBuilt {
    /// What a user types, in a checkout.
    fn command(&self) -> String {
        let mut command = format!("python3 workloads/build.py --suite {}", self.suite);
        // Nobody builds these without being asked.
        let asked = |variant: &&Variant| matches!(variant, Variant::WasmOpt | Variant::NativeGcc);
        if let Some(variant) = self.variants.iter().find(asked) {
            command.push_str(&format!(" --variant {variant}"));
        }
        if !matches!(self.size.as_str(), "" | USUAL_SIZE) {
            command.push_str(&format!(" --size {}", self.size));
        }
        command
    }

    /// Builds them, and before that gets the compiler, where it is not there. What the
    /// scripts say goes to standard error.
    ///
    /// # Errors
    /// Where a script cannot be started or fails, which it has said then.
    pub fn build(&self, home: &Home) -> io::Result<()> {
        let workloads = home.root().join("workloads");
        run(&workloads.join("setup.py"), &[])?;
        let names = |list: &[Variant]| list.iter().map(Variant::to_string).collect::<Vec<_>>();
        let mut words = vec!["--suite".to_owned(), self.suite.clone()];
        if !self.size.is_empty() {
            words.extend(["--size".to_owned(), self.size.clone()]);
            words.extend(["--kernel".to_owned(), self.workloads.join(",")]);
        }
        words.extend(["--variant".to_owned(), names(&self.variants).join(",")]);
        run(&workloads.join("build.py"), &words)
    }
}

fn run(script: &Path, words: &[String]) -> io::Result<()> {
    let stderr = io::stderr().as_fd().try_clone_to_owned()?;
    let status = Command::new("python3")
        .arg(script)
        .args(words)
        .stdin(Stdio::null())
        .stdout(stderr)
        .status()?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "{} ended with {status}",
            script.display()
        ))),
    }
}
