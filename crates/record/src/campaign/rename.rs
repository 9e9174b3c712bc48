//! A campaign in which sandboxes have other names, to be held against one that calls them so.

use std::collections::BTreeMap;

use crate::cell::{CellId, Sandbox, SandboxId};

use super::Campaign;

impl Campaign {
    /// The same campaign, whose sandboxes are called what `name` makes of them.
    #[must_use]
    pub fn renamed(mut self, name: impl Fn(&Sandbox) -> Sandbox) -> Campaign {
        let mut cells: BTreeMap<CellId, CellId> = BTreeMap::new();
        let mut sandboxes: BTreeMap<SandboxId, SandboxId> = BTreeMap::new();
        for cell in &mut self.header.cells {
            let was = cell.id();
            let sandbox = name(&cell.sandbox);
            sandboxes.insert(cell.sandbox.id(), sandbox.id());
            cell.sandbox = sandbox;
            cells.insert(was, cell.id());
        }
        let cell = |id: &mut CellId| *id = cells.get(id).unwrap_or(id).clone();
        let sandbox = |id: &mut SandboxId| *id = sandboxes.get(id).unwrap_or(id).clone();
        let header = &mut self.header;
        header.config.baseline.iter_mut().for_each(sandbox);
        let controls = header.cells.iter_mut();
        controls
            .filter_map(|one| one.control_of.as_mut())
            .for_each(cell);
        self.samples.iter_mut().for_each(|one| cell(&mut one.cell));
        self.processes
            .iter_mut()
            .for_each(|one| cell(&mut one.cell));
        self.in_force.iter_mut().for_each(|one| cell(&mut one.cell));
        let failures = self.failures.iter_mut();
        failures.filter_map(|one| one.cell.as_mut()).for_each(cell);
        self.probes
            .iter_mut()
            .for_each(|one| sandbox(&mut one.sandbox));
        self.counts.iter_mut().for_each(|one| cell(&mut one.cell));
        self.traced.iter_mut().for_each(|one| cell(&mut one.cell));
        self.sealed = (self.sealed.into_iter())
            .map(|(mut id, round)| {
                cell(&mut id);
                (id, round)
            })
            .collect();
        self
    }
}
