use bevy_color::ColorToComponents as _;
use bevy_image::{CompressedImageFormats, Image, ImageSampler, ImageType};
use image::ImageFormat;

use super::*;

fn png(color: png::ColorType, depth: png::BitDepth, pixel: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 1, 1);
    encoder.set_color(color);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(pixel).unwrap();
    drop(writer);
    file
}

fn decoded(file: &[u8]) -> Image {
    let kind = ImageType::MimeType("image/png");
    let formats = CompressedImageFormats::NONE;
    let sampler = ImageSampler::Default;
    let usage = bevy_asset::RenderAssetUsages::default();
    let mut image = Image::from_buffer(file, kind, formats, true, sampler, usage).unwrap();
    to_linear(&mut image, file);
    image
}

/// Returns the linear values of the only pixel.
fn pixel(image: &Image) -> [f32; 4] {
    image.get_color_at(0, 0).unwrap().to_linear().to_f32_array()
}

#[test]
fn sixteen_bits_look_like_eight() {
    use png::{BitDepth::*, ColorType::*};
    for value in [0_u8, 1, 10, 11, 64, 128, 200, 254, 255] {
        let eight = decoded(&png(Rgba, Eight, &[value, 255 - value, value / 2, value]));
        let wide = |values: &[u8]| -> Vec<u8> { values.iter().flat_map(|&it| [it, it]).collect() };
        let file = png(
            Rgba,
            Sixteen,
            &wide(&[value, 255 - value, value / 2, value]),
        );
        assert!(has_16_bits(&file, Some(ImageFormat::Png)));
        let sixteen = decoded(&file);
        assert_eq!(
            sixteen.texture_descriptor.format,
            TextureFormat::Rgba16Unorm
        );
        for (one, other) in pixel(&eight).into_iter().zip(pixel(&sixteen)) {
            assert!((one - other).abs() < 1e-5, "{value}: {one} and {other}");
        }
        // Grayscale and images without alpha are converted to four channels as well.
        for (color, channels) in [(Grayscale, 1), (GrayscaleAlpha, 2), (Rgb, 3)] {
            let narrow = pixel(&decoded(&png(color, Eight, &vec![value; channels])));
            let wide = pixel(&decoded(&png(
                color,
                Sixteen,
                &wide(&vec![value; channels]),
            )));
            for (one, other) in narrow.into_iter().zip(wide) {
                assert!(
                    (one - other).abs() < 1e-5,
                    "{color:?} {value}: {one} and {other}"
                );
            }
        }
    }
}

#[test]
fn values_of_containers_and_of_eight_bits_stay() {
    let file = png(png::ColorType::Rgba, png::BitDepth::Eight, &[128; 4]);
    assert!(!has_16_bits(&file, Some(ImageFormat::Png)));
    assert_eq!(decoded(&file).data.as_deref(), Some(&[128; 4][..]));
    let file = png(png::ColorType::Rgba, png::BitDepth::Sixteen, &[128; 8]);
    let mut image = decoded(&file);
    let before = image.data.clone();
    to_linear(&mut image, b"\xABKTX 20\xBB\r\n\x1A\n and more");
    assert_eq!(image.data, before);
}
