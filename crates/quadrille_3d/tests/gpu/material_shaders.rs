//! Shaders of materials in all stages, by exact numbers.

#[path = "material_shaders/sources.rs"]
mod sources;

use bevy_app::App;
use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;
use wgpu_types::{BlendComponent, BlendFactor, BlendState};

use crate::common::{Rig, log};
pub(crate) use sources::MOVED;
use sources::{BASE, FRAMED, MAPPED, SHADOW, VIEWED};

/// A material type with one uniform, whose shaders are assets with these numbers; 0 for the default.
macro_rules! material {
    ($name:ident, $vertex:literal, $fragment:literal, $prepass_vertex:literal, $prepass_fragment:literal) => {
        #[derive(Asset, TypePath, AsBindGroup, Clone)]
        pub(crate) struct $name {
            #[uniform(0)]
            value: Vec4,
            alpha_mode: AlphaMode,
        }

        impl Material for $name {
            fn vertex_shader() -> ShaderRef {
                shader_ref($vertex)
            }

            fn fragment_shader() -> ShaderRef {
                shader_ref($fragment)
            }

            fn prepass_vertex_shader() -> ShaderRef {
                shader_ref($prepass_vertex)
            }

            fn prepass_fragment_shader() -> ShaderRef {
                shader_ref($prepass_fragment)
            }

            fn alpha_mode(&self) -> AlphaMode {
                self.alpha_mode
            }
        }

        impl From<Vec4> for $name {
            fn from(value: Vec4) -> Self {
                Self {
                    value,
                    alpha_mode: AlphaMode::Opaque,
                }
            }
        }
    };
}

material!(Plain, 0, 1, 0, 0);
material!(Other, 0, 1, 0, 0);
material!(Moved, 1, 1, 0, 0);
material!(MovedShadow, 0, 1, 2, 0);
material!(HoledShadow, 0, 1, 0, 2);
material!(Viewed, 0, 3, 0, 0);
material!(Mapped, 0, 4, 0, 0);
material!(Framed, 0, 7, 0, 0);
material!(Uncolored, 1, 8, 0, 0);
material!(Colored, 0, 8, 0, 0);

pub(crate) fn handle(number: u128) -> Handle<Shader> {
    Handle::Uuid(
        bevy_asset::uuid::Uuid::from_u128(0x51_0000 + number),
        std::marker::PhantomData,
    )
}

/// Makes a pipeline add color to its target, for `specialize`.
pub(crate) fn blend_by_adding(descriptor: &mut quadrille_3d::RenderPipelineDescriptor) {
    let targets = descriptor
        .fragment
        .iter_mut()
        .flat_map(|it| &mut it.targets);
    for target in targets.flatten() {
        target.blend = Some(BlendState {
            color: BlendComponent {
                dst_factor: BlendFactor::One,
                ..BlendComponent::REPLACE
            },
            alpha: BlendComponent::REPLACE,
        });
    }
}

pub(crate) fn shader_ref(number: u128) -> ShaderRef {
    match number {
        0 => ShaderRef::Default,
        number => handle(number).into(),
    }
}

/// A camera that sees the square of side 1 around the origin.
fn camera(tonemapping: Tonemapping) -> impl Bundle {
    let mut projection = OrthographicProjection::default_3d();
    projection.scale = 1.0 / 32.0;
    (
        Camera3d::default(),
        Projection::from(projection),
        Msaa::Off,
        tonemapping,
        DebandDither::Disabled,
        Transform::from_xyz(0.0, 0.0, 3.0),
    )
}

/// Adds a shader asset with this number.
pub(crate) fn add_shader(app: &mut App, number: u128, source: &'static str) {
    let shader = Shader::from_wgsl(source, format!("{number}.wgsl"));
    let mut shaders = app.world_mut().resource_mut::<Assets<Shader>>();
    shaders
        .insert(handle(number).id(), shader)
        .expect("the handle is free");
}

/// An app with a camera. `add` adds the material types and their shaders.
pub(crate) fn rig_with(tonemapping: Tonemapping, hdr: bool, add: impl FnOnce(&mut App)) -> Rig {
    let mut rig = Rig::with(32, 32, Quadrille3dPlugin::default());
    rig.app.insert_resource(ClearColor(Color::BLACK));
    add(&mut rig.app);
    rig.start();
    let mut entity = rig.app.world_mut().spawn(camera(tonemapping));
    if hdr {
        entity.insert(bevy_camera::Hdr);
    }
    rig
}

pub(crate) fn add_types(app: &mut App) {
    app.add_plugins((
        MaterialPlugin::<Plain>::default(),
        MaterialPlugin::<Other>::default(),
        MaterialPlugin::<Moved>::default(),
        MaterialPlugin::<MovedShadow>::default(),
        MaterialPlugin::<HoledShadow>::default(),
        MaterialPlugin::<Viewed>::default(),
        MaterialPlugin::<Mapped>::default(),
        MaterialPlugin::<Framed>::default(),
        MaterialPlugin::<Uncolored>::default(),
        MaterialPlugin::<Colored>::default(),
    ));
    let sources = [
        (1, MOVED),
        (2, SHADOW),
        (3, VIEWED),
        (4, MAPPED),
        (7, FRAMED),
        (8, BASE),
    ];
    for (number, source) in sources {
        add_shader(app, number, source);
    }
}

fn rig() -> Rig {
    rig_with(Tonemapping::None, false, add_types)
}

/// Spawns a square of `side` at `center`, in units of the width of the picture.
pub(crate) fn square<M: Material>(rig: &mut Rig, center: Vec3, side: f32, material: M) -> Entity {
    let world = rig.app.world_mut();
    let mesh = world.resource_mut::<Assets<Mesh>>();
    let mesh = mesh.into_inner().add(Rectangle::new(side, side));
    let material = world.resource_mut::<Assets<M>>().add(material);
    let place = Transform::from_translation(center);
    let entity = world.spawn((Mesh3d(mesh), MeshMaterial3d(material), place));
    entity.id()
}

/// sRGB code of a linear value.
fn code(linear: f32) -> u8 {
    let color = Color::linear_rgb(linear, 0.0, 0.0).to_srgba();
    (color.red * 255.0).round() as u8
}

pub(crate) fn assert_color(found: [u8; 4], wanted: [f32; 3], what: &str) {
    let wanted = wanted.map(code);
    let is_near = found.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) <= 1);
    assert!(is_near, "{what}: {found:?} for {wanted:?}");
}

/// Adds a white floor behind the caster, and a light whose shadows fall half a unit to the left.
pub(crate) fn lit_floor(rig: &mut Rig) {
    let world = rig.app.world_mut();
    let floor = world
        .resource_mut::<Assets<Mesh>>()
        .add(Rectangle::new(2.0, 2.0));
    let white = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(Color::WHITE);
    let behind = Transform::from_xyz(0.0, 0.0, -1.0);
    world.spawn((Mesh3d(floor), MeshMaterial3d(white), behind));
    let light = DirectionalLight {
        illuminance: 1500.0,
        shadow_maps_enabled: true,
        ..DirectionalLight::default()
    };
    let from = Transform::from_xyz(0.5, 0.0, 1.0).looking_at(Vec3::ZERO, Vec3::Y);
    world.spawn((light, from));
}

#[test]
#[ignore = "needs a device"]
fn vertex_shader_moves_a_mesh_and_its_shadow() {
    log::collect();
    let mut rig = rig();
    lit_floor(&mut rig);
    // Up by a quarter.
    let material = Moved::from(Vec4::new(0.0, 0.25, 0.0, 1.0));
    square(&mut rig, Vec3::new(0.25, 0.0, 0.0), 0.25, material);
    let picture = rig.picture();
    assert_color(picture.at(24, 8), [0.0, 0.25, 0.0], "the moved mesh");
    let [shadowed, bright] = [picture.at(8, 8)[0], picture.at(8, 16)[0]];
    assert!(
        shadowed + 60 < bright,
        "{shadowed} in the shadow, {bright} without"
    );
    assert!(
        picture.at(24, 16)[0] == bright,
        "the mesh is not where it was"
    );
    assert!(log::take().is_empty());
}

#[test]
#[ignore = "needs a device"]
fn vertex_colors_reach_lighting_where_meshes_have_them() {
    log::collect();
    let mut rig = rig();
    let half = Vec4::new(0.0, 0.0, 0.0, 0.5);
    // The vertex shader of the first one writes no color, as for any mesh without vertex colors.
    square(
        &mut rig,
        Vec3::new(-0.25, 0.0, 0.0),
        0.25,
        Uncolored::from(half),
    );
    let colored = square(
        &mut rig,
        Vec3::new(0.25, 0.0, 0.0),
        0.25,
        Colored::from(half),
    );
    let world = rig.app.world_mut();
    let mesh = Mesh::from(Rectangle::new(0.25, 0.25))
        .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, vec![[0.5, 1.0, 0.25, 1.0]; 4]);
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    world.entity_mut(colored).insert(Mesh3d(mesh));
    let picture = rig.picture();
    assert_color(picture.at(8, 16), [0.5; 3], "without vertex colors");
    assert_color(picture.at(24, 16), [0.25, 0.5, 0.125], "with vertex colors");
    assert!(log::take().is_empty());
}

#[test]
#[ignore = "needs a device"]
fn prepass_shaders_draw_shadows() {
    log::collect();
    let mut rig = rig();
    lit_floor(&mut rig);
    let moved = MovedShadow::from(Vec4::new(0.0, 0.25, 0.0, 0.0));
    let moved = square(&mut rig, Vec3::new(0.25, 0.0, 0.0), 0.25, moved);
    let picture = rig.picture();
    assert_color(picture.at(24, 16), [0.0, 0.25, 0.0], "the mesh itself");
    let [shadowed, bright] = [picture.at(8, 8)[0], picture.at(8, 16)[0]];
    assert!(
        shadowed + 60 < bright,
        "{shadowed} in the shadow, {bright} without"
    );
    rig.app.world_mut().despawn(moved);
    // The left half is discarded.
    let holed = HoledShadow::from(Vec4::new(0.0, 0.0, 0.0, 0.5));
    square(&mut rig, Vec3::new(0.25, 0.0, 0.0), 0.25, holed);
    let picture = rig.picture();
    let [bright, shadowed] = [picture.at(6, 16)[0], picture.at(10, 16)[0]];
    assert!(
        shadowed + 60 < bright,
        "{shadowed} in the shadow, {bright} without"
    );
    assert!(log::take().is_empty());
}

#[test]
#[ignore = "needs a device"]
fn views_and_tags_are_read_by_bevys_names() {
    let mut rig = rig();
    let entity = square(&mut rig, Vec3::ZERO, 1.0, Viewed::from(Vec4::ZERO));
    rig.app
        .world_mut()
        .entity_mut(entity)
        .insert(bevy_mesh::MeshTag::new(4));
    let picture = rig.picture();
    assert_color(picture.at(8, 8), [0.375, 0.375, 0.5], "eye, depth and tag");
    assert_color(
        picture.at(24, 8),
        [24.5 / 32.0, 0.5, 1.0],
        "viewport and time",
    );
}

#[test]
#[ignore = "needs a device"]
fn positions_in_a_viewport_begin_at_its_corner() {
    let mut rig = rig();
    let right_half = Viewport {
        physical_position: UVec2::new(16, 0),
        physical_size: UVec2::new(16, 32),
        ..Viewport::default()
    };
    let world = rig.app.world_mut();
    let mut cameras = world.query::<&mut Camera>();
    let mut camera = cameras.single_mut(world).expect("there is one camera");
    camera.viewport = Some(right_half);
    square(&mut rig, Vec3::ZERO, 1.0, Framed::from(Vec4::ZERO));
    let picture = rig.picture();
    assert_color(picture.at(24, 16), [8.5 / 16.0, 16.5 / 32.0, 0.0], "uv");
}

#[test]
#[ignore = "needs a device"]
fn multiply_without_alpha_changes_nothing() {
    let mut rig = rig();
    square(
        &mut rig,
        Vec3::new(0.0, 0.0, -0.5),
        1.0,
        Plain::from(Vec4::new(0.5, 0.25, 1.0, 1.0)),
    );
    let multiply = |value| Plain {
        value,
        alpha_mode: AlphaMode::Multiply,
    };
    square(
        &mut rig,
        Vec3::new(-0.25, 0.0, 0.0),
        0.5,
        multiply(Vec4::ZERO),
    );
    let half = multiply(Vec4::new(0.5, 0.5, 0.5, 1.0));
    square(&mut rig, Vec3::new(0.25, 0.0, 0.0), 0.5, half);
    let picture = rig.picture();
    assert_color(picture.at(8, 16), [0.5, 0.25, 1.0], "alpha 0");
    assert_color(
        picture.at(24, 16),
        [0.25, 0.125, 0.5],
        "half of each channel",
    );
}

#[test]
#[ignore = "needs a device"]
fn entity_keeps_the_material_of_another_type() {
    let mut rig = rig();
    let entity = square(
        &mut rig,
        Vec3::ZERO,
        1.0,
        Plain::from(Vec4::new(1.0, 0.0, 0.0, 1.0)),
    );
    let world = rig.app.world_mut();
    let green = Other::from(Vec4::new(0.0, 1.0, 0.0, 1.0));
    let green = world.resource_mut::<Assets<Other>>().add(green);
    rig.picture();
    let world = rig.app.world_mut();
    world.entity_mut(entity).insert(MeshMaterial3d(green));
    assert_eq!(rig.picture().at(16, 16), [0, 255, 0, 255], "the last one");
    let world = rig.app.world_mut();
    world.entity_mut(entity).remove::<MeshMaterial3d<Other>>();
    assert_eq!(
        rig.picture().at(16, 16),
        [255, 0, 0, 255],
        "the one that is left"
    );
    let world = rig.app.world_mut();
    world.entity_mut(entity).remove::<MeshMaterial3d<Plain>>();
    assert_eq!(rig.picture().at(16, 16), [0, 0, 0, 255], "none");
}

#[test]
#[ignore = "needs a device"]
fn display_transform_of_a_shader_is_that_of_standard_materials() {
    for hdr in [false, true] {
        let mut rig = rig_with(Tonemapping::TonyMcMapface, hdr, add_types);
        let color = LinearRgba::rgb(0.8, 0.3, 0.1);
        let mapped = Mapped::from(color.to_vec4());
        square(&mut rig, Vec3::new(-0.25, 0.0, 0.0), 0.5, mapped);
        let standard = StandardMaterial {
            unlit: true,
            ..StandardMaterial::from(Color::from(color))
        };
        let world = rig.app.world_mut();
        let standard = world
            .resource_mut::<Assets<StandardMaterial>>()
            .add(standard);
        let mesh = world.resource_mut::<Assets<Mesh>>();
        let mesh = mesh.into_inner().add(Rectangle::new(0.5, 0.5));
        let place = Transform::from_xyz(0.25, 0.0, 0.0);
        world.spawn((Mesh3d(mesh), MeshMaterial3d(standard), place));
        let picture = rig.picture();
        let [custom, standard] = [picture.at(8, 16), picture.at(24, 16)];
        let is_near = custom.iter().zip(standard).all(|(a, b)| a.abs_diff(b) <= 1);
        assert!(is_near, "{custom:?}, {standard:?}, Hdr: {hdr}");
        // Not the color itself.
        assert!(custom[0].abs_diff(code(0.8)) > 4, "{custom:?}");
    }
}
