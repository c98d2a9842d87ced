//! Cubes with the layers of one image, each with the next.

use bevy_app::{App, Startup};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille::prelude::*;
use quadrille::vulkan::Format;
use quadrille_3d::prelude::*;

use crate::frame::{Frame, solid, solid_pass};

#[derive(Resource, Deref)]
struct Layers(GpuImage);

#[derive(Resource)]
struct Cubes(GraphicsPipeline, Sampler);

const SHADER: &str = "
    import quadrille_3d::scene::View;
    import shaders::cube::{corner, lit};

    @group(0) @binding(0) var<storage, read> views: array<View>;
    @group(0) @binding(1) var layers: texture_2d_array<f32>;
    @group(0) @binding(2) var nearest: sampler;
    var<immediate> view: u32;
    struct Seen {
        @builtin(position) position: vec4f,
        @location(0) uv: vec2f,
        @location(1) light: f32,
        @location(2) @interpolate(flat) layer: u32,
    }

    @vertex fn vertex_main(@builtin(vertex_index) v: u32, @builtin(instance_index) i: u32) -> Seen {
        let at = corner(v);
        let place = vec4f(at.place + vec3f(f32(i) - 4.5, 0.0, 0.0), 1.0);
        return Seen(views[view].clip_from_world * place, at.uv, lit(at.normal), i % 4u);
    }

    @fragment fn fragment_main(seen: Seen) -> @location(0) vec4f {
        let color = textureSample(layers, nearest, seen.uv, seen.layer).rgb;
        return vec4f(color * seen.light, 1.0);
    }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>) -> Result {
    // Each layer has one more square of light than the one before.
    let desc = ImageDesc::sampled("layers", [4, 4], Format::R8G8B8A8_SRGB).with_layers(4);
    let image = gpu.create_image(&desc)?;
    let texels = (0..64u8).flat_map(|texel| {
        let (layer, at) = (texel / 16, texel % 16);
        let is_light = at % 4 <= layer && at / 4 <= layer;
        if is_light {
            [230, 200, 40 * layer, 255]
        } else {
            [60, 30, 90, 255]
        }
    });
    uploads.write_image(&image, &texels.collect::<Vec<_>>());
    commands.insert_resource(Layers(image));
    let sampler = gpu.create_sampler(&SamplerDesc::nearest())?;
    commands.insert_resource(Cubes(solid(&gpu, "cubes", SHADER)?, sampler));
    Ok(())
}

fn cubes(mut recorder: Recorder, frame: Frame, layers: Sampled<Layers>, cubes: Res<Cubes>) {
    frame.draw(
        &mut recorder,
        &cubes.0,
        &[layers.any().as_declared()],
        |rendering| {
            rendering
                .bind("layers", &layers)
                .sampler("nearest", &cubes.1)
                .draw(0..36, 0..10);
        },
    );
}

fn setup(mut commands: Commands) {
    let eye = Transform::from_xyz(5.0, 5.0, 5.0);
    commands.spawn((
        Camera3d::default(),
        eye.looking_at(Vec3::new(1.5, 0.0, 0.0), Vec3::Y),
    ));
}

pub(crate) fn add(app: &mut App) {
    app.add_systems(Startup, setup)
        .add_systems(RenderStartup, make)
        .add_systems(Render, solid_pass(cubes));
}
