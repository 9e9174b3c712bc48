//! A trace as a page.

use super::*;

#[test]
fn a_trace_is_shown_in_every_form_that_it_has() {
    let files = Files::new();
    let module = files.module(THREADS);
    let (output, answer) = files.trace(&[module.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let file = files.folder.path().join("a.json");
    std::fs::write(&file, answer.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let shown = fathom(&["report", file, "--format", "html"])
        .output()
        .unwrap();
    assert!(shown.status.success(), "{shown:?}");
    let page = std::fs::read_to_string(file.replace(".json", ".html")).unwrap();
    // Its clocks are called and drawn, whatever else was seen.
    assert!(page.contains("<title>clock_time_get: "), "{page}");
    if let Some(threads) = answer["kernel"]["threads"].as_array() {
        let first = threads
            .iter()
            .map(|thread| thread["began_ns"].as_u64().unwrap());
        assert_eq!(first.clone().min(), Some(0));
        assert!(first.max() > Some(0), "others began later: {threads:?}");
        for thread in threads {
            let name = format!("<b>{} of process", thread["thread"]);
            assert!(page.contains(&name), "{name}");
        }
    }
    let text = fathom(&["report", file]).output().unwrap();
    assert!(
        String::from_utf8_lossy(&text.stdout).contains("WASI: "),
        "{text:?}"
    );
    let json = fathom(&["report", file, "--json"]).output().unwrap();
    assert_eq!(
        serde_json::from_slice::<Value>(&json.stdout).unwrap(),
        answer
    );
    for (words, said) in [
        (
            ["--format", "csv"].as_slice(),
            "a trace has no csv: terminal, html or json",
        ),
        (&["--pages"], "--pages is for results"),
        (&["--by", "start"], "--by is for results"),
    ] {
        let refused = fathom(&[["report", file].as_slice(), words].concat())
            .output()
            .unwrap();
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        assert!(
            String::from_utf8_lossy(&refused.stderr).contains(said),
            "{refused:?}"
        );
    }
}
