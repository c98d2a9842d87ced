//! Materials with their own shaders, of meshes, sprites and nodes, by exact colors.

use bevy_app::App;
use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_math::{Vec2, Vec3, Vec4};
use quadrille_2d::prelude::*;
use quadrille_2d::{Phase2d, Quadrille2dPlugin, QueueWork};
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

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
    let texel = textureSample(pattern, pattern_sampler, mesh.uv) * mesh.color;
    return vec4f(color.rgb * texel.rgb * change.strength + change.offset.rgb, color.a);
}
";

fn add_shader(app: &mut App, handle: &Handle<Shader>, source: &str) {
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

fn add<A: Asset>(rig: &mut Rig, asset: A) -> Handle<A> {
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
fn code(linear: f32) -> u8 {
    let color = Color::linear_rgb(linear, 0.0, 0.0).to_srgba();
    (color.red * 255.0).round() as u8
}

/// Compares the color at a point around the center, y up.
fn assert_color(picture: &Picture, [x, y]: [i32; 2], wanted: [f32; 3]) {
    let found = picture.at((16 + x) as u32, (16 - y) as u32);
    for (found, wanted) in found.into_iter().zip(wanted) {
        let wanted = code(wanted);
        assert!(
            found.abs_diff(wanted) <= 1,
            "at {x}, {y}: {found} for {wanted}"
        );
    }
}

/// Two texels, red and green, with nearest filtering.
fn pattern() -> Image {
    let size = Extent3d {
        width: 2,
        height: 1,
        depth_or_array_layers: 1,
    };
    let texels = vec![255, 0, 0, 255, 0, 255, 0, 255];
    let mut image = Image::new(
        size,
        TextureDimension::D2,
        texels,
        TextureFormat::Rgba8Unorm,
        RenderAssetUsages::default(),
    );
    image.sampler = bevy_image::ImageSampler::nearest();
    image
}

fn tinted(red: f32, green: f32, blue: f32) -> Tinted {
    Tinted {
        color: LinearRgba::rgb(red, green, blue),
        ..Tinted::default()
    }
}

fn work(rig: &mut Rig) -> QueueWork {
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
fn wrong_shader_of_material_2d_is_reported_and_magenta() {
    log::collect();
    for (source, part) in [
        ("@fragment fn fragment() {}", "returns no `@location(0) vec4f`"),
        ("@fragment fn fragment( -> vec4f", "tinted.wgsl"),
        (
            "@group(0) @binding(9) var<storage, read> other: array<f32>;
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

/// An effect on sprites.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Faded {
    #[uniform(20)]
    color: LinearRgba,
    #[uniform(20)]
    amount: f32,
}

const FADED: Handle<Shader> = bevy_asset::uuid_handle!("5e1f7b29-98a5-45a6-9d7e-8d3f3f24cf7b");

impl MaterialExtension2d for Faded {
    fn fragment_shader() -> Option<ShaderRef> {
        Some(FADED.into())
    }
}

/// Without a fragment shader: the unchanged sprite.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Plain {
    #[uniform(20)]
    unused: f32,
}

impl MaterialExtension2d for Plain {}

#[test]
#[ignore = "needs a device"]
fn sprite_material_reads_the_sprite() {
    let plugins = (
        Quadrille2dPlugin::default(),
        SpriteMaterialPlugin::<Faded>::default(),
        SpriteMaterialPlugin::<Plain>::default(),
    );
    let mut rig = Rig::with(32, 32, plugins);
    add_shader(
        &mut rig.app,
        &FADED,
        "
import bevy_sprite_render::mesh2d::vertex_output::VertexOutput;
import bevy_sprite_render::sprite_mesh::functions::{get_final_color, sample_sprite_texture};
struct Faded { color: vec4f, amount: f32 }
@group(constants::MATERIAL_BIND_GROUP) @binding(20) var<uniform> faded: Faded;
@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    let texel = sample_sprite_texture(mesh.uv, mesh.instance_index);
    let color = get_final_color(texel, mesh.instance_index);
    return vec4f(mix(color.rgb, faded.color.rgb, faded.amount), color.a);
}",
    );
    rig.start();
    let image = add(&mut rig, pattern());
    let material = add(
        &mut rig,
        Faded {
            color: LinearRgba::rgb(0.0, 0.0, 1.0),
            amount: 0.5,
        },
    );
    let plain = add(&mut rig, Plain { unused: 0.0 });
    let sprite = |flip_x| Sprite {
        custom_size: Some(Vec2::splat(8.0)),
        flip_x,
        color: Color::linear_rgb(0.5, 1.0, 1.0),
        ..Sprite::from_image(image.clone())
    };
    let world = rig.app.world_mut();
    world.insert_resource(ClearColor(Color::BLACK));
    world.spawn((Camera2d, Msaa::Off));
    world.spawn((
        sprite(false),
        SpriteMaterial(material.clone()),
        Transform::from_xyz(-8.0, 8.0, 0.0),
    ));
    let flipped = world.spawn((
        sprite(true),
        SpriteMaterial(material),
        Transform::from_xyz(8.0, 8.0, 0.0),
    ));
    let flipped = flipped.id();
    world.spawn((
        sprite(false),
        SpriteMaterial(plain),
        Transform::from_xyz(-8.0, -8.0, 0.0),
    ));
    let picture = rig.picture();
    assert_color(&picture, [-10, 8], [0.25, 0.0, 0.5]);
    assert_color(&picture, [-6, 8], [0.0, 0.5, 0.5]);
    assert_color(&picture, [6, 8], [0.0, 0.5, 0.5]);
    assert_color(&picture, [10, 8], [0.25, 0.0, 0.5]);
    assert_color(&picture, [-10, -8], [0.5, 0.0, 0.0]);
    let world = rig.app.world_mut();
    world.entity_mut(flipped).remove::<SpriteMaterial<Faded>>();
    let picture = rig.picture();
    assert_color(&picture, [6, 8], [0.0, 1.0, 0.0]);
    assert_color(&picture, [10, 8], [0.5, 0.0, 0.0]);
}

/// bevy's `examples/shader/shader_material_2d.rs`.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct CustomMaterial {
    #[uniform(0)]
    color: LinearRgba,
    #[texture(1)]
    #[sampler(2)]
    color_texture: Option<Handle<Image>>,
}

impl Material2d for CustomMaterial {
    fn fragment_shader() -> ShaderRef {
        "custom_material_2d.wesl".into()
    }

    fn alpha_mode(&self) -> AlphaMode2d {
        AlphaMode2d::Mask(0.5)
    }
}

/// Draws until a picture is as expected, or the attempts are used up.
fn picture_when(rig: &mut Rig, is_right: impl Fn(&Picture) -> bool) -> Picture {
    for _ in 0..500 {
        let picture = rig.picture();
        if is_right(&picture) {
            return picture;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    rig.picture()
}

/// Shader files of bevy's examples.
fn bevys_files() -> Quadrille2dPlugin {
    Quadrille2dPlugin {
        asset_folder: "../quadrille_vulkan/tests/bevy_shaders".into(),
        ..Quadrille2dPlugin::default()
    }
}

#[test]
#[ignore = "needs a device"]
fn bevys_file_of_shader_material_2d_is_drawn_unchanged() {
    let plugins = (bevys_files(), Material2dPlugin::<CustomMaterial>::default());
    let mut rig = Rig::with(32, 32, plugins);
    rig.start();
    let image = add(&mut rig, pattern());
    let mesh = add(&mut rig, Mesh::from(Rectangle::default()));
    let material = CustomMaterial {
        color: LinearRgba::rgb(0.5, 0.5, 0.5),
        color_texture: Some(image),
    };
    let material = add(&mut rig, material);
    let world = rig.app.world_mut();
    world.spawn((Camera2d, Msaa::Off));
    let place = Transform::default().with_scale(Vec3::splat(32.0));
    world.spawn((Mesh2d(mesh), MeshMaterial2d(material), place));
    let picture = picture_when(&mut rig, |it| it.at(4, 4)[0] == code(0.5));
    assert_color(&picture, [-8, 0], [0.5, 0.0, 0.0]);
    assert_color(&picture, [8, 0], [0.0, 0.5, 0.0]);
}

#[cfg(feature = "ui")]
mod nodes {
    use super::*;

    /// bevy's `examples/ui/ui_material.rs`.
    #[derive(AsBindGroup, Asset, TypePath, Clone)]
    struct CustomUiMaterial {
        #[uniform(0)]
        color: Vec4,
        #[uniform(1)]
        slider: Vec4,
        #[texture(2)]
        #[sampler(3)]
        color_texture: Handle<Image>,
        #[uniform(4)]
        border_color: Vec4,
    }

    impl UiMaterial for CustomUiMaterial {
        fn fragment_shader() -> ShaderRef {
            "custom_ui_material.wesl".into()
        }
    }

    #[test]
    #[ignore = "needs a device"]
    fn bevys_file_of_ui_material_is_drawn_unchanged() {
        let plugins = (
            bevys_files(),
            UiMaterialPlugin::<CustomUiMaterial>::default(),
        );
        let mut rig = Rig::with(32, 32, plugins);
        rig.start();
        let image = add(&mut rig, pattern());
        let material = CustomUiMaterial {
            color: Vec4::new(1.0, 0.5, 1.0, 1.0),
            slider: Vec4::splat(0.75),
            color_texture: image,
            border_color: Vec4::new(0.0, 0.0, 1.0, 1.0),
        };
        let material = add(&mut rig, material);
        let world = rig.app.world_mut();
        world.insert_resource(ClearColor(Color::BLACK));
        world.spawn((Camera2d, Msaa::Off));
        let node = Node {
            width: px(32),
            height: px(32),
            border: UiRect {
                left: px(4),
                top: px(8),
                right: px(2),
                bottom: px(2),
            },
            border_radius: BorderRadius::top_left(px(6)),
            ..Node::default()
        };
        let parent = Node {
            width: px(32),
            height: px(28),
            overflow: Overflow::clip(),
            ..Node::default()
        };
        let mut parent = world.spawn(parent);
        parent.with_child((node, MaterialNode(material.clone())));
        let picture = picture_when(&mut rig, |it| it.at(16, 2)[2] == 255);
        let at = |x: u32, y: u32| [x as i32 - 16, 16 - y as i32];
        assert_color(&picture, at(16, 2), [0.0, 0.0, 1.0]);
        assert_color(&picture, at(2, 16), [0.0, 0.0, 1.0]);
        assert_color(&picture, at(16, 7), [0.0, 0.0, 1.0]);
        assert_color(&picture, at(10, 16), [1.0, 0.0, 0.0]);
        assert_color(&picture, at(20, 16), [0.0, 0.5, 0.0]);
        assert_color(&picture, at(28, 16), [0.0; 3]);
        assert_color(&picture, at(0, 0), [0.0; 3]);
        assert_color(&picture, at(30, 27), [0.0, 0.0, 1.0]);
        assert_color(&picture, at(16, 29), [0.0; 3]);
        let built = work(&mut rig);
        assert_eq!(built, QueueWork::default());
        let mut materials = rig
            .app
            .world_mut()
            .resource_mut::<Assets<CustomUiMaterial>>();
        materials.get_mut(&material).expect("it is there").slider.x = 0.5;
        assert_eq!(work(&mut rig), QueueWork::default());
        assert_color(&rig.picture(), at(20, 16), [0.0; 3]);
    }
}
