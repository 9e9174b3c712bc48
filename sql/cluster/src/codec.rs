//! What Ballista asks to turn plans into bytes and back: our own nodes and functions, and its
//! own codecs for all else.

use std::sync::Arc;

use ballista_core::{
    extension::SessionConfigExt,
    serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec},
};
use datafusion::{
    arrow::datatypes::SchemaRef,
    catalog::TableProvider,
    common::{Result, TableReference, plan_err},
    datasource::file_format::FileFormatFactory,
    execution::TaskContext,
    logical_expr::{AggregateUDF, Extension, LogicalPlan, ScalarUDF},
    physical_plan::ExecutionPlan,
    prelude::SessionConfig,
};
use datafusion_proto::{
    logical_plan::LogicalExtensionCodec,
    physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension},
};
use fathom_sql::{Exec, Function, Node, Operator};

use crate::functions::{self, Functions};

/// Ours and Ballista's.
#[derive(Debug)]
struct Codec<C> {
    functions: Functions,
    others: C,
}

/// What reads and writes logical plans.
pub(crate) fn logical(functions: &Functions) -> Arc<dyn LogicalExtensionCodec> {
    Arc::new(Codec {
        functions: functions.clone(),
        others: BallistaLogicalExtensionCodec::default(),
    })
}

/// What reads and writes physical plans.
pub(crate) fn physical(functions: &Functions) -> Arc<dyn PhysicalExtensionCodec> {
    Arc::new(Codec {
        functions: functions.clone(),
        others: BallistaPhysicalExtensionCodec::default(),
    })
}

/// A configuration that has both.
pub(crate) fn within(config: SessionConfig, functions: &Functions) -> SessionConfig {
    config
        .with_ballista_logical_extension_codec(logical(functions))
        .with_ballista_physical_extension_codec(physical(functions))
}

impl<C> Codec<C> {
    /// The operators that these bytes are, one behind the other.
    fn operators(&self, mut bytes: &[u8]) -> Result<Vec<Arc<Operator>>> {
        let mut all = Vec::new();
        while !bytes.is_empty() {
            let (function, rest) = self.functions.read(bytes)?;
            match function {
                Function::Operator(operator) => all.push(operator),
                other => return plan_err!("{other:?} where an operator was expected"),
            }
            bytes = rest;
        }
        Ok(all)
    }
}

/// How both codecs read and write functions of rows and aggregates.
macro_rules! functions_of_both {
    () => {
        fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
            if !functions::is_one(bytes) {
                return self.others.try_decode_udf(name, bytes);
            }
            match self.functions.read(bytes)? {
                (Function::Scalar(udf), []) => Ok(udf),
                _ => plan_err!("function {name} is not one of rows"),
            }
        }

        fn try_encode_udf(&self, udf: &ScalarUDF, to: &mut Vec<u8>) -> Result<()> {
            functions::write(&Function::Scalar(Arc::new(udf.clone())), to);
            Ok(())
        }

        fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
            if !functions::is_one(bytes) {
                return self.others.try_decode_udaf(name, bytes);
            }
            match self.functions.read(bytes)? {
                (Function::Aggregate(udf), []) => Ok(udf),
                _ => plan_err!("function {name} is no aggregate"),
            }
        }

        fn try_encode_udaf(&self, udaf: &AggregateUDF, to: &mut Vec<u8>) -> Result<()> {
            functions::write(&Function::Aggregate(Arc::new(udaf.clone())), to);
            Ok(())
        }
    };
}

impl LogicalExtensionCodec for Codec<BallistaLogicalExtensionCodec> {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[LogicalPlan],
        context: &TaskContext,
    ) -> Result<Extension> {
        if !functions::is_one(bytes) {
            return self.others.try_decode(bytes, inputs, context);
        }
        match (self.operators(bytes)?.as_slice(), inputs) {
            ([operator], [input]) => {
                let node = Arc::new(Node::new(operator.clone(), input.clone())?);
                Ok(Extension { node })
            }
            (all, inputs) => plan_err!("{} operators of {} inputs", all.len(), inputs.len()),
        }
    }

    fn try_encode(&self, node: &Extension, to: &mut Vec<u8>) -> Result<()> {
        match node.node.as_any().downcast_ref::<Node>() {
            Some(own) => {
                functions::write(&Function::Operator(own.operator.clone()), to);
                Ok(())
            }
            None => self.others.try_encode(node, to),
        }
    }

    fn try_decode_table_provider(
        &self,
        bytes: &[u8],
        name: &TableReference,
        schema: SchemaRef,
        context: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        let others = &self.others;
        others.try_decode_table_provider(bytes, name, schema, context)
    }

    fn try_encode_table_provider(
        &self,
        name: &TableReference,
        table: Arc<dyn TableProvider>,
        to: &mut Vec<u8>,
    ) -> Result<()> {
        self.others.try_encode_table_provider(name, table, to)
    }

    fn try_decode_file_format(
        &self,
        bytes: &[u8],
        context: &TaskContext,
    ) -> Result<Arc<dyn FileFormatFactory>> {
        self.others.try_decode_file_format(bytes, context)
    }

    fn try_encode_file_format(
        &self,
        to: &mut Vec<u8>,
        format: Arc<dyn FileFormatFactory>,
    ) -> Result<()> {
        self.others.try_encode_file_format(to, format)
    }

    functions_of_both!();
}

impl PhysicalExtensionCodec for Codec<BallistaPhysicalExtensionCodec> {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if !functions::is_one(bytes) {
            return self.others.try_decode(bytes, inputs, context, converter);
        }
        let [input] = inputs else {
            return plan_err!("an operator has one input, not {}", inputs.len());
        };
        let all = self.operators(bytes)?.into_iter();
        Ok(all.fold(input.clone(), |input, operator| {
            Arc::new(Exec::new(operator, input))
        }))
    }

    fn try_encode(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        to: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(own) = plan.downcast_ref::<Exec>() else {
            return self.others.try_encode(plan, to, converter);
        };
        for operator in own.chain() {
            functions::write(&Function::Operator(operator.clone()), to);
        }
        Ok(())
    }

    functions_of_both!();
}
