//! A group's tables and their columns: one list for every format.

use fathom_stats::Figure;

use crate::chart;
use crate::document::Document;
use crate::figures::{self, NONE};
use crate::plain::Tone;
use crate::table::{NEVER_SHOWN, Table};
use crate::view::{Group, Interval, Kind, Rank, Row, Totals, shown};

/// One column.
pub struct Column {
    /// Its heading.
    pub name: String,
    /// Whether it holds words, which stand to the left.
    pub is_text: bool,
    /// Which columns a narrow table leaves out first: 0 never, 9 always.
    pub spare: u8,
    /// Whether its number leads to the samples of the row.
    pub has_samples: bool,
    /// Its field for a row.
    pub show: Box<dyn Fn(&Row) -> String>,
}

impl Column {
    fn new(name: &str, show: impl Fn(&Row) -> String + 'static) -> Column {
        Column {
            name: name.to_owned(),
            is_text: false,
            spare: NEVER_SHOWN,
            has_samples: false,
            show: Box::new(show),
        }
    }

    fn text(self) -> Column {
        Column {
            is_text: true,
            ..self
        }
    }

    fn spare(self, spare: u8) -> Column {
        Column { spare, ..self }
    }

    fn with_samples(self) -> Column {
        Column {
            has_samples: true,
            ..self
        }
    }
}

/// What there is to say of each row. A column for which no row has a value is
/// left out.
pub fn numbers(group: &Group) -> Vec<Column> {
    let base = format!("vs {}", group.baseline);
    let mut columns = vec![
        Column::new("checks", |row| row.checks.clone())
            .text()
            .spare(2),
        Column::new("guarantee", promise).text(),
    ];
    let figure = group.figure;
    if group.is_single() {
        columns.push(
            Column::new(&figure.noun(), move |row| single(row, figure))
                .spare(0)
                .with_samples(),
        );
        columns.push(Column::new("± noise", noise_of_single).spare(3));
        columns.push(Column::new(&base, |row| ratio(row.to_baseline)).spare(0));
        columns.push(Column::new("95 %", interval));
    } else {
        columns.push(
            Column::new(&base, |row| ratio(row.to_baseline))
                .spare(0)
                .with_samples(),
        );
        columns.push(Column::new("95 %", interval).spare(3));
    }
    // What checks cost is what is asked first: never left out.
    columns.push(Column::new("vs none", |row| ratio(row.to_unchecked)).spare(0));
    if !group.is_single() {
        columns.push(Column::new("worst", worst).text().spare(6));
    }
    // On a terminal only where a row stands out.
    let is_told = group.rows.iter().any(|row| row.is_slow_by_itself);
    let spare = if is_told { 4 } else { 9 };
    columns.push(Column::new("slow half", slow_half).spare(spare));
    for (name, figure, spare) in [
        ("start", Figure::Start, 5),
        ("compile", Figure::Compile, 7),
        ("translate", Figure::Translate, 7),
        ("instantiate", Figure::Instantiate, 9),
        ("teardown", Figure::Teardown, 9),
        ("an instance", Figure::Instance, 9),
        ("memory", Figure::RssPeak, 1),
        ("address space", Figure::Virtual, 9),
        ("code", Figure::Code, 9),
        ("heap", Figure::Heap, 9),
        ("collections", Figure::Collections, 9),
        ("paused", Figure::Paused, 8),
        ("pause of 99 %", Figure::PauseP99, 8),
        ("page faults", Figure::FaultsMinor, 9),
        ("syscalls", Figure::Syscalls, 6),
        ("cycles", Figure::Cycles, 9),
        ("instructions", Figure::Instructions, 9),
    ] {
        columns.push(cost(name, figure).spare(spare));
    }
    filled(columns, group)
}

/// What running several instances at once does to the machine.
pub fn load(group: &Group) -> Vec<Column> {
    let mut columns = vec![
        Column::new("vs alone", |row| ratio(row.to_alone)).spare(1),
        Column::new("runs per second", |row| {
            row.throughput_per_s
                .map_or_else(|| NONE.to_owned(), figures::count)
        })
        .spare(2),
    ];
    let rest = [
        ("CPU use, pinned", Figure::CpuUsePinned),
        ("CPU use, host", Figure::CpuUseHost),
        ("switches per CPU s", Figure::CtxRate),
        ("voluntary", Figure::CtxVoluntary),
        ("involuntary", Figure::CtxInvoluntary),
        ("page faults", Figure::FaultsMinor),
        ("instantiate", Figure::Instantiate),
        ("teardown", Figure::Teardown),
        ("memory", Figure::RssPeak),
    ]
    .map(|(name, figure)| cost(name, figure).spare(5));
    columns.extend(rest);
    filled(columns, group)
}

/// A group's tables, the first column of which is called so, and what may be said of them.
pub(crate) fn section(page: &mut Document, group: &Group, with_load: bool, rank: &str) {
    page.heading(&group.title);
    page.table(table(group, &numbers(group), rank));
    if with_load {
        page.say(Tone::Plain, "Under load:");
        page.table(table(group, &load(group), rank));
    }
    if let Some(totals) = &group.totals {
        let mut table = Table::new([Totals::TITLE]).and(Totals::heads());
        for row in &totals.rows {
            table.push(std::iter::once(row.name.clone()).chain(row.fields()));
        }
        page.table(table);
    }
    let notes = group.footnotes.iter().enumerate();
    let notes = notes.map(|(index, note)| format!("{}) {note}", index + 1));
    let findings = group.findings.iter().map(|finding| finding.text.clone());
    let totals = group.totals.iter().map(|totals| totals.sentence.clone());
    let advice = totals.chain(group.advice.iter().cloned());
    let toned = |tone: Tone| move |line: String| (tone, line);
    page.list(
        (notes.chain(group.caveats()).map(toned(Tone::Faint)))
            .chain(findings.chain(group.no_floor()).map(toned(Tone::Plain)))
            .chain(advice.map(toned(Tone::Strong))),
    );
}

/// The rows of a group in these columns.
fn table(group: &Group, columns: &[Column], rank: &str) -> Table {
    let mut table = Table::new([rank, "engine"]).and(columns.iter().map(|one| &one.name));
    table.is_left[..2].copy_from_slice(&[false, true]);
    table.spare = vec![0, 0];
    for (column, is_left) in columns.iter().zip(&mut table.is_left[2..]) {
        *is_left = column.is_text;
        table.spare.push(column.spare);
    }
    for row in &group.rows {
        let name = match row.footnote {
            Some(note) => format!("{} {} {note})", row.engine_and_version(), row.detail),
            None => row.label(),
        };
        let mut fields = vec![chart::rank(row), name];
        fields.extend(columns.iter().map(|column| (column.show)(row)));
        table.lines.push((tone(row), fields));
    }
    table
}

fn tone(row: &Row) -> Tone {
    match row.rank {
        Rank::Place { place: 1, .. } => Tone::Strong,
        Rank::Place { .. } | Rank::Reference => Tone::Plain,
        Rank::Unranked if row.kind != Kind::Inexact && !row.costs.contains_key(&Figure::Run) => {
            Tone::Bad
        }
        Rank::Unranked => Tone::Faint,
    }
}

fn filled(columns: Vec<Column>, group: &Group) -> Vec<Column> {
    columns
        .into_iter()
        .filter(|column| {
            let mut shown = group.rows.iter().map(|row| (column.show)(row));
            shown.any(|text| text != NONE && text != TOO_FEW)
        })
        .collect()
}

fn cost(name: &str, figure: Figure) -> Column {
    Column::new(name, move |row| {
        row.costs.get(&figure).map_or_else(
            || NONE.to_owned(),
            |value| figures::quantity(*value, figure.unit()),
        )
    })
}

fn promise(row: &Row) -> String {
    match row.guarantee {
        Some(guarantee) => guarantee.to_string(),
        None if row.key.variant.is_wasm() => "not probed".to_owned(),
        None => NONE.to_owned(),
    }
}

fn single(row: &Row, figure: Figure) -> String {
    match row.cells.as_slice() {
        [Some(cell)] => shown(figure, cell.estimate.value),
        _ => NONE.to_owned(),
    }
}

fn noise_of_single(row: &Row) -> String {
    match row.cells.as_slice() {
        [Some(cell)] => (cell.estimate.noise()).map_or(TOO_FEW.to_owned(), figures::noise),
        _ => NONE.to_owned(),
    }
}

fn ratio(ratio: Option<Interval>) -> String {
    ratio.map_or_else(|| NONE.to_owned(), |ratio| figures::ratio(ratio.value))
}

/// Stands for an interval that the rounds are too few for: the figure beside it is a
/// median all the same.
const TOO_FEW: &str = "too few";

fn interval(row: &Row) -> String {
    match row.to_baseline.map(|ratio| ratio.ends) {
        Some(Some((low, high))) if low < high => figures::ends(low, high),
        Some(None) => TOO_FEW.to_owned(),
        _ => NONE.to_owned(),
    }
}

/// In brackets that of its control, where it has one.
fn slow_half(row: &Row) -> String {
    let shown = |ratio: f64| figures::signed_percent(ratio - 1.0);
    match (row.slow_half, row.slow_half_of_control) {
        (Some(own), Some(control)) => {
            let own = shown(own);
            format!(
                "{} ({}) %",
                own.trim_end_matches(" %"),
                shown(control).trim_end_matches(" %")
            )
        }
        (Some(own), None) => shown(own),
        (None, _) => NONE.to_owned(),
    }
}

fn worst(row: &Row) -> String {
    match &row.worst {
        Some((name, ratio)) => format!("{} {name}", figures::ratio(*ratio)),
        None => NONE.to_owned(),
    }
}
