use super::*;

/// Returns a file of 4 x 4 texels of four equal bytes, with two mip levels.
fn file() -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    let format = vk::Format::R8G8B8A8_SRGB.as_raw() as u32;
    let header = [format, 1, 4, 4, 0, 0, 1, 2, 0];
    let descriptor = [128, 44, 0, 0, 0, 0, 0, 0];
    for word in header.into_iter().chain(descriptor) {
        file.extend(u32::to_le_bytes(word));
    }
    for number in [192, 64, 64, 176, 16, 16] {
        file.extend(u64::to_le_bytes(number));
    }
    file.resize(256, 7);
    file
}

fn check(file: &[u8]) -> Result<u64, String> {
    Ktx2::read(file).expect("a header").check()
}

/// Returns the file with a changed number in the level index.
fn with(at: usize, number: u64) -> Vec<u8> {
    let mut file = file();
    file[at..at + 8].copy_from_slice(&number.to_le_bytes());
    file
}

#[test]
fn consistent_file_is_accepted() {
    assert_eq!(check(&file()), Ok(80));
}

#[test]
fn levels_lie_within_the_file_and_over_nothing() {
    let error = |at, number| check(&with(at, number)).unwrap_err();
    assert_eq!(
        error(80, 40),
        "its level 0 begins at byte 40, in its header, which ends at byte 128"
    );
    assert!(error(80, 150).contains("in its data format descriptor"));
    assert!(error(104, 200).contains("its level 1 begins at byte 200, in its level 0"));
    assert!(error(80, 193).contains("64 bytes from byte 193 on, and the file has 256"));
    assert!(error(80, u64::MAX).contains("the file has 256"));
    assert_eq!(error(112, 0), "its level 1 has no bytes");
}

#[test]
fn levels_have_the_bytes_that_their_pixels_take() {
    let mut shorter = with(112, 12);
    shorter[120..128].copy_from_slice(&12_u64.to_le_bytes());
    assert_eq!(
        check(&shorter).unwrap_err(),
        "its level 1 has 12 bytes, and 2x2 pixels of R8G8B8A8_SRGB take 16"
    );
    assert!(
        check(&with(120, 17))
            .unwrap_err()
            .contains("nothing is compressed")
    );
    let mut many = file();
    many[40..44].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(check(&many).unwrap_err().contains("4294967295 mip levels"));
    many[40..44].copy_from_slice(&9_u32.to_le_bytes());
    assert!(
        check(&many)
            .unwrap_err()
            .contains("ends at byte 296 of 256")
    );
}

#[test]
fn decompressed_size_matches_the_header() {
    // A zstd frame with one RLE block: 16 times one byte (RFC 8878, sections 3.1.1 and 3.1.1.2).
    let packed = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58, 0x83, 0x00, 0x00, 7];
    let compressed = |decoded: u64, claimed: u32| {
        let mut file = file();
        file[24..28].copy_from_slice(&claimed.to_le_bytes());
        file[40..48].copy_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0]);
        file.truncate(172);
        let entry = [172, packed.len() as u64, decoded].map(u64::to_le_bytes);
        file[80..104].copy_from_slice(entry.as_flattened());
        file.extend(packed);
        file
    };
    assert_eq!(check(&compressed(16, 1)), Ok(16));
    let bomb = check(&compressed(8, 1)).unwrap_err();
    assert!(
        bomb.contains("more bytes when it is decoded than the 8"),
        "{bomb}"
    );
    let short = check(&compressed(32, 2)).unwrap_err();
    assert!(short.contains("16 bytes when it is decoded"), "{short}");
    let mut broken = compressed(16, 1);
    broken[172] = 0;
    assert!(
        check(&broken)
            .unwrap_err()
            .contains("its level 0 is broken")
    );
}
