//! What the command line prints, as transcripts in `cli/`: a new case is a new
//! file there. `TRYCMD=overwrite cargo test --test cli` rewrites them.

#[test]
fn transcripts() {
    trycmd::TestCases::new()
        .case("tests/cli/*.trycmd")
        // The report and its pages are rendered to the terminal's width.
        .env("COLUMNS", "100")
        .env("LC_ALL", "C.UTF-8")
        .run();
}

/// The examples of README and guide that can be run anywhere.
#[test]
fn readme() {
    trycmd::TestCases::new()
        .case("README.md")
        .case("docs/GUIDE.md")
        .env("COLUMNS", "100")
        .run();
}
