//! A cube whose pixels choose among sixteen images of a table.

use bevy_app::{App, Startup};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille::ecs::Table;
use quadrille::prelude::*;
use quadrille::vulkan::Format;
use quadrille::vulkan::resources::{ImageTable, ImageTableDesc, Sharing};
use quadrille_3d::prelude::*;

use crate::frame::{Frame, solid, solid_pass};

#[derive(Resource, Deref)]
struct Tiles(ImageTable);

#[derive(Resource)]
struct Cube(GraphicsPipeline);

const SHADER: &str = "
    enable wgpu_binding_array;
    import quadrille_3d::scene::View;
    import shaders::cube::corner;

    @group(0) @binding(0) var<storage, read> views: array<View>;
    @group(1) @binding(0) var nearest: sampler;
    @group(1) @binding(1) var tiles: binding_array<texture_2d<f32>>;
    var<immediate> view: u32;
    struct Seen { @builtin(position) position: vec4f, @location(0) uv: vec2f }

    @vertex fn vertex_main(@builtin(vertex_index) v: u32) -> Seen {
        let at = corner(v);
        return Seen(views[view].clip_from_world * vec4f(at.place, 1.0), at.uv);
    }

    @fragment fn fragment_main(seen: Seen) -> @location(0) vec4f {
        let tile = min(vec2u(seen.uv * 4.0), vec2u(3u));
        return textureSampleLevel(tiles[tile.y * 4u + tile.x], nearest, seen.uv * 4.0, 0.0);
    }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>) -> Result {
    let sampler = gpu.create_sampler(&SamplerDesc::nearest())?;
    let mut tiles = gpu.image_table(&ImageTableDesc::d2("tiles", 16).with_sampler(&sampler))?;
    for index in 0..16u8 {
        let desc = ImageDesc::sampled(format!("tile {index}"), [2, 2], Format::R8G8B8A8_SRGB);
        let tile = gpu.create_image(&desc.with_sharing(Sharing::Concurrent))?;
        let [light, dark] = [0.6, 0.4].map(|light| {
            let color = Color::hsl(f32::from(index) * 22.5, 0.7, light).to_srgba();
            color.to_u8_array()
        });
        uploads.write_image(&tile, [light, dark, dark, light].as_flattened());
        tiles.insert(&tile)?;
    }
    commands.insert_resource(Tiles(tiles));
    commands.insert_resource(Cube(solid(&gpu, "cube", SHADER)?));
    Ok(())
}

fn cube(mut recorder: Recorder, frame: Frame, tiles: Table<Tiles>, cube: Res<Cube>) {
    frame.draw(&mut recorder, &cube.0, &[], |rendering| {
        rendering.table("tiles", &tiles).draw(0..36, 0..1);
    });
}

fn setup(mut commands: Commands) {
    let eye = Transform::from_xyz(1.2, 1.2, 1.2);
    commands.spawn((Camera3d::default(), eye.looking_at(Vec3::ZERO, Vec3::Y)));
}

pub(crate) fn add(app: &mut App) {
    app.add_systems(Startup, setup)
        .add_systems(RenderStartup, make)
        .add_systems(Render, solid_pass(cube));
}
