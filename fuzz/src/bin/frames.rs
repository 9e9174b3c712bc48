//! Functions with frames of random shapes around the end of a stack, by Cranelift and in another way.

use std::process::ExitCode;

use fathom_fuzz::frames;
use fathom_fuzz::generate::Stream;
use fathom_fuzz::target::Target;

fn main() -> ExitCode {
    let pairs = match frames::pairs(None) {
        Ok(pairs) => pairs,
        Err(error) => {
            eprintln!("frames: {error} (FATHOM_CLANG=.tools/zig/ziglang/zig has one)");
            return ExitCode::FAILURE;
        }
    };
    let target = Target::new("frames", "modules", 1000).configurations(2 * pairs.len());
    target.run(|case| {
        let mut stream = Stream::new(case.seed);
        let (text, module) = frames::module(&mut |end| stream.below(end))?;
        case.keep(&module);
        let seen = frames::check(&pairs[case.seed as usize % pairs.len()], &module)
            .map_err(|difference| format!("{difference}\n{text}"))?;
        case.count("depths", seen.depths);
        case.count("without room", seen.full);
        case.count("functions left to Cranelift", seen.kept);
        Ok(())
    })
}
