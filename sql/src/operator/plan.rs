//! From SQL to a logical plan, and from there to a physical one.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::{
    common::{Result, plan_err},
    execution::context::QueryPlanner,
    logical_expr::{
        Extension, LogicalPlan, UserDefinedLogicalNode,
        physical_planning_context::PhysicalPlanningContext,
        planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning},
    },
    physical_plan::ExecutionPlan,
    physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner},
    sql::sqlparser::ast::{
        Expr, FunctionArg, FunctionArgExpr, ObjectName, TableAlias, TableFactor,
    },
};

use super::{Operator, exec::Exec, node::Node};

/// The operators of a session, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relations(Arc<RwLock<BTreeMap<String, Arc<Operator>>>>);

impl Relations {
    pub(crate) fn add(&self, operator: Arc<Operator>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(operator.name().to_owned(), operator);
    }

    pub(crate) fn remove(&self, name: &str) -> bool {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.remove(name).is_some()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.keys().cloned().collect()
    }

    fn get(&self, name: &str) -> Option<Arc<Operator>> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(name).cloned()
    }

    /// The operator that a name is about.
    fn called(
        &self,
        name: &ObjectName,
        context: &dyn RelationPlannerContext,
    ) -> Option<Arc<Operator>> {
        match name.0.as_slice() {
            [part] => self.get(&context.normalize_ident(part.as_ident()?.clone())),
            _ => None,
        }
    }
}

impl RelationPlanner for Relations {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let (operator, args, alias) = match &relation {
            TableFactor::Table {
                name,
                args: Some(args),
                alias,
                ..
            } => (self.called(name, context), &args.args, alias),
            TableFactor::Function {
                name, args, alias, ..
            } => (self.called(name, context), args, alias),
            _ => return Ok(RelationPlanning::Original(Box::new(relation))),
        };
        let Some(operator) = operator else {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        };
        let input = input_of(&operator, args, context)?;
        let node = Arc::new(Node::new(operator, input)?);
        let plan = LogicalPlan::Extension(Extension { node });
        Ok(planned(plan, alias.clone()))
    }
}

fn planned(plan: LogicalPlan, alias: Option<TableAlias>) -> RelationPlanning {
    RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias)))
}

/// What its one argument selects.
fn input_of(
    operator: &Operator,
    args: &[FunctionArg],
    context: &mut dyn RelationPlannerContext,
) -> Result<LogicalPlan> {
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Subquery(subquery)))] = args else {
        return plan_err!(
            "function {0} takes one table: {0}(TABLE (SELECT …))",
            operator.name()
        );
    };
    context.plan(TableFactor::Derived {
        lateral: false,
        subquery: subquery.clone(),
        alias: None,
        sample: None,
    })
}

/// DataFusion's planner that knows operators, too.
pub struct Planner;

impl fmt::Debug for Planner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Planner")
    }
}

#[async_trait]
impl QueryPlanner for Planner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(Planner)]);
        planner.create_physical_plan(plan, session).await
    }
}

#[async_trait]
impl ExtensionPlanner for Planner {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        _: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let node = node.as_any().downcast_ref::<Node>();
        let (Some(node), [input]) = (node, inputs) else {
            return Ok(None);
        };
        Ok(Some(Arc::new(Exec::new(
            node.operator.clone(),
            input.clone(),
        ))))
    }
}
