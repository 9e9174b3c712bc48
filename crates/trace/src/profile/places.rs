//! What is at the addresses of processes: files, and code that was made while they ran.
//!
//! ```text
//!  records, in the order of time ─► mappings of each process ─► a file, from this offset on ─► its symbols
//!                                                            └► memory ─► /tmp/perf-PID.map
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::Path;
use std::rc::Rc;
use std::time::SystemTime;

use fathom_sys::sampling::Mapped;

use super::ranges::Ranges;
use super::{Frame, Origin, functions, perf_map};

/// What a process has at some addresses.
#[derive(Clone, Debug)]
struct Mapping {
    /// Empty where it is memory of no file.
    file: Rc<str>,
    start: u64,
    offset: u64,
}

/// Everything that addresses are looked up in.
#[derive(Default)]
pub(super) struct Places<'a> {
    opened: Option<&'a BTreeMap<OsString, File>>,
    processes: BTreeMap<u32, Ranges<Mapping>>,
    maps: BTreeMap<u32, Ranges<Rc<str>>>,
    files: BTreeMap<Rc<str>, Ranges<Rc<str>>>,
    /// What could not be read, and why.
    pub(super) troubles: BTreeSet<String>,
}

impl<'a> Places<'a> {
    /// With the functions that these processes have named, and files that were opened in time.
    pub(super) fn of(
        pids: &BTreeSet<u32>,
        since: SystemTime,
        opened: &'a BTreeMap<OsString, File>,
    ) -> Places<'a> {
        let mut places = Places {
            opened: Some(opened),
            ..Places::default()
        };
        for pid in pids {
            match perf_map::take(*pid, since) {
                Ok(map) => places.maps.extend(map.map(|map| (*pid, map))),
                Err(error) => {
                    let trouble = format!("/tmp/perf-{pid}.map: {error}");
                    places.troubles.insert(trouble);
                }
            }
        }
        places
    }

    pub(super) fn mapped(&mut self, mapped: &Mapped) {
        let file = mapped.file.to_string_lossy();
        let is_file = file.starts_with('/')
            && !["//anon", "/memfd:", "/dev/zero", "/anon_hugepage", "/SYSV"]
                .iter()
                .any(|memory| file.starts_with(memory));
        let file = match is_file || &*file == "[vdso]" {
            true => Rc::from(&*file),
            false => Rc::from(""),
        };
        let mapping = Mapping {
            file,
            start: mapped.start,
            offset: mapped.offset,
        };
        let process = self.processes.entry(mapped.pid).or_default();
        process.put(mapped.start, mapped.bytes, mapping);
    }

    pub(super) fn executed(&mut self, pid: u32) {
        self.processes.remove(&pid);
    }

    pub(super) fn forked(&mut self, pid: u32, parent: u32) {
        if pid != parent
            && let Some(process) = self.processes.get(&parent)
        {
            let process = process.clone();
            self.processes.insert(pid, process);
        }
    }

    /// What is at an address; none where nothing is mapped.
    pub(super) fn frame(&mut self, pid: u32, address: u64) -> Option<Frame> {
        let mapping = self.processes.get(&pid).and_then(|all| all.at(address));
        let mapping = mapping.map(|(_, mapping)| mapping.clone());
        match mapping {
            Some(mapping) if !mapping.file.is_empty() => {
                let offset = (address - mapping.start).saturating_add(mapping.offset);
                Some(self.in_file(&mapping.file, offset))
            }
            mapping => match self.named(pid, address) {
                Some((_, name)) => Some(Frame {
                    name: name.to_string(),
                    origin: Origin::Made,
                }),
                None => mapping.map(|_| Frame::unnamed()),
            },
        }
    }

    /// The function at an address that its process has made and named, and how far behind its
    /// start that is.
    pub(super) fn made(&self, pid: u32, address: u64) -> Option<(u64, &str)> {
        let mapping = self.processes.get(&pid).and_then(|all| all.at(address));
        let is_files = mapping.is_some_and(|(_, mapping)| !mapping.file.is_empty());
        let named = self.named(pid, address).filter(|_| !is_files);
        named.map(|(start, name)| (address - start, &**name))
    }

    fn named(&self, pid: u32, address: u64) -> Option<(u64, &Rc<str>)> {
        self.maps.get(&pid).and_then(|map| map.at(address))
    }

    fn in_file(&mut self, file: &Rc<str>, offset: u64) -> Frame {
        if !self.files.contains_key(file) {
            let read = match &**file {
                "[vdso]" => Ok(Ranges::default()),
                path => self
                    .read(path)
                    .map_err(|error| error.to_string())
                    .and_then(|bytes| functions::of(&bytes)),
            };
            let functions = read.unwrap_or_else(|why| {
                self.troubles.insert(format!("{file}: {why}"));
                Ranges::default()
            });
            self.files.insert(file.clone(), functions);
        }
        let base = Path::new(&**file).file_name();
        let base = base.map_or(file.to_string(), |base| base.to_string_lossy().into_owned());
        let named = self.files.get(file).and_then(|all| all.at(offset));
        Frame {
            name: named.map_or_else(|| format!("({base})"), |(_, name)| name.to_string()),
            origin: Origin::File {
                path: file.to_string(),
                is_named: named.is_some(),
            },
        }
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let opened = self.opened.and_then(|all| all.get(OsStr::new(path)));
        let Some(mut file) = opened else {
            return fs::read(path);
        };
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Files without a symbol of a function, of those that were looked at.
    pub(super) fn stripped(&self) -> impl Iterator<Item = &str> {
        let all = self.files.iter();
        all.filter(|(file, all)| all.is_empty() && file.starts_with('/'))
            .map(|(file, _)| &**file)
    }
}
