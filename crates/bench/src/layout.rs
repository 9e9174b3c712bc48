//! Where code and stacks lie: varied for everybody, by each round's seed.
//!
//! ```text
//!  padding   where stacks begin: an environment that is longer by some bytes
//!  shuffle   modules: functions in another order, so whoever compiles them places each
//!            elsewhere
//!  links     native programs: a few links of the same objects, moved by some bytes each
//! ```
//!
//! What must stay true: what is varied is decided before the first round, for all modules
//! of a campaign or for none, and stands in its file: estimates allow for what stays fixed.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use fathom_record::{Variant, campaign::ANEW};
use fathom_sys::regular;

use crate::plan::{Plan, Task};

pub(crate) mod padding;
mod shuffle;

/// How many layouts each build has in the rounds of a campaign: [`ANEW`] where functions
/// are shuffled each time, the number of links of a native program, one where nothing can
/// be varied.
pub(crate) fn varied(plan: &Plan) -> BTreeMap<Variant, u32> {
    let mut layouts = BTreeMap::new();
    for task in &plan.tasks {
        let of_task = match task.cell.variant.is_wasm() {
            true => layouts_of_module(task),
            false => links(&task.artifact).len() as u32 + 1,
        };
        let fewest = layouts.entry(task.cell.variant).or_insert(of_task);
        *fewest = fewer(*fewest, of_task);
    }
    layouts
}

/// Of two numbers of layouts the smaller; [`ANEW`] is more than any.
fn fewer(one: u32, other: u32) -> u32 {
    match (one, other) {
        (ANEW, any) | (any, ANEW) => any,
        _ => one.min(other),
    }
}

fn layouts_of_module(task: &Task) -> u32 {
    // What was compiled before is found by the module's own bytes.
    let is_its_own = task.is_cached;
    let can = |path: &Path| regular::read(path).is_ok_and(|module| shuffle::can_shuffle(&module));
    match !is_its_own && can(&task.artifact) {
        true => ANEW,
        false => 1,
    }
}

/// What a task runs in a round: its program, or another layout of it.
///
/// # Errors
/// A module that cannot be read any more, or a copy that cannot be written.
pub(crate) fn artifact(
    plan: &Plan,
    task: &Task,
    round: u32,
    scratch: &Path,
) -> io::Result<PathBuf> {
    match plan.config.layouts.get(&task.cell.variant) {
        Some(&ANEW) => shuffle::place(&task.artifact, plan.layout_seed(&task.cell, round), scratch),
        None | Some(1) => Ok(task.artifact.clone()),
        Some(&count) => {
            // One after the other from one that was drawn: rounds have different ones as
            // long as there are enough.
            let first = plan.layout_seed(&task.cell, 0) % u64::from(count);
            let chosen = (first + u64::from(round)) % u64::from(count);
            let others = links(&task.artifact);
            let other = chosen.checked_sub(1).and_then(|at| others.get(at as usize));
            Ok(other.unwrap_or(&task.artifact).clone())
        }
    }
}

/// Other links of a native program, `.layouts/NAME/1` and on beside it.
fn links(program: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (program.parent(), program.file_name()) else {
        return Vec::new();
    };
    let folder = folder.join(".layouts").join(name);
    let all = (1..).map(|number: u32| folder.join(number.to_string()));
    all.take_while(|link| link.is_file()).collect()
}

#[cfg(test)]
mod tests;
