//! What a campaign answers to the paper's statements.

use fathom_stats::{Figure, Row as Key};

use super::{Only, Page};
use crate::figures;
use crate::scaling::{Line, Point, instances};
use crate::view::{Interval, Judged, Row, with_ends};

/// Our engine, in which every strategy can be had.
const OWN: &str = "fathom";
/// What is asked of PolyBench's kernels alone.
const OF_POLYBENCH: [&str; 4] = [
    "worst kernel",
    "untouched kernels",
    "v8 by kernel",
    "wasm3 over v8",
];
/// Ratios that a reader would call untouched.
const UNTOUCHED: f64 = 1.05;

impl Page<'_> {
    /// The answer to a statement; `None` where the campaign has none.
    pub(super) fn here(&self, question: &str) -> Option<String> {
        match question {
            "spec" if self.of == Only::Spec => self.v8_over_native(),
            _ if self.of == Only::Spec && OF_POLYBENCH.contains(&question) => None,
            "best over native" => self.best_over_native(),
            "order" => self.order(),
            "guard over none" => self.over_none("guard"),
            "uffd over none" => self.over_none("uffd"),
            "trap over none" => self.over_none("trap"),
            "clamp over none" => self.over_none("clamp"),
            "worst kernel" => self.worst_kernel(),
            "untouched kernels" => self.untouched_kernels(),
            "v8 by kernel" => self.v8_by_kernel(),
            "wasm3 over v8" => self.wasm3_over_v8(),
            "scaling" => self.scaling(),
            "cpu use of guard" => self.cpu_use(),
            "switches of v8" => self.switches_of_v8(),
            "host memory" => self.host_memory(),
            "spec" => Some("not run: no copy of SPEC CPU was given (--spec)".to_owned()),
            "other processors" => Some("this campaign speaks of one processor".to_owned()),
            _ => None,
        }
    }

    /// Whether the answer to a question is a figure, and not what is said in place of one.
    pub(super) fn is_measured(&self, question: &str) -> bool {
        match question {
            "spec" => self.of == Only::Spec,
            "other processors" => false,
            _ => true,
        }
    }

    /// V8 as it ships, in the mean.
    fn v8_over_native(&self) -> Option<String> {
        let row = self.find("node", "guard").filter(|_| self.has_native())?;
        Some(with_ends(&row.to_baseline?))
    }

    /// Rows of one instance that are WebAssembly and sound, fastest first.
    fn ranked(&self) -> Option<Vec<&Row>> {
        let group = self.alone()?;
        let rows: Vec<&Row> = group.rows.iter().filter(|row| row.is_ranked()).collect();
        (!rows.is_empty()).then_some(rows)
    }

    fn best_over_native(&self) -> Option<String> {
        let best = *self.ranked()?.first()?;
        let ratio = best.to_baseline.filter(|_| self.has_native())?;
        Some(format!("{}: {}", best.label(), with_ends(&ratio)))
    }

    fn has_native(&self) -> bool {
        self.alone()
            .is_some_and(|group| group.rows.iter().any(|row| !row.key.variant.is_wasm()))
    }

    /// The best row of each engine.
    fn order(&self) -> Option<String> {
        let mut named: Vec<(&str, String)> = Vec::new();
        for row in self.ranked()? {
            let (engine, ratio) = (row.engine.as_str(), row.to_baseline?);
            if named.iter().all(|(known, _)| *known != engine) {
                let text = format!("{} {}", row.engine, figures::ratio(ratio.value));
                named.push((engine, text));
            }
        }
        let texts: Vec<String> = named.into_iter().map(|(_, text)| text).collect();
        Some(format!("{} native", texts.join(", ")))
    }

    fn own(&self, strategy: &str) -> Option<&Row> {
        self.find(OWN, strategy)
    }

    fn find(&self, engine: &str, strategy: &str) -> Option<&Row> {
        self.alone()?.rows.iter().find(|row| {
            let sandbox = &row.key.sandbox;
            sandbox.engine == engine && sandbox.strategy == strategy
        })
    }

    fn ratio(&self, row: &Key, to: &Key) -> Option<Judged> {
        let ratio = self.summary.ratio(row, to);
        let mean = ratio.geomean.ok()?;
        Some(Judged {
            ratio: Interval::from(&mean),
            verdict: ratio.verdict,
        })
    }

    fn over_none(&self, strategy: &str) -> Option<String> {
        let (row, none) = (self.own(strategy)?, self.own("none")?);
        let ratio = self.ratio(&row.key, &none.key)?;
        Some(format!("{OWN}: {}", ratio.words()))
    }

    /// By kernel, a row of ours over `none`.
    fn by_kernel(&self, strategy: &str) -> Option<Vec<(String, f64)>> {
        let (row, none) = (self.own(strategy)?, self.own("none")?);
        let ratio = self.summary.ratio(&row.key, &none.key);
        let found: Vec<_> = ratio
            .workloads
            .into_iter()
            .map(|one| (one.workload, one.ratio.value))
            .collect();
        (!found.is_empty()).then_some(found)
    }

    fn worst_kernel(&self) -> Option<String> {
        let kernels = self.by_kernel("trap")?;
        let gemm = kernels.iter().find(|(name, _)| name == "gemm");
        let gemm = gemm.map_or_else(String::new, |(_, ratio)| {
            format!("; gemm {}", figures::signed_percent(ratio - 1.0))
        });
        let (name, ratio) = kernels
            .iter()
            .max_by(|one, other| one.1.total_cmp(&other.1))?;
        let more = figures::signed_percent(ratio - 1.0);
        Some(format!("{OWN} trap over none: {name} {more}{gemm}"))
    }

    fn untouched_kernels(&self) -> Option<String> {
        let kernels = self.by_kernel("trap")?;
        let untouched = kernels.iter().filter(|(_, ratio)| *ratio < UNTOUCHED);
        Some(format!(
            "{OWN} trap: {} of {} within 5 % of none",
            untouched.count(),
            kernels.len()
        ))
    }

    fn v8_by_kernel(&self) -> Option<String> {
        let row = self.find("node", "guard").filter(|_| self.has_native())?;
        let ratios: Vec<f64> = row
            .cells
            .iter()
            .flatten()
            .filter_map(|cell| Some(cell.to_baseline?.value))
            .collect();
        let within = |limit: f64| ratios.iter().filter(|ratio| **ratio <= limit).count();
        (!ratios.is_empty()).then(|| {
            format!(
                "{} of {} within 10 %, {} within 2 ×",
                within(1.1),
                ratios.len(),
                within(2.0)
            )
        })
    }

    fn wasm3_over_v8(&self) -> Option<String> {
        let rows = &self.alone()?.rows;
        let wasm3 = rows.iter().find(|row| row.key.sandbox.engine == "wasm3")?;
        let ratio = self.ratio(&wasm3.key, &self.find("node", "guard")?.key)?;
        Some(ratio.words())
    }

    /// The lines of the part that the campaign is about.
    fn lines(&self) -> Option<&[Line]> {
        self.scaling.parts.first().map(|part| part.lines.as_slice())
    }

    /// The points with most instances that are not more than processors.
    fn busiest(&self) -> Option<Vec<(&Line, &Point)>> {
        let lines = self.lines()?.iter();
        let found: Vec<_> = lines
            .filter_map(|line| {
                let fits = line.points.iter().flatten().filter(|point| !point.is_over);
                Some((line, fits.max_by_key(|point| point.threads)?))
            })
            .filter(|(_, point)| point.threads > 1)
            .collect();
        (!found.is_empty()).then_some(found)
    }

    fn scaling(&self) -> Option<String> {
        let points = self.busiest()?;
        let threads = points.first()?.1.threads;
        let ratio = |point: &Point| Some(point.relative.as_ref()?.ratio.value);
        let mut ratios: Vec<(f64, &str)> = points
            .iter()
            .filter_map(|(line, point)| Some((ratio(point)?, line.label.as_str())))
            .collect();
        ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
        let ((low, worst), (high, best)) = (*ratios.first()?, *ratios.last()?);
        Some(format!(
            "throughput of {threads} over 1: from {} ({worst}) to {} ({best})",
            figures::ratio(low),
            figures::ratio(high)
        ))
    }

    fn cpu_use(&self) -> Option<String> {
        let points = self.busiest()?;
        let of = |strategy: &str| {
            let (_, point) = points.iter().find(|(line, _)| {
                let sandbox = &line.key.sandbox;
                sandbox.engine == OWN && sandbox.strategy == strategy
            })?;
            let share = point.costs.get(&Figure::CpuUsePinned)?;
            Some((point.threads, figures::percent(*share)))
        };
        let (threads, guard) = of("guard")?;
        let others: Vec<String> = ["none", "uffd"]
            .into_iter()
            .filter_map(|name| Some(format!("{name} {}", of(name)?.1)))
            .collect();
        Some(format!(
            "{OWN}, {threads} at once: guard {guard}, {}",
            others.join(", ")
        ))
    }

    fn switches_of_v8(&self) -> Option<String> {
        let line = self
            .lines()?
            .iter()
            .find(|line| line.key.sandbox.engine == "node")?;
        let points: Vec<&Point> = line.points.iter().flatten().collect();
        let (first, last) = (points.first()?, points.last()?);
        let rate = |point: &Point| point.costs.get(&Figure::CtxRate).copied();
        let (one, many) = (rate(first)?, rate(last)?);
        (last.threads > first.threads && one > 0.0).then(|| {
            format!(
                "{} over {}: {} ({} → {} a second)",
                instances(last.threads, last.is_over),
                first.threads,
                figures::ratio(many / one),
                figures::count(one),
                figures::count(many)
            )
        })
    }

    fn host_memory(&self) -> Option<String> {
        let points = self.lines()?.iter().filter_map(|line| line.points.first());
        let mut used: Vec<f64> = points
            .flatten()
            .filter_map(|point| point.costs.get(&Figure::HostMemory).copied())
            .collect();
        used.sort_by(f64::total_cmp);
        let (low, high) = (*used.first()?, *used.last()?);
        Some(format!(
            "one instance: {} to {}, whatever else the host holds included",
            figures::bytes(low),
            figures::bytes(high)
        ))
    }
}
