//! Probe mode: the calls of a request, in order, on one instance.

use std::fs;

use fathom_record::{
    FailureKind,
    protocol::{CallOutcome, Event, Probe, WireValue},
};

use crate::{Emitter, Refusal};

/// One instance whose exported functions can be called.
pub trait Probed {
    /// Calls an export; a trap is an outcome, in the official test suite's
    /// words.
    ///
    /// # Errors
    /// Whatever keeps it from being called: `link` where there is none.
    fn call(&mut self, export: &str, args: &[WireValue]) -> Result<CallOutcome, Refusal>;
}

/// Makes the instance that a request is about and the calls it wants, with an
/// event for each.
///
/// # Errors
/// Whatever keeps a call from being made.
pub fn probe_module<P: Probed>(
    probe: &Probe,
    emitter: &Emitter,
    instantiate: impl FnOnce(&[u8]) -> Result<P, Refusal>,
) -> Result<(), Refusal> {
    let bytes = fs::read(&probe.module).map_err(|error| Refusal::file(&probe.module, &error))?;
    let mut probed = instantiate(&bytes)?;
    for (index, call) in (0..).zip(&probe.calls) {
        let args: Result<Vec<WireValue>, _> = call.args.iter().map(|text| text.parse()).collect();
        let args = args.map_err(|error| Refusal::new(FailureKind::Internal, error.to_string()))?;
        let outcome = probed.call(&call.export, &args)?;
        emitter.send(&Event::Call { index, outcome })?;
    }
    Ok(())
}
