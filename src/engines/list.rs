//! `fathom engines list`: what there is, what is here, what cannot be had.

use std::process::ExitCode;

use fathom_bench::engines::{self, EngineSpec, Presence, Unavailable};
use fathom_bench::home::Home;
use fathom_report::json::FORMAT;
use serde::Serialize;

use super::{State, described, states};
use crate::report::print;

/// One engine: how it is described and, where it has a recipe, its state.
#[derive(Serialize)]
struct Row {
    name: String,
    display: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<State>,
    strategies: Vec<String>,
    backends: Vec<String>,
    needs: String,
    /// What answers where it is not installed: the machine's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<String>,
}

impl Row {
    fn new(spec: EngineSpec, states: &[State]) -> Row {
        let state = states.iter().find(|state| state.name == spec.name).cloned();
        let is_away = state
            .as_ref()
            .is_some_and(|state| !state.installed && !state.outdated && state.error.is_none());
        let presence = is_away.then(|| spec.presence());
        Row {
            found: match presence {
                Some(Presence::Installed { says }) => Some(says),
                _ => None,
            },
            state,
            name: spec.name,
            display: spec.display,
            strategies: spec.strategies,
            backends: spec.backends,
            needs: spec.needs,
        }
    }

    fn cells(&self) -> [String; 6] {
        let list = |names: &[String]| match names.is_empty() {
            true => "–".to_owned(),
            false => names.join(", "),
        };
        let (version, word, disk) = match &self.state {
            None => ("–".to_owned(), "no recipe", None),
            Some(state) if self.found.is_some() => {
                (state.version.clone(), "the machine's own", None)
            }
            Some(state) => (state.version.clone(), word(state), state.bytes),
        };
        [
            self.name.clone(),
            version,
            word.to_owned(),
            disk.map_or("–".to_owned(), megabytes),
            list(&self.strategies),
            list(&self.backends),
        ]
    }
}

fn word(state: &State) -> &'static str {
    match state {
        State { error: Some(_), .. } => "recipe unreadable",
        State {
            installed: true, ..
        } => "installed",
        State { outdated: true, .. } => "outdated",
        _ => "not installed",
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[derive(Serialize)]
struct Answer<'a> {
    format: u32,
    engines: &'a [Row],
    unavailable: &'a [Unavailable],
}

pub fn run(home: &Home, json: bool) -> anyhow::Result<ExitCode> {
    let states = states(home)?;
    let rows: Vec<Row> = described(home)
        .into_iter()
        .flat_map(|spec| rows_of(spec, &states))
        .collect();
    let unavailable = engines::unavailable(home)?;
    let text = if json {
        let answer = Answer {
            format: FORMAT,
            engines: &rows,
            unavailable: &unavailable,
        };
        serde_json::to_string_pretty(&answer)? + "\n"
    } else {
        render(&rows, &unavailable)
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// An engine as it is pinned, and the releases that are installed beside that.
fn rows_of(spec: EngineSpec, states: &[State]) -> Vec<Row> {
    let is_beside = |state: &&State| {
        let rest = state.name.strip_prefix(&spec.name);
        rest.is_some_and(|rest| rest.starts_with('@'))
    };
    let beside = states.iter().filter(is_beside).map(|state| EngineSpec {
        name: state.name.clone(),
        ..spec.clone()
    });
    let all = std::iter::once(spec.clone()).chain(beside);
    all.map(|spec| Row::new(spec, states)).collect()
}

fn render(rows: &[Row], unavailable: &[Unavailable]) -> String {
    let head = ["engine", "version", "", "disk", "strategies", "backends"].map(str::to_owned);
    let mut lines = vec![head];
    lines.extend(rows.iter().map(Row::cells));
    let mut text = table(&lines);
    for row in rows {
        if let Some(error) = row.state.as_ref().and_then(|state| state.error.as_ref()) {
            text.push_str(&format!("{}: {error}\n", row.name));
        }
        if let Some(says) = &row.found {
            text.push_str(&format!(
                "{}: not installed; this machine has {says}\n",
                row.name
            ));
        }
    }
    if !unavailable.is_empty() {
        text.push_str("\nnot available:\n");
        let width = unavailable.iter().map(|u| u.display.chars().count()).max();
        for none in unavailable {
            let width = width.unwrap_or(0);
            text.push_str(&format!("  {:width$}  {}\n", none.display, none.why));
        }
    }
    text
}

/// Columns as wide as their widest cell; the disk's is right-aligned.
fn table(lines: &[[String; 6]]) -> String {
    const DISK: usize = 3;
    let mut text = String::new();
    let width = |column: usize| lines.iter().map(|l| l[column].chars().count()).max();
    let widths: Vec<usize> = (0..6).map(|c| width(c).unwrap_or(0)).collect();
    for line in lines {
        let cells = line.iter().enumerate().map(|(column, cell)| {
            let width = widths[column];
            match column == DISK {
                true => format!("{cell:>width$}"),
                false => format!("{cell:width$}"),
            }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_is_here_and_what_is_not_to_be_had_says_why() {
        let state = State {
            name: "x".into(),
            version: "1.2".into(),
            installed: true,
            outdated: false,
            seconds: Some(3.0),
            bytes: Some(12_345_678),
            error: None,
        };
        let row = |name: &str, state: Option<State>| Row {
            name: name.into(),
            display: name.into(),
            state,
            strategies: vec!["guard".into(), "trap".into()],
            backends: Vec::new(),
            found: None,
            needs: String::new(),
        };
        let gone = State {
            installed: false,
            outdated: true,
            ..state.clone()
        };
        let rows = [row("x", Some(state)), row("yy", Some(gone)), row("z", None)];
        let none = [Unavailable {
            name: "n".into(),
            display: "N".into(),
            why: "in no registry".into(),
        }];
        assert_eq!(
            render(&rows, &none),
            "engine  version                disk  strategies   backends\n\
             x       1.2      installed  12.3 MB  guard, trap  –\n\
             yy      1.2      outdated   12.3 MB  guard, trap  –\n\
             z       –        no recipe        –  guard, trap  –\n\
             \nnot available:\n  N  in no registry\n"
        );
    }
}
