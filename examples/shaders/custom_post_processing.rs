//! A cheap lens over the whole picture: the camera draws to an image, and a pass shows that in the
//! window with its colors apart.

use bevy_app::{App, Startup, Update};
use bevy_camera::ManualTextureViewHandle;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille::prelude::*;
use quadrille::vulkan::Format;
use quadrille_3d::prelude::*;

/// How far the colors of a camera's picture lie apart, of its size.
#[derive(Component)]
struct Lens(f32);

/// Render target of the camera.
#[derive(Resource, Deref)]
struct Picture(GpuImage);

#[derive(Resource)]
struct Show(GraphicsPipeline, Sampler);

const HANDLE: ManualTextureViewHandle = ManualTextureViewHandle(0);

const SHADER: &str = "
    @group(0) @binding(0) var picture: texture_2d<f32>;
    @group(0) @binding(1) var smoothly: sampler;
    var<immediate> apart: f32;
    struct Seen { @builtin(position) position: vec4f, @location(0) uv: vec2f }

    @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> Seen {
        let at = vec2f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0);
        return Seen(vec4f(at, 0.0, 1.0), at * vec2f(0.5, -0.5) + 0.5);
    }

    @fragment fn fragment_main(seen: Seen) -> @location(0) vec4f {
        let way = vec2f(apart, -apart);
        return vec4f(textureSample(picture, smoothly, seen.uv + way.xy).r,
                     textureSample(picture, smoothly, seen.uv + way.yx).g,
                     textureSample(picture, smoothly, seen.uv + way.yy).b, 1.0);
    }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let desc = ImageDesc::color_target("picture", [1, 1], Format::R8G8B8A8_SRGB);
    commands.queue(WindowSized::new(Picture, desc));
    let shader = GpuShader::wgsl("show", SHADER)?;
    let pipeline = gpu.graphics_pipeline(&GraphicsPipelineDesc::of("show", &shader))?;
    commands.insert_resource(Show(pipeline, gpu.create_sampler(&SamplerDesc::linear())?));
    Ok(())
}

/// The camera's target is the image of the window's size, whatever that is now.
fn follow(picture: Res<Picture>, mut targets: ResMut<ManualTextureViews>) {
    targets.insert(HANDLE, picture.0.clone());
}

fn show(
    mut recorder: Recorder,
    picture: Sampled<Picture>,
    window: ColorTarget<PrimaryWindowImage>,
    (show, lens): (Res<Show>, Single<&Lens>),
) {
    let mut rendering = recorder.render(window.discard());
    rendering
        .pipeline(&show.0)
        .bind("picture", &picture)
        .sampler("smoothly", &show.1)
        .push(&lens.0)
        .draw(0..3, 0..1);
}

fn setup(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        Mesh3d(meshes.add(Cuboid::from_length(1.0))),
        MeshMaterial3d(materials.add(Color::srgb(0.8, 0.7, 0.6))),
        Transform::from_rotation(Quat::from_rotation_y(0.5)),
    ));
    commands.spawn((
        DirectionalLight::default(),
        Transform::default().looking_to(Vec3::new(-1.0, -2.0, -1.5), Vec3::Y),
    ));
    let eye = Transform::from_xyz(0.0, 1.0, 2.5).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((
        Camera3d::default(),
        eye,
        Lens(0.01),
        RenderTarget::TextureView(HANDLE),
    ));
}

pub(crate) fn add(app: &mut App) {
    app.add_systems(Startup, setup)
        .add_systems(
            Update,
            follow.run_if(resource_exists_and_changed::<Picture>),
        )
        .add_systems(RenderStartup, make)
        .add_systems(Render, show);
}
