//! An effect whose compute passes write a mip chain.

use bevy_ecs::prelude::*;
use quadrille::ecs::{AccessList, ColorAttachment as _, access_kind};
use quadrille::prelude::*;
use quadrille::vulkan::Format;
use quadrille_3d::prelude::*;
use quadrille_3d::{
    CameraEffect, CameraEffectPlugin, EffectFrame, EffectImage, EffectImages, EffectView,
    EffectViews, Pass3dSystems, PostProcess,
};

use crate::camera_effects::{camera, extents};
use crate::common::Rig;

/// A mip chain by compute: each level is the previous one plus 1. The view shows the last one.
#[derive(Component, Clone, Copy)]
struct Chain;

impl CameraEffect for Chain {
    type Uniform = Vec4;

    fn uniform(&self, frame: &EffectFrame) -> Vec4 {
        let [width, height] = frame.size.map(|side| side as f32);
        let history = f32::from(u8::from(frame.history_is_valid));
        Vec4::new(width, height, history, 0.0)
    }

    fn images(&self, images: &mut Vec<EffectImage>) {
        images.push(EffectImage::new("unused", Format::R8G8B8A8_UNORM).fixed(4, 4));
        let chain = EffectImage::new("chain", Format::R32G32B32A32_SFLOAT).divided(2);
        images.push(chain.mips(u32::MAX).usage(ImageUsage::STORAGE));
    }
}

const CHAIN: &str = "
    @group(0) @binding(0) var source: texture_2d<f32>;
    @group(0) @binding(1) var destination: texture_storage_2d<rgba32float, write>;
    @group(0) @binding(2) var<uniform> params: vec4f;

    @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
        return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
    }

    @compute @workgroup_size(8, 8) fn level(@builtin(global_invocation_id) id: vec3u) {
        if all(id.xy < textureDimensions(destination)) {
            textureStore(destination, id.xy, textureLoad(source, id.xy * 2u, 0) + 1.0);
        }
    }

    @fragment fn show() -> @location(0) vec4f {
        return vec4f(textureLoad(source, vec2i(0), 0).r, params.xy, 1.0);
    }";

#[derive(Resource)]
struct ChainPipelines(ComputePipeline, GraphicsPipeline);

fn make_chain(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let shader = GpuShader::wgsl("chain.wgsl", CHAIN)?;
    let entry = "level";
    let level = ComputePipelineDesc::of("level", &shader);
    let level = gpu.compute_pipeline(&ComputePipelineDesc { entry, ..level })?;
    let show = (&shader, "show");
    let show = GraphicsPipelineDesc::new("chain", (&shader, "vertex_main"), show);
    commands.insert_resource(ChainPipelines(level, gpu.graphics_pipeline(&show)?));
    Ok(())
}

fn chain(
    mut recorder: Recorder,
    effects: EffectViews<Chain>,
    (sampled, stored): (
        AccessList<EffectImages<Chain>, access_kind::Sampled>,
        AccessList<EffectImages<Chain>, access_kind::StorageWrite>,
    ),
    mut post_process: PostProcess,
    pipelines: Res<ChainPipelines>,
) {
    let get = |view: &EffectView<'_>| {
        assert!(view.previous(1).is_none(), "there is no history");
        let at = view.image(1)?;
        Some((sampled.get(at)?, stored.get(at)?))
    };
    for view in effects.iter() {
        let (Some((from, to)), Some(color)) = (get(&view), post_process.write(&view)) else {
            continue;
        };
        let uses = [color.source.as_declared(), to.mip(0).as_declared()];
        recorder
            .pass_in_step(view.step(), "first level", &uses)
            .compute(&pipelines.0)
            .bind("source", &color.source)
            .bind("destination", &to.mip(0))
            .dispatch([2, 1, 1]);
        for level in 1..5 {
            let (from, to) = (from.mip(level - 1), to.mip(level));
            recorder
                .pass_in_step(
                    view.step(),
                    "level",
                    &[from.as_declared(), to.as_declared()],
                )
                .compute(&pipelines.0)
                .bind("source", &from)
                .bind("destination", &to)
                .dispatch([1, 1, 1]);
        }
        let last = from.mip(4);
        let uniforms = effects.uniforms();
        let written = color.destination.as_declared();
        let uses = [written, last.as_declared(), uniforms.any().as_declared()];
        recorder
            .pass_in_step(view.step(), "chain", &uses)
            .render(color.destination.discard())
            .pipeline(&pipelines.1)
            .bind("source", &last)
            .bind_bytes("params", uniforms, view.uniform_bytes())
            .draw(0..3, 0..1);
    }
}

#[test]
#[ignore = "needs a device"]
fn compute_passes_write_mip_chain_of_an_effect() {
    let mut rig = Rig::new(32, 16);
    rig.app
        .add_plugins(CameraEffectPlugin::<Chain>::default())
        .add_systems(RenderStartup, make_chain)
        .add_systems(Render, chain.in_set(Pass3dSystems::PostProcess));
    rig.start();
    let eye = camera(rig.app.world_mut(), 0, 0.25, Msaa::Sample4);
    rig.app.world_mut().entity_mut(eye).insert(Chain);
    assert_eq!(rig.exactly(9, 9), [5.25, 32.0, 16.0, 1.0]);
    assert_eq!(extents::<Chain>(&rig), [[4, 4, 1], [16, 8, 1]]);
}
