//! Commands that a reader can run: the campaign's own, and one for each cell.

use std::path::Path;

use fathom_record::campaign::Header;
use fathom_record::{Cell, Setting, Variant};

/// Words quoted so that a POSIX shell reads them as they were.
pub fn shell<S: AsRef<str>>(words: &[S]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quote(word.as_ref())).collect();
    quoted.join(" ")
}

fn quote(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The whole command line of a campaign, quoted for a shell.
pub fn command(header: &Header) -> String {
    let mut words = vec!["fathom"];
    words.extend(arguments(header));
    shell(&words)
}

/// The same for a page that others read, who have no folder of this machine: a path in the
/// folder of the command is relative to that, of another one the name is left.
pub fn portable(header: &Header) -> String {
    let mut words = vec!["fathom".to_owned()];
    let here = header.config.folder.as_deref();
    words.extend(arguments(header).map(|word| relative(word, here)));
    shell(&words)
}

/// A word, or the value behind its `=`, without what only one machine has.
pub fn relative(word: &str, here: Option<&Path>) -> String {
    let (option, value) = match word.split_once('=') {
        Some((option, value)) if option.starts_with("--") => (format!("{option}="), value),
        _ => (String::new(), word),
    };
    let path = Path::new(value);
    if !path.is_absolute() {
        return word.to_owned();
    }
    let inside = here.and_then(|here| path.strip_prefix(here).ok());
    let inside = inside.filter(|rest| !rest.as_os_str().is_empty());
    let left = inside.or(path.file_name().map(Path::new)).unwrap_or(path);
    format!("{option}{}", left.display())
}

/// The words of a campaign's command line after the program's name, which is
/// not always recorded.
fn arguments(header: &Header) -> impl Iterator<Item = &str> {
    let is_program = |word: &str| word == "fathom" || word.ends_with("/fathom");
    let skip = usize::from(header.command.first().is_some_and(|word| is_program(word)));
    header.command.iter().skip(skip).map(String::as_str)
}

/// Options of `fathom bench` and `fathom suite` that choose cells, or that a
/// repetition must not take over. Each has a value.
const CHOOSING: [&str; 8] = [
    // As `fathom bench` calls those in older campaigns.
    "--kernels",
    "--workloads",
    "--variant",
    "--engines",
    "--bounds",
    "--threads",
    "--out",
    "--resume",
];

/// Whether an option chooses cells: one of these, or a setting of our engine.
fn chooses(option: &str) -> bool {
    let setting = option.strip_prefix("--").map(str::parse::<Setting>);
    CHOOSING.contains(&option) || setting.is_some_and(|setting| setting.is_ok())
}

/// Commands whose selections decide builds by themselves, and measure what they
/// compare with.
const SELECTING: [&str; 2] = ["suite", "reproduce"];

/// The command that measures one cell again: the campaign's own, with its
/// choice of cells replaced.
pub fn cell_command(header: &Header, cell: &Cell) -> String {
    let mut words = vec!["fathom".to_owned()];
    let mut rest: Vec<String> = Vec::new();
    let mut arguments = arguments(header);
    while let Some(word) = arguments.next() {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        if word == "--" {
            rest.push(word.to_owned());
            rest.extend(arguments.by_ref().map(str::to_owned));
        } else if !chooses(name) {
            words.push(word.to_owned());
        } else if name == word {
            arguments.next();
        }
    }
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    let is_selection = self::arguments(header)
        .next()
        .is_some_and(|name| SELECTING.contains(&name));
    if is_selection || header.config.module.is_none() {
        add("--workloads", cell.workload.clone());
    }
    let sandbox = &cell.sandbox;
    match cell.variant.is_wasm() {
        false => add("--engines", cell.variant.to_string()),
        true => {
            if header.config.module.is_none() && (!is_selection || is_chosen(cell.variant)) {
                add("--variant", cell.variant.to_string());
            }
            if sandbox.engine == "fathom" {
                add("--engines", "fathom".to_owned());
                add("--bounds", sandbox.strategy.clone());
                for setting in Setting::ALL.iter().copied() {
                    let usual =
                        (!is_selection && setting.is_always_said()).then(|| setting.default());
                    if let Some(value) = sandbox.settings.get(setting).or(usual) {
                        add(&format!("--{setting}"), value.to_owned());
                    }
                }
            } else {
                let parts = [
                    Some(sandbox.engine.as_str()),
                    Some(sandbox.strategy.as_str()),
                    sandbox.settings.backend(),
                ];
                let parts: Vec<&str> = parts.into_iter().flatten().collect();
                add("--engines", parts.join(":"));
            }
        }
    }
    if !is_selection {
        add("--threads", cell.threads.to_string());
    }
    words.extend(rest);
    shell(&words)
}

/// Whether a selection leaves a build to choose: it does not decide whether modules went
/// through this optimiser, nor which way to make fibers is meant.
fn is_chosen(variant: Variant) -> bool {
    matches!(
        variant,
        Variant::WasmOpt
            | Variant::WasmAsyncify
            | Variant::WasmSwitch
            | Variant::WasmState
            | Variant::WasmComponent
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_for_others_names_no_folder_of_this_machine() {
        let here = Some(Path::new("/work/fathom"));
        for (word, portable) in [
            ("/work/fathom/results/leaps", "results/leaps"),
            ("--out=/work/fathom/results/leaps", "--out=results/leaps"),
            ("/tmp/somewhere/run3", "run3"),
            ("/work/fathom", "fathom"),
            ("results/leaps", "results/leaps"),
            ("--engines", "--engines"),
        ] {
            assert_eq!(relative(word, here), portable);
        }
        assert_eq!(relative("/tmp/x", None), "x");
    }

    #[test]
    fn shells_read_words_as_they_were() {
        assert_eq!(
            shell(&[
                "fathom",
                "bench",
                "a b.wasm",
                "it's",
                "",
                "--env=K=V",
                "$(x)"
            ]),
            r"fathom bench 'a b.wasm' 'it'\''s' '' --env=K=V '$(x)'"
        );
    }

    #[test]
    fn a_cell_is_measured_again_by_its_own_command() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect();
        let header = Header {
            command: words("bench app.wasm --engines=node --bounds all --dir . -- --opt 3"),
            request: None,
            config: fathom_record::campaign::Config {
                module: Some(fathom_record::campaign::ModuleNote {
                    path: "app.wasm".into(),
                    bytes: 8,
                    digest: String::new(),
                    args: Vec::new(),
                }),
                ..Default::default()
            },
            format: 1,
            tool: String::new(),
            name: String::new(),
            date: String::new(),
            host: Default::default(),
            workloads: Vec::new(),
            cells: Vec::new(),
        };
        let mut cell = Cell {
            sandbox: fathom_record::Sandbox::new("fathom", "trap").with(Setting::Opt, "none"),
            suite: "module".to_owned(),
            workload: "app.wasm".to_owned(),
            variant: Variant::WasmSimd,
            size: String::new(),
            threads: 2,
            control_of: None,
        };
        assert_eq!(
            cell_command(&header, &cell),
            "fathom bench app.wasm --dir . --engines fathom --bounds trap --opt none --threads 2 -- --opt 3"
        );
        cell.sandbox = cell.sandbox.with(Setting::Codegen, "llvm");
        assert_eq!(
            cell_command(&header, &cell),
            "fathom bench app.wasm --dir . --engines fathom --bounds trap --opt none --codegen \
             llvm --threads 2 -- --opt 3"
        );
        cell.sandbox.engine = "node".to_owned();
        cell.sandbox = cell.sandbox.with(Setting::Codegen, "turbofan");
        assert_eq!(
            cell_command(&header, &cell),
            "fathom bench app.wasm --dir . --engines node:trap:turbofan --threads 2 -- --opt 3"
        );
        assert_eq!(
            command(&header),
            "fathom bench app.wasm --engines=node --bounds all --dir . -- --opt 3"
        );
    }
}
