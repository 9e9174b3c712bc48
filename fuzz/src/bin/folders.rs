//! The cache of compiled modules under attack: each module does what its bytes say.

use std::process::ExitCode;

use fathom_fuzz::folders;
use fathom_fuzz::generate::Stream;
use fathom_fuzz::target::Target;

fn main() -> ExitCode {
    Target::new("folders", "folders", 300).run(|case| {
        let mut stream = Stream::new(case.seed);
        let folder = tempfile::tempdir().expect("a folder");
        let seen = folders::check(folder.path(), &mut |end| stream.below(end))?;
        case.count("asked", seen.asked);
        case.count("found", seen.found);
        case.count("refused", seen.refused);
        case.count("attacks", seen.attacks);
        Ok(())
    })
}
