//! The vocabulary of a measurement and its wire formats.
//!
//! Two formats live here, both of them lines of JSON:
//!
//! ```text
//!  fathom bench ── protocol::Request ──▶ runner (one child per cell and round)
//!               ◀── protocol::Event ────
//!       │
//!       └── campaign::Record ──▶ results/…/samples.jsonl ──▶ campaign::parse ──▶ stats, report
//! ```
//!
//! * [`vocabulary`]: the closed sets every other part speaks in.
//! * [`experiment`]: what a campaign is about.
//! * [`demand`]: what a server is asked for.
//! * [`setting`]: the settings of our engine that are measured side by side.
//! * [`naming`]: what tables call their rows.
//! * [`cell`]: what is measured. A [`Cell`] is one engine configuration on one
//!   workload; a [`Sandbox`] is the configuration alone.
//! * [`host`]: where it was measured, with a reason for all that is not known.
//! * [`answer`]: the line by which a workload tells its answer.
//! * [`protocol`]: how a runner is asked and answers.
//! * [`campaign`]: the file a campaign leaves behind.
//! * [`waterfall`]: what is run beside a program whose time is taken apart.
//!
//! What must stay true: this crate does no I/O but through the `Read` and
//! `Write` it is handed, measures nothing, and estimates nothing. Input is
//! bytes somebody else wrote: no input makes it panic.
//!
//! ```
//! use fathom_record::protocol::{CallOutcome, Event};
//! use fathom_record::{Phase, campaign};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A line of a runner.
//! let event = Event::parse(br#"{"event":"call","index":1,"trap":"unreachable"}"#)?;
//! let outcome = CallOutcome::Trap("unreachable".to_owned());
//! assert_eq!(event, Event::Call { index: 1, outcome });
//!
//! // A campaign's file.
//! let file = std::fs::File::open("tests/golden/campaign.jsonl")?;
//! let campaign = campaign::parse(std::io::BufReader::new(file))?;
//! assert_eq!(campaign.samples[0].phases[&Phase::Run].wall_ns, 4);
//! # Ok(())
//! # }
//! ```

pub mod answer;
pub mod campaign;
pub mod cell;
pub mod demand;
pub mod experiment;
pub mod host;
pub mod naming;
pub mod protocol;
pub mod release;
pub mod setting;
pub mod vocabulary;
pub mod waterfall;

pub use answer::Answer;
pub use campaign::{Campaign, Header, Record, Writer};
pub use cell::{Cell, CellId, Sandbox, SandboxId};
pub use demand::{BadDemand, Demand};
pub use experiment::Experiment;
pub use host::{Fact, Host};
pub use naming::Names;
pub use setting::{Setting, Settings};
pub use vocabulary::{
    Checks, Compared, Estimator, FailureKind, Guarantee, INSTANCES_PER_CYCLE, Metric, Opt, Phase,
    Span, Unit, Variant, Yardstick,
};
