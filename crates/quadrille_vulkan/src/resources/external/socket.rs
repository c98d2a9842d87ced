//! File descriptors over Unix sockets (`SCM_RIGHTS`, unix(7)).

use std::io::{self, Read as _};
use std::mem;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;

use super::{MemoryLayout, SharedMemory, invalid};
use crate::error::Error;

/// Most bytes of a message.
const MOST_BYTES: usize = 1 << 16;

impl SharedMemory {
    /// Sends the descriptor and its properties to the process at the other end, which calls
    /// [`SharedMemory::receive`]. The descriptor stays open here.
    ///
    /// # Errors
    /// The other end is closed.
    pub fn send(&self, socket: &UnixStream) -> Result<(), Error> {
        send(socket, Some(self.fd.as_fd()), &self.layout.to_bytes())
            .map_err(failed("shared memory", "sent"))
    }

    /// Receives what [`SharedMemory::send`] has sent. Waits for it, for as long as the socket's read timeout.
    ///
    /// # Errors
    /// The other end is closed, sends nothing in time, or sends anything else.
    pub fn receive(socket: &UnixStream) -> Result<Self, Error> {
        let (fd, bytes) = receive(socket).map_err(failed("shared memory", "received"))?;
        let fd = fd.ok_or_else(|| {
            invalid(
                "shared memory",
                "a message without a descriptor was received; let the other end call `SharedMemory::send`",
            )
        })?;
        let layout = MemoryLayout::from_bytes(&bytes)?;
        Ok(Self { fd, layout })
    }
}

/// The error of a socket.
pub(super) fn failed(name: &str, verb: &str) -> impl FnOnce(io::Error) -> Error {
    move |error| {
        let problem = format!("it is not {verb} ({error}); the other end has to stay open");
        invalid(name, problem)
    }
}

/// Sends bytes, and a descriptor with them.
pub(super) fn send(
    socket: &UnixStream,
    fd: Option<BorrowedFd<'_>>,
    bytes: &[u8],
) -> io::Result<()> {
    let length = (bytes.len() as u32).to_le_bytes();
    let mut whole = [&length, bytes].concat();
    let mut rest = &mut whole[..];
    let mut ancillary = Ancillary::empty();
    ancillary.header.cmsg_level = libc::SOL_SOCKET;
    ancillary.header.cmsg_type = libc::SCM_RIGHTS;
    ancillary.header.cmsg_len = Ancillary::LENGTH as _;
    let mut has_fd = fd.is_some();
    ancillary.fd = fd.map_or(-1, |fd| fd.as_raw_fd());
    while !rest.is_empty() {
        let mut part = iovec(rest);
        let message = message(&mut part, has_fd.then_some(&mut ancillary));
        let flags = libc::MSG_NOSIGNAL;
        // SAFETY: the message and all that it points to live.
        let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, flags) };
        match usize::try_from(sent) {
            Ok(sent) => {
                // The descriptor went with the first byte.
                has_fd = false;
                rest = &mut rest[sent..];
            }
            Err(_) => retry()?,
        }
    }
    Ok(())
}

/// Receives bytes, and the descriptor that was sent with them.
pub(super) fn receive(socket: &UnixStream) -> io::Result<(Option<OwnedFd>, Vec<u8>)> {
    let mut length = [0_u8; 4];
    let (mut fd, mut filled) = (None, 0);
    while filled < length.len() {
        let mut part = iovec(&mut length[filled..]);
        let mut ancillary = Ancillary::empty();
        let mut message = message(&mut part, Some(&mut ancillary));
        let flags = libc::MSG_CMSG_CLOEXEC;
        // SAFETY: the message and all that it points to live.
        let read = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
        let Ok(read) = usize::try_from(read) else {
            retry()?;
            continue;
        };
        let header = &ancillary.header;
        // There is room for one descriptor; the kernel opens none that do not fit.
        let is_there = message.msg_controllen >= Ancillary::LENGTH as _
            && (header.cmsg_level, header.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS)
            && header.cmsg_len >= Ancillary::LENGTH as _;
        if is_there {
            // SAFETY: the kernel has opened the descriptor for this process, and nobody else owns it.
            fd = Some(unsafe { OwnedFd::from_raw_fd(ancillary.fd) });
        }
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        filled += read;
    }
    let count = u32::from_le_bytes(length) as usize;
    if count > MOST_BYTES {
        return Err(io::Error::other(format!("a message of {count} bytes")));
    }
    let mut bytes = vec![0; count];
    let mut socket = socket;
    socket.read_exact(&mut bytes)?;
    Ok((fd, bytes))
}

fn iovec(bytes: &mut [u8]) -> libc::iovec {
    libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    }
}

fn message(part: &mut libc::iovec, ancillary: Option<&mut Ancillary>) -> libc::msghdr {
    // SAFETY: zeros are a message without anything.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = part;
    message.msg_iovlen = 1;
    if let Some(ancillary) = ancillary {
        message.msg_control = std::ptr::from_mut(ancillary).cast();
        // Without the padding, which would hold a second descriptor.
        message.msg_controllen = Ancillary::LENGTH as _;
    }
    message
}

/// Ancillary data of one descriptor. The data of `cmsghdr` follow it, aligned as a word is (`CMSG_DATA`).
#[repr(C)]
struct Ancillary {
    header: libc::cmsghdr,
    fd: libc::c_int,
}

impl Ancillary {
    /// Bytes of header and descriptor (`CMSG_LEN`).
    const LENGTH: usize = mem::offset_of!(Ancillary, fd) + size_of::<libc::c_int>();

    fn empty() -> Self {
        // SAFETY: zeros are a header of no data, and a number.
        unsafe { mem::zeroed() }
    }
}

/// Returns the last error, unless a signal has interrupted the call.
fn retry() -> io::Result<()> {
    let error = io::Error::last_os_error();
    match error.kind() {
        io::ErrorKind::Interrupted => Ok(()),
        _ => Err(error),
    }
}

#[cfg(test)]
#[path = "socket_tests.rs"]
mod tests;
