//! A line for each figure of each engine: for those who draw their own pictures.

use super::Library;
use crate::csv::quote;

impl Library<'_> {
    /// Comma-separated values with a head.
    pub fn csv(&self) -> String {
        let mut text = String::from(
            "engine,sandbox,build,normalised to,group,ratio,low,high,programs,missing\n",
        );
        let names: Vec<&str> = std::iter::once("all")
            .chain(self.groups.iter().map(|group| group.name.as_str()))
            .collect();
        for line in &self.lines {
            for (to, ratios) in [("median", &line.to_median), ("native", &line.to_native)] {
                for (group, ratio) in names.iter().zip(ratios) {
                    let Ok(mean) = &ratio.geomean else { continue };
                    let ends = mean.interval.as_ref().ok();
                    let end =
                        |end: Option<f64>| end.map_or(String::new(), |end| format!("{end:.6}"));
                    let fields = [
                        line.name.clone(),
                        line.row.sandbox.id().to_string(),
                        line.row.variant.to_string(),
                        to.to_owned(),
                        (*group).to_owned(),
                        format!("{:.6}", mean.value),
                        end(ends.map(|ends| ends.low)),
                        end(ends.map(|ends| ends.high)),
                        mean.workloads.to_string(),
                        ratio.missing.join(" "),
                    ];
                    let fields: Vec<String> = fields.iter().map(|text| quote(text)).collect();
                    text.push_str(&fields.join(","));
                    text.push('\n');
                }
            }
        }
        text
    }
}
