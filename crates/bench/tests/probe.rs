//! The probe on our own engine, in this process, under every strategy: those
//! that are exact, the one that is contained, and the one that checks nothing,
//! which must be found out.

use std::sync::Mutex;

use fathom_bench::probe::{
    Answers, Ending, Escape, Extent, Findings, ServeError, Subject, SubjectError, probe, serve,
};
use fathom_engine::{Bounds, BoundsChoice, Config, Engine, Opt, Quota};
use fathom_engine::{Growth, Probing};
use fathom_record::Guarantee;
use fathom_record::protocol::Call;

/// Calls the engine directly.
struct Own(Engine);

impl Subject for Own {
    fn call_all(&mut self, module: &[u8], calls: Vec<Call>) -> Result<Answers, SubjectError> {
        let mut outcomes = Vec::new();
        let served = serve(&self.0, false, module, &calls, &mut |_, outcome| {
            outcomes.push(outcome);
            Ok(())
        });
        let ending = match served {
            Ok(()) => Ending::Done,
            Err(ServeError::Escape(Escape(how))) => Ending::Escaped(how),
            Err(error) => Ending::Refused(error.to_string()),
        };
        Ok(Answers { outcomes, ending })
    }
}

fn engine(bounds: Bounds, opt: Opt) -> Engine {
    let choice = BoundsChoice::Named(bounds);
    let config = (Config::new().bounds(choice).opt(opt))
        .quota(Quota::UNLIMITED)
        .allow_unchecked(true);
    Engine::new(&config).unwrap()
}

fn claim(bounds: Bounds) -> Guarantee {
    bounds.guarantee().to_string().parse().unwrap()
}

/// Whether the host has what a strategy needs; said where it has not.
fn is_here(bounds: &Bounds) -> bool {
    let missing = bounds.missing();
    if let Some(missing) = &missing {
        eprintln!("SKIPPED under {bounds}: {missing}");
    }
    missing.is_none()
}

/// The findings, or nothing where the machine lacks what the strategy needs.
fn findings(bounds: Bounds, opt: Opt, claimed: Guarantee) -> Option<Findings> {
    let extent = Extent {
        narrow: bounds.supports(false),
        // Without a check, 64-bit indices would reach this process.
        wide: bounds.supports(true) && bounds != Bounds::None,
        random: 3_000,
        seed: 1,
        examples: Extent::EXAMPLES,
        until: None,
    };
    match probe(&mut Own(engine(bounds, opt)), extent, claimed, &mut |_| {}) {
        Ok(findings) => Some(findings),
        Err(error) => {
            assert_eq!(bounds, Bounds::Uffd, "{error}");
            eprintln!("not tried: {error}");
            None
        }
    }
}

#[test]
fn every_strategy_keeps_its_promise() {
    // Of the forms, the one whose faults mean something else; `fathom probe` has
    // time for all.
    let segfault = Bounds::ShadowCompressed(Growth::Segfault, Probing::Movzx);
    let all = Bounds::ALL.into_iter().chain([segfault]);
    // One that is partial has misses of its own, which another test lists.
    let whole = all.filter(|bounds| bounds.guarantee() != fathom_engine::Guarantee::Partial);
    // Minutes one after the other, and none waits for another.
    let next = Mutex::new(whole.filter(is_here));
    let turns = || {
        while let Some(bounds) = { next.lock().unwrap().next() } {
            keeps_its_promise(bounds);
        }
    };
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..workers {
            scope.spawn(turns);
        }
    });
}

fn keeps_its_promise(bounds: Bounds) {
    let Some(found) = findings(bounds, Opt::Speed, claim(bounds)) else {
        return;
    };
    assert!(found.is_kept(), "{bounds}: {:#?}", found.examples);
    assert_eq!(found.observed, claim(bounds), "{bounds}");
    assert_eq!(found.not_tried, [""; 0], "{bounds}");
}

#[test]
fn the_partial_one_keeps_what_it_says() {
    let bounds = Bounds::Pkeys;
    if !is_here(&bounds) {
        return;
    }
    let found = findings(bounds, Opt::Speed, claim(bounds)).unwrap();
    assert!(found.is_kept(), "{:#?}", found.examples);
    let (all, outside) = (found.accesses, found.outside);
    let missed = outside - found.trapped;
    println!("{bounds}: of {all} accesses {outside} are out of bounds; {missed} of them went on");
    let strict = findings(bounds, Opt::Speed, Guarantee::Exact).unwrap();
    println!("such as {:#?}", strict.examples);
}

#[test]
fn unoptimised_code_keeps_it_too() {
    for bounds in [Bounds::Clamp, Bounds::Trap, Bounds::Guard, Bounds::GUARD64] {
        let found = findings(bounds, Opt::None, claim(bounds)).unwrap();
        assert!(found.is_kept(), "{bounds}: {:#?}", found.examples);
    }
}

#[test]
fn a_weaker_strategy_cannot_pass_for_a_stronger() {
    for (bounds, claimed) in [
        (Bounds::None, Guarantee::Contained),
        (Bounds::None, Guarantee::Exact),
        (Bounds::Clamp, Guarantee::Exact),
    ] {
        let found = findings(bounds, Opt::Speed, claimed).unwrap();
        assert!(!found.is_kept(), "{bounds} as {claimed}");
        assert!(!found.examples.is_empty());
    }
}
