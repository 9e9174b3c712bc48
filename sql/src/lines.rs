//! Files called `.jsonl`: JSON lines, whose columns are inferred; and Fathom's own campaigns,
//! whose columns are known, with each cell's parts beside it.
//!
//! ```text
//!  {"record":"sample","cell":"SANDBOX/WORKLOAD/VARIANT/SIZE/tN[/control]", …}
//!                             SANDBOX = ENGINE[@VERSION]/STRATEGY/OPT[:BACKEND][~ELIDE][~spectre-SPECTRE]
//!  ─► record, engine, version, strategy, opt, backend, elide, spectre, workload, variant, size, threads,
//!     control, round, …, run_ns, cell
//! ```
//!
//! A campaign says on its first line that it is one. Its kinds of records share names whose
//! values are of different types, so that nothing could be inferred.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use datafusion::{
    arrow::datatypes::{DataType, Field, Schema, SchemaRef},
    catalog::Session,
    common::{GetExt, Result, Statistics},
    datasource::{
        file_format::{
            FileFormat, FileFormatFactory, file_compression_type::FileCompressionType,
            json::JsonFormatFactory,
        },
        listing::{ListingTable, ListingTableConfig},
        physical_plan::{FileScanConfig, FileSource},
        provider_as_source, source_as_provider,
        table_schema::TableSchema,
    },
    functions::expr_fn::{get_field, nullif, split_part, substr},
    logical_expr::{
        Expr, LogicalPlanBuilder, TableSource, lit,
        planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning},
        try_cast,
    },
    object_store::{ObjectMeta, ObjectStore, ObjectStoreExt},
    physical_plan::ExecutionPlan,
    prelude::ident,
    sql::sqlparser::ast::TableFactor,
};

const EXTENSION: &str = "jsonl";

/// How a campaign's first line begins.
const CAMPAIGN: &[u8] = br#"{"record":"campaign","#;

const NUMBERS: [&str; 6] = ["round", "thread", "index", "kernel_ns", "wall_ns", "cpu_ns"];

const PHASES: [&str; 5] = ["load", "compile", "instantiate", "run", "teardown"];

/// What is read of a campaign's lines.
fn campaign() -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    let number = |name: &str| Field::new(name, DataType::Int64, true);
    let times = DataType::Struct(vec![number("wall_ns")].into());
    let phase = |name: &&str| Field::new(*name, times.clone(), true);
    let phases: Vec<Field> = PHASES.iter().map(phase).collect();
    let mut fields = vec![text("record"), text("cell")];
    fields.extend(NUMBERS.map(number));
    fields.push(Field::new("phases", DataType::Struct(phases.into()), true));
    fields.extend(["kind", "message"].map(text));
    Arc::new(Schema::new(fields))
}

/// What is shown of them.
fn columns() -> Vec<Expr> {
    let mut columns = vec![ident("record")];
    columns.extend(parts());
    columns.extend(NUMBERS.map(ident));
    for phase in PHASES {
        let times = get_field(ident("phases"), phase);
        let wall = get_field(times, "wall_ns");
        columns.push(wall.alias(format!("{phase}_ns")));
    }
    columns.extend(["kind", "message", "cell"].map(ident));
    columns
}

/// Parts of a cell's id; null where it does not have one.
fn parts() -> Vec<Expr> {
    let split = |text: Expr, by: &str, nth: i64| split_part(text, lit(by), lit(nth));
    let part = |nth: i64| split(ident("cell"), "/", nth);
    let if_there = |text: Expr| nullif(text, lit(""));
    let chosen = || split(part(3), "~", 1);
    let with_elide = split(part(3), "~spectre-", 1);
    let count = substr(part(7), lit(2));
    [
        ("engine", split(part(1), "@", 1)),
        ("version", if_there(split(part(1), "@", 2))),
        ("strategy", part(2)),
        ("opt", split(chosen(), ":", 1)),
        ("backend", if_there(split(chosen(), ":", 2))),
        ("elide", if_there(split(with_elide, "~", 2))),
        ("spectre", if_there(split(part(3), "~spectre-", 2))),
        ("workload", part(4)),
        ("variant", part(5)),
        ("size", part(6)),
        ("threads", try_cast(count, DataType::Int64)),
        ("control", part(8).eq(lit("control"))),
    ]
    .map(|(name, value)| value.alias(name))
    .into()
}

/// Makes the format of files that are called so.
#[derive(Debug, Default)]
pub(crate) struct Lines(JsonFormatFactory);

impl GetExt for Lines {
    fn get_ext(&self) -> String {
        EXTENSION.to_owned()
    }
}

impl FileFormatFactory for Lines {
    fn create(
        &self,
        state: &dyn Session,
        options: &HashMap<String, String>,
    ) -> Result<Arc<dyn FileFormat>> {
        Ok(Arc::new(Format(self.0.create(state, options)?)))
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        Arc::new(Format(FileFormatFactory::default(&self.0)))
    }
}

/// DataFusion's JSON under another name.
#[derive(Debug)]
struct Format(Arc<dyn FileFormat>);

#[async_trait]
impl FileFormat for Format {
    fn get_ext(&self) -> String {
        EXTENSION.to_owned()
    }

    fn get_ext_with_compression(&self, compression: &FileCompressionType) -> Result<String> {
        Ok(format!("{EXTENSION}{}", compression.get_ext()))
    }

    fn compression_type(&self) -> Option<FileCompressionType> {
        self.0.compression_type()
    }

    async fn infer_schema(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        objects: &[ObjectMeta],
    ) -> Result<SchemaRef> {
        let mut are_campaigns = !objects.is_empty();
        for object in objects {
            let head = 0..object.size.min(CAMPAIGN.len() as u64);
            let is_empty = head.is_empty();
            are_campaigns &=
                !is_empty && store.get_range(&object.location, head).await? == CAMPAIGN;
        }
        match are_campaigns {
            true => Ok(campaign()),
            false => self.0.infer_schema(state, store, objects).await,
        }
    }

    async fn infer_stats(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        schema: SchemaRef,
        object: &ObjectMeta,
    ) -> Result<Statistics> {
        self.0.infer_stats(state, store, schema, object).await
    }

    async fn create_physical_plan(
        &self,
        state: &dyn Session,
        config: FileScanConfig,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.0.create_physical_plan(state, config).await
    }

    fn file_source(&self, schema: TableSchema) -> Arc<dyn FileSource> {
        self.0.file_source(schema)
    }
}

/// The same table in DataFusion's own format of JSON, which is known by its name in a cluster; what
/// only this file's format can do, which is to find the columns, is done.
fn portable(source: Arc<dyn TableSource>) -> Result<Arc<dyn TableSource>> {
    let provider = source_as_provider(&source)?;
    let Some(listing) = provider.downcast_ref::<ListingTable>() else {
        return Ok(source);
    };
    let mut options = listing.options().clone();
    options.format = match options.format.downcast_ref::<Format>() {
        Some(own) => own.0.clone(),
        None => return Ok(source),
    };
    // Columns that are in the names of folders are not in the files.
    let in_files = |field: &&Arc<Field>| {
        let mut folders = options.table_partition_cols.iter();
        folders.all(|(name, _)| name != field.name())
    };
    let schema = source.schema();
    let fields: Vec<_> = schema.fields().iter().filter(in_files).cloned().collect();
    let config = ListingTableConfig::new_with_multi_paths(listing.table_paths().clone())
        .with_listing_options(options)
        .with_schema(Arc::new(Schema::new(fields)));
    Ok(provider_as_source(Arc::new(ListingTable::try_new(config)?)))
}

/// Puts the parts of cells beside them where a campaign's file is selected from.
#[derive(Debug)]
pub(crate) struct Campaigns;

impl RelationPlanner for Campaigns {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let (name, alias) = match &relation {
            TableFactor::Table {
                name,
                alias,
                args: None,
                ..
            } => (name.clone(), alias.clone()),
            _ => return Ok(RelationPlanning::Original(Box::new(relation))),
        };
        let table = context.object_name_to_table_reference(name)?;
        let may_be_lines = [".jsonl", "/"]
            .iter()
            .any(|end| table.table().ends_with(end));
        let source = match may_be_lines {
            true => context.context_provider().get_table_source(table.clone()),
            false => return Ok(RelationPlanning::Original(Box::new(relation))),
        };
        match source {
            Ok(source) => {
                let source = portable(source)?;
                let is_campaign = source.schema() == campaign();
                let mut plan = LogicalPlanBuilder::scan(table, source, None)?;
                if is_campaign {
                    plan = plan.project(columns())?;
                }
                let planned = PlannedRelation::new(plan.build()?, alias);
                Ok(RelationPlanning::Planned(Box::new(planned)))
            }
            // What is wrong with it is said where it is planned as any other.
            Err(_) => Ok(RelationPlanning::Original(Box::new(relation))),
        }
    }
}
