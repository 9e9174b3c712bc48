//! What tests of hostile modules share.

#![allow(dead_code, reason = "each test uses some of it")]

use std::time::{Duration, Instant};

use datafusion::prelude::SessionConfig;
use fathom_sql::{Session, session::in_a_line};

/// What every module here begins with: a memory, and a place for batches at 1024.
pub const COMMON: &str = r#"
  (memory (export "memory") 2)
  (func (export "fathom_reserve") (param i32) (result i32) (i32.const 1024))"#;

/// A session over modules of its own.
pub struct Bench {
    pub folder: tempfile::TempDir,
    pub session: Session,
}

impl Bench {
    pub fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let config = SessionConfig::new().with_target_partitions(2);
        let session = Session::new(config, folder.path().to_owned()).unwrap();
        Bench { folder, session }
    }

    pub fn module(&self, name: &str, text: &str) {
        let bytes = wat::parse_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        std::fs::write(self.folder.path().join(name), bytes).unwrap();
    }

    pub async fn run(&self, sql: &str) -> Result<usize, String> {
        let results = self
            .session
            .run(sql)
            .await
            .map_err(|error| in_a_line(&error))?;
        Ok(results.iter().flatten().map(|batch| batch.num_rows()).sum())
    }

    /// The one line that a statement fails with; the next works.
    pub async fn refused(&self, sql: &str) -> String {
        let began = Instant::now();
        let line = self.run(sql).await.expect_err(sql);
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "{sql}: {:?}",
            began.elapsed()
        );
        assert!(!line.contains('\n') && line.len() < 400, "{line}");
        assert_eq!(self.run("SELECT 1").await, Ok(1), "after {sql}");
        line
    }
}
