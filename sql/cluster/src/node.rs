//! What a cluster is made of: one scheduler, and executors.

use std::{num::NonZeroUsize, path::PathBuf, sync::Arc, time::Duration};

use ballista_core::{
    config::TaskSchedulingPolicy, error::Result, extension::SessionConfigExt,
    utils::default_config_producer,
};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::{
    cluster::BallistaCluster,
    config::SchedulerConfig,
    scheduler_process::{create_scheduler, start_grpc_service_with_listener},
};
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use fathom_sql::session;
use tokio::net::TcpListener;

use crate::{codec, functions::Functions};

/// Largest message between scheduler and executors. A client's is a quarter of it: a plan that is
/// too large fails there, and not when an executor wants its part.
const MESSAGE_BYTES_MAX: u32 = 256 << 20;
/// Largest message of a client, which is a plan with the modules of all its calls.
pub(crate) const PLAN_BYTES_MAX: usize = 64 << 20;

/// Executors ask for work. Where the scheduler gives it out unasked, Ballista 55.0 does not count a
/// processor as free again whose task belonged to a stage that was begun anew because another
/// executor was lost; with one processor left, the query then waits for ever.
const POLICY: TaskSchedulingPolicy = TaskSchedulingPolicy::PullStaged;

/// Serves as a scheduler for as long as the process lives. An executor is lost after `patience`
/// without a sign of life, of which there is one at least every five seconds.
///
/// # Errors
/// It cannot be set up.
pub async fn scheduler(listener: TcpListener, patience: Duration) -> Result<()> {
    let address = listener.local_addr()?;
    let functions = Functions::new(0);
    let config = SchedulerConfig {
        bind_host: address.ip().to_string(),
        bind_port: address.port(),
        scheduling_policy: POLICY,
        grpc_server_max_decoding_message_size: MESSAGE_BYTES_MAX,
        grpc_server_max_encoding_message_size: MESSAGE_BYTES_MAX,
        grpc_client_max_message_size: MESSAGE_BYTES_MAX,
        executor_timeout_seconds: patience.as_secs(),
        no_executors_grace_period_seconds: patience.as_secs(),
        expire_dead_executor_interval_seconds: 1,
        override_session_builder: Some(Arc::new(session::state)),
        override_config_producer: Some(producer(&functions)),
        override_logical_codec: Some(codec::logical(&functions)),
        override_physical_codec: Some(codec::physical(&functions)),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    let scheduler =
        create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(config)).await?;
    start_grpc_service_with_listener(listener, scheduler).await
}

/// Where an executor is, and what it has.
pub struct Executor {
    /// What it is called.
    pub id: String,
    /// The scheduler's host and port.
    pub scheduler: (String, u16),
    /// The address that it serves on, and where others reach it.
    pub host: String,
    /// Where it gives out what it has produced.
    pub port: u16,
    /// Tasks at once.
    pub threads: NonZeroUsize,
    /// Where it keeps what it has produced.
    pub folder: PathBuf,
}

/// Serves as an executor until it is told to end.
///
/// # Errors
/// It cannot be set up, or does not reach its scheduler.
pub async fn executor(executor: Executor) -> Result<()> {
    std::fs::create_dir_all(&executor.folder)?;
    let threads = executor.threads.get();
    let functions = Functions::new(threads);
    let config = ExecutorProcessConfig {
        executor_id: executor.id,
        bind_host: executor.host.clone(),
        external_host: Some(executor.host),
        port: executor.port,
        // It serves nothing but what it has produced.
        grpc_port: 0,
        scheduler_host: executor.scheduler.0,
        scheduler_port: executor.scheduler.1,
        scheduler_connect_timeout_seconds: 60,
        vcores: threads,
        task_scheduling_policy: POLICY,
        work_dir: Some(executor.folder.display().to_string()),
        grpc_max_decoding_message_size: MESSAGE_BYTES_MAX,
        grpc_max_encoding_message_size: MESSAGE_BYTES_MAX,
        override_config_producer: Some(producer(&functions)),
        override_logical_codec: Some(codec::logical(&functions)),
        override_physical_codec: Some(codec::physical(&functions)),
        ..ExecutorProcessConfig::default()
    };
    start_executor_process(Arc::new(config)).await
}

/// Configurations with our codecs.
fn producer(functions: &Functions) -> ballista_core::ConfigProducer {
    let config: SessionConfig = default_config_producer().upgrade_for_ballista();
    let config = codec::within(config, functions);
    Arc::new(move || config.clone())
}
