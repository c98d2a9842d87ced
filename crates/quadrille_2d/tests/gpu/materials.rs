//! Materials with their own shaders, of meshes, sprites and nodes, by exact colors.

use bevy_app::App;
use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_math::{Vec2, Vec3, Vec4};
use quadrille_2d::prelude::*;
use quadrille_2d::{Phase2d, Quadrille2dPlugin, QueueWork};
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::common::images::pattern;
use crate::common::{Picture, Rig, log};

/// Two uniforms, one of two fields, a texture and its sampler.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Tinted {
    #[uniform(0)]
    color: LinearRgba,
    #[texture(1)]
    #[sampler(2)]
    pattern: Option<Handle<Image>>,
    #[uniform(3)]
    strength: f32,
    #[uniform(3)]
    offset: Vec4,
    alpha_mode: AlphaMode2d,
    depth_bias: f32,
}

impl Default for Tinted {
    fn default() -> Self {
        Self {
            color: LinearRgba::WHITE,
            pattern: None,
            strength: 1.0,
            offset: Vec4::ZERO,
            alpha_mode: AlphaMode2d::Opaque,
            depth_bias: 0.0,
        }
    }
}

/// Another type, without a shader: magenta, as in bevy.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Unshaded {}

impl Material2d for Unshaded {}

const HANDLE: Handle<Shader> = bevy_asset::uuid_handle!("1b1dc5ac-1f3c-4d0f-9d67-60b1f1e5b4a1");

impl Material2d for Tinted {
    fn fragment_shader() -> ShaderRef {
        HANDLE.into()
    }

    fn alpha_mode(&self) -> AlphaMode2d {
        self.alpha_mode
    }

    fn depth_bias(&self) -> f32 {
        self.depth_bias
    }
}

const SHADER: &str = "
import bevy_sprite_render::mesh2d::vertex_output::VertexOutput;

struct Change { strength: f32, offset: vec4f }

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> color: vec4f;
@group(2) @binding(1) var pattern: texture_2d<f32>;
@group(constants::MATERIAL_BIND_GROUP) @binding(2) var pattern_sampler: sampler;
@group(constants::MATERIAL_BIND_GROUP) @binding(3) var<uniform> change: Change;

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    var texel = textureSample(pattern, pattern_sampler, mesh.uv);
    @if(VERTEX_COLORS)
    texel *= mesh.color;
    return vec4f(color.rgb * texel.rgb * change.strength + change.offset.rgb, color.a);
}
";

pub(crate) fn add_shader(app: &mut App, handle: &Handle<Shader>, source: &str) {
    let shader = Shader::from_wgsl(source.to_owned(), "tinted.wgsl");
    let mut shaders = app.world_mut().resource_mut::<Assets<Shader>>();
    shaders
        .insert(handle.id(), shader)
        .expect("the handle is free");
}

fn rig(source: &str) -> Rig {
    rig_prepared(source, |_| {})
}

/// Two materials side by side, in an app with additional setup.
pub(crate) fn rig_with_two_materials(prepare: impl FnOnce(&mut Rig)) -> Rig {
    let mut rig = rig_prepared(SHADER, prepare);
    square(&mut rig, Vec3::new(-8.0, 0.0, 0.0), tinted(0.5, 0.25, 1.0));
    square(&mut rig, Vec3::new(8.0, 0.0, 0.0), tinted(1.0, 0.5, 0.0));
    rig.update(2);
    rig
}

fn rig_prepared(source: &str, prepare: impl FnOnce(&mut Rig)) -> Rig {
    let plugins = (
        Quadrille2dPlugin::default(),
        Material2dPlugin::<Tinted>::default(),
        Material2dPlugin::<Unshaded>::default(),
    );
    let mut rig = Rig::with(32, 32, plugins);
    add_shader(&mut rig.app, &HANDLE, source);
    prepare(&mut rig);
    rig.start();
    let world = rig.app.world_mut();
    world.insert_resource(ClearColor(Color::BLACK));
    world.spawn((Camera2d, Msaa::Off));
    rig
}

pub(crate) fn add<A: Asset>(rig: &mut Rig, asset: A) -> Handle<A> {
    rig.app.world_mut().resource_mut::<Assets<A>>().add(asset)
}

/// Spawns a square of 8 pixels around this point, y up.
fn square(rig: &mut Rig, center: Vec3, material: Tinted) -> (Entity, Handle<Tinted>) {
    let mesh = add(rig, Mesh::from(Rectangle::new(8.0, 8.0)));
    let material = add(rig, material);
    let place = Transform::from_translation(center);
    let entity = rig.app.world_mut();
    let entity = entity.spawn((Mesh2d(mesh), MeshMaterial2d(material.clone()), place));
    (entity.id(), material)
}

/// sRGB code of a linear value.
pub(crate) fn code(linear: f32) -> u8 {
    let color = Color::linear_rgb(linear, 0.0, 0.0).to_srgba();
    (color.red * 255.0).round() as u8
}

/// Compares the color at a point around the center, y up.
pub(crate) fn assert_color(picture: &Picture, [x, y]: [i32; 2], wanted: [f32; 3]) {
    let found = picture.at((16 + x) as u32, (16 - y) as u32);
    for (found, wanted) in found.into_iter().zip(wanted) {
        let wanted = code(wanted);
        assert!(
            found.abs_diff(wanted) <= 1,
            "at {x}, {y}: {found} for {wanted}"
        );
    }
}

/// A square of 8 pixels with one vertex color.
fn colored_square(color: [f32; 4]) -> Mesh {
    let mesh = Mesh::from(Rectangle::new(8.0, 8.0));
    mesh.with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, vec![color; 4])
}

fn tinted(red: f32, green: f32, blue: f32) -> Tinted {
    Tinted {
        color: LinearRgba::rgb(red, green, blue),
        ..Tinted::default()
    }
}

pub(crate) fn work(rig: &mut Rig) -> QueueWork {
    rig.update(1);
    rig.app.world().resource::<Phase2d>().work()
}

#[test]
#[ignore = "needs a device"]
fn material_2d_reads_uniforms_and_textures() {
    let mut rig = rig(SHADER);
    let image = add(&mut rig, pattern());
    let left = Tinted {
        pattern: Some(image),
        offset: Vec4::new(0.0, 0.0, 0.125, 0.0),
        ..tinted(0.5, 0.25, 1.0)
    };
    square(&mut rig, Vec3::new(-8.0, 0.0, 0.0), left);
    let right = Tinted {
        strength: 0.5,
        ..tinted(0.25, 0.5, 0.75)
    };
    let (_, right) = square(&mut rig, Vec3::new(8.0, 0.0, 0.0), right);
    let picture = rig.picture();
    assert_color(&picture, [-10, 0], [0.5, 0.0, 0.125]);
    assert_color(&picture, [-6, 0], [0.0, 0.25, 0.125]);
    assert_color(&picture, [8, 0], [0.125, 0.25, 0.375]);
    assert_color(&picture, [0, 0], [0.0; 3]);
    let colored = add(&mut rig, colored_square([1.0, 0.5, 0.25, 1.0]));
    let material = add(&mut rig, tinted(1.0, 1.0, 1.0));
    let place = Transform::from_xyz(-8.0, -10.0, 0.0);
    let world = rig.app.world_mut();
    world.spawn((Mesh2d(colored), MeshMaterial2d(material), place));
    assert_color(&rig.picture(), [-8, -10], [1.0, 0.5, 0.25]);
    assert_eq!(work(&mut rig), QueueWork::default());
    let mut materials = rig.app.world_mut().resource_mut::<Assets<Tinted>>();
    materials.get_mut(&right).expect("it is there").strength = 1.0;
    assert_eq!(
        work(&mut rig),
        QueueWork::default(),
        "a uniform builds nothing"
    );
    assert_color(&rig.picture(), [8, 0], [0.25, 0.5, 0.75]);
}

#[test]
#[ignore = "needs a device"]
fn materials_of_one_type_are_one_draw() {
    let mut rig = rig(SHADER);
    let mesh = add(&mut rig, Mesh::from(Rectangle::new(8.0, 8.0)));
    for index in 0..16_u8 {
        let at = Vec3::new(
            f32::from(index % 4) * 8.0 - 12.0,
            f32::from(index / 4) * 8.0 - 12.0,
            0.0,
        );
        let material = add(&mut rig, tinted(f32::from(index) / 16.0, 0.5, 1.0));
        let place = Transform::from_translation(at);
        let world = rig.app.world_mut();
        world.spawn((Mesh2d(mesh.clone()), MeshMaterial2d(material), place));
    }
    let picture = rig.picture();
    assert_color(&picture, [-12, -12], [0.0, 0.5, 1.0]);
    assert_color(&picture, [12, 12], [15.0 / 16.0, 0.5, 1.0]);
    assert_eq!(rig.app.world().resource::<Phase2d>().draws(), 1);
}

#[test]
#[ignore = "needs a device"]
fn materials_are_sorted_with_sprites() {
    let mut rig = rig(SHADER);
    let sprite = |color, z| {
        let sprite = Sprite::from_color(color, Vec2::new(32.0, 4.0));
        (sprite, Transform::from_xyz(0.0, 0.0, z))
    };
    square(&mut rig, Vec3::new(-8.0, 0.0, 0.0), tinted(1.0, 0.0, 0.0));
    square(&mut rig, Vec3::new(8.0, 0.0, 2.0), tinted(1.0, 0.0, 0.0));
    let half = Tinted {
        color: LinearRgba::new(1.0, 0.0, 0.0, 0.5),
        alpha_mode: AlphaMode2d::Blend,
        depth_bias: 1.5,
        ..Tinted::default()
    };
    square(&mut rig, Vec3::ZERO, half);
    rig.app
        .world_mut()
        .spawn(sprite(Color::linear_rgb(0.0, 1.0, 0.0), 1.0));
    let picture = rig.picture();
    assert_color(&picture, [-8, 0], [0.0, 1.0, 0.0]);
    assert_color(&picture, [8, 0], [1.0, 0.0, 0.0]);
    assert_color(&picture, [0, 0], [0.5, 0.5, 0.0]);
    assert_color(&picture, [0, 3], [0.5, 0.0, 0.0]);
}

#[test]
#[ignore = "needs a device"]
fn changed_and_removed_materials_are_followed() {
    let mut rig = rig(SHADER);
    let (entity, material) = square(&mut rig, Vec3::ZERO, tinted(1.0, 0.0, 0.0));
    assert_color(&rig.picture(), [0, 0], [1.0, 0.0, 0.0]);
    let other = add(&mut rig, tinted(0.0, 0.0, 1.0));
    rig.app
        .world_mut()
        .entity_mut(entity)
        .insert(MeshMaterial2d(other));
    assert_color(&rig.picture(), [0, 0], [0.0, 0.0, 1.0]);
    drop(material);
    let world = rig.app.world_mut();
    world
        .entity_mut(entity)
        .insert(Transform::from_xyz(8.0, 0.0, 0.0));
    let picture = rig.picture();
    assert_color(&picture, [8, 0], [0.0, 0.0, 1.0]);
    assert_color(&picture, [0, 0], [0.0; 3]);
    rig.app
        .world_mut()
        .entity_mut(entity)
        .remove::<MeshMaterial2d<Tinted>>();
    assert_color(&rig.picture(), [8, 0], [0.0; 3]);
}

#[test]
#[ignore = "needs a device"]
fn last_changed_of_two_material_types_is_drawn() {
    let mut rig = rig(SHADER);
    let (entity, _) = square(&mut rig, Vec3::ZERO, tinted(0.0, 0.5, 0.0));
    assert_color(&rig.picture(), [0, 0], [0.0, 0.5, 0.0]);
    let unshaded = add(&mut rig, Unshaded {});
    let mut square = rig.app.world_mut().entity_mut(entity);
    square.insert(MeshMaterial2d(unshaded));
    assert_color(&rig.picture(), [0, 0], [1.0, 0.0, 1.0]);
    let mut square = rig.app.world_mut().entity_mut(entity);
    square.remove::<MeshMaterial2d<Unshaded>>();
    assert_color(&rig.picture(), [0, 0], [0.0, 0.5, 0.0]);
}

#[test]
#[ignore = "needs a device"]
fn wrong_shader_of_material_2d_is_reported_and_magenta() {
    log::collect();
    for (source, part) in [
        ("@fragment fn fragment() {}", "returns no `@location(0) vec4f`"),
        ("@fragment fn fragment( -> vec4f", "tinted.wgsl"),
        (
            "@group(0) @binding(12) var<storage, read> other: array<f32>;
             @fragment fn fragment(@builtin(position) at: vec4f) -> @location(0) vec4f { return vec4f(other[0]); }",
            "reads `other`",
        ),
        (
            "@group(2) @binding(0) var<uniform> color: mat4x4f;
             @fragment fn fragment(@builtin(position) at: vec4f) -> @location(0) vec4f { return color[0]; }",
            "has 16 bytes",
        ),
    ] {
        let mut rig = rig(source);
        square(&mut rig, Vec3::ZERO, Tinted::default());
        assert_color(&rig.picture(), [0, 0], [1.0, 0.0, 1.0]);
        let lines = log::take();
        let errors: Vec<_> = lines.iter().filter(|line| line.contains("magenta")).collect();
        assert_eq!(errors.len(), 1, "{lines:#?}");
        assert!(errors[0].contains(part), "{part} is not in {errors:#?}");
    }
}

impl UiMaterial for Tinted {}

#[test]
#[ignore = "needs a device"]
fn type_of_two_material_plugins_keeps_the_first() {
    log::collect();
    let mut rig = rig_with_two_materials(|rig| {
        rig.app.add_plugins(UiMaterialPlugin::<Tinted>::default());
    });
    assert_color(&rig.picture(), [-8, 0], [0.5, 0.25, 1.0]);
    let lines = log::take();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(
        lines[0].contains("`UiMaterialPlugin<Tinted>` draws nothing"),
        "{lines:#?}"
    );
}

#[test]
#[ignore = "needs a device"]
fn target_that_its_own_material_samples_ends_no_frame() {
    let mut rig = rig(SHADER);
    let size = Extent3d {
        width: 32,
        height: 32,
        depth_or_array_layers: 1,
    };
    let mut target = Image::new_fill(
        size,
        TextureDimension::D2,
        &[0; 4],
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::default(),
    );
    target.texture_descriptor.usage |= wgpu_types::TextureUsages::RENDER_ATTACHMENT;
    let target = add(&mut rig, target);
    let camera = Camera {
        order: -1,
        clear_color: ClearColorConfig::Custom(Color::linear_rgb(0.0, 0.5, 0.0)),
        ..Camera::default()
    };
    let render_target = RenderTarget::Image(target.clone().into());
    rig.app
        .world_mut()
        .spawn((Camera2d, camera, render_target, Msaa::Off));
    let shown = Tinted {
        pattern: Some(target),
        ..Tinted::default()
    };
    square(&mut rig, Vec3::ZERO, shown);
    rig.update(3);
    assert_color(&rig.picture(), [0, 0], [0.0, 0.5, 0.0]);
}
