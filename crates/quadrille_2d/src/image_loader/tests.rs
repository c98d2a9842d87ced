use super::*;

const LIMITS: ImageLimits = ImageLimits {
    file_bytes: 1000,
    side: 4096,
};

/// The beginning of a PNG file.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes
}

#[test]
fn what_a_file_claims_is_checked() {
    assert!(check(&png(4096, 1), LIMITS).is_ok());
    let error = check(&png(4, 2_000_000_000), LIMITS).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the image claims to have 4x2000000000 pixels, more than the limit of 4096 on a side"
    );
    let mut ktx2 = b"\xABKTX 20\xBB\r\n\x1A\n".to_vec();
    ktx2.extend([0; 8]);
    ktx2.extend(5000_u32.to_le_bytes());
    ktx2.extend(1_u32.to_le_bytes());
    assert!(matches!(
        check(&ktx2, LIMITS),
        Err(CheckedImageError::TooLarge {
            size: [5000, 1],
            ..
        })
    ));
}

#[test]
fn cut_off_headers_are_left_to_the_decoder() {
    let whole = png(9000, 9000);
    for length in 0..24 {
        assert!(check(&whole[..length], LIMITS).is_ok(), "{length} bytes");
    }
}

#[test]
fn long_files_are_refused() {
    let error = check(&[0; 1001], LIMITS).unwrap_err();
    assert!(error.to_string().contains("1000 bytes"), "{error}");
}

#[test]
fn no_more_is_read_than_the_limit_and_a_byte() {
    let mut reader = VecReader::new(vec![7; 5000]);
    let bytes =
        bevy_platform::future::block_on(read(&mut reader, LIMITS)).expect("memory can be read");
    assert_eq!(bytes.len(), 1001);
    assert!(check(&bytes, LIMITS).is_err());
    let mut rest = Vec::new();
    let read_rest = Reader::read_to_end(&mut reader, &mut rest);
    bevy_platform::future::block_on(read_rest).expect("memory can be read");
    assert_eq!(rest.len(), 3999, "nothing was taken beyond");
    let mut short = VecReader::new(png(4, 4));
    let bytes =
        bevy_platform::future::block_on(read(&mut short, LIMITS)).expect("memory can be read");
    assert_eq!(bytes, png(4, 4));
}
