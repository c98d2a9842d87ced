//! Materials with their own shaders, by exact values.

use bevy_app::App;
use bevy_ecs::prelude::*;
use quadrille::ecs::{RenderError, RenderErrorHandler, RenderErrorPolicy};
use quadrille::prelude::{Recorder, Render};
use quadrille_3d::content::ContentPlugin;
use quadrille_3d::prelude::*;
use quadrille_3d::{
    MaterialPipeline, MaterialPipelineKey, MeshVertexBufferLayoutRef, RenderPipelineDescriptor,
    Scene3d, SpecializedMeshPipelineError,
};

use crate::common::images::pattern;
use crate::common::{Picture, Rig, log, temporary};
use crate::material_shaders::lit_floor;

/// Two uniforms, one of two fields, a texture and its sampler.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
#[bind_group_data(bool)]
struct Tinted {
    #[uniform(0)]
    color: LinearRgba,
    #[uniform(3)]
    strength: f32,
    #[uniform(3)]
    offset: Vec3,
    #[texture(1)]
    #[sampler(2)]
    pattern: Option<Handle<Image>>,
    alpha_mode: AlphaMode,
    two_sided: bool,
}

impl From<&Tinted> for bool {
    fn from(material: &Tinted) -> Self {
        material.two_sided
    }
}

const SHADER: &str = "
import bevy_pbr::render::forward_io::VertexOutput;

struct Change { strength: f32, offset: vec3f }

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> color: vec4f;
@group(constants::MATERIAL_BIND_GROUP) @binding(1) var pattern: texture_2d<f32>;
@group(constants::MATERIAL_BIND_GROUP) @binding(2) var pattern_sampler: sampler;
@group(constants::MATERIAL_BIND_GROUP) @binding(3) var<uniform> change: Change;

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    let texel = textureSample(pattern, pattern_sampler, mesh.uv);
    return vec4f(color.rgb * texel.rgb * change.strength + change.offset, color.a);
}
";

impl Material for Tinted {
    fn fragment_shader() -> ShaderRef {
        HANDLE.into()
    }

    fn alpha_mode(&self) -> AlphaMode {
        self.alpha_mode
    }

    fn specialize(
        _: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        _: &MeshVertexBufferLayoutRef,
        key: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        if key.bind_group_data {
            descriptor.primitive.cull_mode = None;
        }
        Ok(())
    }
}

const HANDLE: Handle<Shader> = bevy_asset::uuid_handle!("8a9f36f5-6e1d-49c1-a84c-9a6f0ee7b1c5");

impl Default for Tinted {
    fn default() -> Self {
        Self {
            color: LinearRgba::WHITE,
            strength: 1.0,
            offset: Vec3::ZERO,
            pattern: None,
            alpha_mode: AlphaMode::Opaque,
            two_sided: false,
        }
    }
}

fn add_shader(app: &mut App, source: &str) {
    let shader = Shader::from_wgsl(source.to_owned(), "tinted.wgsl");
    let mut shaders = app.world_mut().resource_mut::<Assets<Shader>>();
    shaders
        .insert(HANDLE.id(), shader)
        .expect("the handle is free");
}

fn camera(mut commands: Commands) {
    commands.insert_resource(ClearColor(Color::BLACK));
    commands.spawn(unit_camera());
}

/// A camera whose view of 32 x 32 pixels has a width of one unit, with the colors of materials unchanged.
pub(crate) fn unit_camera() -> impl Bundle {
    let mut projection = OrthographicProjection::default_3d();
    projection.scale = 1.0 / 32.0;
    (
        Camera3d::default(),
        Projection::from(projection),
        Msaa::Off,
        Tonemapping::None,
        DebandDither::Disabled,
        Transform::from_xyz(0.0, 0.0, 3.0),
    )
}

fn rig(source: &str) -> Rig {
    let mut rig = Rig::with(
        32,
        32,
        (
            Quadrille3dPlugin::default(),
            MaterialPlugin::<Tinted>::default(),
        ),
    );
    rig.app.add_systems(bevy_app::Startup, camera);
    add_shader(&mut rig.app, source);
    rig
}

/// Spawns a square of `side` at `center`, in units of the width of the picture.
fn square(rig: &mut Rig, center: Vec3, side: f32, material: Tinted) -> (Entity, Handle<Tinted>) {
    let world = rig.app.world_mut();
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Rectangle::new(side, side));
    let material = world.resource_mut::<Assets<Tinted>>().add(material);
    let place = Transform::from_translation(center);
    let entity = world.spawn((Mesh3d(mesh), MeshMaterial3d(material.clone()), place));
    (entity.id(), material)
}

/// sRGB code of a linear value.
fn code(linear: f32) -> u8 {
    let color = Color::linear_rgb(linear, 0.0, 0.0).to_srgba();
    (color.red * 255.0).round() as u8
}

fn assert_color(found: [u8; 4], wanted: [f32; 3], what: &str) {
    for (found, wanted) in found.into_iter().zip(wanted) {
        assert!(
            found.abs_diff(code(wanted)) <= 1,
            "{what}: {found} for {wanted}"
        );
    }
}

#[test]
#[ignore = "needs a device"]
fn custom_material_uniforms_and_textures_are_read_by_instance() {
    let mut rig = rig(SHADER);
    rig.start();
    let image = rig
        .app
        .world_mut()
        .resource_mut::<Assets<Image>>()
        .add(pattern());
    square(
        &mut rig,
        Vec3::new(-0.25, 0.0, 0.0),
        0.5,
        Tinted {
            color: LinearRgba::rgb(0.5, 0.25, 1.0),
            pattern: Some(image),
            offset: Vec3::new(0.0, 0.0, 0.125),
            ..Tinted::default()
        },
    );
    let (_, right) = square(
        &mut rig,
        Vec3::new(0.25, 0.0, 0.0),
        0.5,
        Tinted {
            color: LinearRgba::rgb(0.25, 0.5, 0.75),
            strength: 0.5,
            ..Tinted::default()
        },
    );
    let picture = rig.picture();
    assert_color(picture.at(4, 16), [0.5, 0.0, 0.125], "red texel");
    assert_color(picture.at(12, 16), [0.0, 0.25, 0.125], "green texel");
    assert_color(
        picture.at(24, 16),
        [0.125, 0.25, 0.375],
        "white without an image",
    );
    assert_eq!(picture.at(24, 2), [0, 0, 0, 255], "beside the meshes");
    // A changed material is uploaded.
    let world = rig.app.world_mut();
    let mut materials = world.resource_mut::<Assets<Tinted>>();
    materials.get_mut(&right).expect("it is there").strength = 1.0;
    assert_color(rig.picture().at(24, 16), [0.25, 0.5, 0.75], "changed");
}

#[test]
#[ignore = "needs a device"]
fn thousand_custom_materials_share_one_draw() {
    let mut rig = rig(SHADER);
    rig.start();
    for index in 0..1024u16 {
        let [x, y] = [index % 32, index / 32].map(f32::from);
        let center = Vec3::new((x - 15.5) / 32.0, (15.5 - y) / 32.0, 0.0);
        let color = LinearRgba::rgb(x / 32.0, y / 32.0, 0.5);
        let material = Tinted {
            color,
            ..Tinted::default()
        };
        let world = rig.app.world_mut();
        if index == 0 {
            square(&mut rig, center, 1.0 / 32.0, material);
            continue;
        }
        let mut meshes = world.query::<&Mesh3d>();
        let mesh = meshes.iter(world).next().expect("there is one").clone();
        let material = world.resource_mut::<Assets<Tinted>>().add(material);
        let place = Transform::from_translation(center);
        world.spawn((mesh, MeshMaterial3d(material), place));
    }
    let picture = rig.picture();
    assert_eq!(rig.app.world().resource::<Scene3d>().draws(), 1);
    for (x, y) in [(0, 0), (31, 31), (5, 20), (17, 9)] {
        let wanted = [x as f32 / 32.0, y as f32 / 32.0, 0.5];
        assert_color(picture.at(x, y), wanted, &format!("pixel {x}, {y}"));
    }
}

#[test]
#[ignore = "needs a device"]
fn custom_material_blends_by_alpha_mode_and_culls_by_specialize() {
    let mut rig = rig(SHADER);
    rig.start();
    let behind = Tinted {
        color: LinearRgba::rgb(0.0, 0.0, 1.0),
        ..Tinted::default()
    };
    square(&mut rig, Vec3::ZERO, 1.0, behind);
    let blend = |red, alpha, alpha_mode| Tinted {
        color: LinearRgba::new(red, 0.0, 0.0, alpha),
        alpha_mode,
        ..Tinted::default()
    };
    let left = Vec3::new(-0.375, 0.0, 0.5);
    square(&mut rig, left, 0.25, blend(1.0, 0.25, AlphaMode::Blend));
    let middle = Vec3::new(-0.125, 0.0, 0.5);
    square(
        &mut rig,
        middle,
        0.25,
        blend(0.5, 0.25, AlphaMode::Premultiplied),
    );
    let place = Vec3::new(0.125, 0.0, 0.5);
    let turned = |rig: &mut Rig, place, two_sided| {
        let material = Tinted {
            color: LinearRgba::rgb(0.0, 1.0, 0.0),
            two_sided,
            ..Tinted::default()
        };
        let (entity, _) = square(rig, place, 0.25, material);
        let world = rig.app.world_mut();
        let mut transform = world.get_mut::<Transform>(entity).expect("it has one");
        transform.rotate_y(std::f32::consts::PI);
    };
    turned(&mut rig, place, false);
    turned(&mut rig, Vec3::new(0.375, 0.0, 0.5), true);
    let picture = rig.picture();
    assert_color(picture.at(4, 16), [0.25, 0.0, 0.75], "straight alpha");
    assert_color(picture.at(12, 16), [0.5, 0.0, 0.75], "premultiplied");
    assert_color(picture.at(20, 16), [0.0, 0.0, 1.0], "culled back face");
    assert_color(
        picture.at(28, 16),
        [0.0, 1.0, 0.0],
        "back face without culling",
    );
}

#[test]
#[ignore = "needs a device"]
fn custom_material_follows_components_and_assets() {
    let mut rig = rig(SHADER);
    rig.start();
    let green = Tinted {
        color: LinearRgba::rgb(0.0, 1.0, 0.0),
        ..Tinted::default()
    };
    let (entity, _) = square(&mut rig, Vec3::ZERO, 1.0, green.clone());
    let at = |rig: &mut Rig| rig.picture().at(16, 16);
    assert_eq!(at(&mut rig), [0, 255, 0, 255]);
    // The material is replaced by another one.
    let world = rig.app.world_mut();
    let red = world.resource_mut::<Assets<Tinted>>().add(Tinted {
        color: LinearRgba::rgb(1.0, 0.0, 0.0),
        ..Tinted::default()
    });
    let mut material = world
        .get_mut::<MeshMaterial3d<Tinted>>(entity)
        .expect("it has one");
    material.0 = red;
    assert_eq!(at(&mut rig), [255, 0, 0, 255]);
    // No material, then a standard one, then a custom one in addition.
    let mut mesh = rig.app.world_mut().entity_mut(entity);
    mesh.remove::<MeshMaterial3d<Tinted>>();
    assert_eq!(at(&mut rig), [0, 0, 0, 255]);
    let world = rig.app.world_mut();
    let blue = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(StandardMaterial {
            unlit: true,
            ..StandardMaterial::from(Color::srgb_u8(0, 0, 255))
        });
    world.entity_mut(entity).insert(MeshMaterial3d(blue));
    assert_eq!(at(&mut rig), [0, 0, 255, 255]);
    let world = rig.app.world_mut();
    let custom = world.resource_mut::<Assets<Tinted>>().add(green);
    world.entity_mut(entity).insert(MeshMaterial3d(custom));
    assert_eq!(at(&mut rig), [0, 255, 0, 255]);
    rig.app.world_mut().despawn(entity);
    assert_eq!(at(&mut rig), [0, 0, 0, 255]);
}

#[test]
#[ignore = "needs a device"]
fn custom_material_casts_shadows() {
    let lit = |casts: bool| {
        let mut rig = rig(SHADER);
        rig.start();
        lit_floor(&mut rig);
        let (caster, _) = square(&mut rig, Vec3::new(0.25, 0.0, 0.0), 0.25, Tinted::default());
        if !casts {
            rig.app
                .world_mut()
                .entity_mut(caster)
                .insert(NotShadowCaster);
        }
        rig.picture().at(8, 16)[0]
    };
    let (shadowed, bright) = (lit(true), lit(false));
    assert!(
        shadowed + 60 < bright,
        "{shadowed} in the shadow, {bright} without"
    );
}

#[test]
#[ignore = "needs a device"]
fn unusable_material_shader_is_reported_and_drawn_in_magenta() {
    log::collect();
    let larger = SHADER.replace(
        "strength: f32, offset: vec3f",
        "strength: f32, offset: mat4x4f",
    );
    let larger = larger.replace("change.offset,", "change.offset[0].xyz,");
    let unknown_input = SHADER.replace(
        "mesh: VertexOutput",
        "mesh: VertexOutput, @location(9) more: vec4f",
    );
    let unknown_input = unknown_input.replace("color.a)", "color.a + more.x)");
    for (source, parts) in [
        (
            SHADER.replace("color.rgb", "colour.rgb"),
            ["colour", "tinted.wgsl:14"],
        ),
        (
            SHADER.replace("@binding(3)", "@binding(4)"),
            ["at binding 4", "#[uniform(4)]"],
        ),
        (
            larger,
            [
                "at binding 3 of the material `Tinted` has 32 bytes (`strength, offset`)",
                "reads 80",
            ],
        ),
        (unknown_input, ["location", "9"]),
    ] {
        let mut rig = rig(&source);
        rig.start();
        square(&mut rig, Vec3::ZERO, 1.0, Tinted::default());
        assert_eq!(rig.picture().at(16, 16), [255, 0, 255, 255], "{source}");
        let lines = log::take();
        let [line] = &lines[..] else {
            panic!("there is one message: {lines:#?}");
        };
        for part in parts {
            assert!(line.contains(part), "{part} is not in {line}");
        }
        // The new version of the shader is used.
        let world = rig.app.world_mut();
        let mut shaders = world.resource_mut::<Assets<Shader>>();
        shaders
            .insert(HANDLE.id(), Shader::from_wgsl(SHADER, "tinted.wgsl"))
            .expect("the handle is known");
        assert_eq!(rig.picture().at(16, 16), [255; 4]);
        assert!(log::take().is_empty());
    }
}

/// Whether the next frame loses the device.
#[derive(Resource, Default)]
struct Lose(bool);

fn fail(_: Recorder, mut lose: ResMut<Lose>) -> Result {
    match std::mem::take(&mut lose.0) {
        true => Err("refused by the test".into()),
        false => Ok(()),
    }
}

#[test]
#[ignore = "needs a device"]
fn custom_materials_are_restored_after_device_loss() {
    let mut rig = rig(SHADER);
    rig.app
        .insert_resource(RenderErrorHandler(|error, _| match error {
            RenderError::System { .. } => RenderErrorPolicy::Recover,
            error => panic!("{error}"),
        }))
        .init_resource::<Lose>()
        .add_systems(Render, fail);
    rig.start();
    let image = rig
        .app
        .world_mut()
        .resource_mut::<Assets<Image>>()
        .add(pattern());
    for (x, pattern) in [(-0.25, Some(image)), (0.25, None)] {
        let material = Tinted {
            pattern,
            ..Tinted::default()
        };
        square(&mut rig, Vec3::new(x, 0.0, 0.0), 0.5, material);
    }
    let before = rig.picture();
    assert_ne!(before.at(4, 16), before.at(24, 16));
    rig.app.world_mut().resource_mut::<Lose>().0 = true;
    rig.update(1);
    assert!(rig.picture() == before, "the picture is another one");
}

/// A material whose shader is a file.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct OfFile {
    #[uniform(0)]
    color: LinearRgba,
}

impl Material for OfFile {
    fn fragment_shader() -> ShaderRef {
        "of_file.wgsl".into()
    }
}

/// A material whose shader file does not exist.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct OfNoFile {}

impl Material for OfNoFile {
    fn fragment_shader() -> ShaderRef {
        "no_file.wgsl".into()
    }
}

#[test]
#[ignore = "needs a device"]
fn material_shader_files_are_loaded_with_their_imports() {
    log::collect();
    let folder = temporary("materials");
    std::fs::create_dir_all(&folder).expect("folders can be made");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("files can be written");
    };
    write("half.wgsl", "const HALF: f32 = 0.5;");
    write(
        "of_file.wgsl",
        "import super::half::HALF;
         @group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> color: vec4f;
         @fragment fn main() -> @location(0) vec4f { return vec4f(color.rgb * HALF, 1.0); }",
    );
    let content = ContentPlugin {
        asset_folder: folder.to_string_lossy().into_owned(),
        ..ContentPlugin::default()
    };
    let plugin = Quadrille3dPlugin {
        content,
        ..Quadrille3dPlugin::default()
    };
    // Materials may be added before the plugin that draws them.
    let mut rig = Rig::with(
        32,
        32,
        (
            MaterialPlugin::<OfFile>::default(),
            MaterialPlugin::<OfNoFile>::default(),
            plugin,
        ),
    );
    rig.app.add_systems(bevy_app::Startup, camera);
    rig.start();
    let world = rig.app.world_mut();
    let mesh = world.resource_mut::<Assets<Mesh>>();
    let mesh = mesh.into_inner().add(Rectangle::new(0.5, 1.0));
    let color = LinearRgba::rgb(1.0, 0.5, 0.0);
    let of_file = world.resource_mut::<Assets<OfFile>>().add(OfFile { color });
    let of_none = world.resource_mut::<Assets<OfNoFile>>().add(OfNoFile {});
    let [left, right] = [-0.25, 0.25].map(|x| Transform::from_xyz(x, 0.0, 0.0));
    world.spawn((Mesh3d(mesh.clone()), MeshMaterial3d(of_file), left));
    world.spawn((Mesh3d(mesh), MeshMaterial3d(of_none), right));
    // Files are read by other threads.
    let is_there = |picture: &Picture| picture.at(8, 16)[0] != 0 && picture.at(24, 16)[0] != 0;
    let picture = std::iter::repeat_with(|| rig.picture())
        .take(500)
        .find(is_there)
        .expect("both files were looked for");
    assert_color(
        picture.at(8, 16),
        [0.5, 0.25, 0.0],
        "the material of the file",
    );
    assert_eq!(picture.at(24, 16), [255, 0, 255, 255], "that of no file");
    let lines = log::take();
    let of_none: Vec<_> = lines
        .iter()
        .filter(|line| line.contains("`OfNoFile`"))
        .collect();
    assert_eq!(of_none.len(), 1, "{lines:#?}");
    assert!(of_none[0].contains("no_file.wgsl"), "{of_none:?}");
}
