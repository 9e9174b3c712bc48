//! The rules about pages: links lead to files and to headings that are there, what was measured
//! is in `docs/measured/` and says what made it, and a manual names no machine.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fathom_engine::Bounds;

use crate::{none_wrong, root, sources};

/// The lines of a page that are no code, with their numbers from 1.
pub fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    lines.filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        is_code ^= fence;
        !fence && !is_code
    })
}

/// What a heading is called in a link: as GitHub and mdBook have it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        letter => letter.is_alphanumeric().then_some(letter),
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// Where links may lead in a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    headings
        .map(|(_, line)| anchor(line.trim_start_matches('#').trim()))
        .collect()
}

/// The targets of a page's links, without those of other hosts: file and heading.
fn links(text: &str) -> Vec<(&str, &str)> {
    let behind = text.match_indices("](").map(|(at, _)| &text[at + 2..]);
    let targets = behind.map(|rest| rest.split([')', ' ']).next().unwrap_or_default());
    targets
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
        .map(|target| target.split_once('#').unwrap_or((target, "")))
        .collect()
}

#[test]
fn links_in_the_documentation_resolve() {
    let mut wrong = Vec::new();
    for source in sources(&["md"]) {
        let page = root().join(&source.path);
        let folder = page.parent().expect("a folder");
        for (file, heading) in links(&source.text) {
            let target = match file {
                "" => page.clone(),
                file => folder.join(file),
            };
            let is_page = target
                .extension()
                .is_some_and(|extension| extension == "md");
            let has_heading = || {
                let text = fs::read_to_string(&target).unwrap_or_default();
                anchors(&text).contains(heading)
            };
            let is_there = target.exists() && (heading.is_empty() || !is_page || has_heading());
            if !is_there {
                wrong.push(format!("{}: {file}#{heading}", source.path));
            }
        }
    }
    none_wrong("links resolve", &wrong);
}

/// The pages of a folder, by name.
fn pages_of(folder: &str) -> Vec<(String, String)> {
    let pages = sources(&["md"]).into_iter();
    let inside = pages.filter_map(|page| {
        let path = Path::new(&page.path);
        let is_here = path.parent() == Some(Path::new(folder));
        is_here.then_some((page.path, page.text))
    });
    inside.collect()
}

/// Who wrote a page of figures, if it says so at its top.
fn says_who_wrote_it(text: &str) -> bool {
    let mut top = prose(text).take(8).map(|(_, line)| line);
    top.any(|line| {
        let by = ["<!-- Written by `fathom ", "<!-- Written by `workloads/"];
        by.iter().any(|by| line.starts_with(by)) || line.starts_with("Written by hand from ")
    })
}

#[test]
fn what_was_measured_says_what_made_it() {
    let mut wrong = Vec::new();
    let pages = pages_of("docs/measured");
    let index = root().join("docs/measured/README.md");
    let index = fs::read_to_string(index).expect("the list of pages of figures");
    assert!(pages.len() > 15, "{}", pages.len());
    for (path, text) in &pages {
        let name = path.strip_prefix("docs/measured/").expect("a page of it");
        if name == "README.md" {
            continue;
        }
        if !says_who_wrote_it(text) {
            wrong.push(format!(
                "{path}: not at its top what it was written by, or from"
            ));
        }
        let times = index.matches(&format!("]({name})")).count();
        if times != 1 {
            wrong.push(format!("{path}: {times} times in docs/measured/README.md"));
        }
    }
    none_wrong("a page of figures says what made it", &wrong);
}

/// The names in quotes of a glossary's entry: up to the end of its paragraph.
fn names_of_entry<'a>(glossary: &'a str, term: &str) -> Vec<&'a str> {
    let entry = glossary.split_once(&format!("\n**{term}.** "));
    let entry = entry.map_or("", |(_, rest)| rest.split("\n\n").next().unwrap_or(rest));
    entry.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_glossary_names_the_strategies() {
    let page = fs::read_to_string(root().join("docs/GLOSSARY.md")).expect("the glossary");
    let named = names_of_entry(&page, "strategy");
    let ours: Vec<&str> = Bounds::ALL.iter().map(|bounds| bounds.name()).collect();
    assert_eq!(named, ours, "docs/GLOSSARY.md, strategy");
}

#[test]
fn every_page_is_in_the_book_once() {
    let summary = "docs/SUMMARY.md";
    let listed = fs::read_to_string(root().join(summary)).expect("the list of pages");
    let listed = links(&listed);
    let mut wrong = Vec::new();
    for source in sources(&["md"]) {
        let Some(name) = source.path.strip_prefix("docs/") else {
            continue;
        };
        let times = listed.iter().filter(|(file, _)| *file == name).count();
        if times != usize::from(source.path != summary) {
            wrong.push(format!("{}: {times} times in {summary}", source.path));
        }
    }
    none_wrong("each page is in the book once", &wrong);
}

/// Words that stand where figures of a machine do.
const MACHINES: [&str; 4] = ["EPYC", "Xeon", "Ryzen", "Zen 4"];

#[test]
fn manuals_name_no_machine() {
    let mut wrong = Vec::new();
    for (path, text) in pages_of("docs") {
        // Reasons rest on figures.
        if path == "docs/RATIONALE.md" {
            continue;
        }
        let named = prose(&text).filter(|(_, line)| MACHINES.iter().any(|one| line.contains(one)));
        wrong.extend(named.map(|(number, line)| format!("{path}:{number}: {line}")));
    }
    none_wrong("figures of a machine are in docs/measured", &wrong);
}

#[test]
fn the_rules_of_pages_see_what_they_are_about() {
    assert_eq!(
        anchor("`fathom merge FOLDER… --json`"),
        "fathom-merge-folder---json"
    );
    assert_eq!(anchor("What it costs, and why"), "what-it-costs-and-why");
    let page = "# A\n```sh\n# no heading\n```\n## B c\n[x](y.md#z) [q](https://a#b) [r](#b-c)\n";
    assert_eq!(anchors(page).into_iter().collect::<Vec<_>>(), ["a", "b-c"]);
    assert_eq!(links(page), [("y.md", "z"), ("", "b-c")]);
    let glossary = "\n**a.** One of `x`,\n`y`.\n\n**b.** `z`.\n";
    assert_eq!(names_of_entry(glossary, "a"), ["x", "y"]);
    assert!(says_who_wrote_it("# A\n\nWritten by hand from `x`.\n"));
    assert!(says_who_wrote_it(
        "# A\n\n<!-- Written by `fathom reproduce x`. -->\n"
    ));
    assert!(!says_who_wrote_it("# A\n\nFigures.\n"));
}
