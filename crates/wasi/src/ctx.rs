//! What a guest was given: arguments, environment, streams and directories.
//!
//! A [`WasiCtxBuilder`] collects it, [`WasiCtx`] is the state of one guest and
//! lives in the store's data. Nothing of the host is given by default: no
//! arguments, no environment, the streams are `/dev/null`, no directory.

use crate::errno::Errno;
use crate::given::{Given, HostMonotonicClock, HostWallClock};
use crate::held::Held;
use crate::kernel_files;
use crate::perms::{DirPerms, FilePerms, Perms};
use crate::pipes::{MemoryInputPipe, MemoryOutputPipe};
use crate::table::{Descriptor, HostFile, Table};
use crate::types::{FileType, Rights};
use rustix::fs::{Mode, OFlags};
use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard};

/// Descriptors a guest can have open at once, unless it is said otherwise: what
/// Linux gives a process by default.
pub const DESCRIPTORS_MAX: usize = 1024;

/// Subscriptions of one `poll_oneoff`, unless it is said otherwise: reading and
/// writing on each of [`DESCRIPTORS_MAX`], and as many clocks.
pub const SUBSCRIPTIONS_MAX: usize = 4096;

/// Why a context could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A directory cannot be opened.
    #[error("cannot open the folder {}: {source}", path.display())]
    Directory {
        /// The host's path.
        path: PathBuf,
        /// What the host answered.
        source: io::Error,
    },
    /// A directory is on a file system that is an interface of the kernel.
    #[error(
        "the folder for {guest} is on {what}, an interface of the kernel by which a program \
         reaches more than files"
    )]
    KernelFiles {
        /// The guest's name for it.
        guest: String,
        /// The file system.
        what: &'static str,
    },
    /// A stream cannot be used.
    #[error("cannot use the given {what}: {source}")]
    Stream {
        /// The stream, directory or socket.
        what: &'static str,
        /// What the host answered.
        source: io::Error,
    },
    /// A string has a NUL byte, which the interface cannot carry.
    #[error("{what} has a NUL byte: {value:?}")]
    Nul {
        /// What the string was to be: an argument, a variable, a folder's name.
        what: &'static str,
        /// The string.
        value: String,
    },
    /// The name of an environment variable is empty or has `=` in it.
    #[error("not a name for an environment variable: {0:?}")]
    Name(String),
}

/// Where a standard stream of the guest leads.
#[derive(Debug)]
#[non_exhaustive]
pub enum Stream {
    /// Nowhere: reads are at the end, writes succeed.
    Null,
    /// To the stream of the same name of this process.
    Inherit,
    /// To an open file, pipe, terminal or socket, closed with the context.
    Given(OwnedFd),
    /// From bytes of the embedder's.
    Input(MemoryInputPipe),
    /// Into bytes for the embedder.
    Output(MemoryOutputPipe),
}

impl From<MemoryInputPipe> for Stream {
    fn from(pipe: MemoryInputPipe) -> Stream {
        Stream::Input(pipe)
    }
}

impl From<MemoryOutputPipe> for Stream {
    fn from(pipe: MemoryOutputPipe) -> Stream {
        Stream::Output(pipe)
    }
}

impl From<File> for Stream {
    fn from(file: File) -> Stream {
        Stream::Given(file.into())
    }
}

impl From<OwnedFd> for Stream {
    fn from(fd: OwnedFd) -> Stream {
        Stream::Given(fd)
    }
}

/// A folder of the host that a guest is to be given.
#[derive(Debug)]
pub enum HostDir {
    /// The one at this path.
    Path(PathBuf),
    /// One that is open for reading, closed with the context.
    Open(OwnedFd),
    /// The one at this path, also on procfs or another interface of the kernel.
    /// `/proc/self/mem` is the memory of this process: a guest that is given `/proc`
    /// is trusted like it.
    Kernel(PathBuf),
}

impl HostDir {
    fn open(self) -> Result<OwnedFd, BuildError> {
        match self {
            HostDir::Path(path) | HostDir::Kernel(path) => open_dir(&path),
            HostDir::Open(dir) => Ok(dir),
        }
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for HostDir {
    fn from(path: &P) -> HostDir {
        HostDir::Path(path.as_ref().to_owned())
    }
}

impl From<PathBuf> for HostDir {
    fn from(path: PathBuf) -> HostDir {
        HostDir::Path(path)
    }
}

impl From<OwnedFd> for HostDir {
    fn from(dir: OwnedFd) -> HostDir {
        HostDir::Open(dir)
    }
}

impl From<File> for HostDir {
    fn from(dir: File) -> HostDir {
        HostDir::Open(dir.into())
    }
}

/// Collects what a guest is given.
#[derive(Debug)]
pub struct WasiCtxBuilder {
    args: Vec<Vec<u8>>,
    env: Vec<Vec<u8>>,
    streams: [Stream; 3],
    dirs: Vec<(OwnedFd, Vec<u8>, Perms)>,
    sockets: Vec<OwnedFd>,
    given: Given,
    ends_on_broken_pipe: bool,
    max_descriptors: usize,
    max_subscriptions: usize,
}

impl Default for WasiCtxBuilder {
    fn default() -> WasiCtxBuilder {
        WasiCtxBuilder::new()
    }
}

impl WasiCtxBuilder {
    /// Nothing given yet.
    #[must_use]
    pub fn new() -> WasiCtxBuilder {
        WasiCtxBuilder {
            args: Vec::new(),
            env: Vec::new(),
            streams: [Stream::Null, Stream::Null, Stream::Null],
            dirs: Vec::new(),
            sockets: Vec::new(),
            given: Given::default(),
            ends_on_broken_pipe: false,
            max_descriptors: DESCRIPTORS_MAX,
            max_subscriptions: SUBSCRIPTIONS_MAX,
        }
    }

    /// Adds an argument, text or any bytes; the first is the name of the program.
    ///
    /// # Errors
    /// [`BuildError::Nul`].
    pub fn arg(mut self, arg: impl AsRef<[u8]>) -> Result<Self, BuildError> {
        self.args.push(terminated("an argument", arg.as_ref())?);
        Ok(self)
    }

    /// Adds arguments.
    ///
    /// # Errors
    /// [`BuildError::Nul`].
    pub fn args<S: AsRef<[u8]>>(
        self,
        args: impl IntoIterator<Item = S>,
    ) -> Result<Self, BuildError> {
        args.into_iter().try_fold(self, WasiCtxBuilder::arg)
    }

    /// Adds an environment variable. A later one of the same name does not
    /// replace it; the guest sees both.
    ///
    /// # Errors
    /// [`BuildError::Nul`], [`BuildError::Name`].
    pub fn env(
        mut self,
        name: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<Self, BuildError> {
        let (name, value) = (name.as_ref(), value.as_ref());
        if name.is_empty() || name.contains(&b'=') {
            return Err(BuildError::Name(text(name)));
        }
        let pair = [name, b"=", value].concat();
        self.env.push(terminated("an environment variable", &pair)?);
        Ok(self)
    }

    /// Adds environment variables.
    ///
    /// # Errors
    /// [`BuildError::Nul`], [`BuildError::Name`].
    pub fn envs<N: AsRef<[u8]>, V: AsRef<[u8]>>(
        self,
        envs: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, BuildError> {
        let mut envs = envs.into_iter();
        envs.try_fold(self, |builder, (name, value)| builder.env(name, value))
    }

    /// Adds the arguments of this process, its name first.
    #[must_use]
    pub fn inherit_args(mut self) -> Self {
        let args = std::env::args_os().map(OsString::into_encoded_bytes);
        self.args.extend(args.map(ended));
        self
    }

    /// Adds the environment of this process.
    #[must_use]
    pub fn inherit_env(mut self) -> Self {
        let envs = std::env::vars_os().map(|(name, value)| {
            [name.as_encoded_bytes(), b"=", value.as_encoded_bytes()].concat()
        });
        self.env.extend(envs.map(ended));
        self
    }

    /// Sets the clock that tells the guest the time of day. The clocks of processor time
    /// are those of the host and not there any more (`Errno::Notsup`).
    #[must_use]
    pub fn wall_clock(mut self, clock: impl HostWallClock + 'static) -> Self {
        self.given.wall = Some(Arc::new(clock));
        self
    }

    /// Sets the clock by which the guest measures. It tells when a wait is over, too: what
    /// is left until then passes in the host's time.
    #[must_use]
    pub fn monotonic_clock(mut self, clock: impl HostMonotonicClock + 'static) -> Self {
        self.given.monotonic = Some(Arc::new(clock));
        self
    }

    /// Sets what fills the bytes that the guest asks for as random ones: a piece of what
    /// it asks for at a time. They are as good for keys as this is.
    #[must_use]
    pub fn secure_random(mut self, fill: impl FnMut(&mut [u8]) + Send + 'static) -> Self {
        self.given.set_random(fill);
        self
    }

    /// Sets standard input.
    #[must_use]
    pub fn stdin(mut self, stream: impl Into<Stream>) -> Self {
        self.streams[0] = stream.into();
        self
    }

    /// Sets standard output.
    #[must_use]
    pub fn stdout(mut self, stream: impl Into<Stream>) -> Self {
        self.streams[1] = stream.into();
        self
    }

    /// Sets standard error.
    #[must_use]
    pub fn stderr(mut self, stream: impl Into<Stream>) -> Self {
        self.streams[2] = stream.into();
        self
    }

    /// Inherits standard input.
    #[must_use]
    pub fn inherit_stdin(self) -> Self {
        self.stdin(Stream::Inherit)
    }

    /// Inherits standard output.
    #[must_use]
    pub fn inherit_stdout(self) -> Self {
        self.stdout(Stream::Inherit)
    }

    /// Inherits standard error.
    #[must_use]
    pub fn inherit_stderr(self) -> Self {
        self.stderr(Stream::Inherit)
    }

    /// Inherits all three streams.
    #[must_use]
    pub fn inherit_stdio(self) -> Self {
        self.stdin(Stream::Inherit)
            .stdout(Stream::Inherit)
            .stderr(Stream::Inherit)
    }

    /// Gives a folder to the guest under the name `guest`. What is beneath it but no
    /// data is refused to the guest: procfs and its kin, and devices but null, zero,
    /// full, random and urandom. What `dir_perms` and `file_perms` do not allow is
    /// `Errno::Notcapable`.
    ///
    /// # Errors
    /// [`BuildError::Directory`], [`BuildError::Nul`];
    /// [`BuildError::KernelFiles`] but for [`HostDir::Kernel`].
    pub fn preopened_dir(
        mut self,
        host: impl Into<HostDir>,
        guest: impl AsRef<[u8]>,
        dir_perms: DirPerms,
        file_perms: FilePerms,
    ) -> Result<Self, BuildError> {
        let guest = guest.as_ref();
        let host = host.into();
        let may_be_kernels = matches!(host, HostDir::Kernel(_));
        let dir = host.open()?;
        let found = kernel_files::interface(dir.as_fd());
        let found = found.map_err(|error| stream_error("directory", error))?;
        if let Some(what) = found
            && !may_be_kernels
        {
            return Err(BuildError::KernelFiles {
                guest: text(guest),
                what,
            });
        }
        let mut name = terminated("a folder's name", guest)?;
        // The interface gives its length instead.
        name.pop();
        let perms = Perms {
            dir: dir_perms,
            file: file_perms,
        };
        self.dirs.push((dir, name, perms));
        Ok(self)
    }

    /// Gives an open socket to the guest: its number follows those of the
    /// directories.
    #[must_use]
    pub fn preopened_socket(mut self, socket: impl Into<OwnedFd>) -> Self {
        self.sockets.push(socket.into());
        self
    }

    /// Ends the guest with [`ProcExit`](crate::ProcExit)`(141)`, what a shell
    /// shows for SIGPIPE, when it writes to standard output and nobody reads
    /// it any more. Otherwise the guest gets `Errno::Pipe`, which many programs
    /// ignore for ever.
    #[must_use]
    pub fn ends_on_broken_pipe(mut self, ends: bool) -> Self {
        self.ends_on_broken_pipe = ends;
        self
    }

    /// How many descriptors the guest can have open at once, in all its threads
    /// and with those that it is given: [`DESCRIPTORS_MAX`] by default. Beyond, it
    /// gets `Errno::Mfile`. Each is a descriptor of this process, too.
    #[must_use]
    pub fn max_descriptors(mut self, count: usize) -> Self {
        self.max_descriptors = count;
        self
    }

    /// How many subscriptions one `poll_oneoff` takes: [`SUBSCRIPTIONS_MAX`] by
    /// default. Beyond, the guest gets `Errno::Inval`, as poll(2) answers. The
    /// host holds about 300 bytes for each while it waits.
    #[must_use]
    pub fn max_subscriptions(mut self, count: usize) -> Self {
        self.max_subscriptions = count;
        self
    }

    /// Makes the context.
    ///
    /// # Errors
    /// [`BuildError::Stream`] when a given stream cannot be used.
    pub fn build(self) -> Result<WasiCtx, BuildError> {
        let mut table = Table::new(self.max_descriptors);
        let inherited = [HostFile::Stdin, HostFile::Stdout, HostFile::Stderr];
        let names = ["standard input", "standard output", "standard error"];
        let base = [Rights::FD_READ, Rights::FD_WRITE, Rights::FD_WRITE];
        let access = Rights::FD_READ | Rights::FD_WRITE;
        for (index, (stream, own)) in self.streams.into_iter().zip(inherited).enumerate() {
            let what = names[index];
            let fail = |error: io::Error| BuildError::Stream {
                what,
                source: error,
            };
            let host = match stream {
                Stream::Inherit => own,
                Stream::Given(fd) => HostFile::Owned(fd),
                Stream::Input(pipe) => {
                    pipe.check().map_err(fail)?;
                    HostFile::Input(pipe)
                }
                Stream::Output(pipe) => {
                    pipe.check().map_err(fail)?;
                    HostFile::Output(pipe)
                }
                Stream::Null => HostFile::Owned(null().map_err(fail)?),
            };
            // A closed stream of this process stays closed for the guest.
            let rights = (Rights::all() - access) | base[index];
            match Descriptor::new(host, rights, Rights::empty()) {
                Ok(descriptor) => insert(&mut table, descriptor, what)?,
                Err(_) => insert(&mut table, closed().map_err(fail)?, what)?,
            }
        }
        for (fd, name, perms) in self.dirs {
            let host = HostFile::Owned(fd);
            let base = Rights::DIRECTORY - perms.withheld();
            let inheriting = (Rights::DIRECTORY | Rights::REGULAR_FILE) - perms.withheld();
            let mut dir = Descriptor::new(host, base, inheriting)
                .map_err(|error| stream_error("directory", error))?;
            if dir.filetype != FileType::Directory {
                return Err(stream_error("directory", Errno::Notdir));
            }
            dir.preopen = Some(name.into());
            dir.perms = perms;
            insert(&mut table, dir, "directory")?;
        }
        for fd in self.sockets {
            let socket = Descriptor::new(HostFile::Owned(fd), Rights::SOCKET, Rights::SOCKET)
                .map_err(|error| stream_error("socket", error))?;
            insert(&mut table, socket, "socket")?;
        }
        Ok(WasiCtx {
            args: self.args.into(),
            env: self.env.into(),
            held: Held::new(table),
            given: self.given,
            ends_on_broken_pipe: self.ends_on_broken_pipe,
            max_subscriptions: self.max_subscriptions,
        })
    }
}

/// The state of one guest. Clones are the same state, for the threads of the
/// guest.
#[derive(Clone, Debug)]
pub struct WasiCtx {
    /// Each ends in NUL.
    pub(crate) args: Arc<[Vec<u8>]>,
    /// `NAME=value`, each ends in NUL.
    pub(crate) env: Arc<[Vec<u8>]>,
    held: Held,
    pub(crate) given: Given,
    ends_on_broken_pipe: bool,
    /// What one `poll_oneoff` takes at most.
    pub(crate) max_subscriptions: usize,
}

impl WasiCtx {
    /// The descriptors, locked: to be let go of before anything waits.
    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        self.held.table()
    }

    /// The descriptor `fd` for one call, which must be no directory and allow `rights`: a
    /// copy where other threads have the table.
    ///
    /// # Errors
    /// `Errno::Badf`, `Errno::Isdir`, `Errno::Notcapable`.
    #[inline]
    pub(crate) fn file(&mut self, fd: u32, rights: Rights) -> Result<Cow<'_, Descriptor>, Errno> {
        self.held.file(fd, rights)
    }

    /// Opens a descriptor and gives it the lowest free number.
    ///
    /// # Errors
    /// `Errno::Mfile` before anything is opened, else that of `open`.
    pub(crate) fn insert_with(
        &self,
        open: impl FnOnce() -> Result<Descriptor, Errno>,
    ) -> Result<u32, Errno> {
        self.table().reserve()?;
        // The table is not locked meanwhile: opening may wait.
        let opened = open();
        let mut table = self.table();
        table.release();
        table.insert(opened?)
    }

    /// Whether a failed write to `fd` ends the guest, see
    /// [`WasiCtxBuilder::ends_on_broken_pipe`].
    pub(crate) fn ends_on(&self, fd: u32, error: Errno) -> bool {
        error == Errno::Pipe && self.ends_on_broken_pipe && (fd == 1 || fd == 2)
    }
}

fn terminated(what: &'static str, value: &[u8]) -> Result<Vec<u8>, BuildError> {
    if value.contains(&0) {
        let value = text(value);
        return Err(BuildError::Nul { what, value });
    }
    Ok(ended(value.to_vec()))
}

/// What has no NUL byte in it, with one at its end.
fn ended(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.push(0);
    bytes
}

/// For a message: what is no UTF-8 is replaced.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn open_dir(path: &Path) -> Result<OwnedFd, BuildError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|source| BuildError::Directory {
        path: path.to_owned(),
        source: source.into(),
    })
}

fn null() -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    Ok(rustix::fs::open("/dev/null", flags, Mode::empty())?)
}

/// A stream with no rights, in the place of one that is closed.
fn closed() -> io::Result<Descriptor> {
    let host = HostFile::Owned(null()?);
    Descriptor::new(host, Rights::empty(), Rights::empty())
        .map_err(|_| io::Error::from_raw_os_error(9))
}

fn insert(table: &mut Table, descriptor: Descriptor, what: &'static str) -> Result<(), BuildError> {
    table
        .insert(descriptor)
        .map(|_| ())
        .map_err(|error| stream_error(what, error))
}

fn stream_error(what: &'static str, error: Errno) -> BuildError {
    BuildError::Stream {
        what,
        source: io::Error::other(format!("{error:?}")),
    }
}
