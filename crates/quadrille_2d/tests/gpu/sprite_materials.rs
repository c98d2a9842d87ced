//! Materials of sprites, and bevy's shader files unchanged.

use bevy_math::{Vec2, Vec3, Vec4};
use quadrille_2d::Quadrille2dPlugin;
use quadrille_2d::prelude::*;

use crate::common::images::pattern;
use crate::common::{Picture, Rig};
use crate::materials::{add, add_shader, assert_color, code};

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
import bevy_sprite_render::{mesh2d::vertex_output::VertexOutput, sprite_mesh::functions as sprite_fn};
struct Faded { color: vec4f, amount: f32 }
@group(constants::MATERIAL_BIND_GROUP) @binding(20) var<uniform> faded: Faded;
@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    let texel = sprite_fn::sample_sprite_texture(mesh.uv, mesh.instance_index);
    let color = sprite_fn::get_final_color(texel, mesh.instance_index);
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
    use quadrille_2d::QueueWork;

    use super::*;
    use crate::materials::work;

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
