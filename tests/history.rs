//! `fathom history` on campaigns made of one that is committed: dates, versions, machines and
//! times are of our choice, so what must be found is known.

#[path = "common/campaigns.rs"]
mod campaigns;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use campaigns::{Night, night, nights};
use serde_json::Value;

fn fathom(words: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the command prints, which must succeed.
fn printed(words: &[&str], folder: &Path) -> String {
    let output = fathom(words, folder);
    assert!(
        output.status.success(),
        "{words:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// Each change of a section: the row, the workload, the ratio, and the campaigns on either side.
fn changes(section: &Value) -> Vec<(String, String, f64, u64, u64)> {
    let mut found = Vec::new();
    for row in section["rows"].as_array().unwrap() {
        let each = row["workloads"].as_array().unwrap().iter();
        for series in std::iter::once(row).chain(each) {
            for change in series["changes"].as_array().unwrap() {
                found.push((
                    row["name"].as_str().unwrap().to_owned(),
                    series["workload"].as_str().unwrap_or_default().to_owned(),
                    change["ratio"].as_f64().unwrap(),
                    change["before"]["campaign"].as_u64().unwrap(),
                    change["after"]["campaign"].as_u64().unwrap(),
                ));
            }
        }
    }
    found
}

#[test]
fn a_release_that_is_slower_is_named_with_its_place_and_interval() {
    let place = tempfile::tempdir().unwrap();
    nights(&place.path().join("results"), 10, |at| Night {
        slower: if at < 6 { 1.0 } else { 1.2 },
        version: if at < 6 { "48.0.8" } else { "49.0.0" },
        ..Night::of(at)
    });
    let said = printed(&["history", "results"], place.path());
    let told = "✗ wasmtime default: +20 % (95 %: 19–20 %)";
    assert!(said.contains(told), "{said}");
    let sides = "between 2026-10-06 12:00 (48.0.8) and 2026-10-07 12:00 (49.0.0)";
    assert!(said.contains(sides), "{said}");
    let each = "; in 4 of 4 workloads, by 20 %\n";
    assert!(said.contains(each), "{said}");
    let markdown = printed(&["history", "results", "--markdown"], place.path());
    assert!(markdown.starts_with("# History\n"), "{markdown}");
    assert!(
        markdown.contains("- ✗ wasmtime default: +20 %"),
        "{markdown}"
    );
    let answer = printed(&["history", "results", "--json"], place.path());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let sections = answer["sections"].as_array().unwrap();
    // Alone, and two instances side by side.
    assert_eq!(sections.len(), 2);
    for section in sections {
        let found = changes(section);
        // Its mean, and each of its four workloads.
        assert_eq!(found.len(), 5, "{found:?}");
        for (row, _, ratio, before, after) in found {
            assert_eq!((row.as_str(), before, after), ("wasmtime default", 5, 6));
            assert!((ratio - 1.2).abs() < 0.01, "{ratio}");
        }
    }
}

#[test]
fn an_engine_that_is_asked_for_by_version_is_one_row_all_the_same() {
    let place = tempfile::tempdir().unwrap();
    nights(&place.path().join("results"), 8, |at| Night {
        slower: if at < 4 { 1.0 } else { 0.7 },
        version: if at < 4 { "48.0.8" } else { "49.0.0" },
        is_named: true,
        ..Night::of(at)
    });
    let said = printed(&["history", "results"], place.path());
    assert!(said.contains("✓ wasmtime default: −30 %"), "{said}");
    assert!(
        said.contains("12:00 (48.0.8) and 2026-10-05 12:00 (49.0.0)"),
        "{said}"
    );
}

#[test]
fn what_is_told_is_what_the_report_says() {
    let place = tempfile::tempdir().unwrap();
    nights(&place.path().join("results"), 1, Night::of);
    let read =
        |words: &[&str]| -> Value { serde_json::from_str(&printed(words, place.path())).unwrap() };
    let report = read(&["report", "results/night-00", "--json"]);
    let history = read(&["history", "results/night-00", "--json"]);
    let rows = history["sections"][0]["rows"].as_array().unwrap();
    let mut compared = 0;
    for row in report["groups"][0]["rows"].as_array().unwrap() {
        let name = row["engine"].as_str().unwrap();
        let is_it = |other: &&Value| {
            let parts = [
                name,
                row["strategy"].as_str().unwrap(),
                row["opt"].as_str().unwrap(),
            ];
            other["row"]
                .as_str()
                .unwrap()
                .starts_with(&format!("{}/", parts.join("/")))
                && other["row"]
                    .as_str()
                    .unwrap()
                    .contains(row["variant"].as_str().unwrap())
        };
        let Some(own) = rows.iter().find(is_it) else {
            panic!("{row}");
        };
        for cell in row["cells"].as_array().unwrap() {
            let mut each = own["workloads"].as_array().unwrap().iter();
            let series = each
                .find(|one| one["workload"] == cell["workload"])
                .unwrap();
            let ratio = &cell["ratio_to_baseline"];
            if own["basis"] == "ratio" && ratio.is_object() {
                for (ours, theirs) in [
                    ("value", "value"),
                    ("low_95", "low_95"),
                    ("high_95", "high_95"),
                ] {
                    let found = series["points"][0][ours].as_f64().unwrap();
                    let wanted = ratio[theirs].as_f64().unwrap();
                    assert!(
                        (found / wanted - 1.0).abs() < 1e-9,
                        "{name}: {series} {ratio}"
                    );
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn machines_and_sets_of_workloads_are_kept_apart() {
    let place = tempfile::tempdir().unwrap();
    nights(&place.path().join("one"), 6, Night::of);
    nights(&place.path().join("two"), 5, |at| Night {
        kernel: "Linux 7.0.0",
        slower: 1.5,
        ..Night::of(at)
    });
    nights(&place.path().join("less"), 2, |at| Night {
        without: Some("gemm"),
        ..Night::of(at + 10)
    });
    let answer = printed(&["history", "one", "two", "less", "--json"], place.path());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let sections = answer["sections"].as_array().unwrap();
    let mut sizes: Vec<(usize, usize)> = sections
        .iter()
        .filter(|one| one["threads"] == 1)
        .map(|one| {
            let points = one["rows"][0]["points"].as_array().unwrap().len();
            (one["workloads"].as_array().unwrap().len(), points)
        })
        .collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [(3, 2), (4, 5), (4, 6)]);
    assert!(sections.iter().all(|one| changes(one).is_empty()));
    let said = printed(&["history", "less"], place.path());
    assert!(said.contains("too few campaigns to say"), "{said}");
}

#[test]
fn another_program_is_told_beside_a_change() {
    let place = tempfile::tempdir().unwrap();
    nights(&place.path().join("results"), 10, |at| Night {
        slower: if at < 5 { 1.0 } else { 0.8 },
        answer: if at < 5 {
            "0123456789abcdef"
        } else {
            "fedcba9876543210"
        },
        ..Night::of(at)
    });
    let said = printed(&["history", "results"], place.path());
    assert!(said.contains("✓ wasmtime default: −20 %"), "{said}");
    assert!(said.contains(", the same version;"), "{said}");
    assert!(
        said.contains("other programs in the later campaign: gemm"),
        "{said}"
    );
}

#[test]
fn campaigns_that_begin_in_one_second_are_not_one() {
    let place = tempfile::tempdir().unwrap();
    for (at, slower) in [1.0, 1.1, 1.2].into_iter().enumerate() {
        let folder = place.path().join(format!("results/{at}"));
        night(
            &folder,
            &Night {
                slower,
                ..Night::of(1)
            },
        );
    }
    let answer = printed(&["history", "results", "--json"], place.path());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["campaigns"].as_array().unwrap().len(), 3);
    // A copy is found, though another one stands between.
    night(&place.path().join("results/3"), &Night::of(1));
    let output = fathom(&["history", "results"], place.path());
    let said = text(&output.stderr);
    assert!(
        said.contains("results/3 is the same campaign as "),
        "{said}"
    );
}

#[test]
fn bad_folders_are_one_line_each() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    nights(&at.join("results"), 2, Night::of);
    std::fs::create_dir_all(at.join("empty/inner")).unwrap();
    night(&at.join("copy"), &Night::of(1));
    night(&at.join("damaged/late"), &Night::of(3));
    let file = at.join("damaged/late/samples.jsonl");
    let whole = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, whole.replacen("\"record\":\"sample\"", "\"rec", 1)).unwrap();
    let bad = [
        ("gone", "gone: No such file or directory"),
        (
            "empty",
            "empty: no campaign in this folder, nor in those one level down",
        ),
        ("damaged", "damaged/late/samples.jsonl: line "),
        ("copy", "copy is the same campaign as "),
    ];
    for (folder, expected) in bad {
        let output = fathom(&["history", "results", folder], at);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{folder}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(
            said.starts_with("fathom: ") && said.contains(expected),
            "{said}"
        );
    }
    // Named twice, it is one.
    printed(&["history", "results", "results/night-01", "results"], at);
}

/// A folder's files, by their paths in it.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(at) = left.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => left.push(path),
                false => found.push(path.strip_prefix(folder).unwrap().display().to_string()),
            }
        }
    }
    found.sort();
    found
}

/// Every link of every page leads to a file of the site, and nothing is loaded from elsewhere.
fn links_lead_somewhere(site: &Path) {
    let pages = files(site);
    let pages: Vec<&String> = pages
        .iter()
        .filter(|name| name.ends_with(".html"))
        .collect();
    assert!(pages.len() > 3, "{pages:?}");
    for name in pages {
        let page = std::fs::read_to_string(site.join(name)).unwrap();
        assert!(
            !page.contains("<script") && !page.contains(" src="),
            "{name}"
        );
        for link in page.split(" href=\"").skip(1) {
            let link = link.split('"').next().unwrap();
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => site.join(name),
                file => site.join(name).parent().unwrap().join(file),
            };
            assert!(target.is_file(), "{name}: {link}");
            if !anchor.is_empty() {
                let text = std::fs::read_to_string(&target).unwrap();
                assert!(text.contains(&format!("id=\"{anchor}\"")), "{name}: {link}");
            }
        }
    }
}

#[test]
fn a_site_is_made_of_files_and_grows_by_its_own_campaigns() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    let change = |at: usize| Night {
        slower: if at < 4 { 1.0 } else { 1.2 },
        ..Night::of(at)
    };
    nights(&at.join("results"), 8, change);
    let said = printed(&["site", "results", "--out", "public"], at);
    assert_eq!(said, "public/index.html: 8 campaigns\n");
    let site = at.join("public");
    links_lead_somewhere(&site);
    let index = std::fs::read_to_string(site.join("index.html")).unwrap();
    assert!(
        index.contains("2 changes, 2 to slower and 0 to faster."),
        "{index}"
    );
    assert!(index.contains("wasmtime default: +20\u{a0}%"), "{index}");
    let samples = "campaigns/2026-10-03-polybench-medium/samples.jsonl";
    let same = std::fs::read(at.join("results/night-02/samples.jsonl")).unwrap();
    assert_eq!(std::fs::read(site.join(samples)).unwrap(), same);
    // What is there is the archive of what comes next; what others put there stays.
    std::fs::write(site.join("CNAME"), "example.org").unwrap();
    night(&at.join("new"), &change(8));
    let said = printed(&["site", "public/campaigns", "new", "--out", "public"], at);
    assert_eq!(said, "public/index.html: 9 campaigns\n");
    links_lead_somewhere(&site);
    assert!(site.join(samples).is_file() && site.join("CNAME").is_file());
    let history = std::fs::read_to_string(site.join("history.json")).unwrap();
    let history: Value = serde_json::from_str(&history).unwrap();
    assert_eq!(
        history["campaigns"][8]["folder"],
        "campaigns/2026-10-09-polybench-medium"
    );
    // The same from the same.
    let once = files(&site);
    printed(&["site", "public/campaigns", "--out", "public"], at);
    assert_eq!(files(&site), once);
}

#[test]
fn a_site_that_cannot_be_made_leaves_everything_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    nights(&at.join("results"), 2, Night::of);
    printed(&["site", "results", "--out", "public"], at);
    night(&at.join("damaged"), &Night::of(3));
    std::fs::write(at.join("damaged/samples.jsonl"), "{}\n").unwrap();
    let before = files(at);
    for (words, expected) in [
        (
            ["damaged", "--out", "public"],
            "damaged/samples.jsonl: not a campaign",
        ),
        (["gone", "--out", "public"], "gone: No such file"),
        (
            ["results", "--out", "results"],
            "results: not empty, and no site of fathom's",
        ),
        (
            ["results", "--out", "damaged/samples.jsonl"],
            "samples.jsonl: Not a directory",
        ),
    ] {
        let output = fathom(&["site", words[0], words[1], words[2]], at);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains(expected) && said.lines().count() == 1,
            "{said}"
        );
        assert_eq!(files(at), before, "{words:?}");
    }
}
