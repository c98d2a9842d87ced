//! Depth and stencil of several samples that become one, and the reference of stencil tests.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::commands::ResolveMode;
use quadrille_vulkan::pipeline::{
    ComputePipeline, ComputePipelineDesc, DepthState, GraphicsPipeline, GraphicsPipelineDesc,
    PipelineState, StencilState,
};
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer, GpuImage, ImageDesc, ImageUsage};
use quadrille_vulkan::shader::GpuShader;
use quadrille_vulkan::{Format, vk};

use crate::common::{Errors, Rig, read, read_image};

const SIDE: u32 = 4;

#[derive(Resource, Deref)]
struct Samples(GpuImage);

#[derive(Resource, Deref)]
struct Target(GpuImage);

#[derive(Resource, Deref)]
struct Shown(GpuImage);

/// The depth of each texel.
#[derive(Resource, Deref)]
struct Found(GpuBuffer);

#[derive(Resource)]
struct Tools {
    format: Format,
    modes: [Option<ResolveMode>; 2],
    mark: GraphicsPipeline,
    show: GraphicsPipeline,
    read: ComputePipeline,
}

/// A triangle whose long edge cuts the texels of a diagonal in two.
const SHADER: &str = "
    @group(0) @binding(0) var depths: texture_depth_2d;
    @group(0) @binding(1) var<storage, read_write> found: array<f32>;
    @vertex fn half(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
        return vec4f(f32(i & 1u) * 2.0 - 1.0, f32(i >> 1u) * 2.0 - 1.0, 0.25, 1.0);
    }
    @vertex fn all(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
        return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.25, 1.0);
    }
    @fragment fn paint() -> @location(0) vec4f { return vec4f(1.0); }
    @compute @workgroup_size(4, 4) fn read(@builtin(local_invocation_id) at: vec3u) {
        found[at.y * 4u + at.x] = textureLoad(depths, at.xy, 0);
    }";

const BOTH: Format = Format::D32_SFLOAT_S8_UINT;

fn has_depth(format: Format) -> bool {
    format != Format::S8_UINT
}

fn has_stencil(format: Format) -> bool {
    format != Format::D32_SFLOAT
}

/// Passes that fill samples of a format, resolve them and check the result.
fn rig(format: Format) -> Rig {
    let mut rig = Rig::new();
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let target = ImageDesc::depth("target", [SIDE; 2], format);
    let samples = ImageDesc {
        samples: 4,
        ..ImageDesc::depth("samples", [SIDE; 2], format)
    };
    let shown = ImageDesc::color_target("shown", [SIDE; 2], Format::R8G8B8A8_UNORM);
    let shown = shown.with_usage(ImageUsage::TRANSFER_SRC);
    let make = |desc: &ImageDesc| gpu.create_image(desc).expect("images can be made");
    let found = gpu.create_buffer(&BufferDesc::storage("found", 64));
    let shader = GpuShader::wgsl("resolve.wgsl", SHADER).unwrap_or_else(|error| panic!("{error}"));
    let with = |stencil| PipelineState {
        stencil: has_stencil(format).then_some(stencil),
        ..PipelineState::default()
    };
    let mark = GraphicsPipelineDesc {
        fragment: None,
        depth: has_depth(format).then_some(DepthState::LESS),
        // Its own reference, 1, is not what draws write.
        state: with(StencilState::write(1)),
        ..GraphicsPipelineDesc::new("mark", (&shader, "half"), (&shader, "paint"))
    };
    let test = StencilState::test(7, vk::CompareOp::EQUAL);
    let show = GraphicsPipelineDesc {
        state: with(test),
        ..GraphicsPipelineDesc::new("show", (&shader, "all"), (&shader, "paint"))
    };
    let read = ComputePipelineDesc::of("read", &shader);
    let graphics = |desc| gpu.graphics_pipeline(desc).expect("pipelines can be made");
    rig.app
        .insert_resource(Samples(make(&samples)))
        .insert_resource(Target(make(&target)))
        .insert_resource(Shown(make(&shown)))
        .insert_resource(Found(found.expect("buffers can be made")))
        .insert_resource(Tools {
            format,
            modes: [None; 2],
            mark: graphics(&mark),
            show: graphics(&show),
            read: gpu.compute_pipeline(&read).expect("pipelines can be made"),
        })
        .add_systems(
            Render,
            (
                clear,
                mark_samples,
                read_depth.run_if(|tools: Res<Tools>| has_depth(tools.format)),
                show_stencil.run_if(|tools: Res<Tools>| has_stencil(tools.format)),
            )
                .chain(),
        );
    rig
}

fn clear(mut recorder: Recorder, target: DepthTarget<Target>) {
    recorder.render(target.clear_depth(1.0).clear_stencil(7));
}

/// Half of it has depth 0.25 and stencil 7, the rest 0.5 and 3.
fn mark_samples(
    mut recorder: Recorder,
    samples: DepthTarget<Samples>,
    target: DepthTarget<Target>,
    tools: Res<Tools>,
) {
    let mut attachment = samples.clear_depth(0.5).clear_stencil(3);
    let [depth, stencil] = tools.modes;
    if let Some(mode) = depth {
        attachment = attachment.resolve_depth_to(&target, mode);
    }
    if let Some(mode) = stencil {
        attachment = attachment.resolve_stencil_to(&target, mode);
    }
    let mut rendering = recorder.render(attachment);
    rendering.pipeline(&tools.mark);
    if has_stencil(tools.format) {
        rendering.stencil_reference(7);
    }
    rendering.draw(0..3, 0..1);
}

fn read_depth(
    mut recorder: Recorder,
    target: Sampled<Target>,
    found: StorageWrite<Found>,
    tools: Res<Tools>,
) {
    let mut compute = recorder.compute(&tools.read);
    compute.bind(0, &target).bind(1, &found).dispatch([1, 1, 1]);
}

fn show_stencil(
    mut recorder: Recorder,
    shown: ColorTarget<Shown>,
    target: DepthRead<Target>,
    tools: Res<Tools>,
) {
    let attachments = (shown.clear([0.0; 4]), target.keep_depth().keep_stencil());
    recorder
        .render(attachments)
        .pipeline(&tools.show)
        .draw(0..3, 0..1);
}

/// Depth at a texel inside of the triangle, on its edge and outside; how many texels have stencil 7.
fn resolved(rig: &mut Rig, modes: [Option<ResolveMode>; 2]) -> Result<([f32; 3], usize), String> {
    rig.app.world_mut().resource_mut::<Tools>().modes = modes;
    rig.update(2);
    let errors = std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0);
    if let Some(error) = errors.first() {
        return Err(error.clone());
    }
    let format = rig.app.world().resource::<Tools>().format;
    let mut marked = 0;
    if has_stencil(format) {
        let shown = rig.app.world().resource::<Shown>().0.clone();
        let texels = read_image(rig, &shown);
        marked = texels.chunks(4).filter(|texel| texel[0] != 0).count();
    }
    let mut found = [0.0; 3];
    if has_depth(format) {
        let depths = read(rig, |world| world.resource::<Found>().0.clone());
        let depth = |x: usize, y: usize| f32::from_bits(depths[y * SIDE as usize + x]);
        // Up is the first row's side of the picture.
        found = [depth(0, 3), depth(1, 1), depth(3, 0)];
    }
    rig.expect_no_errors();
    Ok((found, marked))
}

#[test]
#[ignore = "needs a device"]
fn depth_and_stencil_resolve_by_modes_of_the_device() {
    use ResolveMode::{Average, Max, Min, SampleZero};
    let mut rig = rig(BOTH);
    let ([inside, edge, outside], marked) =
        resolved(&mut rig, [Some(SampleZero); 2]).expect("all do");
    assert_eq!([inside, outside], [0.25, 0.5]);
    assert!(edge == 0.25 || edge == 0.5, "{edge}");
    assert!((6..=10).contains(&marked), "{marked} texels have stencil 7");
    let expected = [(Min, 0.25), (Max, 0.5), (Average, 0.375)];
    for (mode, expected) in expected {
        match resolved(&mut rig, [Some(mode), None]) {
            Ok(([inside, edge, outside], marked)) => {
                assert_eq!([inside, outside], [0.25, 0.5], "{mode:?}");
                assert!((edge - expected).abs() < 0.1, "{mode:?}: {edge}");
                assert_eq!(marked, 16, "stencil stays: {mode:?}");
            }
            Err(error) => {
                let words = format!("`samples` resolves depth by {mode:?}, which the device `");
                let one = "takes the same for both";
                assert!(error.contains(&words) || error.contains(one), "{error}");
            }
        }
    }
    let error = resolved(&mut rig, [None, Some(Average)]).expect_err("no device does");
    let words = "`samples` resolves stencil by Average, which the device `";
    assert!(
        error.contains(words) && error.contains("it has [SampleZero"),
        "{error}"
    );
}

#[test]
#[ignore = "needs a device"]
fn stencil_resolves_alone_beside_depth_that_stays() {
    let mut rig = rig(BOTH);
    match resolved(&mut rig, [None, Some(ResolveMode::SampleZero)]) {
        Ok((depths, marked)) => {
            assert_eq!(depths, [1.0; 3], "depth stays");
            assert!((6..=10).contains(&marked), "{marked} texels have stencil 7");
        }
        Err(error) => assert!(error.contains("takes the same for both"), "{error}"),
    }
}

/// All devices resolve the first sample. lavapipe lists `Average` too, and then takes the first
/// sample all the same.
#[test]
#[ignore = "needs a device"]
fn images_of_depth_alone_resolve() {
    use ResolveMode::{Average, SampleZero};
    let mut rig = rig(Format::D32_SFLOAT);
    let (first, _) = resolved(&mut rig, [Some(SampleZero), None]).expect("all do");
    let [inside, edge, outside] = first;
    assert_eq!([inside, outside], [0.25, 0.5]);
    assert!(edge == 0.25 || edge == 0.5, "{edge}");
    match resolved(&mut rig, [Some(Average), None]) {
        Ok((mean, _)) => {
            assert_eq!([mean[0], mean[2]], [0.25, 0.5]);
            let is_between = 0.3 < mean[1] && mean[1] < 0.45;
            assert!(is_between || mean == first, "{mean:?}");
        }
        Err(error) => {
            let words = "`samples` resolves depth by Average, which the device `";
            assert!(error.contains(words), "{error}");
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn images_of_stencil_alone_resolve() {
    let mut rig = rig(Format::S8_UINT);
    let modes = [None, Some(ResolveMode::SampleZero)];
    let (_, marked) = resolved(&mut rig, modes).expect("all do");
    assert!((6..=10).contains(&marked), "{marked} texels have stencil 7");
}

/// The reference is the pipeline's until a pass sets it, and again with the next pipeline.
#[test]
#[ignore = "needs a device"]
fn references_are_set_for_draws() {
    fn draw(
        mut recorder: Recorder,
        shown: ColorTarget<Shown>,
        target: DepthTarget<Target>,
        tools: Res<Tools>,
    ) {
        let depth = target.clear_depth(0.5).clear_stencil(9);
        let mut rendering = recorder.render((shown.clear([0.0; 4]), depth));
        rendering.pipeline(&tools.show);
        rendering.scissor([0, 0, 1, 4]).draw(0..3, 0..1);
        rendering
            .stencil_reference(9)
            .scissor([1, 0, 1, 4])
            .draw(0..3, 0..1);
        rendering.scissor([2, 0, 1, 4]).draw(0..3, 0..1);
        rendering
            .pipeline(&tools.show)
            .scissor([3, 0, 1, 4])
            .draw(0..3, 0..1);
    }
    let mut rig = rig(BOTH);
    rig.app.add_systems(Render, draw.after(show_stencil));
    // Repeated: lists that come out the same are not translated again.
    rig.update(4);
    let shown = rig.app.world().resource::<Shown>().0.clone();
    let texels = read_image(&mut rig, &shown);
    rig.expect_no_errors();
    let red: Vec<u8> = texels.chunks(4).map(|texel| texel[0] / 255).collect();
    assert_eq!(red, [0, 1, 1, 0].repeat(4));
}
