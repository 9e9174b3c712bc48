//! A campaign's folder, and its samples as they are written.
//!
//! Every append is one write, flushed. When the disk is full, the file is cut
//! back to its last whole record: it stays readable, and what was measured
//! before is kept.
//!
//! What must stay true: one process at a time writes a campaign. Its file is locked
//! (`flock(2)`) from before it is read until nothing more is written.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufReader, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use fathom_record::{
    Campaign, Header, Record, Writer,
    campaign::{FILE_NAME, ReadError, WriteError, parse},
};
use fathom_sys::regular;

/// Why results cannot be kept or gone on with; each is one line.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// There is a campaign where another was to begin.
    #[error(
        "{folder} holds a campaign already: choose another --out, or --resume {folder}",
        folder = _0.display()
    )]
    Taken(PathBuf),
    /// Another process writes the campaign.
    #[error(
        "{}: this campaign is being measured by another process: wait for it or stop it",
        _0.display()
    )]
    Busy(PathBuf),
    /// There is none in this folder.
    #[error("{}: there is no campaign: {FILE_NAME} is not there", _0.display())]
    NoCampaign(PathBuf),
    /// The folder or the file cannot be made or opened.
    #[error("cannot use {}: {source}", path.display())]
    Open {
        /// The folder or file that is there already.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The campaign cannot be read.
    #[error("cannot continue {}: {source}", path.display())]
    Read {
        /// The file that cannot be read.
        path: PathBuf,
        /// What the system, or the reader of campaigns, said.
        source: ReadError,
    },
    /// Not even the beginning could be written.
    #[error("nothing was measured, since {} cannot be written: {source}", path.display())]
    Begin {
        /// The file that cannot be written.
        path: PathBuf,
        /// What the system said.
        source: WriteError,
    },
    /// A record could not be written; what was written before is whole.
    #[error("the samples so far are kept, but {} cannot be written any more: {source}", path.display())]
    Write {
        /// The file that cannot be written.
        path: PathBuf,
        /// What the system said.
        source: WriteError,
    },
    /// The campaign is of something else or from somewhere else.
    #[error("cannot continue {}: {difference}", path.display())]
    Differs {
        /// The campaign's file.
        path: PathBuf,
        /// What differs.
        difference: String,
    },
}

/// A campaign that was read to be gone on with. It is locked: nobody else goes on with it.
#[derive(Debug)]
pub struct Paused {
    path: PathBuf,
    file: File,
    campaign: Campaign,
}

impl Paused {
    /// All that was recorded so far.
    pub fn campaign(&self) -> &Campaign {
        &self.campaign
    }
}

/// A campaign in progress: what is on the disk, and the same in memory.
#[derive(Debug)]
pub struct Results {
    path: PathBuf,
    writer: Writer<File>,
    /// For cutting the file back; the same open file as the writer's.
    handle: File,
    campaign: Campaign,
}

impl Results {
    /// Begins a campaign in a folder, which is made if need be.
    ///
    /// # Errors
    /// Also when the folder holds a campaign already: nothing is overwritten.
    pub fn create(folder: &Path, header: Header) -> Result<Self, ResultsError> {
        let open = |path: &Path, source| ResultsError::Open {
            path: path.to_owned(),
            source,
        };
        fs::create_dir_all(folder).map_err(|error| open(folder, error))?;
        let path = folder.join(FILE_NAME);
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => ResultsError::Taken(folder.to_owned()),
            _ => open(&path, error),
        })?;
        // It is new: who has it now finds no campaign in it, and lets go of it again.
        let _ = file.lock();
        let begun = Self::begin(path.clone(), file, header);
        if begun.is_err() {
            // What is no campaign must not be taken for one, and another must be able to
            // begin here.
            let _ = fs::remove_file(&path);
        }
        begun
    }

    fn begin(path: PathBuf, file: File, header: Header) -> Result<Self, ResultsError> {
        let handle = file.try_clone().map_err(|source| ResultsError::Open {
            path: path.clone(),
            source,
        })?;
        let writer = Writer::create(file, &header).map_err(|source| ResultsError::Begin {
            path: path.clone(),
            source,
        })?;
        Ok(Self {
            path,
            writer,
            handle,
            campaign: Campaign::new(header),
        })
    }

    /// Reads a campaign without changing it.
    ///
    /// # Errors
    /// When it is not there or not a campaign.
    pub fn read(folder: &Path) -> Result<Campaign, ResultsError> {
        let path = folder.join(FILE_NAME);
        let file = regular::open(&path).map_err(|source| ResultsError::Open {
            path: path.clone(),
            source,
        })?;
        parse(BufReader::new(file)).map_err(|source| ResultsError::Read { path, source })
    }

    /// Reads a campaign to go on with it, without changing it yet.
    ///
    /// # Errors
    /// As [`Results::read`]; when it cannot be changed, or another process has it.
    pub fn take_up(folder: &Path) -> Result<Paused, ResultsError> {
        let path = folder.join(FILE_NAME);
        let open = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => ResultsError::NoCampaign(folder.to_owned()),
            _ => ResultsError::Open {
                path: path.clone(),
                source,
            },
        };
        // Nobody waits at a pipe in its place.
        drop(regular::open(&path).map_err(open)?);
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let file = file.map_err(open)?;
        // Where there are no locks (some network file systems), there is one process.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(ResultsError::Busy(folder.to_owned()));
        }
        let campaign = parse(BufReader::new(&file)).map_err(|source| ResultsError::Read {
            path: path.clone(),
            source,
        })?;
        Ok(Paused {
            path,
            file,
            campaign,
        })
    }

    /// Goes on with a campaign that was read: cuts off a torn last record and
    /// appends from there.
    ///
    /// # Errors
    /// When the file cannot be changed.
    pub fn resume(paused: Paused) -> Result<Self, ResultsError> {
        let Paused {
            path,
            mut file,
            campaign,
        } = paused;
        let open = |source| ResultsError::Open {
            path: path.clone(),
            source,
        };
        file.set_len(campaign.valid_bytes).map_err(open)?;
        file.seek(SeekFrom::End(0)).map_err(open)?;
        let handle = file.try_clone().map_err(open)?;
        let writer = Writer::resume(file, &campaign).map_err(|source| ResultsError::Write {
            path: path.clone(),
            source,
        })?;
        Ok(Self {
            path,
            writer,
            handle,
            campaign,
        })
    }

    /// Appends records, all or none.
    ///
    /// # Errors
    /// When they cannot be written; the file is whole without them.
    pub fn append(&mut self, records: Vec<Record>) -> Result<(), ResultsError> {
        if let Err(source) = self.writer.append_all(&records) {
            // Only tidies up: readers tolerate a torn last line as well.
            let _ = self.handle.set_len(self.writer.valid_bytes());
            return Err(ResultsError::Write {
                path: self.path.clone(),
                source,
            });
        }
        for record in records {
            self.campaign.push(record);
        }
        Ok(())
    }

    /// All that was recorded so far.
    pub fn campaign(&self) -> &Campaign {
        &self.campaign
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }
}

/// Whether two campaigns measure the same module, where they measure one of a user's own.
///
/// # Errors
/// That they do not.
pub fn same_module(before: &Header, now: &Header) -> Result<(), String> {
    let digest = |header: &Header| Some(header.config.module.as_ref()?.digest.clone());
    match digest(before) == digest(now) {
        true => Ok(()),
        false => Err("the module has changed".to_owned()),
    }
}

/// Whether a campaign can be gone on with as this one.
///
/// # Errors
/// What differs, the first thing found. A different host can be allowed: the
/// user may know that it does not matter.
pub fn same_campaign(
    folder: &Path,
    before: &Header,
    now: &Header,
    any_host: bool,
) -> Result<(), ResultsError> {
    let differs = |difference: String| {
        Err(ResultsError::Differs {
            path: folder.join(FILE_NAME),
            difference,
        })
    };
    if before.cells != now.cells {
        let missing = now.cells.iter().find(|cell| !before.cells.contains(cell));
        let extra = before.cells.iter().find(|cell| !now.cells.contains(cell));
        return match (missing, extra) {
            (Some(cell), _) => differs(format!("it does not have the cell {}", cell.id())),
            (None, Some(cell)) => differs(format!("the cell {} is no longer available", cell.id())),
            (None, None) => differs("its cells are in another order".into()),
        };
    }
    if before.config.shard != now.config.shard {
        return differs("the list of all shards' workloads has changed".to_owned());
    }
    same_module(before, now).or_else(differs)?;
    if before.tool != now.tool {
        return differs(format!(
            "it is from version {}, this is {}",
            before.tool, now.tool
        ));
    }
    if !any_host && before.host.fingerprint() != now.host.fingerprint() {
        return differs(format!(
            "it is from another host ({}, {}); --resume-anywhere allows that",
            before.host.cpu_model, before.host.kernel
        ));
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::plan;
    use fathom_record::{
        FailureKind, Host,
        campaign::{FORMAT_VERSION, Failure},
    };

    pub(crate) fn header(plan: &plan::Plan) -> Header {
        Header {
            format: FORMAT_VERSION,
            tool: "0".to_owned(),
            name: "test".to_owned(),
            date: "2026-11-20T12:00:00Z".to_owned(),
            command: Vec::new(),
            request: None,
            host: Host::default(),
            config: plan.config.clone(),
            workloads: Vec::new(),
            cells: plan.cells(),
        }
    }

    fn a_failure(message: &str) -> Record {
        Record::Failure(Failure {
            cell: None,
            round: None,
            kind: FailureKind::Io,
            message: message.to_owned(),
        })
    }

    #[test]
    fn a_torn_campaign_is_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let header = header(&plan::tests::plan(&["a"]));
        let mut results = Results::create(folder.path(), header.clone()).unwrap();
        results.append(vec![a_failure("first")]).unwrap();
        drop(results);
        let path = folder.path().join(FILE_NAME);
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend_from_slice(b"{\"record\":\"fail");
        fs::write(&path, bytes).unwrap();

        let paused = Results::take_up(folder.path()).unwrap();
        let mut results = Results::resume(paused).unwrap();
        results.append(vec![a_failure("second")]).unwrap();
        let read = Results::read(folder.path()).unwrap();
        let messages: Vec<_> = read
            .failures
            .iter()
            .map(|failure| failure.message.as_str())
            .collect();
        assert_eq!(messages, ["first", "second"]);
        assert_eq!(read.failures, results.campaign().failures);
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let header = header(&plan::tests::plan(&["a"]));
        Results::create(folder.path(), header.clone()).unwrap();
        let error = Results::create(folder.path(), header)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("holds a campaign already") && !error.contains('\n'),
            "{error}"
        );
    }

    #[test]
    fn one_process_at_a_time_writes_a_campaign() {
        let folder = tempfile::tempdir().unwrap();
        let header = header(&plan::tests::plan(&["a"]));
        let mut new = Results::create(folder.path(), header).unwrap();
        new.append(vec![a_failure("first")]).unwrap();
        let path = folder.path().join(FILE_NAME);
        let refused = || {
            let before = fs::read(&path).unwrap();
            let error = Results::take_up(folder.path()).unwrap_err().to_string();
            let said = "being measured by another process: wait for it or stop it";
            assert!(error.ends_with(said) && !error.contains('\n'), "{error}");
            assert!(
                error.starts_with(&*folder.path().to_string_lossy()),
                "{error}"
            );
            assert_eq!(fs::read(&path).unwrap(), before);
        };
        refused();
        // It may be read at any time.
        assert_eq!(Results::read(folder.path()).unwrap().failures.len(), 1);
        drop(new);
        let paused = Results::take_up(folder.path()).unwrap();
        assert_eq!(paused.campaign().failures.len(), 1);
        refused();
        let mut resumed = Results::resume(paused).unwrap();
        refused();
        resumed.append(vec![a_failure("second")]).unwrap();
        drop(resumed);
        let paused = Results::take_up(folder.path()).unwrap();
        assert_eq!(paused.campaign().failures.len(), 2);
    }

    #[test]
    fn a_full_disk_is_one_clear_line() {
        let header = header(&plan::tests::plan(&["a"]));
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let error = Results::begin("/dev/full".into(), full, header)
            .unwrap_err()
            .to_string();
        assert!(error.contains("No space left on device"), "{error}");
        assert!(error.starts_with("nothing was measured"), "{error}");
        assert!(!error.contains('\n'));
    }

    #[test]
    fn a_disk_which_fills_up_leaves_whole_records() {
        let folder = tempfile::tempdir().unwrap();
        let header = header(&plan::tests::plan(&["a"]));
        let mut results = Results::create(folder.path(), header).unwrap();
        results.append(vec![a_failure("kept")]).unwrap();
        let kept = fs::metadata(&results.path).unwrap().len();
        // As if the disk had filled up in the middle of a record.
        let torn = OpenOptions::new().append(true).open(&results.path).unwrap();
        io::Write::write_all(&mut &torn, b"{\"rec").unwrap();
        results.writer = Writer::resume(
            OpenOptions::new().write(true).open("/dev/full").unwrap(),
            &Results::read(folder.path()).unwrap(),
        )
        .unwrap();
        let error = results.append(vec![a_failure("lost")]).unwrap_err();
        assert!(error.to_string().contains("the samples so far are kept"));
        assert_eq!(fs::metadata(&results.path).unwrap().len(), kept);
        assert_eq!(Results::read(folder.path()).unwrap().failures.len(), 1);
    }

    #[test]
    fn another_campaign_or_host_is_refused() {
        let mut plan = plan::tests::plan(&["a"]);
        let before = header(&plan);
        let check = |now: &Header, any| same_campaign(Path::new("r"), &before, now, any);
        check(&before, false).unwrap();
        let mut elsewhere = before.clone();
        elsewhere.host.arch = fathom_record::Fact::Known("riscv64".into());
        assert!(
            check(&elsewhere, false)
                .unwrap_err()
                .to_string()
                .contains("another host")
        );
        check(&elsewhere, true).unwrap();
        plan.tasks.pop();
        let fewer = check(&header(&plan), false).unwrap_err().to_string();
        assert!(
            fewer.contains("other/guard") && fewer.contains("no longer"),
            "{fewer}"
        );
    }
}
