use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::fd::AsFd as _;

use super::*;

#[test]
fn descriptor_arrives_with_its_bytes() {
    let (one, other) = UnixStream::pair().unwrap();
    let path = crate::test_folder::make("socket").join("file");
    let mut file = File::create_new(&path).unwrap();
    file.write_all(b"shared").unwrap();
    for bytes in [&b"properties"[..], &[], &[7; 5000]] {
        let file = File::open(&path).unwrap();
        send(&one, Some(file.as_fd()), bytes).unwrap();
        send(&one, None, b"alone").unwrap();
        drop(file);
        let (fd, received) = receive(&other).unwrap();
        assert_eq!(received, bytes);
        let mut file = File::from(fd.expect("it is sent"));
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "shared");
        let (fd, received) = receive(&other).unwrap();
        assert!(fd.is_none());
        assert_eq!(received, b"alone");
    }
    drop(one);
    let error = receive(&other).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    assert!(send(&other, None, b"nobody").is_err());
}

#[test]
fn too_long_message_is_an_error() {
    let (mut one, other) = UnixStream::pair().unwrap();
    one.write_all(&u32::MAX.to_le_bytes()).unwrap();
    assert!(receive(&other).is_err());
}

/// A message with two descriptors, as another program may send it.
#[repr(C)]
struct Two {
    header: libc::cmsghdr,
    fds: [libc::c_int; 2],
}

#[test]
fn descriptor_too_many_is_closed() {
    let (one, other) = UnixStream::pair().unwrap();
    let pairs = [(); 2].map(|()| UnixStream::pair().unwrap());
    let mut two = Two {
        // SAFETY: zeros are a header of no data.
        header: unsafe { mem::zeroed() },
        fds: [&pairs[0], &pairs[1]].map(|(end, _)| end.as_raw_fd()),
    };
    two.header.cmsg_level = libc::SOL_SOCKET;
    two.header.cmsg_type = libc::SCM_RIGHTS;
    two.header.cmsg_len = (mem::offset_of!(Two, fds) + size_of_val(&two.fds)) as _;
    let mut length = 0_u32.to_le_bytes();
    let mut part = iovec(&mut length);
    let mut message = message(&mut part, None);
    message.msg_control = (&raw mut two).cast();
    message.msg_controllen = size_of::<Two>() as _;
    // SAFETY: the message and all that it points to live.
    let sent = unsafe { libc::sendmsg(one.as_raw_fd(), &raw const message, 0) };
    assert_eq!(sent, 4);
    let (fd, bytes) = receive(&other).unwrap();
    assert!(fd.is_some() && bytes.is_empty());
    drop(fd);
    for (end, mut far) in pairs {
        drop(end);
        let timeout = std::time::Duration::from_secs(5);
        far.set_read_timeout(Some(timeout)).unwrap();
        // A descriptor that is still open would let the read wait for it.
        assert_eq!(far.read(&mut [0]).unwrap(), 0);
    }
}
