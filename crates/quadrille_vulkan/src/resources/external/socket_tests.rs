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
