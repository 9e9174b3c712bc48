//! A line for each figure of each engine: for those who draw their own pictures.

use super::Library;
use crate::csv::line;

impl Library<'_> {
    /// Comma-separated values with a head.
    pub(super) fn csv(&self) -> String {
        let heads = "engine,sandbox,build,normalised to,group,ratio,low,high,programs,\
                        missing";
        let mut text = line(heads.split(','));
        let names: Vec<&str> = std::iter::once("all")
            .chain(self.groups.iter().map(|group| group.name.as_str()))
            .collect();
        for row in &self.lines {
            for (to, ratios) in [("median", &row.to_median), ("native", &row.to_native)] {
                for (group, ratio) in names.iter().zip(ratios) {
                    let Ok(mean) = &ratio.geomean else { continue };
                    let ends = mean.interval.as_ref().ok();
                    let end =
                        |end: Option<f64>| end.map_or(String::new(), |end| format!("{end:.6}"));
                    text.push_str(&line([
                        row.name.clone(),
                        row.row.sandbox.id().to_string(),
                        row.row.variant.to_string(),
                        to.to_owned(),
                        (*group).to_owned(),
                        format!("{:.6}", mean.value),
                        end(ends.map(|ends| ends.low)),
                        end(ends.map(|ends| ends.high)),
                        mean.workloads.to_string(),
                        ratio.missing.join(" "),
                    ]));
                }
            }
        }
        text
    }
}
