//! Mip levels and array layers that passes declare apart from each other.

use bevy_color::palettes::css;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::glam::Vec4;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer, GpuImage, ImageDesc, ImageUsage, View};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Errors, Rig, read_back, read_image};

const FORMAT: Format = Format::R8G8B8A8_UNORM;

/// An image of several mip levels or layers.
#[derive(Resource, Deref)]
struct Parts(GpuImage);

/// Image that is read back.
#[derive(Resource, Deref)]
struct Copy(GpuImage);

#[derive(Resource)]
struct Halve(ComputePipeline);

/// A color that all devices round alike, and its texel.
const COLOR: [f32; 4] = [1.0, 0.0, 0.2, 1.0];
const TEXEL: [u8; 4] = [255, 0, 51, 255];

const HALVE: &str = "
    @group(0) @binding(0) var above: texture_2d<f32>;
    @group(0) @binding(1) var below: texture_storage_2d<rgba8unorm, write>;

    @compute @workgroup_size(8, 8)
    fn halve(@builtin(global_invocation_id) id: vec3u) {
        let at = id.xy * 2u;
        let sum = textureLoad(above, at, 0) + textureLoad(above, at + vec2u(1, 0), 0)
            + textureLoad(above, at + vec2u(0, 1), 0) + textureLoad(above, at + vec2u(1, 1), 0);
        textureStore(below, id.xy, sum / 4.0);
    }";

/// An app with an image of some mip levels and layers of 32 by 32 texels, and a copy of some size.
fn rig(mips: u32, layers: u32, size: u32) -> Rig {
    let mut rig = Rig::new();
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let usage = ImageUsage::COLOR_ATTACHMENT | ImageUsage::STORAGE;
    let parts = ImageDesc::sampled("parts", [32, 32], FORMAT).with_usage(usage);
    let parts = parts.with_mips(mips).with_layers(layers);
    let copy = ImageDesc::sampled("copy", [size, size], FORMAT);
    let shader = GpuShader::wgsl("halve.wgsl", HALVE).expect("it is right");
    let halve = gpu.compute_pipeline(&ComputePipelineDesc::of("halve", &shader));
    let image = |desc| gpu.create_image(desc).expect("images can be made");
    rig.app
        .insert_resource(Parts(image(&parts)))
        .insert_resource(Copy(image(&copy)))
        .insert_resource(Halve(halve.expect("pipelines can be made")));
    rig
}

/// Asserts that all texels of the copy are this one.
fn expect(rig: &mut Rig, texel: [u8; 4]) {
    rig.update(3);
    rig.expect_no_errors();
    let copy = rig.app.world().resource::<Copy>().0.clone();
    let texels = read_image(rig, &copy);
    assert!(texels.chunks(4).all(|it| it == texel), "{:?}", &texels[..4]);
}

/// Halves each mip level into the next, one pass for each.
fn halve(
    mut recorder: Recorder,
    from: Sampled<Parts>,
    to: StorageWrite<Parts>,
    pipeline: Res<Halve>,
) {
    for level in 1..to.desc().mip_levels {
        let (from, to) = (from.mip(level - 1), to.mip(level));
        let [width, height, _] = to.extent();
        assert_eq!([width, height], [32 >> level; 2]);
        let mut pass = recorder.pass("halve", &[from.as_declared(), to.as_declared()]);
        pass.compute(&pipeline.0)
            .bind(0, &from)
            .bind(1, &to)
            .dispatch([width.div_ceil(8), height.div_ceil(8), 1]);
    }
}

/// Clears the first mip level.
fn first_level(mut recorder: Recorder, to: ColorTarget<Parts>) {
    let level = to.mip(0);
    let mut pass = recorder.pass("first level", &[level.as_declared()]);
    pass.render(level.clear(COLOR));
}

#[test]
#[ignore = "needs a device"]
fn each_mip_level_comes_from_the_one_above() {
    fn copy(mut recorder: Recorder, from: TransferRead<Parts>, to: TransferWrite<Copy>) {
        recorder.transfer().copy_image(&from.mip(5), &to);
    }
    let mut rig = rig(6, 1, 1);
    rig.app.add_systems(
        Render,
        (first_level, halve.after(first_level), copy.after(halve)),
    );
    expect(&mut rig, TEXEL);
}

#[test]
#[ignore = "needs a device"]
fn mip_levels_are_made_by_blits_too() {
    fn shrink(mut recorder: Recorder, from: TransferRead<Parts>, to: TransferWrite<Parts>) {
        for level in 1..to.desc().mip_levels {
            let (from, to) = (from.mip(level - 1), to.mip(level));
            let mut pass = recorder.pass("shrink", &[from.as_declared(), to.as_declared()]);
            pass.transfer().blit_image(&from, &to);
        }
    }
    fn copy(mut recorder: Recorder, from: TransferRead<Parts>, to: TransferWrite<Copy>) {
        recorder.transfer().copy_image(&from.mip(4), &to);
    }
    let mut rig = rig(6, 1, 2);
    rig.app.add_systems(
        Render,
        (first_level, shrink.after(first_level), copy.after(shrink)),
    );
    expect(&mut rig, TEXEL);
}

#[test]
#[ignore = "needs a device"]
fn a_layer_is_drawn_to_without_the_others() {
    /// The first frame clears all layers, each later one the first alone.
    fn paint(mut recorder: Recorder, to: ColorTarget<Parts>, mut frame: Local<u32>) {
        let last = if *frame == 0 { 3 } else { 1 };
        for layer in 0..last {
            let color = [0.0, 1.0, layer as f32 / 2.0, 1.0];
            recorder.render(to.layer(layer).clear(color));
        }
        *frame += 1;
    }
    fn copy(mut recorder: Recorder, from: TransferRead<Parts>, to: TransferWrite<Copy>) {
        recorder.transfer().copy_image(&from.layer(2), &to);
    }
    let mut rig = rig(1, 3, 32);
    rig.app.add_systems(Render, (paint, copy.after(paint)));
    expect(&mut rig, [0, 255, 255, 255]);
}

#[test]
#[ignore = "needs a device"]
fn a_part_of_an_image_is_cleared() {
    fn clear(mut recorder: Recorder, to: TransferWrite<Parts>) {
        let part = to.mip(1).layer(1);
        let mut pass = recorder.pass("all of it", &[to.any().as_declared()]);
        pass.transfer().clear_image(&to, css::RED);
        let mut pass = recorder.pass("a part", &[part.as_declared()]);
        pass.transfer()
            .clear_image(&part, Vec4::new(0.0, 0.0, 1.0, 1.0));
    }
    fn copy(mut recorder: Recorder, from: TransferRead<Parts>, to: TransferWrite<Copy>) {
        recorder
            .transfer()
            .copy_image(&from.view(View::WHOLE.mip(1).layer(1)), &to);
    }
    let mut rig = rig(2, 2, 16);
    rig.app.add_systems(Render, (clear, copy.after(clear)));
    expect(&mut rig, [0, 0, 255, 255]);
}

/// The messages of a frame with this system.
fn errors<M>(system: impl IntoScheduleConfigs<bevy_ecs::system::ScheduleSystem, M>) -> String {
    let mut rig = rig(3, 1, 32);
    rig.app.add_systems(Render, system);
    rig.update(1);
    rig.app.world().resource::<Errors>().0.join("\n")
}

#[test]
#[ignore = "needs a device"]
fn a_part_that_the_pass_does_not_declare_is_an_error() {
    fn other_level(mut recorder: Recorder, to: ColorTarget<Parts>) {
        let mut pass = recorder.pass("clear", &[to.mip(0).as_declared()]);
        pass.render(to.mip(1).clear([0.0; 4]));
    }
    let message = errors(other_level);
    for word in ["clear", "parts, mip level 1, layer 0", "recorder.pass"] {
        assert!(message.contains(word), "{word}: {message}");
    }
    fn all_levels(
        mut recorder: Recorder,
        from: Sampled<Parts>,
        to: StorageWrite<Parts>,
        pipeline: Res<Halve>,
    ) {
        let (above, to) = (from.mip(0), to.mip(1));
        let mut pass = recorder.pass("halve", &[above.as_declared(), to.as_declared()]);
        let mut compute = pass.compute(&pipeline.0);
        compute.bind(0, &from).bind(1, &to).dispatch([1, 1, 1]);
    }
    let message = errors(all_levels);
    for word in ["halve", "`parts`", "recorder.pass"] {
        assert!(message.contains(word), "{word}: {message}");
    }
}

#[test]
#[ignore = "needs a device"]
fn a_level_or_layer_that_is_not_there_is_an_error() {
    fn fourth_level(mut recorder: Recorder, to: ColorTarget<Parts>) {
        let level = to.mip(3);
        let mut pass = recorder.pass("clear", &[level.as_declared()]);
        pass.render(level.clear([0.0; 4]));
    }
    fn second_layer(mut recorder: Recorder, to: ColorTarget<Parts>) {
        recorder.render(to.layer(1).clear([0.0; 4]));
    }
    for message in [errors(fourth_level), errors(second_layer)] {
        assert!(message.contains("parts"), "{message}");
    }
}

#[test]
#[ignore = "needs a device"]
fn a_mip_level_goes_to_a_buffer_and_back() {
    #[derive(Resource, Deref)]
    struct Texels(GpuBuffer);
    fn out(mut recorder: Recorder, from: TransferRead<Parts>, to: TransferWrite<Texels>) {
        recorder
            .transfer()
            .copy_image_to_buffer(&from.mip(2), &to, 256);
    }
    fn back(mut recorder: Recorder, from: TransferRead<Texels>, to: TransferWrite<Copy>) {
        recorder.transfer().copy_buffer_to_image(&from, 256, &to);
    }
    let mut rig = rig(3, 1, 8);
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let texels = gpu.create_buffer(&BufferDesc::storage("texels", 512));
    rig.app
        .insert_resource(Texels(texels.expect("buffers can be made")))
        .add_systems(
            Render,
            (
                first_level,
                halve.after(first_level),
                out.after(halve),
                back.after(out),
            ),
        );
    expect(&mut rig, TEXEL);
}

#[test]
#[ignore = "needs a device"]
fn levels_and_layers_are_read_back_apart_and_together() {
    /// Each layer in its color, in the second mip level; nobody ever writes the first.
    fn paint(mut recorder: Recorder, to: ColorTarget<Parts>) {
        for layer in 0..3 {
            let part = to.mip(1).layer(layer);
            let color = [[0.0, 0.2, 1.0][layer as usize], 0.0, 0.0, 1.0];
            let mut pass = recorder.pass("paint", &[part.as_declared()]);
            pass.render(part.clear(color));
        }
    }
    let mut rig = rig(2, 3, 1);
    rig.app.add_systems(Render, paint);
    rig.update(2);
    let parts = rig.app.world().resource::<Parts>().0.clone();
    let all = read_back(&mut rig, Readback::view(&parts, View::WHOLE.mip(1)));
    rig.expect_no_errors();
    let all = all.expect("a mip level of all layers is read back");
    let texels = 16 * 16;
    let expected = [0_u8, 51, 255].map(|red| [red, 0, 0, 255].repeat(texels));
    assert_eq!(all, expected.concat());
    let middle = View::WHOLE.mip(1).layer(1);
    let middle = read_back(&mut rig, Readback::view(&parts, middle));
    assert_eq!(middle.expect("one layer is read back"), expected[1]);
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn a_view_that_the_image_lacks_is_refused_and_the_frame_goes_on() {
    let mut rig = rig(2, 1, 1);
    let parts = rig.app.world().resource::<Parts>().0.clone();
    let beyond = Readback::view(&parts, View::WHOLE.mip(2));
    assert_eq!(read_back(&mut rig, beyond), None);
    let world = rig.app.world_mut();
    assert_eq!(world.query::<&Readback>().iter(world).count(), 0);
    rig.expect_no_errors();
}

/// A 3D image.
#[derive(Resource, Deref)]
struct Volume(GpuImage);

#[derive(Resource)]
struct Fill(ComputePipeline);

/// Two slices, counted from 0, that each of two passes declares; they write the same four.
#[derive(Resource)]
struct Declared([[u32; 2]; 2]);

const FILL: &str = "
    struct First { slice: u32 }
    var<immediate> first: First;
    @group(0) @binding(0) var volume: texture_storage_3d<rgba8unorm, write>;

    @compute @workgroup_size(8, 8)
    fn fill(@builtin(global_invocation_id) id: vec3u) {
        let slice = first.slice + id.z;
        textureStore(volume, vec3u(id.xy, slice), vec4f(f32(slice) / 5.0, 0.0, 0.0, 1.0));
    }";

/// The texels of a volume of four slices after some frames, and the barriers of the last one, if two
/// passes that write two slices each declare these.
fn fill_slices(declared: [[u32; 2]; 2]) -> (Vec<u8>, u64) {
    fn fill(
        mut recorder: Recorder,
        volume: StorageWrite<Volume>,
        declared: Res<Declared>,
        pipeline: Res<Fill>,
    ) {
        for (at, [from, to]) in (0_u32..).zip(declared.0) {
            let slices = volume.slices(from..to);
            let mut pass = recorder.pass("fill", &[slices.as_declared()]);
            let mut compute = pass.compute(&pipeline.0);
            compute.bind(0, &slices).push(&(2 * at)).dispatch([1, 1, 2]);
        }
    }
    let mut rig = Rig::new();
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let volume = ImageDesc {
        extent: [8, 8, 4],
        ..ImageDesc::sampled("volume", [8, 8], FORMAT).with_usage(ImageUsage::STORAGE)
    };
    let volume = gpu.create_image(&volume).expect("images can be made");
    let shader = GpuShader::wgsl("fill.wgsl", FILL).expect("it is right");
    let pipeline = gpu.compute_pipeline(&ComputePipelineDesc::of("fill", &shader));
    rig.app
        .insert_resource(Volume(volume.clone()))
        .insert_resource(Declared(declared))
        .insert_resource(Fill(pipeline.expect("pipelines can be made")))
        .add_systems(Render, fill);
    rig.update(4);
    rig.expect_no_errors();
    let report = rig.app.world().resource::<Renderer>().report();
    let barriers = report["barriers"].as_u64().expect("it is a number");
    (read_image(&mut rig, &volume), barriers)
}

/// Slices apart would need no order, which the cases of the solver show; but the validation layer takes
/// a shader to write all slices of what it binds.
#[test]
#[ignore = "needs a device"]
fn slices_of_a_volume_are_declared_apart_from_their_level() {
    let (texels, barriers) = fill_slices([[0, 3], [2, 4]]);
    let slice = |red: u8| [red, 0, 0, 255].repeat(64);
    assert_eq!(texels, [0, 51, 102, 153].map(slice).concat());
    // Each frame comes after the one before, and the second pass after the first.
    assert_eq!(barriers, 2, "both passes declare the third slice");
}

#[test]
#[ignore = "needs a device"]
fn slices_that_are_not_there_are_an_error() {
    fn fifth(mut recorder: Recorder, volume: TransferWrite<Parts>) {
        let slices = volume.slices(4..5);
        let mut pass = recorder.pass("clear", &[slices.as_declared()]);
        pass.transfer().clear_image(&slices, [0.0; 4]);
    }
    let message = errors(fifth);
    for word in ["clear", "slices 4..5", "`parts`", "slices 0..1"] {
        assert!(message.contains(word), "{word}: {message}");
    }
}
