//! What a choice of engines, workloads and threads comes to.

use super::*;
use crate::home::Home;
use fathom_record::Opt;

fn spec(name: &str) -> EngineSpec {
    EngineSpec {
        name: name.to_owned(),
        display: name.to_owned(),
        command: vec![name.to_owned()],
        check: vec![name.to_owned()],
        strategies: vec!["guard".to_owned(), "trap".to_owned()],
        backends: vec!["fast".to_owned(), "slow".to_owned()],
        absent: format!("get {name}"),
        ..EngineSpec::default()
    }
}

fn outside() -> Vec<(EngineSpec, Presence)> {
    vec![
        (
            spec("here"),
            Presence::Installed {
                says: "here 1".to_owned(),
            },
        ),
        (
            spec("gone"),
            Presence::Absent {
                why: "no file".to_owned(),
            },
        ),
    ]
}

fn choose(words: &[&str], has_native: bool) -> Result<(Vec<String>, Vec<Absent>), String> {
    let wanted: Vec<Wanted> = words.iter().map(|word| word.parse().unwrap()).collect();
    let menu = Menu {
        own_strategies: &["guard".to_owned(), "trap".to_owned()],
        own_settings: &Choices::default(),
        missing_values: &[],
        own_further: &[],
        natives: if has_native { &NATIVES } else { &[] },
        outside: &outside(),
    };
    let (rows, absent) = rows(&wanted, &menu)?;
    let ids = rows.iter().map(|row| {
        let variant = row.native.map(|variant| format!("={variant}"));
        format!(
            "{}{}@{}",
            row.sandbox.id(),
            variant.unwrap_or_default(),
            row.driver
        )
    });
    Ok((ids.collect(), absent))
}

#[test]
fn without_words_it_is_everything_installed_and_a_note_for_the_rest() {
    let (rows, absent) = choose(&[], true).unwrap();
    assert_eq!(
        rows,
        [
            "fathom/guard/speed@0",
            "fathom/trap/speed@0",
            "here/guard/speed:fast@2",
            "native/none/speed=native@1",
            "native/none/speed=native-tuned@1",
        ]
    );
    assert_eq!(absent.len(), 1);
    assert_eq!(absent[0].why, "not installed (no file): get gone");
    assert!(!absent[0].is_wanted);
    let (rows, _) = choose(&[], false).unwrap();
    assert!(rows.iter().all(|row| !row.starts_with("native")));
}

#[test]
fn words_name_engines_strategies_and_backends() {
    let (rows, absent) =
        choose(&["fathom:trap", "here:trap:slow", "gone", "native"], false).unwrap();
    assert_eq!(rows, ["fathom/trap/speed@0", "here/trap/speed:slow@2"]);
    assert!(absent.iter().all(|absent| absent.is_wanted));
    assert_eq!(absent.len(), 2);
}

#[test]
fn gcc_is_measured_where_it_is_asked_for() {
    let (rows, _) = choose(&["native-gcc"], true).unwrap();
    assert_eq!(rows, ["native/none/speed=native-gcc@1"]);
    let (rows, absent) = choose(&["native-gcc"], false).unwrap();
    assert!(rows.is_empty() && absent.len() == 1);
    assert!(choose(&["native-gcc:guard"], true).is_err());
}

#[test]
fn forms_of_our_strategies_have_colons_in_their_names() {
    let word: Wanted = "fathom:shadow-compressed:segfault:mov".parse().unwrap();
    assert_eq!(word.backend, None);
    let (rows, _) = choose(&[&word.to_string()], false).unwrap();
    assert_eq!(rows, ["fathom/shadow-compressed:segfault:mov/speed@0"]);
}

#[test]
fn words_that_mean_nothing_are_errors_of_one_line() {
    for (words, part) in [
        (
            &["nowhere"][..],
            "no engine `nowhere`; there are: fathom here gone native",
        ),
        (
            &["here:magic"],
            "here has no strategy `magic`; it has: guard trap",
        ),
        (&["here:trap:magic"], "has no backend `magic`"),
        (
            &["fathom:trap:fast"],
            "unknown strategy 'trap:fast' (one of: auto, trap)",
        ),
        (&["native:guard"], "no strategy"),
        (&["here", "here"], "is there twice"),
    ] {
        let error = choose(words, true).unwrap_err();
        assert!(error.contains(part) && !error.contains('\n'), "{error}");
    }
    for word in ["", ":", "a:", "a::b", "a:b:c:d"] {
        assert!(word.parse::<Wanted>().is_err(), "{word}");
    }
}

#[test]
fn further_rows_of_ours_are_there_where_nothing_is_named() {
    let further: Wanted = "fathom:guard:llvm".parse().unwrap();
    let menu = Menu {
        own_strategies: &["guard".to_owned(), "trap".to_owned()],
        own_settings: &Choices::default(),
        missing_values: &[],
        own_further: std::slice::from_ref(&further),
        natives: &[],
        outside: &[],
    };
    let ids = |words: &[Wanted]| -> Vec<String> {
        let (rows, _) = rows(words, &menu).unwrap();
        let id = |row: &Row| row.sandbox.id().to_string();
        rows.iter().map(id).collect()
    };
    let own = ids(&[Wanted::own()]);
    assert_eq!(own.len(), 2);
    let all = ids(&[]);
    assert_eq!(all[..2], own);
    assert!(all.len() == 3 && all[2].contains("llvm"), "{all:?}");
}

#[test]
fn tasks_are_rows_times_programs_times_threads_and_controls() {
    let menu = Menu {
        own_strategies: &["guard".to_owned()],
        own_settings: &Choices::default().with(Setting::Opt, &["speed", "none"]),
        missing_values: &[],
        own_further: &[],
        natives: &NATIVES,
        outside: &[],
    };
    let (rows, _) = rows(&[], &menu).unwrap();
    let artifact = |variant: Variant| PathBuf::from(format!("/{variant}/x"));
    let program = |name| Program {
        suite: "s".to_owned(),
        name: String::from(name),
        size: "mini".to_owned(),
        args: vec![],
        artifact: Box::new(artifact),
        expected: Expected::Answer("1".to_owned()),
        folder: None,
        is_cached: false,
        stack_bytes: None,
        load: None,
    };
    let programs = [program("a"), program("b")];
    let builds = Builds::Each(&[Variant::WasmSimd]);
    let with = |controls| tasks(&rows, &programs, &builds, &[1, 2], controls);
    // 2 programs × 2 thread counts × (2 of ours + 2 native + 1 control).
    assert_eq!(with(Controls::First).len(), 20);
    // One more, of native code.
    let tasks = with(Controls::FirstAndNative);
    assert_eq!(tasks.len(), 24);
    let controls: Vec<_> = tasks.iter().filter(|task| task.cell.is_control()).collect();
    assert_eq!(controls.len(), 8);
    let is_first = |task: &&Task| {
        let cell = &task.cell;
        cell.variant == Variant::Native
            || cell.sandbox.settings.opt() == Opt::Speed && cell.variant.is_wasm()
    };
    assert!(controls.iter().all(is_first));
    let mut ids: Vec<_> = tasks.iter().map(|task| task.cell.id()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 24);
    let tuned = tasks
        .iter()
        .find(|task| task.cell.variant == Variant::NativeTuned)
        .unwrap();
    assert_eq!(tuned.artifact, PathBuf::from("/native-tuned/x"));
}

#[test]
fn an_engine_is_given_builds_that_it_takes() {
    let row = |takes: &[Variant]| Row {
        sandbox: Sandbox::new("old", "guard"),
        native: None,
        driver: 2,
        takes: takes.to_vec(),
        takes_components: false,
    };
    let wanted = [Variant::Wasm, Variant::WasmMvp];
    let (each, first) = (Builds::Each(&wanted), Builds::First(&wanted));
    assert_eq!(each.of(&row(&[])), wanted);
    assert_eq!(first.of(&row(&[])), [Variant::Wasm]);
    assert_eq!(first.of(&row(&[Variant::WasmMvp])), [Variant::WasmMvp]);
    assert_eq!(first.of(&row(&[Variant::Wasm64])), []);
    // No other is there: the engine says what it makes of them.
    assert_eq!(each.of(&row(&[Variant::WasmMvp])), [Variant::WasmMvp]);
    assert_eq!(each.of(&row(&[Variant::Wasm64])), wanted);
    let native = Row {
        native: Some(Variant::Native),
        ..row(&[])
    };
    assert_eq!(first.of(&native), [Variant::Native]);
}

#[test]
fn code_generators_are_rows() {
    let rows_of = |words: &[&str], missing: &[MissingValue]| {
        let wanted: Vec<Wanted> = words.iter().map(|word| word.parse().unwrap()).collect();
        let menu = Menu {
            own_strategies: &["guard".to_owned(), "trap".to_owned()],
            own_settings: &Choices::default().with(Setting::Codegen, &["cranelift", "llvm"]),
            missing_values: missing,
            own_further: &[],
            natives: &[],
            outside: &[],
        };
        let (rows, absent) = rows(&wanted, &menu).unwrap();
        let ids = rows.iter().map(|row| row.sandbox.id().to_string());
        (ids.collect::<Vec<_>>(), absent)
    };
    let (all, absent) = rows_of(&[], &[]);
    assert!(absent.is_empty());
    assert_eq!(
        all,
        [
            "fathom/guard/speed",
            "fathom/trap/speed",
            "fathom/guard/speed:llvm",
            "fathom/trap/speed:llvm",
        ]
    );
    let (one, _) = rows_of(&["fathom:guard64:shift:llvm"], &[]);
    assert_eq!(one, ["fathom/guard64:shift/speed:llvm"]);
    let (each, _) = rows_of(&["fathom:llvm", "fathom:trap:cranelift"], &[]);
    let expected = [
        "fathom/guard/speed:llvm",
        "fathom/trap/speed:llvm",
        "fathom/trap/speed",
    ];
    assert_eq!(each, expected);
    // What is not to be had keeps nothing else from being measured.
    let missing = [MissingValue {
        setting: Setting::Codegen,
        value: "llvm".to_owned(),
        why: "it needs clang".to_owned(),
    }];
    let (rest, absent) = rows_of(&[], &missing);
    assert_eq!(rest, ["fathom/guard/speed", "fathom/trap/speed"]);
    assert_eq!(absent.len(), 1);
    assert_eq!(
        (&*absent[0].engine, &*absent[0].why),
        ("fathom llvm", "it needs clang")
    );
    for word in ["fathom:trap:llvm", "fathom:llvm"] {
        let written: Wanted = word.parse().unwrap();
        assert_eq!(written.to_string(), word);
    }
}

#[test]
fn a_word_may_name_a_release() {
    let word: Wanted = "wasmtime@48.0.0:guard:winch".parse().unwrap();
    assert_eq!(word.to_string(), "wasmtime@48.0.0:guard:winch");
    assert_eq!(
        (word.name().as_str(), word.version.as_deref()),
        ("wasmtime@48.0.0", Some("48.0.0"))
    );
    for bad in ["x@", "x@/tmp", "x@..", "x@1/../2", "@1", "x@a"] {
        assert!(bad.parse::<Wanted>().is_err(), "{bad}");
    }
    // A campaign of before has none.
    let old = serde_json::json!({"engine": "x", "strategy": null, "backend": null});
    assert_eq!(serde_json::from_value::<Wanted>(old).unwrap().version, None);
}

/// A home where `many` is installed as 2.0, and as 1.5 and 1.10 beside it.
fn in_versions() -> (tempfile::TempDir, Home) {
    let root = tempfile::tempdir().unwrap();
    let folder = |name: &str| root.path().join(name);
    for name in ["workloads", "engines/many", "engines/one"] {
        std::fs::create_dir_all(folder(name)).unwrap();
    }
    let described = |name: &str| {
        format!(
            "program = \"{{engine}}/run\"\nname = \"{name}\"\ndisplay = \"X\"\ncommand = [\"{{engine}}/run\"]\n\
                 check = [\"true\"]\nstrategies = [\"guard\"]\nabsent = \"get it\"\n"
        )
    };
    let many = described("many") + "versions = \"npm:many\"\n";
    std::fs::write(folder("engines/many/engine.toml"), many).unwrap();
    std::fs::write(folder("engines/one/engine.toml"), described("one")).unwrap();
    for (name, version) in [("many", "2.0"), ("many@1.5", "1.5"), ("many@1.10", "1.10")] {
        let folder = folder(".tools/engines").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join("record.json"),
            format!("{{\"version\": \"{version}\"}}"),
        )
        .unwrap();
        std::fs::write(folder.join("installed"), "").unwrap();
    }
    let home = Home::at(root.path()).unwrap();
    (root, home)
}

fn releases(words: &[&str]) -> Result<(Vec<String>, Vec<Absent>), String> {
    let (_root, home) = in_versions();
    let mut wanted: Vec<Wanted> = words.iter().map(|word| word.parse().unwrap()).collect();
    let (specs, errors) = described(Some(&home), &mut wanted)?;
    assert!(errors.is_empty());
    let outside: Vec<_> = specs
        .into_iter()
        .map(|spec| (spec.clone(), spec.presence()))
        .collect();
    let menu = Menu {
        own_strategies: &[],
        own_settings: &Choices::default(),
        missing_values: &[],
        own_further: &[],
        natives: &[],
        outside: &outside,
    };
    let (rows, absent) = rows(&wanted, &menu)?;
    Ok((
        rows.iter()
            .map(|row| row.sandbox.id().to_string())
            .collect(),
        absent,
    ))
}

#[test]
fn releases_are_rows_of_their_own_and_a_part_of_one_means_the_newest_installed() {
    let (ids, absent) = releases(&["many@1", "many@1.5", "many"]).unwrap();
    assert_eq!(
        ids,
        [
            "many@1.10/guard/speed",
            "many@1.5/guard/speed",
            "many/guard/speed"
        ]
    );
    assert_eq!(absent, []);
    let (ids, absent) = releases(&["many@2", "many@3"]).unwrap();
    assert_eq!(ids, ["many@2.0/guard/speed"]);
    assert_eq!(absent[0].engine, "many@3");
    let why = "not installed (there is 2.0, 1.10, 1.5): fathom engines install many@3";
    assert_eq!(absent[0].why, why);
    assert_eq!(absent[0].install.as_deref(), Some("many@3"));
    // What nothing is named of is measured in its pinned version alone.
    assert_eq!(
        releases(&[]).unwrap().0,
        ["many/guard/speed", "one/guard/speed"]
    );
}

#[test]
fn one_build_under_two_names_is_refused() {
    for (words, said) in [
        (
            &["many", "many@2"][..],
            "many/guard/speed and many@2.0/guard/speed are one build under two names",
        ),
        (
            &["many@1", "many@1.10"],
            "many@1.10/guard/speed is there twice",
        ),
        (&["one@1"], "one@1: one is had in one version"),
        (&["fathom@1"], "fathom@1: it has no releases to choose from"),
        (&["native@1"], "native@1: it has no releases to choose from"),
    ] {
        assert_eq!(releases(words).unwrap_err(), said);
    }
}

/// A file that can be started.
fn program(folder: &tempfile::TempDir, name: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.path().canonicalize().unwrap().join(name);
    std::fs::write(&path, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn a_build_of_ones_own_is_run_as_the_engine_that_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (known, other) = (program(&folder, "many-debug"), program(&folder, "a.out"));
    let (_root, home) = in_versions();
    let mut words = [
        format!("x:guard={known}"),
        format!("y=one@{other}"),
        format!("z={other} --dir . {{}} -v"),
    ]
    .map(|word| word.parse::<Wanted>().unwrap());
    let (specs, _) = described(Some(&home), &mut words).unwrap();
    let [x, y, z] = &specs[2..] else {
        panic!("{specs:?}")
    };
    assert_eq!(
        (&x.command[..], &y.command[..]),
        (&[known.clone()][..], &[other.clone()][..])
    );
    assert_eq!(x.strategies, ["guard"]);
    let tail = ["command", "--", &other, "--dir", ".", "{}", "-v"];
    assert_eq!(z.command[2..], tail);
    // What is recorded leads to the same from any folder.
    assert_eq!(words[0].to_string(), format!("x:guard=many@{known}"));
    let recorded = serde_json::to_value(&words[0]).unwrap();
    let mut again = [serde_json::from_value(recorded).unwrap()];
    assert_eq!(described(Some(&home), &mut again).unwrap().0[2], *x);
}

#[test]
fn a_build_of_ones_own_that_cannot_be_is_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let (known, other) = (program(&folder, "many-debug"), program(&folder, "a.out"));
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "").unwrap();
    for (words, said) in [
        (
            vec![format!("one={known}")],
            "one: that is an engine's name; call your build otherwise".to_owned(),
        ),
        (
            vec![format!("native={known}")],
            "native: that is an engine's name".to_owned(),
        ),
        (
            vec![format!("x={known}.gone")],
            format!("x: {known}.gone: No such file"),
        ),
        (
            vec![format!("x={}", plain.display())],
            format!("x: {}: it is no program", plain.display()),
        ),
        (
            vec![format!("x={other}")],
            format!(
                "x: nobody knows how {other} is run: NAME=ENGINE@PATH for a program that is many, one, or"
            ),
        ),
        (
            vec!["x=/no/such {}".to_owned()],
            "x: /no/such: No such file".to_owned(),
        ),
        (
            vec!["x=no-such-program {}".to_owned()],
            "x: no-such-program: there is no such program on PATH".to_owned(),
        ),
        (
            vec![format!("x={known}"), format!("x={other} {{}}")],
            "x: two builds under one name".to_owned(),
        ),
        (
            vec![format!("x={known}"), format!("y={known}")],
            "x/guard/speed and y/guard/speed are one build under two names".to_owned(),
        ),
    ] {
        let named: Vec<&str> = words.iter().map(String::as_str).collect();
        let error = releases(&named).unwrap_err();
        assert!(error.starts_with(&said), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
    for bad in ["x=", "=x", "x y=z", "x@1=y", "x/y=z"] {
        assert!(bad.parse::<Wanted>().is_err(), "{bad}");
    }
}
