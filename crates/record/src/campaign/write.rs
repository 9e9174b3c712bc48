//! Campaign files, written line by line.

use std::io::{self, Write};

use super::{Campaign, Header, Record, Tail};

/// Why a record was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The writer failed: a full disk, most often.
    #[error("writing the campaign failed: {0}")]
    Io(#[from] io::Error),
    /// A value has no JSON form.
    #[error("a record has no JSON form: {0}")]
    Json(#[from] serde_json::Error),
    /// An earlier write failed, so the file may end in part of a line.
    #[error("an earlier write to the campaign failed")]
    Broken,
}

/// Appends records, each whole and flushed.
///
/// After a failed write nothing more is written: what follows a torn line could
/// not be read. The file is valid as it is (a torn last line is tolerated), and
/// [`Writer::valid_bytes`] is where it can be cut.
#[derive(Debug)]
pub struct Writer<W: Write> {
    to: W,
    valid_bytes: u64,
    is_broken: bool,
}

impl<W: Write> Writer<W> {
    /// Begins a campaign with its header.
    ///
    /// # Errors
    /// If the header cannot be written.
    pub fn create(to: W, header: &Header) -> Result<Writer<W>, WriteError> {
        let mut writer = Writer {
            to,
            valid_bytes: 0,
            is_broken: false,
        };
        writer.append(&Record::Campaign(Box::new(header.clone())))?;
        Ok(writer)
    }

    /// Goes on with a campaign that was read. `to` must already be cut to
    /// [`Campaign::valid_bytes`] and stand at its end.
    ///
    /// # Errors
    /// If a missing newline cannot be added.
    pub fn resume(to: W, campaign: &Campaign) -> Result<Writer<W>, WriteError> {
        let mut writer = Writer {
            to,
            valid_bytes: campaign.valid_bytes,
            is_broken: false,
        };
        if campaign.tail == Tail::NoNewline {
            writer.write(b"\n")?;
        }
        Ok(writer)
    }

    /// Appends one record.
    ///
    /// # Errors
    /// If it cannot be written; [`WriteError::Broken`] from then on.
    pub fn append(&mut self, record: &Record) -> Result<(), WriteError> {
        self.append_all(std::slice::from_ref(record))
    }

    /// Appends several records with a single write: the samples of one child
    /// and the process record that seals them.
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub fn append_all(&mut self, records: &[Record]) -> Result<(), WriteError> {
        let mut lines = Vec::new();
        for record in records {
            serde_json::to_writer(&mut lines, record)?;
            lines.push(b'\n');
        }
        self.write(&lines)
    }

    /// Bytes of the file known to be whole records.
    pub fn valid_bytes(&self) -> u64 {
        self.valid_bytes
    }

    /// The writer underneath.
    pub fn into_inner(self) -> W {
        self.to
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        if self.is_broken {
            return Err(WriteError::Broken);
        }
        if let Err(error) = self.to.write_all(bytes).and_then(|()| self.to.flush()) {
            self.is_broken = true;
            return Err(error.into());
        }
        self.valid_bytes += bytes.len() as u64;
        Ok(())
    }
}
