//! What a campaign answers to the thesis's statements: each by code generator.

use std::fmt::Write;

use fathom_record::Variant;
use fathom_stats::Figure;

use super::lines::{Of, is_different, program};
use super::tables::{points, published};
use super::{GENERATORS, Page};
use crate::bounds::mean;
use crate::figures;

/// The ways to check 64-bit memories that a campaign compares.
const WAYS: [&str; 4] = ["guard64", "shadow", "shadow-compressed", "trap"];

impl Page<'_> {
    /// The answer to a statement; `None` where the campaign has none.
    pub(super) fn here(&self, question: &str) -> Option<String> {
        let words: Vec<&str> = question.split(' ').collect();
        match words.as_slice() {
            ["mean", strategy, width] => {
                let variant = width_of(width)?;
                by_generator(|codegen| {
                    Some(mean(
                        self.lines.ratio(published(strategy, variant, codegen))?,
                    ))
                })
            }
            ["compile", strategy, width] => {
                let variant = width_of(width)?;
                by_generator(|codegen| {
                    Some(mean(
                        self.lines
                            .compiling(published(strategy, variant, codegen))?,
                    ))
                })
            }
            ["range", strategies @ ..] => {
                by_generator(|codegen| self.range_of(strategies, codegen))
            }
            ["cheapest"] => by_generator(|codegen| self.cheapest(codegen)),
            ["worst", "trap", "over", "guard"] => by_generator(|codegen| self.worst(codegen)),
            ["guard64", "over", "trap"] => by_generator(|codegen| self.guard64_over_trap(codegen)),
            ["unchecked"] => {
                let ask = |codegen| published("none", Variant::Wasm64, codegen);
                let ratio = self.lines.one_over(ask("direct"), ask("llvm"))?;
                Some(format!("one pass over LLVM {}", mean(&ratio)))
            }
            ["compile"] => by_generator(|codegen| {
                self.range(published("none", Variant::Wasm64, codegen), Figure::Compile)
            }),
            ["by", "points"] => self.by_points(),
            _ => None,
        }
    }

    /// Strategies in the mean, and from the least to the most of their programs.
    fn range_of(&self, strategies: &[&str], codegen: &str) -> Option<String> {
        let each = strategies.iter().filter_map(|strategy| {
            let ratio = self
                .lines
                .ratio(published(strategy, Variant::Wasm64, codegen))?;
            let values = ratio.workloads.iter().map(|one| one.ratio.value);
            let (least, most) = (values.clone().reduce(f64::min)?, values.reduce(f64::max)?);
            let (least, most) = (figures::ratio_bare(least), figures::ratio_bare(most));
            Some(format!(
                "`{strategy}` {}, {least} to {most} by program",
                mean(ratio)
            ))
        });
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| each.join(" and "))
    }

    /// The strategy with the least mean, which others were not told apart from it, and which were
    /// not there to be compared.
    fn cheapest(&self, codegen: &str) -> Option<String> {
        let ask = |strategy| published(strategy, Variant::Wasm64, codegen);
        let known = WAYS.iter().filter_map(|strategy| {
            let ratio = self.lines.ratio(ask(*strategy))?;
            Some((*strategy, ratio.geomean.as_ref().ok()?.value))
        });
        let known: Vec<(&str, f64)> = known.collect();
        let (best, _) = *known
            .iter()
            .min_by(|one, other| one.1.total_cmp(&other.1))?;
        let is_alike = |strategy: &&str| {
            let over = self
                .lines
                .one_over(published(strategy, Variant::Wasm64, codegen), ask(best));
            over.is_none_or(|ratio| !is_different(&ratio))
        };
        let others = known.iter().map(|(strategy, _)| *strategy);
        let alike = others.filter(|strategy| *strategy != best && is_alike(strategy));
        let alike: Vec<String> = alike.map(quoted).collect();
        let others = WAYS.into_iter();
        let others = others.filter(|way| known.iter().all(|(strategy, _)| strategy != way));
        let others: Vec<String> = others.map(quoted).collect();
        let mut text = quoted(best);
        for (words, named) in [("not told apart from", alike), ("measured without", others)] {
            if !named.is_empty() {
                let _ = write!(text, ", {words} {}", named.join(", "));
            }
        }
        Some(text)
    }

    fn worst(&self, codegen: &str) -> Option<String> {
        let ask = |strategy| published(strategy, Variant::Wasm32, codegen);
        let ratio = self.lines.one_over(ask("trap"), ask("guard"))?;
        let each = ratio.workloads.iter();
        let worst = each.max_by(|one, other| one.ratio.value.total_cmp(&other.ratio.value))?;
        let value = figures::ratio(worst.ratio.value);
        Some(format!(
            "{value} ({}); all {}",
            worst.workload,
            mean(&ratio)
        ))
    }

    fn guard64_over_trap(&self, codegen: &str) -> Option<String> {
        let ask = |strategy| published(strategy, Variant::Wasm64, codegen);
        let ratio = self.lines.one_over(ask("guard64"), ask("trap"))?;
        let faster = ratio.workloads.iter().filter(|one| one.ratio.value < 1.0);
        Some(format!(
            "{} of it, less in {} of {}",
            mean(&ratio),
            faster.count(),
            figures::plural(ratio.workloads.len(), "program")
        ))
    }

    /// What software checks cost at each number of points.
    fn by_points(&self) -> Option<String> {
        let sizes = self.lines.of_kmeans();
        let of = |codegen: &str, name: &str| -> Option<f64> {
            let ask = published("trap", Variant::Wasm64, codegen);
            let ratio = self.lines.ratio_of(ask, Of::Program(name))?;
            Some(program(ratio, name)?.ratio.value)
        };
        by_generator(|codegen| {
            let each = sizes.iter().filter_map(|(name, size)| {
                let ratio = figures::ratio_bare(of(codegen, name)?);
                Some(format!("{ratio} at {}", points(size)))
            });
            let each: Vec<String> = each.collect();
            (each.len() > 1).then(|| format!("`trap` {}", each.join(", ")))
        })
    }
}

fn quoted(strategy: &str) -> String {
    format!("`{strategy}`")
}

fn width_of(word: &str) -> Option<Variant> {
    match word {
        "32" => Some(Variant::Wasm32),
        "64" => Some(Variant::Wasm64),
        _ => None,
    }
}

/// The answers by generator, where one has any.
fn by_generator(answer: impl Fn(&'static str) -> Option<String>) -> Option<String> {
    let each = GENERATORS.map(|(codegen, name)| (name, answer(codegen)));
    if each.iter().all(|(_, answer)| answer.is_none()) {
        return None;
    }
    let each = each.map(|(name, answer)| {
        let answer = answer.unwrap_or_else(|| "not measured".to_owned());
        format!("{name} {answer}")
    });
    Some(each.join("; "))
}
