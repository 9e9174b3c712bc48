//! The campaign's own page: both tables, what was in force, what has no time.

use fathom_stats::GroupRatio;

use super::{Library, Line, charts::To, shown, shown_whole};
use crate::about::{self, absent, failures};
use crate::document::Document;
use crate::figures;
use crate::plain::Tone;
use crate::table::Table;

impl Library<'_> {
    /// The page: pictures, tables, what was in force.
    pub(super) fn document(&self) -> Document {
        let mut page = Document::new(&self.campaign.header.name);
        page.say(Tone::Plain, self.head());
        let mut drawings = self.drawings(To::Median);
        let rest = drawings.split_off(drawings.len().min(1));
        drawings.extend(self.drawings(To::Native).into_iter().take(1));
        for (_, drawing) in drawings {
            page.figure(drawing);
        }
        for (title, table) in self.tables() {
            page.heading(title);
            page.table(table);
        }
        for (_, drawing) in rest {
            page.figure(drawing);
        }
        page.say(Tone::Plain, self.notes());
        page.listed("Not here", absent(self.campaign));
        page.listed("Not measured", failures(self.campaign));
        page
    }

    /// What is compared, where, and how sure it is.
    pub(super) fn head(&self) -> String {
        let header = &self.campaign.header;
        format!(
            "{} in {} of libsodium, on {} ({}), {}, {}, {}. Times of the programs' own \
             loops, one pinned instance; ratios are of the same round, a group's is the geometric \
             mean over its programs. Noise floor of the means: {}.",
            figures::plural(self.programs(), "program"),
            figures::plural(self.groups.len(), "group"),
            header.host.cpu_model,
            figures::plural(header.config.cpus.len(), "processor"),
            header.host.kernel,
            header.date,
            about::rounds(self.summary.rows.iter()),
            about::floor(self.summary),
        )
    }

    /// Both normalisations, and what each row is.
    pub(super) fn tables(&self) -> Vec<(String, Table)> {
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

    fn table(&self, ratios: impl Fn(&Line) -> &[GroupRatio]) -> Table {
        let groups = self.groups.iter().map(|group| &group.name);
        let mut table = Table::new(["engine", "all"]).and(groups);
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
    fn in_force(&self) -> Table {
        let mut table = Table::new([
            "engine", "version", "build", "tier", "checks", "programs", "probe",
        ]);
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
                "* a mean over fewer programs than the group has: the others have no time. ",
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
        text
    }
}
