//! Materials of one's own beside standard ones: a flag that its vertex shader waves, with its shadow; spheres whose
//! standard material has stripes; a board that shows cells which a compute pass writes in the same frame.

use std::f32::consts::{FRAC_PI_2, TAU};
use std::time::Duration;

use bevy_app::{App, AppExit, Startup};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_light::DirectionalLightShadowMap;
use bevy_time::{Time, TimeUpdateStrategy};
use clap::Parser;
use examples::{CommonArgs, args};
use quadrille::prelude::*;
use quadrille_3d::Pass3dSystems;
use quadrille_3d::prelude::*;

/// Materials with vertex and fragment shaders of their own, and with a buffer that a pass writes.
#[derive(Parser, Clone)]
#[command(after_help = EXAMPLES)]
struct Args {
    /// Side of the sun's shadow maps in texels, a power of two
    #[arg(long, value_name = "N", default_value_t = 2048)]
    shadow_map: usize,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  materials
  materials --headless --frames 90 --screenshot materials.png
  materials --headless --frames 60 --plan plan.txt";

const WINDOW: [u32; 2] = [640, 360];

const SKY: Color = Color::srgb(0.55, 0.68, 0.82);

/// Waves a standard material's mesh along its normal.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Wave {
    /// Largest displacement, in meters.
    #[uniform(100)]
    height: f32,
    /// Speed in radians per second.
    #[uniform(100)]
    speed: f32,
}

impl MaterialExtension for Wave {
    fn vertex_shader() -> ShaderRef {
        WAVE.into()
    }
}

const WAVE: Handle<Shader> = bevy_asset::uuid_handle!("6c9d5e0e-6a4b-4f3f-8d86-0f7f6ed3a001");

const WAVE_SOURCE: &str = "
    import bevy_pbr::render::{
        forward_io::{Vertex, VertexOutput},
        mesh_functions::{get_world_from_local, mesh_normal_local_to_world, mesh_position_local_to_world},
        mesh_view_bindings::globals,
        view_transformations::position_world_to_clip,
    };

    struct Wave { height: f32, speed: f32 }
    @group(constants::MATERIAL_BIND_GROUP) @binding(100) var<uniform> wave: Wave;

    @vertex
    fn vertex(vertex: Vertex) -> VertexOutput {
        // The edge at u = 0 is tied to the pole.
        let phase = 9.0 * vertex.uv.x + 2.0 * vertex.uv.y - wave.speed * globals.time;
        let height = wave.height * vertex.uv.x;
        let slope = 4.0 * height * cos(phase);
        let position = vertex.position + vertex.normal * height * sin(phase);
        let normal = normalize(vertex.normal - vec3f(slope, 0.0, 0.0));
        let world_from_local = get_world_from_local(vertex.instance_index);
        var out: VertexOutput;
        out.world_position = mesh_position_local_to_world(world_from_local, vec4f(position, 1.0));
        out.position = position_world_to_clip(out.world_position.xyz);
        out.world_normal = mesh_normal_local_to_world(normal, vertex.instance_index);
        out.uv = vertex.uv;
        out.uv_b = vertex.uv_b;
        out.color = vertex.color;
        out.instance_index = vertex.instance_index;
        return out;
    }";

/// Paints stripes on a standard material.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Stripes {
    #[uniform(100)]
    color: LinearRgba,
    #[uniform(101)]
    count: f32,
}

impl MaterialExtension for Stripes {
    fn fragment_shader() -> ShaderRef {
        STRIPES.into()
    }
}

const STRIPES: Handle<Shader> = bevy_asset::uuid_handle!("6c9d5e0e-6a4b-4f3f-8d86-0f7f6ed3a002");

const STRIPES_SOURCE: &str = "
    import bevy_pbr::render::{
        forward_io::{FragmentOutput, VertexOutput},
        pbr_fragment::pbr_input_from_standard_material,
        pbr_functions::{apply_pbr_lighting, main_pass_post_lighting_processing},
    };

    @group(constants::MATERIAL_BIND_GROUP) @binding(100) var<uniform> color: vec4f;
    @group(constants::MATERIAL_BIND_GROUP) @binding(101) var<uniform> count: f32;

    @fragment
    fn fragment(mesh: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
        var input = pbr_input_from_standard_material(mesh, is_front);
        let part = fract(count * (mesh.uv.x + mesh.uv.y));
        let width = fwidth(count * (mesh.uv.x + mesh.uv.y));
        let stripe = smoothstep(0.5 - width, 0.5, part) - smoothstep(1.0 - width, 1.0, part);
        input.material.base_color = mix(input.material.base_color, color, stripe);
        var out: FragmentOutput;
        out.color = main_pass_post_lighting_processing(input, apply_pbr_lighting(input));
        return out;
    }";

/// Shows the cells of a buffer.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Board {
    #[storage(0, read_only, buffer)]
    cells: GpuBuffer,
}

impl Material for Board {
    fn fragment_shader() -> ShaderRef {
        BOARD.into()
    }
}

const BOARD: Handle<Shader> = bevy_asset::uuid_handle!("6c9d5e0e-6a4b-4f3f-8d86-0f7f6ed3a003");

const BOARD_SOURCE: &str = "
    import bevy_pbr::render::forward_io::VertexOutput;

    @group(constants::MATERIAL_BIND_GROUP) @binding(0) var<storage, read> cells: array<f32>;

    @fragment
    fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
        let at = mesh.uv * vec2f(32.0, 16.0);
        let cell = vec2u(min(at, vec2f(31.0, 15.0)));
        let distance = length(fract(at) - 0.5);
        let lamp = 1.0 - smoothstep(0.35, 0.45, distance);
        let value = cells[cell.y * 32u + cell.x];
        let color = mix(vec3f(0.05, 0.1, 0.3), vec3f(1.0, 0.7, 0.2), value);
        return vec4f(mix(vec3f(0.02), color, lamp), 1.0);
    }";

const MATERIAL_OF_BOARD: Handle<Board> =
    bevy_asset::uuid_handle!("6c9d5e0e-6a4b-4f3f-8d86-0f7f6ed3a004");

/// Cells of the board in rows, from 0 to 1.
#[derive(Resource, Deref)]
struct Cells(GpuBuffer);

const SIZE: [u32; 2] = [32, 16];

#[derive(Resource)]
struct Ripple(ComputePipeline);

const RIPPLE: &str = "
    @group(0) @binding(0) var<storage, read_write> cells: array<f32>;
    var<immediate> time: f32;

    @compute @workgroup_size(8, 8)
    fn main(@builtin(global_invocation_id) id: vec3u) {
        let at = vec2f(id.xy) - vec2f(15.5, 7.5);
        cells[id.y * 32u + id.x] = 0.5 + 0.5 * sin(0.9 * length(at) - 4.0 * time);
    }";

/// Creates the buffer and its pipeline; again after a lost device, with a new buffer in the material.
fn make(mut commands: Commands, gpu: Res<GpuDevice>, mut boards: ResMut<Assets<Board>>) -> Result {
    let shader = GpuShader::wgsl("ripple", RIPPLE)?;
    let desc = ComputePipelineDesc::of("ripple", &shader);
    commands.insert_resource(Ripple(gpu.compute_pipeline(&desc)?));
    let bytes = u64::from(SIZE[0] * SIZE[1]) * 4;
    let cells = gpu.create_buffer(&BufferDesc::storage("cells", bytes))?;
    commands.insert_resource(Cells(cells.clone()));
    boards.insert(MATERIAL_OF_BOARD.id(), Board { cells })?;
    Ok(())
}

fn spawn_board(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
    commands.spawn((
        Mesh3d(meshes.add(Rectangle::new(4.0, 2.0))),
        MeshMaterial3d(MATERIAL_OF_BOARD),
        Transform::from_xyz(2.6, 1.5, -1.5).with_rotation(Quat::from_rotation_y(-0.35)),
    ));
}

/// Nothing orders this pass before the board's: the material reads the buffer, so the plan does.
fn ripple(
    mut recorder: Recorder,
    cells: StorageWrite<Cells>,
    ripple: Res<Ripple>,
    time: Res<Time>,
) {
    recorder
        .compute(&ripple.0)
        .bind("cells", &cells)
        .push(&time.elapsed_secs())
        .dispatch_invocations([SIZE[0], SIZE[1], 1]);
}

type Waved = ExtendedMaterial<StandardMaterial, Wave>;
type Striped = ExtendedMaterial<StandardMaterial, Stripes>;

fn spawn_flag(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut standard: ResMut<Assets<StandardMaterial>>,
    mut waved: ResMut<Assets<Waved>>,
) {
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(60.0, 60.0))),
        MeshMaterial3d(standard.add(StandardMaterial {
            perceptual_roughness: 0.9,
            ..StandardMaterial::from(Color::srgb(0.45, 0.5, 0.38))
        })),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Cylinder::new(0.06, 4.4))),
        MeshMaterial3d(standard.add(StandardMaterial {
            metallic: 1.0,
            perceptual_roughness: 0.4,
            ..StandardMaterial::from(Color::srgb(0.8, 0.8, 0.82))
        })),
        Transform::from_xyz(-4.2, 2.2, -0.5),
    ));
    let cloth = Plane3d::new(Vec3::Z, Vec2::new(1.5, 0.9));
    commands.spawn((
        Mesh3d(meshes.add(cloth.mesh().subdivisions(48))),
        MeshMaterial3d(waved.add(Waved {
            base: StandardMaterial {
                cull_mode: None,
                double_sided: true,
                perceptual_roughness: 0.8,
                ..StandardMaterial::from(Color::srgb(0.85, 0.12, 0.15))
            },
            extension: Wave {
                height: 0.22,
                speed: 5.0,
            },
        })),
        // Bounds for culling are those of the mesh, which is flat.
        bevy_camera::visibility::NoFrustumCulling,
        Transform::from_xyz(-2.65, 3.4, -0.5),
    ));
}

fn spawn_spheres(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut striped: ResMut<Assets<Striped>>,
) {
    let sphere = meshes.add(Sphere::new(0.6).mesh().uv(48, 24));
    for index in 0..4u8 {
        let part = f32::from(index);
        let hue = Color::hsl(part * 90.0 + 20.0, 0.7, 0.55);
        commands.spawn((
            Mesh3d(sphere.clone()),
            MeshMaterial3d(striped.add(Striped {
                base: StandardMaterial {
                    metallic: f32::from(index % 2),
                    perceptual_roughness: 0.25,
                    ..StandardMaterial::from(hue)
                },
                extension: Stripes {
                    color: LinearRgba::WHITE,
                    count: 3.0 + 2.0 * part,
                },
            })),
            Transform::from_xyz(1.5 * part - 2.4, 0.6, 1.4).with_rotation(
                Quat::from_rotation_x(-FRAC_PI_2) * Quat::from_rotation_z(TAU / 8.0),
            ),
        ));
    }
}

fn spawn_light(mut commands: Commands) {
    commands.spawn((
        DirectionalLight {
            illuminance: 6000.0,
            shadow_maps_enabled: true,
            ..DirectionalLight::default()
        },
        CascadeShadowConfigBuilder {
            maximum_distance: 30.0,
            ..CascadeShadowConfigBuilder::default()
        }
        .build(),
        Transform::from_xyz(-3.0, 6.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.0, 3.0, 8.0).looking_at(Vec3::new(0.0, 1.5, 0.0), Vec3::Y),
    ));
}

fn add_shaders(mut shaders: ResMut<Assets<Shader>>) -> Result {
    let sources = [
        (WAVE, WAVE_SOURCE, "wave.wgsl"),
        (STRIPES, STRIPES_SOURCE, "stripes.wgsl"),
        (BOARD, BOARD_SOURCE, "board.wgsl"),
    ];
    for (handle, source, name) in sources {
        shaders.insert(handle.id(), Shader::from_wgsl(source, name))?;
    }
    Ok(())
}

fn main() -> AppExit {
    let args: Args = args::parse();
    let plugins = args.common.plugins("Materials", WINDOW);
    let is_headless = args.common.is_headless();
    let mut app = App::new();
    app.insert_resource(ClearColor(SKY))
        .insert_resource(DirectionalLightShadowMap {
            size: args.shadow_map,
        })
        .add_plugins((plugins, Quadrille3dPlugin::default()))
        .add_plugins((
            MaterialPlugin::<Waved>::default(),
            MaterialPlugin::<Striped>::default(),
            MaterialPlugin::<Board>::default(),
        ))
        .add_plugins(args.common)
        .add_systems(
            Startup,
            (
                add_shaders,
                spawn_flag,
                spawn_board,
                spawn_spheres,
                spawn_light,
            ),
        )
        .add_systems(RenderStartup, make)
        .add_systems(Render, ripple.before(Pass3dSystems::Shadow));
    if is_headless {
        // Each frame is a step, so that pictures are the same each time.
        let step = Duration::from_secs_f64(1.0 / 60.0);
        app.insert_resource(TimeUpdateStrategy::ManualDuration(step));
    }
    app.run()
}
