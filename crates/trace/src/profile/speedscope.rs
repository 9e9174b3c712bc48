//! Profiles as speedscope has them (<https://www.speedscope.app/file-format-schema.json>), one
//! file for several engines.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Frame, Of, Origin};

#[derive(Serialize)]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: &'a str,
    exporter: &'a str,
    #[serde(rename = "activeProfileIndex")]
    active: usize,
    shared: Shared<'a>,
    profiles: Vec<One<'a>>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<Shown<'a>>,
}

#[derive(Serialize)]
struct Shown<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
}

#[derive(Serialize)]
struct One<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    unit: &'static str,
    #[serde(rename = "startValue")]
    start: u64,
    #[serde(rename = "endValue")]
    end: u64,
    samples: Vec<Vec<usize>>,
    weights: Vec<u64>,
}

/// The file's text: a profile for each engine, by its name; the weight of a stack is
/// processor time.
///
/// # Errors
/// What serde reports, which is nothing for such a file.
pub fn text(name: &str, exporter: &str, profiles: &[Of<'_>]) -> Result<String, serde_json::Error> {
    let mut numbers: BTreeMap<&Frame, usize> = BTreeMap::new();
    let mut frames = Vec::new();
    let mut shown = Vec::new();
    for Of { name, profile, .. } in profiles {
        let mut samples = Vec::new();
        let mut weights = Vec::new();
        for (stack, count) in &profile.stacks {
            let numbered = stack.iter().map(|frame| {
                *numbers.entry(frame).or_insert_with(|| {
                    frames.push(described(frame));
                    frames.len() - 1
                })
            });
            samples.push(numbered.collect());
            weights.push(count * profile.period_ns);
        }
        shown.push(One {
            kind: "sampled",
            name,
            unit: "nanoseconds",
            start: 0,
            end: weights.iter().sum(),
            samples,
            weights,
        });
    }
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        name,
        exporter,
        active: 0,
        shared: Shared { frames },
        profiles: shown,
    };
    Ok(serde_json::to_string(&file)? + "\n")
}

fn described(frame: &Frame) -> Shown<'_> {
    Shown {
        name: &frame.name,
        file: match &frame.origin {
            Origin::File { path, .. } => Some(path),
            Origin::Program | Origin::Made | Origin::Unnamed | Origin::Kernel => None,
        },
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::Profile;
    use super::*;

    pub(in crate::profile) fn of<'a>(name: &'a str, profile: &'a Profile) -> Of<'a> {
        Of {
            name,
            is_native: false,
            profile,
        }
    }

    pub(in crate::profile) fn frame(name: &str, origin: Origin) -> Frame {
        Frame {
            name: name.to_owned(),
            origin,
        }
    }

    /// `main` calls `hot` for 3 of 4 samples; one is in a library.
    pub(in crate::profile) fn example() -> Profile {
        let library = Origin::File {
            path: "/lib/x.so".to_owned(),
            is_named: true,
        };
        let main = frame("main", Origin::Program);
        let stacks = [
            (vec![main.clone(), frame("hot<T>", Origin::Program)], 3),
            (vec![main, frame("memcpy", library)], 1),
        ];
        Profile {
            stacks: stacks.into(),
            period_ns: 1000,
            ..Profile::default()
        }
    }

    #[test]
    fn frames_are_shared_and_weights_are_times() {
        let profile = example();
        let text = text("app", "fathom 1", &[of("a", &profile), of("b", &profile)]).unwrap();
        let file: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(file["shared"]["frames"].as_array().unwrap().len(), 3);
        assert_eq!(file["profiles"][1]["name"], "b");
        for profile in file["profiles"].as_array().unwrap() {
            assert_eq!(profile["endValue"], 4000);
            assert_eq!(profile["weights"], serde_json::json!([3000, 1000]));
            let name = |stack: usize, depth: usize| {
                let number = profile["samples"][stack][depth].as_u64().unwrap() as usize;
                &file["shared"]["frames"][number]
            };
            assert_eq!(name(0, 0)["name"], "main");
            assert_eq!(name(0, 1)["name"], "hot<T>");
            assert_eq!(name(1, 1)["file"], "/lib/x.so");
            assert_eq!(name(0, 1).get("file"), None);
        }
    }
}
