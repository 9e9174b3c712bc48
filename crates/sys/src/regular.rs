//! Files that somebody else names, opened without waiting for anybody; and what the user
//! names on the command line, which may be a pipe.
//!
//! A description, a campaign or what a runner says may name anything: a pipe that nobody
//! writes to keeps whoever opens it waiting for good. What must stay true: nothing here
//! blocks but [`read_input`], which reads nothing without end, and [`write_output`] for who
//! reads already; what is no regular file is an error that says what it is.

use std::{
    fs::{File, FileType, OpenOptions},
    io::{self, IsTerminal, Read, Write},
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::Path,
};

/// Opens a regular file to be read.
///
/// # Errors
/// What the system says, or that it is no regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let file = at_once(path).map_err(|error| match std::fs::metadata(path) {
        // Sockets cannot be opened, which the system says less clearly.
        Ok(meta) => irregular(meta.file_type()).unwrap_or(error),
        Err(_) => error,
    })?;
    match irregular(file.metadata()?.file_type()) {
        Some(error) => Err(error),
        None => Ok(file),
    }
}

/// Opens anything without waiting for a writer, where it is a pipe, or for a line, where it is
/// a terminal.
fn at_once(path: &Path) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// As [`std::fs::read`], of a regular file.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// As [`std::fs::read_to_string`], of a regular file.
///
/// # Errors
/// As [`open`], or it is not UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    io::read_to_string(open(path)?)
}

/// Most bytes that are read of what a user names.
const INPUT_BYTES_MAX: u64 = 2 << 30;

/// Reads what a user names: a regular file, a pipe, for whose writer it waits, or a terminal.
///
/// # Errors
/// What the system says, that it is another device, or that it is larger than 2 GiB.
pub fn read_input(path: &Path) -> io::Result<Vec<u8>> {
    let kind = std::fs::metadata(path)?.file_type();
    let is_terminal =
        || kind.is_char_device() && at_once(path).is_ok_and(|file| file.is_terminal());
    let file = match kind.is_fifo() || is_terminal() {
        true => File::open(path)?,
        false => open(path)?,
    };
    let has_room = |bytes: u64| match bytes <= INPUT_BYTES_MAX {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "larger than 2 GiB",
        )),
    };
    let bytes = file.metadata()?.len();
    has_room(bytes)?;
    let mut read = Vec::with_capacity(usize::try_from(bytes).unwrap_or_default());
    file.take(INPUT_BYTES_MAX + 1).read_to_end(&mut read)?;
    has_room(read.len() as u64)?;
    Ok(read)
}

/// From here on a write past the limit of a file's size (`ulimit -f`) fails by `EFBIG`, and does
/// not end this process by SIGXFSZ (setrlimit(2)). A program that it starts has the default again.
pub fn outlive_size_limits() {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: actions of zeroes are actions; the handler does nothing. Where there is no such
    // handler, the signal does what it did.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGXFSZ, std::ptr::null(), &mut before);
        if before.sa_sigaction == libc::SIG_DFL {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as *const () as usize;
            action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGXFSZ, &action, std::ptr::null_mut());
        }
    }
}

/// Writes what a user names: a file, which is made anew, a device, or a pipe that somebody reads.
///
/// # Errors
/// What the system says, or that nobody reads the pipe: nobody is waited for.
pub fn write_output(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if !std::fs::metadata(path).is_ok_and(|meta| meta.file_type().is_fifo()) {
        return std::fs::write(path, bytes);
    }
    let mut pipe = OpenOptions::new();
    let pipe = pipe.write(true).custom_flags(libc::O_NONBLOCK).open(path);
    let mut pipe = pipe.map_err(|error| match error.raw_os_error() {
        Some(libc::ENXIO) => io::Error::new(io::ErrorKind::BrokenPipe, "a pipe that nobody reads"),
        _ => error,
    })?;
    // Whoever reads may take their time.
    rustix::fs::fcntl_setfl(&pipe, rustix::fs::OFlags::empty())?;
    pipe.write_all(bytes)
}

/// What a file is that is not regular.
fn irregular(kind: FileType) -> Option<io::Error> {
    let what = match kind {
        kind if kind.is_file() => return None,
        kind if kind.is_dir() => return Some(io::Error::from_raw_os_error(libc::EISDIR)),
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    };
    let message = format!("{what}, where a regular file is needed");
    Some(io::Error::new(io::ErrorKind::InvalidInput, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened_and_nobody_waits() {
        let folder = std::env::temp_dir().join(format!("fathom-regular-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let at = |name: &str| folder.join(name);
        std::fs::write(at("file"), "text").unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RWXU).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::os::unix::fs::symlink(at("pipe"), at("link")).unwrap();
        let said = |path: &Path| read_to_string(path).unwrap_err().to_string();
        assert_eq!(read_to_string(&at("file")).unwrap(), "text");
        for (name, what) in [
            ("pipe", "a pipe, where"),
            ("link", "a pipe, where"),
            ("socket", "a socket, where"),
            ("gone", "No such file"),
            ("", "Is a directory"),
        ] {
            let text = said(&at(name));
            assert!(text.starts_with(what), "{name}: {text}");
        }
        assert!(said(Path::new("/dev/null")).starts_with("a device, where"));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_pipe_is_written_where_somebody_reads() {
        let folder = std::env::temp_dir().join(format!("fathom-output-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let pipe = folder.join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        let error = write_output(&pipe, b"text").unwrap_err();
        assert_eq!(error.to_string(), "a pipe that nobody reads");
        let mut reader = at_once(&pipe).unwrap();
        write_output(&pipe, b"text").unwrap();
        let mut read = String::new();
        reader.read_to_string(&mut read).unwrap();
        assert_eq!(read, "text");
        write_output(&folder.join("file"), b"text").unwrap();
        assert_eq!(std::fs::read(folder.join("file")).unwrap(), b"text");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn inputs_may_be_pipes_and_have_an_end() {
        let folder = std::env::temp_dir().join(format!("fathom-input-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let pipe = folder.join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        std::thread::scope(|scope| {
            // Each waits for the other.
            scope.spawn(|| std::fs::write(&pipe, "through").unwrap());
            assert_eq!(read_input(&pipe).unwrap(), b"through");
        });
        let said = |path: &Path| read_input(path).unwrap_err().to_string();
        assert!(said(Path::new("/dev/zero")).starts_with("a device, where"));
        let path = folder.join("large");
        let file = File::create(&path).unwrap();
        file.set_len(INPUT_BYTES_MAX + 1).unwrap();
        assert_eq!(said(&path), "larger than 2 GiB");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
