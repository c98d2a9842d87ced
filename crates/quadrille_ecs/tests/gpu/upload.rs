//! Uploads from the CPU, right and wrong ones.

use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, GpuBuffer, GpuImage, ImageDesc, ImageRegion,
};

use crate::common::{Errors, Numbers, Rig, read, read_image};

const FORMAT: Format = Format::R8G8B8A8_UNORM;

/// An image of 8 by 8 texels that nobody draws to.
fn image(rig: &Rig, name: &str) -> GpuImage {
    let gpu = rig.app.world().resource::<GpuDevice>();
    let made = gpu.create_image(&ImageDesc::sampled(name, [8, 8], FORMAT).with_layers(2));
    made.expect("images can be made")
}

fn uploads(rig: &mut Rig) -> Mut<'_, Uploads> {
    rig.app.world_mut().resource_mut::<Uploads>()
}

/// Some texels of one layer, the first.
fn part(offset: [u32; 3], extent: [u32; 3]) -> ImageRegion {
    ImageRegion {
        mip: 0,
        base_layer: 0,
        layer_count: 1,
        offset,
        extent,
    }
}

fn buffer(rig: &Rig, name: &str, bytes: u64) -> GpuBuffer {
    let gpu = rig.app.world().resource::<GpuDevice>();
    let made = gpu.create_buffer(&BufferDesc::storage(name, bytes));
    made.expect("buffers can be made")
}

/// A number for each of so many words.
fn words(count: usize, number: u32) -> Vec<u8> {
    std::iter::repeat_n(number.to_le_bytes(), count)
        .flatten()
        .collect()
}

#[test]
#[ignore = "needs a device"]
fn buffers_are_copied_between_the_writes_before_and_behind() {
    let mut rig = Rig::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| buffer(&rig, name, 64));
    let mut writes = uploads(&mut rig);
    writes.write_buffer(&a, 0, &words(16, 1));
    writes.write_buffer(&b, 0, &words(16, 2));
    writes.copy_buffer((&a, 16), (&b, 0), 32);
    writes.write_buffer(&a, 0, &words(8, 3));
    writes.write_buffer(&b, 4, &words(2, 4));
    writes.copy_buffer((&b, 0), (&c, 16), 48);
    writes.copy_buffer((&a, 16), (&c, 0), 16);
    writes.write_buffer(&b, 0, &words(16, 5));
    writes.write_buffer(&b, 0, &words(1, 6));
    let found = [&a, &b, &c].map(|buffer| {
        let buffer = buffer.clone();
        read(&mut rig, move |_| buffer.clone())
    });
    rig.expect_no_errors();
    let run = |runs: &[(usize, u32)]| {
        let runs = runs.iter();
        let all = runs.flat_map(|&(count, number)| std::iter::repeat_n(number, count));
        all.collect::<Vec<_>>()
    };
    assert_eq!(found[0], run(&[(8, 3), (8, 1)]));
    assert_eq!(found[1], run(&[(1, 6), (15, 5)]));
    assert_eq!(
        found[2],
        run(&[(4, 3), (1, 1), (2, 4), (5, 1), (4, 2)]),
        "what was there between the writes"
    );
}

#[test]
#[ignore = "needs a device"]
fn copies_that_cannot_be_are_errors() {
    let mut rig = Rig::new();
    let [a, b] = ["a", "b"].map(|name| buffer(&rig, name, 64));
    let gpu = rig.app.world().resource::<GpuDevice>();
    let fixed = BufferDesc::new("fixed", 64, BufferUsage::STORAGE);
    let fixed = gpu.create_buffer(&fixed).expect("buffers can be made");
    let mut writes = uploads(&mut rig);
    writes.write_buffer(&a, 0, &words(16, 1));
    writes.write_buffer(&b, 0, &words(16, 2));
    writes.copy_buffer((&a, 40), (&b, 0), 32);
    writes.copy_buffer((&a, 0), (&b, 40), u64::MAX);
    writes.copy_buffer((&a, 0), (&a, 32), 16);
    writes.copy_buffer((&a, 0), (&fixed, 0), 16);
    writes.copy_buffer((&fixed, 0), (&b, 0), 16);
    rig.update(1);
    let errors = std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0);
    assert_eq!(errors.len(), 5, "{errors:#?}");
    let reported = errors.join("\n");
    for part in ["to itself", "TRANSFER_DST", "TRANSFER_SRC", "72", "`a`"] {
        assert!(reported.contains(part), "no {part} in {reported}");
    }
    assert_eq!(read(&mut rig, move |_| b.clone()), [2; 16]);
}

#[test]
#[ignore = "needs a device"]
fn of_texels_written_twice_in_a_frame_the_later_ones_count() {
    let mut rig = Rig::new();
    let image = image(&rig, "board");
    let mut uploads = uploads(&mut rig);
    uploads.write_image(&image, &[1; 8 * 8 * 2 * 4]);
    uploads.write_image_region(&image, part([0, 0, 0], [4, 4, 1]), &[2; 4 * 4 * 4]);
    uploads.write_image_region(&image, part([2, 2, 0], [4, 4, 1]), &[3; 4 * 4 * 4]);
    // The larger region covers the earlier write completely.
    uploads.write_image_region(&image, part([6, 6, 0], [1, 1, 1]), &[9; 4]);
    uploads.write_image_region(&image, part([6, 6, 0], [2, 2, 1]), &[4; 2 * 2 * 4]);
    let texels = read_image(&mut rig, &image);
    rig.expect_no_errors();
    let is_in = |x: usize, y: usize, from: usize, to: usize| {
        (from..to).contains(&x) && (from..to).contains(&y)
    };
    for (at, texel) in texels.chunks(4).enumerate() {
        let (x, y, layer) = (at % 8, at / 8 % 8, at / 64);
        let expected = match layer {
            0 if is_in(x, y, 6, 8) => 4,
            0 if is_in(x, y, 2, 6) => 3,
            0 if is_in(x, y, 0, 4) => 2,
            _ => 1,
        };
        assert_eq!(texel, [expected; 4], "texel {x}, {y} of layer {layer}");
    }
}

#[test]
#[ignore = "needs a device"]
fn a_wrong_write_is_one_error_and_the_frame_goes_on_without_it() {
    let mut rig = Rig::new();
    rig.update(1);
    let image = image(&rig, "board");
    let numbers = rig.app.world().resource::<Numbers>().0.clone();
    let bytes = numbers.bytes();
    let gpu = rig.app.world().resource::<GpuDevice>();
    let fixed = BufferDesc::new("fixed", 4, BufferUsage::STORAGE);
    let fixed = gpu.create_buffer(&fixed).expect("buffers can be made");
    let mut uploads = uploads(&mut rig);
    uploads.write_buffer(&fixed, 0, &[7; 4]);
    uploads.write_buffer(&numbers, bytes - 2, &[7; 4]);
    uploads.write_buffer(&numbers, u64::MAX, &[7; 4]);
    uploads.write_image(&image, &[1; 12]);
    uploads.write_image_region(&image, part([6, 0, 0], [4, 1, 1]), &[1; 16]);
    uploads.write_buffer(&numbers, 0, &5_u32.to_ne_bytes());
    assert!(uploads.pending_bytes() <= 16, "only the last one is kept");
    rig.update(3);
    let errors = std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0);
    assert_eq!(errors.len(), 5, "{errors:#?}");
    let expected = [
        "to `fixed`: it was made without the usage TRANSFER_DST; add it".to_owned(),
        format!("bytes {}..{} are outside `numbers`", bytes - 2, bytes + 2),
        "are outside `numbers`".to_owned(),
        "12 bytes are given for 8x8x1 texels of R8G8B8A8_UNORM on 2 layers, which take 512".into(),
        "not within its 8x8x1 texels, 1 mip levels and 2 layers".into(),
    ];
    for (error, expected) in errors.iter().zip(expected) {
        assert!(error.contains(&expected), "{error}");
    }
    let values = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    assert_eq!(values[..2], [5, 1]);
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn pending_uploads_are_bounded_while_frames_fail() {
    fn fails(mut count: Local<u32>) -> Result {
        *count += 1;
        if *count < 40 {
            return Err("not yet".into());
        }
        Ok(())
    }
    let mut rig = Rig::new();
    rig.app.add_systems(Render, fails);
    let numbers = rig.app.world().resource::<GpuDevice>();
    let large = numbers.create_buffer(&BufferDesc::storage("large", 1 << 20));
    let large = large.expect("buffers can be made");
    let mut most = 0;
    for round in 0..50_u8 {
        uploads(&mut rig).write_buffer(&large, 0, &[round; 1 << 20]);
        most = most.max(uploads(&mut rig).pending_bytes());
        rig.update(1);
    }
    assert!(most <= 4 << 20, "{most} bytes wait");
    let values = read(&mut rig, move |_| large.clone());
    assert!(
        values
            .iter()
            .all(|&value| value == u32::from_ne_bytes([49; 4]))
    );
}

#[test]
#[ignore = "needs a device"]
fn scattered_writes_of_a_frame_all_arrive() {
    const WRITES: u32 = 20_000;
    const SIDE: u32 = 64;
    let mut rig = Rig::new();
    let rows = buffer(&rig, "rows", 8 * u64::from(WRITES));
    let gpu = rig.app.world().resource::<GpuDevice>();
    let desc = ImageDesc::sampled("dots", [SIDE, SIDE], FORMAT);
    let dots = gpu.create_image(&desc).expect("images can be made");
    let mut writes = uploads(&mut rig);
    writes.write_buffer(&rows, 0, &words(2 * WRITES as usize, 7));
    // Every other word, in an order that is not that of the offsets: 7,919 is prime.
    for row in (0..WRITES).map(|at| at * 7_919 % WRITES) {
        writes.write_buffer(&rows, 8 * u64::from(row), &row.to_le_bytes());
    }
    for texel in (0..SIDE * SIDE).map(|at| at * 7_919 % (SIDE * SIDE)) {
        let at = part([texel % SIDE, texel / SIDE, 0], [1, 1, 1]);
        writes.write_image_region(&dots, at, &texel.to_le_bytes());
    }
    let found = read(&mut rig, move |_| rows.clone());
    let expected: Vec<u32> = (0..WRITES).flat_map(|row| [row, 7]).collect();
    assert_eq!(found, expected);
    let texels = read_image(&mut rig, &dots);
    let expected: Vec<u8> = (0..SIDE * SIDE).flat_map(u32::to_le_bytes).collect();
    assert!(texels == expected, "texels differ");
    rig.expect_no_errors();
}

/// A staging buffer may be dropped in the frame that copies from it, when frames have needed much less for long. Copies on
/// the device keep that frame in execution, so the validation layer sees whether the destruction waits.
#[test]
#[ignore = "needs a device"]
fn staging_buffers_shrink_while_they_are_in_use() {
    const BYTES: u64 = 16 << 20;
    let mut rig = Rig::new();
    let [large, copy] = ["large", "copy"].map(|name| buffer(&rig, name, BYTES));
    for round in 0..8 {
        uploads(&mut rig).write_buffer(&large, 0, &words(1 << 18, round));
        rig.update(1);
    }
    for round in 0..400 {
        let mut writes = uploads(&mut rig);
        writes.write_buffer(&large, 0, &words(16, round));
        writes.copy_buffer((&large, 0), (&copy, 0), BYTES);
        rig.update(1);
    }
    let values = read(&mut rig, move |_| copy.clone());
    assert_eq!((values[0], values[16]), (399, 7));
    rig.expect_no_errors();
}
