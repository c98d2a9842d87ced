use std::path::PathBuf;

use super::{HEADER, Identity, MAGIC, MAX_BYTES, decode, encode, load};
use crate::file::write_file;

const DRIVER: Identity = Identity {
    vendor: 1,
    device: 2,
    driver: 3,
    uuid: [7; 16],
};

/// Temporary folder of a test, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        Self(crate::test_folder::make(name))
    }

    fn file(&self) -> PathBuf {
        self.0.join("pipelines.bin")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn decode_inverts_encode() {
    let bytes = encode(&DRIVER, b"payload");
    assert_eq!(decode(&DRIVER, &bytes), Some(&b"payload"[..]));
    assert_eq!(decode(&DRIVER, &encode(&DRIVER, b"")), Some(&b""[..]));
}

#[test]
fn every_flipped_bit_is_found() {
    let bytes = encode(&DRIVER, b"payload");
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(decode(&DRIVER, &damaged), None, "bit {bit} is not missed");
    }
}

#[test]
fn every_truncation_is_found() {
    let bytes = encode(&DRIVER, b"payload");
    for length in 0..bytes.len() {
        assert_eq!(
            decode(&DRIVER, &bytes[..length]),
            None,
            "{length} bytes are taken"
        );
    }
}

#[test]
fn files_of_other_drivers_are_rejected() {
    let bytes = encode(&DRIVER, b"payload");
    for other in [
        Identity {
            vendor: 9,
            ..DRIVER
        },
        Identity {
            device: 9,
            ..DRIVER
        },
        Identity {
            driver: 9,
            ..DRIVER
        },
        Identity {
            uuid: [9; 16],
            ..DRIVER
        },
    ] {
        assert_eq!(decode(&other, &bytes), None);
    }
}

#[test]
fn the_last_stored_file_is_loaded() {
    let folder = Folder::new("whole");
    let file = folder.file();
    assert_eq!(load(&file, &DRIVER).unwrap(), b"", "a missing file");
    write_file(&file, &encode(&DRIVER, b"one")).unwrap();
    write_file(&file, &encode(&DRIVER, b"two")).unwrap();
    assert_eq!(load(&file, &DRIVER).unwrap(), b"two");
}

#[test]
fn absurd_files_are_ignored() {
    let folder = Folder::new("absurd");
    let file = folder.file();
    for bytes in [
        &b""[..],
        b"x",
        &MAGIC[..],
        &[0; HEADER - 1],
        &[0xff; HEADER + 5],
    ] {
        std::fs::write(&file, bytes).unwrap();
        assert_eq!(load(&file, &DRIVER).unwrap(), b"", "{} bytes", bytes.len());
    }
    std::fs::File::create(&file)
        .unwrap()
        .set_len(MAX_BYTES + 1)
        .unwrap();
    assert_eq!(load(&file, &DRIVER).unwrap(), b"", "a huge file is read");
}

#[test]
fn folders_and_files_as_folders_are_errors() {
    let folder = Folder::new("folder");
    assert!(load(&folder.0, &DRIVER).is_err(), "a folder");
    let inside_a_file = folder.file().join("pipelines.bin");
    std::fs::write(folder.file(), b"").unwrap();
    assert!(load(&inside_a_file, &DRIVER).is_err(), "no folder");
}

/// Reading a pipe would block start-up forever; reading an endless device file would exhaust memory.
#[cfg(unix)]
#[test]
fn pipes_and_devices_are_not_read() {
    let folder = Folder::new("pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(folder.file())
        .status();
    assert!(made.unwrap().success(), "there is no pipe");
    let error = load(&folder.file(), &DRIVER).unwrap_err();
    assert!(error.to_string().starts_with("it is no regular file"));
    let endless = folder.0.join("endless.bin");
    std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
    let error = load(&endless, &DRIVER).unwrap_err();
    assert!(error.to_string().starts_with("it is no regular file"));
}
