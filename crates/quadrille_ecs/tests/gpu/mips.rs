//! Mip levels that are made from the first one.

use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::resources::{GpuImage, ImageDesc, ImageUsage, View};

use crate::common::{Errors, Rig, read_back};

/// An image whose first level is uploaded, and whose other levels are made.
fn made(rig: &mut Rig, desc: &ImageDesc, texels: &[u8]) -> GpuImage {
    let world = rig.app.world_mut();
    let image = world.resource::<GpuDevice>().create_image(desc);
    let image = image.expect("images can be made");
    let mut uploads = world.resource_mut::<Uploads>();
    uploads.write_image(&image, texels);
    uploads.generate_mips(&image);
    image
}

/// The texels of a mip level.
fn level(rig: &mut Rig, image: &GpuImage, mip: u32) -> Vec<u8> {
    let texels = read_back(rig, Readback::view(image, View::WHOLE.mip(mip as u8)));
    rig.expect_no_errors();
    texels.expect("a mip level is read back within ten frames")
}

fn grey(values: &[u8]) -> Vec<u8> {
    values.iter().flat_map(|&v| [v, v, v, 255]).collect()
}

const LINEAR: Format = Format::R8G8B8A8_UNORM;
const SRGB: Format = Format::R8G8B8A8_SRGB;

#[test]
#[ignore = "needs a device"]
fn texels_are_averaged_in_linear_light() {
    let mut rig = Rig::new();
    for (format, half) in [(LINEAR, 127..=128), (SRGB, 187..=188)] {
        for (width, height) in [(2, 1), (1, 2)] {
            let desc = ImageDesc::sampled("halves", [width, height], format).with_mips(2);
            let image = made(&mut rig, &desc, &grey(&[0, 255]));
            let texel = level(&mut rig, &image, 1);
            assert!(
                half.contains(&texel[0]),
                "{format:?} {width}x{height}: {texel:?}"
            );
            assert_eq!(texel, grey(&[texel[0]]), "all colors are alike");
        }
    }
}

/// Mean of four, then of four of these, of each layer for itself.
#[test]
#[ignore = "needs a device"]
fn each_level_of_each_layer_is_made_from_the_one_before() {
    let mut rig = Rig::new();
    let first: Vec<u8> = (0..16).map(|at| at / 8 * 40 + at % 4 / 2 * 100).collect();
    let layers = [first, vec![60; 16]].concat();
    let desc = ImageDesc::sampled("tiles", [4, 4], LINEAR);
    let image = made(&mut rig, &desc.with_mips(3).with_layers(2), &grey(&layers));
    let second = [0, 100, 40, 140, 60, 60, 60, 60];
    assert_eq!(level(&mut rig, &image, 1), grey(&second));
    assert_eq!(level(&mut rig, &image, 2), grey(&[70, 60]));
}

/// The mean over what a texel covers, by hand, of one direction.
fn mean(texels: &[f32], count: usize) -> Vec<f32> {
    let covers = texels.len() as f32 / count as f32;
    let texel = |at: usize| {
        let (start, end) = (at as f32 * covers, (at + 1) as f32 * covers);
        let part = |of: usize| (end.min(of as f32 + 1.0) - start.max(of as f32)).max(0.0) / covers;
        let parts = texels.iter().enumerate();
        parts.map(|(of, value)| part(of) * value).sum()
    };
    (0..count).map(texel).collect()
}

/// Where each texel counts: a blit alone would have 5 texels become 2 at 1.25 and 3.75, beside the one in the
/// middle, and 3 become the second (section "Image Copies With Scaling").
#[test]
#[ignore = "needs a device"]
fn odd_sizes_are_filtered() {
    let mut rig = Rig::new();
    let lines: [&[u8]; 4] = [
        &[0, 240, 0],
        &[240, 0, 0],
        &[0, 0, 240, 0, 0],
        &[0, 240, 0, 240, 0, 240, 0, 240, 0, 240, 0],
    ];
    for line in lines {
        let exact: Vec<f32> = line.iter().map(|&value| value.into()).collect();
        let exact = mean(&exact, line.len() / 2);
        let length = line.len() as u32;
        for [width, height] in [[length, 1], [1, length]] {
            let desc = ImageDesc::sampled("line", [width, height], LINEAR).with_mips(2);
            let image = made(&mut rig, &desc, &grey(line));
            let texels = level(&mut rig, &image, 1);
            let seen: Vec<f32> = texels.chunks(4).map(|texel| texel[0].into()).collect();
            let is_near = |(a, b): (&f32, &f32)| (a - b).abs() <= 240.0 / 12.0 + 1.0;
            assert!(
                seen.len() == exact.len() && seen.iter().zip(&exact).all(is_near),
                "{line:?} as {width}x{height}: {seen:?}, {exact:?}"
            );
        }
    }
    // In two directions, of each layer for itself.
    let layers = [[0, 0, 0, 0, 90, 0, 0, 0, 0], [50; 9]].concat();
    let desc = ImageDesc::sampled("three", [3, 3], LINEAR).with_mips(2);
    let image = made(&mut rig, &desc.with_layers(2), &grey(&layers));
    let texels = level(&mut rig, &image, 1);
    assert!((5..=13).contains(&texels[0]), "a ninth of 90: {texels:?}");
    assert_eq!(texels[4..], grey(&[50]));
    // One color stays that color, at sizes that are odd at each level.
    let desc = ImageDesc::sampled("plain", [127, 31], SRGB).with_mips(7);
    let image = made(&mut rig, &desc, &grey(&[188; 127 * 31]));
    for mip in 1..7 {
        let count = (127 >> mip) * (31_usize >> mip).max(1);
        assert_eq!(
            level(&mut rig, &image, mip),
            grey(&vec![188; count]),
            "{mip}"
        );
    }
}

/// The levels follow what is written later, and images that have them already.
#[test]
#[ignore = "needs a device"]
fn levels_are_made_again() {
    let mut rig = Rig::new();
    let desc = ImageDesc::sampled("again", [2, 2], LINEAR).with_mips(2);
    let image = made(&mut rig, &desc, &grey(&[10; 4]));
    assert_eq!(level(&mut rig, &image, 1), grey(&[10]));
    let mut uploads = rig.app.world_mut().resource_mut::<Uploads>();
    uploads.write_image(&image, &grey(&[30; 4]));
    assert_eq!(level(&mut rig, &image, 1), grey(&[10]), "nobody asked");
    let mut uploads = rig.app.world_mut().resource_mut::<Uploads>();
    uploads.generate_mips(&image);
    assert_eq!(level(&mut rig, &image, 1), grey(&[30]));
}

#[test]
#[ignore = "needs a device"]
fn mips_of_unscalable_images_are_an_error() {
    let mut rig = Rig::new();
    let whole = ImageDesc::sampled("whole", [2, 2], Format::R32_UINT).with_mips(2);
    made(&mut rig, &whole, &[0; 16]);
    let mut closed = ImageDesc::sampled("closed", [2, 2], LINEAR).with_mips(2);
    closed.usage = ImageUsage::SAMPLED | ImageUsage::TRANSFER_DST;
    made(&mut rig, &closed, &[0; 16]);
    rig.update(2);
    let errors = rig.app.world().resource::<Errors>().0.clone();
    let expected = [
        "nothing is written to `whole`: its mip levels cannot be made: the device does not scale \
         R32_UINT with a linear filter; upload them, or take a format such as R8G8B8A8_SRGB or \
         R16G16B16A16_SFLOAT",
        "nothing is written to `closed`: its mip levels are made by copies, and it was made without \
         the usages TRANSFER_SRC and TRANSFER_DST; add them to its description",
    ];
    assert_eq!(errors, expected);
}
