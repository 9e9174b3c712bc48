//! Sockets that the guest was given.

use super::*;
use crate::calls::sock::*;
use crate::types::FileType;
use std::io::{Read, Write};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

/// Sockets follow the one preopened folder.
const SOCKET: u32 = 4;

fn recv(guest: &mut Guest, fd: u32, len: u32, flags: u32) -> Result<(Vec<u8>, u16), Errno> {
    let range = guest.range(len);
    guest.call(|ctx, mem| sock_recv(ctx, mem, fd, &range, flags, (OUT, OUT + 4)))?;
    let got = guest.u32(OUT) as usize;
    let flags = u16::from_le_bytes([guest.bytes[4], guest.bytes[5]]);
    Ok((
        guest.bytes[DATA as usize..][..got.min(len as usize)].to_vec(),
        flags,
    ))
}

fn send(guest: &mut Guest, fd: u32, data: &[u8]) -> Result<u32, Errno> {
    guest.bytes[DATA as usize..][..data.len()].copy_from_slice(data);
    let range = guest.range(u32::try_from(data.len()).unwrap());
    guest.call(|ctx, mem| sock_send(ctx, mem, fd, &range, 0, OUT))?;
    Ok(guest.u32(OUT))
}

#[test]
fn a_stream_is_received_peeked_sent_and_shut_down() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let mut guest = Guest::with(|builder| builder.preopened_socket(ours));
    theirs.write_all(b"hello").unwrap();
    assert_eq!(recv(&mut guest, SOCKET, 3, 1), Ok((b"hel".to_vec(), 0)));
    assert_eq!(recv(&mut guest, SOCKET, 5, 2), Ok((b"hello".to_vec(), 0)));
    assert_eq!(send(&mut guest, SOCKET, b"world"), Ok(5));
    assert_eq!(guest.write(SOCKET, b"!"), Ok(1));
    assert_eq!(sock_shutdown(&guest.ctx, SOCKET, 2), Ok(()));
    let mut text = String::new();
    theirs.read_to_string(&mut text).unwrap();
    assert_eq!(text, "world!");
    drop(theirs);
    assert_eq!(send(&mut guest, SOCKET, b"x"), Err(Errno::Pipe));
    assert_eq!(sock_shutdown(&guest.ctx, SOCKET, 0), Err(Errno::Inval));
    assert_eq!(sock_shutdown(&guest.ctx, SOCKET, 4), Err(Errno::Inval));
}

#[test]
fn a_cut_datagram_says_so() {
    let (ours, theirs) = UnixDatagram::pair().unwrap();
    let mut guest = Guest::with(|builder| builder.preopened_socket(ours));
    theirs.send(b"datagram").unwrap();
    assert_eq!(recv(&mut guest, SOCKET, 4, 0), Ok((b"data".to_vec(), 1)));
    theirs.send(b"two").unwrap();
    assert_eq!(recv(&mut guest, SOCKET, 9, 0), Ok((b"two".to_vec(), 0)));
    guest
        .call(|ctx, mem| file::fd_fdstat_get(ctx, mem, SOCKET, OUT))
        .unwrap();
    assert_eq!(guest.bytes[0], FileType::SocketDgram as u8);
}

#[test]
fn connections_are_accepted() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let mut guest = Guest::with(|builder| builder.preopened_socket(listener));
    let mut client = UnixStream::connect(&path).unwrap();
    client.write_all(b"hi").unwrap();
    let accept = |guest: &mut Guest, flags| {
        guest
            .call(|ctx, mem| sock_accept(ctx, mem, SOCKET, flags, OUT))
            .map(|()| guest.u32(OUT))
    };
    assert_eq!(accept(&mut guest, 1), Err(Errno::Inval));
    let fd = accept(&mut guest, 4).unwrap();
    assert_eq!(fd, SOCKET + 1);
    assert_eq!(recv(&mut guest, fd, 9, 0), Ok((b"hi".to_vec(), 0)));
    // Accepted as non-blocking.
    assert_eq!(recv(&mut guest, fd, 9, 0), Err(Errno::Again));
    file::fd_fdstat_set_flags(&mut guest.ctx, SOCKET, 4).unwrap();
    assert_eq!(accept(&mut guest, 0), Err(Errno::Again));
}

#[test]
fn what_is_no_socket_says_so() {
    let mut guest = Guest::new();
    let fd = guest.create("f");
    assert_eq!(recv(&mut guest, fd, 1, 0), Err(Errno::Notsock));
    assert_eq!(send(&mut guest, fd, b"x"), Err(Errno::Notsock));
    assert_eq!(sock_shutdown(&guest.ctx, 3, 1), Err(Errno::Notsock));
    assert_eq!(sock_shutdown(&guest.ctx, 77, 1), Err(Errno::Badf));
}
