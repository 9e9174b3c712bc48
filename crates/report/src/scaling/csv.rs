//! The scaling table for a script: numbers unrounded, empty where there is none.

use fathom_stats::Figure;

use super::{CALLS, Scaling};
use crate::csv::{line, unrounded};

/// Figures of a point, by their names in files.
const FIGURES: [Figure; 14] = [
    Figure::Kernel,
    Figure::Run,
    Figure::Instantiate,
    Figure::Teardown,
    Figure::CpuUsePinned,
    Figure::CpuUseHost,
    Figure::KernelShare,
    Figure::CpuUseProcess,
    Figure::CtxRate,
    Figure::FaultsPerRun,
    Figure::RssMean,
    Figure::RssPeak,
    Figure::VirtualMean,
    Figure::HostMemory,
];

/// A line for each part, engine and number of instances.
pub fn render(scaling: &Scaling) -> String {
    let mut head: Vec<String> = [
        "part",
        "engine",
        "strategy",
        "opt",
        "backend",
        "settings",
        "variant",
        "instances",
        "processors",
        "oversubscribed",
        "runs_per_s",
        "relative",
        "low_95",
        "high_95",
        "verdict",
    ]
    .map(str::to_owned)
    .to_vec();
    head.extend(FIGURES.iter().map(|figure| figure.name().to_owned()));
    head.extend(CALLS.iter().map(|name| format!("{name}_per_run")));
    let mut text = line(head);
    for part in &scaling.parts {
        for (of, point) in part.points() {
            let sandbox = &of.key.sandbox;
            let ratio = point.relative.as_ref();
            let ends = ratio.and_then(|judged| judged.ratio.ends);
            let mut fields = vec![
                part.title.clone(),
                sandbox.engine.clone(),
                sandbox.strategy.clone(),
                sandbox.settings.opt().to_string(),
                sandbox.settings.backend().unwrap_or_default().to_owned(),
                sandbox.settings.for_programs(),
                of.key.variant.to_string(),
                point.threads.to_string(),
                scaling.processors.to_string(),
                point.is_over.to_string(),
                unrounded(point.runs_per_s),
                unrounded(ratio.map(|judged| judged.ratio.value)),
                unrounded(ends.map(|(low, _)| low)),
                unrounded(ends.map(|(_, high)| high)),
                ratio.map_or_else(String::new, |judged| judged.verdict.name().to_owned()),
            ];
            fields.extend(
                FIGURES
                    .iter()
                    .map(|figure| unrounded(point.costs.get(figure).copied())),
            );
            fields.extend(
                CALLS
                    .iter()
                    .map(|name| unrounded(point.calls.get(*name).copied())),
            );
            text.push_str(&line(fields));
        }
    }
    text
}
