//! The campaign's own page: both tables, what was in force, what has no time.

use std::fmt::Write;

use fathom_stats::GroupRatio;

use super::{Library, Line, charts::To, shown, shown_whole};
use crate::bounds::{failures, markdown};
use crate::chart::svg::escape;
use crate::figures;
use crate::own_html;

impl Library<'_> {
    /// Markdown, whose tables line up in a terminal too.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n{}\n", self.campaign.header.name, self.head());
        for (title, table) in self.tables() {
            let _ = write!(text, "\n## {title}\n\n{}", markdown(&table));
        }
        let _ = write!(text, "\n{}", self.notes());
        text.push_str(&self.absent());
        text.push_str(&failures(self.campaign));
        text
    }

    /// One self-contained page: pictures, tables, what was in force.
    pub fn html(&self) -> String {
        let title = escape(&self.campaign.header.name);
        let mut body = format!("<h1>{title}</h1><p>{}</p>", escape(&self.head()));
        let mut drawings = self.drawings(To::Median);
        let rest = drawings.split_off(drawings.len().min(1));
        for (_, drawing) in drawings.iter().chain(self.drawings(To::Native).first()) {
            let _ = write!(body, "<figure>{drawing}</figure>");
        }
        for (title, table) in self.tables() {
            body.push_str(&own_html::table(&escape(&title), &table));
        }
        for (_, drawing) in &rest {
            let _ = write!(body, "<figure>{drawing}</figure>");
        }
        for line in self.absent().lines().chain(failures(self.campaign).lines()) {
            match (line.strip_prefix("## "), line.strip_prefix("- ")) {
                (Some(title), _) => drop(write!(body, "<h2>{}</h2>", escape(title))),
                (_, Some(item)) => drop(write!(body, "<p>{}</p>", escape(item))),
                _ => {}
            }
        }
        let _ = write!(body, "<p>{}</p>", escape(&self.notes()));
        own_html::page(&self.campaign.header.name, &body)
    }

    /// What is compared, where, and how sure it is.
    pub(super) fn head(&self) -> String {
        let header = &self.campaign.header;
        let floor = self.summary.noise.geomean(1).map_or_else(
            || "unknown".to_owned(),
            |floor| figures::percent(floor.relative()),
        );
        let rounds = self.summary.rows.iter().filter_map(|row| {
            let mean = row.to_baseline.geomean.as_ref().ok()?;
            Some(mean.rounds)
        });
        let rounds: Vec<usize> = rounds.collect();
        let ends = (rounds.iter().min(), rounds.iter().max());
        let rounds = match ends {
            (Some(least), Some(most)) if least < most => format!("{least} to {most} rounds"),
            (least, _) => figures::plural(least.copied().unwrap_or(0), "round"),
        };
        format!(
            "{} in {} of libsodium, on {} ({}), {}, {}, {}. Times of the programs' own \
             loops, one pinned instance; ratios are of the same round, a group's is the geometric \
             mean over its programs. Noise floor of the means: {floor}.",
            figures::plural(self.programs(), "program"),
            figures::plural(self.groups.len(), "group"),
            header.host.cpu_model,
            figures::plural(header.config.cpus.len(), "processor"),
            header.host.kernel,
            header.date,
            rounds,
        )
    }

    /// Both normalisations, and what each row is.
    pub(super) fn tables(&self) -> Vec<(String, Vec<Vec<String>>)> {
        let mut tables = vec![(
            "Over the median engine".to_owned(),
            self.table(|line| &line.to_median),
        )];
        if self.lines.iter().any(|line| !line.to_native.is_empty()) {
            let native = self.table(|line| &line.to_native);
            tables.push(("Over portable native code".to_owned(), native));
        }
        tables.push(("Configuration in force".to_owned(), self.in_force()));
        tables
    }

    fn table(&self, ratios: impl Fn(&Line) -> &[GroupRatio]) -> Vec<Vec<String>> {
        let mut head = vec!["engine".to_owned(), "all".to_owned()];
        head.extend(self.groups.iter().map(|group| group.name.clone()));
        let mut table = vec![head];
        for line in &self.lines {
            let ratios = ratios(line);
            let mut fields = vec![line.name.clone()];
            fields.push(shown_whole(ratios.first()));
            fields.extend((1..=self.groups.len()).map(|number| shown(ratios.get(number))));
            table.push(fields);
        }
        table
    }

    /// Version, build, tier and checks of each row, as its runner found them.
    fn in_force(&self) -> Vec<Vec<String>> {
        let head = [
            "engine", "version", "build", "tier", "checks", "programs", "probe",
        ];
        let mut table = vec![head.map(str::to_owned).to_vec()];
        for line in &self.lines {
            let row = self.summary.rows.iter().find(|row| row.row == line.row);
            let hello = row.and_then(|row| {
                let mut cells = row.cells.iter().filter_map(|id| self.summary.cell(id));
                cells.find_map(|cell| cell.in_force.as_ref())
            });
            let (version, tier, checks) = hello.map_or_else(Default::default, |hello| {
                (
                    hello.version.clone(),
                    hello.tier.clone(),
                    hello.checks.to_string(),
                )
            });
            let without = row.map_or(0, |row| row.without_time.len());
            let all = row.map_or(0, |row| row.cells.len());
            let probe = match row.and_then(|row| row.probe.as_ref()) {
                _ if !line.row.variant.is_wasm() => figures::NONE,
                None => "not probed",
                Some(probe) if probe.is_unsound() => "not sound",
                Some(probe) if probe.is_overcautious() => "contained, not exact",
                Some(_) if line.is_ranked => "sound",
                Some(_) => "checks nothing",
            };
            table.push(vec![
                line.name.clone(),
                version,
                line.row.variant.to_string(),
                tier,
                checks,
                format!("{} of {all}", all - without),
                probe.to_owned(),
            ]);
        }
        table
    }

    fn notes(&self) -> String {
        let mut text = String::new();
        let ratios = self.lines.iter().flat_map(|line| &line.to_median);
        if ratios.into_iter().any(|ratio| !ratio.missing.is_empty()) {
            text.push_str(
                "\\* a mean over fewer programs than the group has: the others have no time. ",
            );
        }
        text.push_str(
            "The median is over the engines that are sandboxes, of those that have five rounds. `wasm-mvp` is the build for engines \
             that support WebAssembly 1.0 only.",
        );
        if self.has_optimised() {
            text.push_str(
                " Rows named wasm-opt ran the portable build after Binaryen's `wasm-opt -O4`.",
            );
        }
        text.push('\n');
        text
    }

    /// Engines that are not there, each with the reason.
    pub(super) fn absent(&self) -> String {
        let absent = self.campaign.header.config.absent.iter();
        let absent = absent.map(|one| format!("- {}: {}\n", one.engine, one.why));
        let absent: String = absent.collect();
        match absent.is_empty() {
            true => absent,
            false => format!("\n## Not here\n\n{absent}"),
        }
    }
}
