use super::*;

const LIMITS: Complete = Complete {
    file_bytes: 1000,
    side: 4096,
    decoded_bytes: 4 << 20,
};

/// Returns the header of a PNG file without pixels.
fn png(width: u32, height: u32, depth: png::BitDepth) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().expect("a header");
    writer
        .write_chunk(png::chunk::IDAT, &[])
        .expect("memory can be written");
    drop(writer);
    file
}

fn check(file: &[u8], limits: Complete) -> Result<(), CheckedImageError> {
    super::check(file, Some(FileFormat::Png), limits).map(|_| ())
}

#[test]
fn claimed_sizes_are_checked() {
    let small = png(4096, 1, png::BitDepth::Eight);
    assert!(check(&small, LIMITS).is_ok());
    let error = check(&png(4, 2_000_000_000, png::BitDepth::Eight), LIMITS).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the image claims to have 4x2000000000 pixels, more than the limit of 4096 on a side, \
         which `ImageLimits::side` sets"
    );
    let mut ktx2 = b"\xABKTX 20\xBB\r\n\x1A\n".to_vec();
    ktx2.extend([0; 8]);
    ktx2.extend(5000_u32.to_le_bytes());
    ktx2.extend(1_u32.to_le_bytes());
    ktx2.resize(200, 0);
    assert!(matches!(
        check(&ktx2, LIMITS),
        Err(CheckedImageError::TooLarge {
            size: [5000, 1],
            ..
        })
    ));
}

#[test]
fn pixels_take_no_more_than_the_limit_when_they_are_decoded() {
    // Pixels of 1 bit are decoded to four bytes, pixels of 16 bits per channel to eight.
    let limit = |size, depth| check(&png(size, size, depth), LIMITS);
    assert!(limit(1024, png::BitDepth::One).is_ok());
    assert!(limit(1024, png::BitDepth::Eight).is_ok());
    let error = limit(1025, png::BitDepth::One).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the 1025x1025 pixels of the image take 4202500 bytes when they are decoded, more than the \
         limit of 4194304; `ImageLimits::decoded_bytes` sets another"
    );
    assert!(limit(1024, png::BitDepth::Sixteen).is_err());
    let guessed = super::check(&png(1025, 1025, png::BitDepth::One), None, LIMITS);
    assert!(guessed.is_err());
    let default = DeviceLimits::default().complete(ImageLimits::default());
    let zeros = png(16_384, 16_384, png::BitDepth::Eight);
    assert!(matches!(
        check(&zeros, default),
        Err(CheckedImageError::DecodedTooLarge { bytes, .. }) if bytes == 1 << 30
    ));
}

#[test]
fn cut_off_headers_are_left_to_the_decoder() {
    let whole = png(9, 9, png::BitDepth::Eight);
    for length in 0..whole.len() {
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
    let mut short = VecReader::new(png(4, 4, png::BitDepth::Eight));
    let bytes =
        bevy_platform::future::block_on(read(&mut short, LIMITS)).expect("memory can be read");
    assert_eq!(bytes, png(4, 4, png::BitDepth::Eight));
}

/// The default limit on a device with little memory is an eighth of it.
#[test]
fn the_device_decides_where_the_app_does_not() {
    assert_eq!(default_decoded_bytes(256 << 20), 32 << 20);
    assert_eq!(default_decoded_bytes(4 << 30), 512 << 20);
    assert_eq!(default_decoded_bytes(80 << 30), 512 << 20);
    let device = DeviceLimits::default();
    let limit = |limits| device.complete(limits).decoded_bytes;
    let default = ImageLimits::default();
    assert_eq!(limit(default), 512 << 20, "before there is a device");
    let known = &device.0.decoded_bytes;
    known.store(default_decoded_bytes(1 << 30), Ordering::Relaxed);
    assert_eq!(limit(default), 128 << 20);
    let app = ImageLimits {
        decoded_bytes: Some(7),
        ..default
    };
    assert_eq!(limit(app), 7);
}
