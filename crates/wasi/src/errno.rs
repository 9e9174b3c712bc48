//! The error numbers of the interface and their translation from the host's.
//!
//! Source: `typenames.witx` of WASI snapshot preview 1, `$errno`; the numbers
//! are the positions in that list. Every call returns one of them to the
//! guest; `Errno::Success` is never an `Err`.

use rustix::io::Errno as Host;

macro_rules! errnos {
    ($($(#[$doc:meta])* $name:ident = $number:literal $(<- $host:ident)?,)*) => {
        /// An error number as the guest sees it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u16)]
        pub enum Errno {
            $($(#[$doc])* $name = $number,)*
        }

        impl Errno {
            /// All error numbers, in the order of the specification.
            pub const ALL: &[Errno] = &[$(Errno::$name,)*];
        }

        impl From<Host> for Errno {
            fn from(error: Host) -> Errno {
                $($(if error == Host::$host {
                    return Errno::$name;
                })?)*
                // ENOTSUP and EOPNOTSUPP share a number on Linux, EWOULDBLOCK
                // is EAGAIN; what is left has no counterpart in the interface.
                Errno::Io
            }
        }
    };
}

errnos! {
    /// No error.
    Success = 0,
    /// Argument list too long.
    TooBig = 1 <- TOOBIG,
    /// Permission denied.
    Acces = 2 <- ACCESS,
    /// Address in use.
    Addrinuse = 3 <- ADDRINUSE,
    /// Address not available.
    Addrnotavail = 4 <- ADDRNOTAVAIL,
    /// Address family not supported.
    Afnosupport = 5 <- AFNOSUPPORT,
    /// Resource unavailable, or operation would block.
    Again = 6 <- AGAIN,
    /// Connection already in progress.
    Already = 7 <- ALREADY,
    /// Bad file descriptor.
    Badf = 8 <- BADF,
    /// Bad message.
    Badmsg = 9 <- BADMSG,
    /// Device or resource busy.
    Busy = 10 <- BUSY,
    /// Operation cancelled.
    Canceled = 11 <- CANCELED,
    /// No child processes.
    Child = 12 <- CHILD,
    /// Connection aborted.
    Connaborted = 13 <- CONNABORTED,
    /// Connection refused.
    Connrefused = 14 <- CONNREFUSED,
    /// Connection reset.
    Connreset = 15 <- CONNRESET,
    /// Resource deadlock would occur.
    Deadlk = 16 <- DEADLK,
    /// Destination address required.
    Destaddrreq = 17 <- DESTADDRREQ,
    /// Mathematics argument out of domain of function.
    Dom = 18 <- DOM,
    /// Reserved.
    Dquot = 19 <- DQUOT,
    /// File exists.
    Exist = 20 <- EXIST,
    /// Bad address.
    Fault = 21 <- FAULT,
    /// File too large.
    Fbig = 22 <- FBIG,
    /// Host is unreachable.
    Hostunreach = 23 <- HOSTUNREACH,
    /// Identifier removed.
    Idrm = 24 <- IDRM,
    /// Illegal byte sequence.
    Ilseq = 25 <- ILSEQ,
    /// Operation in progress.
    Inprogress = 26 <- INPROGRESS,
    /// Interrupted function.
    Intr = 27 <- INTR,
    /// Invalid argument.
    Inval = 28 <- INVAL,
    /// I/O error.
    Io = 29 <- IO,
    /// Socket is connected.
    Isconn = 30 <- ISCONN,
    /// Is a directory.
    Isdir = 31 <- ISDIR,
    /// Too many levels of symbolic links.
    Loop = 32 <- LOOP,
    /// File descriptor value too large.
    Mfile = 33 <- MFILE,
    /// Too many links.
    Mlink = 34 <- MLINK,
    /// Message too large.
    Msgsize = 35 <- MSGSIZE,
    /// Reserved.
    Multihop = 36 <- MULTIHOP,
    /// File name too long.
    Nametoolong = 37 <- NAMETOOLONG,
    /// Network is down.
    Netdown = 38 <- NETDOWN,
    /// Connection aborted by network.
    Netreset = 39 <- NETRESET,
    /// Network unreachable.
    Netunreach = 40 <- NETUNREACH,
    /// Too many files open in system.
    Nfile = 41 <- NFILE,
    /// No buffer space available.
    Nobufs = 42 <- NOBUFS,
    /// No such device.
    Nodev = 43 <- NODEV,
    /// No such file or directory.
    Noent = 44 <- NOENT,
    /// Executable file format error.
    Noexec = 45 <- NOEXEC,
    /// No locks available.
    Nolck = 46 <- NOLCK,
    /// Reserved.
    Nolink = 47 <- NOLINK,
    /// Not enough space.
    Nomem = 48 <- NOMEM,
    /// No message of the desired type.
    Nomsg = 49 <- NOMSG,
    /// Protocol not available.
    Noprotoopt = 50 <- NOPROTOOPT,
    /// No space left on device.
    Nospc = 51 <- NOSPC,
    /// Function not supported.
    Nosys = 52 <- NOSYS,
    /// The socket is not connected.
    Notconn = 53 <- NOTCONN,
    /// Not a directory or a symbolic link to a directory.
    Notdir = 54 <- NOTDIR,
    /// Directory not empty.
    Notempty = 55 <- NOTEMPTY,
    /// State not recoverable.
    Notrecoverable = 56 <- NOTRECOVERABLE,
    /// Not a socket.
    Notsock = 57 <- NOTSOCK,
    /// Not supported, or operation not supported on socket.
    Notsup = 58 <- OPNOTSUPP,
    /// Inappropriate I/O control operation.
    Notty = 59 <- NOTTY,
    /// No such device or address.
    Nxio = 60 <- NXIO,
    /// Value too large to be stored in data type.
    Overflow = 61 <- OVERFLOW,
    /// Previous owner died.
    Ownerdead = 62 <- OWNERDEAD,
    /// Operation not permitted.
    Perm = 63 <- PERM,
    /// Broken pipe.
    Pipe = 64 <- PIPE,
    /// Protocol error.
    Proto = 65 <- PROTO,
    /// Protocol not supported.
    Protonosupport = 66 <- PROTONOSUPPORT,
    /// Protocol wrong type for socket.
    Prototype = 67 <- PROTOTYPE,
    /// Result too large.
    Range = 68 <- RANGE,
    /// Read-only file system.
    Rofs = 69 <- ROFS,
    /// Invalid seek.
    Spipe = 70 <- SPIPE,
    /// No such process.
    Srch = 71 <- SRCH,
    /// Reserved.
    Stale = 72 <- STALE,
    /// Connection timed out.
    Timedout = 73 <- TIMEDOUT,
    /// Text file busy.
    Txtbsy = 74 <- TXTBSY,
    /// Cross-device link.
    Xdev = 75 <- XDEV,
    /// Capabilities insufficient.
    Notcapable = 76,
}

impl From<std::io::Error> for Errno {
    fn from(error: std::io::Error) -> Errno {
        match Host::from_io_error(&error) {
            Some(host) => host.into(),
            None => match error.kind() {
                std::io::ErrorKind::PermissionDenied => Errno::Perm,
                std::io::ErrorKind::NotFound => Errno::Noent,
                std::io::ErrorKind::InvalidInput => Errno::Inval,
                _ => Errno::Io,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_positions_in_the_specification() {
        for (position, errno) in Errno::ALL.iter().enumerate() {
            assert_eq!(*errno as usize, position, "{errno:?}");
        }
        assert_eq!(Errno::ALL.len(), 77);
    }

    #[test]
    fn host_errors_keep_their_meaning() {
        assert_eq!(Errno::from(Host::NOENT), Errno::Noent);
        assert_eq!(Errno::from(Host::OPNOTSUPP), Errno::Notsup);
        assert_eq!(Errno::from(Host::WOULDBLOCK), Errno::Again);
        assert_eq!(Errno::from(Host::BADFD), Errno::Io);
    }
}
