//! Signals and forks while Wasm runs, for a few seeds. One test and no other: they are the whole
//! process's.

use fathom_generated::generate::Stream;
use fathom_generated::signals;

const WORKERS: u64 = 40;

#[test]
fn signals_and_forks_change_nothing() {
    if std::env::var_os("FATHOM_EMULATOR").is_some_and(|it| !it.is_empty()) {
        eprintln!("SKIPPED: an emulator, whose signals these would be, runs this");
        return;
    }
    signals::begin();
    let stage = signals::Stage::new().unwrap();
    let (mut forks, mut sent) = (0, 0);
    for seed in 0..WORKERS {
        let mut stream = Stream::new(seed);
        match stage.check(&mut |bound| stream.below(bound)) {
            Ok(seen) => {
                forks += seen.forks;
                sent += seen.signals;
            }
            Err(why) => panic!("seed {seed}: {why}"),
        }
    }
    assert!(forks > WORKERS && sent > WORKERS, "{forks}, {sent}");
}
