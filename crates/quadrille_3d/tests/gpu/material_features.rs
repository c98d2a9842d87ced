//! Custom materials on meshes with skins, morph targets, visibility ranges, wireframes and lightmaps: as standard ones.

use bevy_camera::visibility::VisibilityRange;
use bevy_ecs::prelude::*;
use bevy_mesh::VertexAttributeValues;
use bevy_mesh::morph::{MeshMorphWeights, MorphAttributes};
use bevy_mesh::skinning::{SkinnedMesh, SkinnedMeshInverseBindposes};
use quadrille_3d::prelude::*;
use quadrille_3d::wireframe::{Wireframe, WireframeColor, WireframePlugin};

use crate::common::{Picture, Rig, log};
use crate::environment::image;
use crate::material_shaders::{MOVED, Moved, Plain, add_shader, rig_with};
use crate::material_variants::{HALVED, Halved, Unchanged};

/// Color of the shader of [`Plain`] and [`Moved`], and offset of the latter: away from the camera.
const BLUE: Vec4 = Vec4::new(0.0, 0.0, -1.0, 1.0);

/// Vertices of the mesh.
const VERTICES: usize = 4;

type Change = fn(&mut World, Entity);

/// The picture of a square of half a unit, changed.
fn drawn<M: Asset>(material: M, change: Change) -> Picture {
    let mut rig: Rig = rig_with(Tonemapping::None, false, |app| {
        app.add_plugins((
            WireframePlugin::default(),
            MaterialPlugin::<Plain>::default(),
            MaterialPlugin::<Moved>::default(),
            MaterialPlugin::<ExtendedMaterial<StandardMaterial, Halved>>::default(),
            MaterialPlugin::<ExtendedMaterial<StandardMaterial, Unchanged>>::default(),
        ));
        add_shader(app, 1, MOVED);
        add_shader(app, 6, HALVED);
    });
    let world = rig.app.world_mut();
    let mut mesh = Mesh::from(Rectangle::new(0.5, 0.5));
    let uvs = mesh.attribute(Mesh::ATTRIBUTE_UV_0).cloned();
    mesh.insert_attribute(Mesh::ATTRIBUTE_UV_1, uvs.expect("a rectangle has them"));
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let material = world.resource_mut::<Assets<M>>().add(material);
    let entity = world.spawn((Mesh3d(mesh), MeshMaterial3d(material))).id();
    change(world, entity);
    rig.picture()
}

/// Adds attributes to the mesh.
fn change_mesh(world: &mut World, entity: Entity, change: impl FnOnce(&mut Mesh)) {
    let mesh = world.get::<Mesh3d>(entity).expect("it has one").id();
    let mut meshes = world.resource_mut::<Assets<Mesh>>();
    change(&mut meshes.get_mut(mesh).expect("it is there"));
}

/// Asserts that the pictures are equal.
fn assert_equal(found: &Picture, wanted: &Picture, what: &str) {
    for (index, (found, wanted)) in found.pixels.iter().zip(&wanted.pixels).enumerate() {
        let is_near = found.iter().zip(wanted).all(|(a, b)| a.abs_diff(*b) <= 1);
        assert!(is_near, "{what}, pixel {index}: {found:?} for {wanted:?}");
    }
}

/// Asserts that a change shows, on materials with shaders of one stage, of both and of none as on a standard one.
fn assert_as_standard(change: Change) {
    log::collect();
    let blue = || StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(Color::linear_rgb(0.0, 0.0, 1.0))
    };
    let wanted = drawn(blue(), change);
    let unchanged = drawn(blue(), |_, _| {});
    let pairs = wanted.pixels.iter().zip(&unchanged.pixels);
    let different = pairs.filter(|(a, b)| a != b).count();
    assert!(different >= 20, "{different} pixels differ by the change");
    assert_equal(&drawn(Plain::from(BLUE), change), &wanted, "fragment");
    assert_equal(&drawn(Moved::from(BLUE), change), &wanted, "vertex");
    let extended = ExtendedMaterial {
        base: blue(),
        extension: Unchanged {},
    };
    assert_equal(&drawn(extended, change), &wanted, "extended");
    assert!(log::take().is_empty());
}

#[test]
#[ignore = "needs a device"]
fn custom_materials_are_skinned() {
    assert_as_standard(|world, entity| {
        change_mesh(world, entity, |mesh| {
            let joints = VertexAttributeValues::Uint16x4(vec![[0; 4]; VERTICES]);
            mesh.insert_attribute(Mesh::ATTRIBUTE_JOINT_INDEX, joints);
            let weights = vec![[1.0, 0.0, 0.0, 0.0]; VERTICES];
            mesh.insert_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT, weights);
        });
        let joint = world.spawn(Transform::from_xyz(0.25, 0.0, 0.0)).id();
        let mut binds = world.resource_mut::<Assets<SkinnedMeshInverseBindposes>>();
        let skin = SkinnedMesh {
            inverse_bindposes: binds.add(vec![Mat4::IDENTITY]),
            joints: vec![joint],
        };
        world.entity_mut(entity).insert(skin);
    });
}

#[test]
#[ignore = "needs a device"]
fn custom_materials_are_morphed() {
    assert_as_standard(|world, entity| {
        change_mesh(world, entity, |mesh| {
            let moved = MorphAttributes::from([Vec3::X, Vec3::ZERO, Vec3::ZERO]);
            mesh.set_morph_targets(vec![moved; VERTICES]);
        });
        let weights = vec![0.25];
        let weights = MeshMorphWeights::Value { weights };
        world.entity_mut(entity).insert(weights);
    });
}

#[test]
#[ignore = "needs a device"]
fn custom_materials_cross_fade_in_visibility_ranges() {
    // The camera is 3 units away: the middle of the margin.
    assert_as_standard(|world, entity| {
        world.entity_mut(entity).insert(VisibilityRange {
            start_margin: 0.0..0.0,
            end_margin: 2.0..4.0,
            use_aabb: false,
        });
    });
}

#[test]
#[ignore = "needs a device"]
fn custom_materials_have_wireframes() {
    assert_as_standard(|world, entity| {
        let color = Color::linear_rgb(1.0, 0.0, 0.0);
        let marks = (Wireframe, WireframeColor { color });
        world.entity_mut(entity).insert(marks);
    });
}

#[test]
#[ignore = "needs a device"]
fn extended_materials_have_lightmaps() {
    log::collect();
    let lit: Change = |world, entity| {
        let columns = image([4, 1, 1], |[x, ..]| [0.25 + 0.25 * x as f32; 3]);
        let lightmap = Lightmap {
            image: world.resource_mut::<Assets<Image>>().add(columns),
            uv_rect: Rect::new(0.0, 0.0, 1.0, 1.0),
            bicubic_sampling: false,
        };
        world.entity_mut(entity).insert(lightmap);
    };
    let base = || StandardMaterial {
        lightmap_exposure: 500.0,
        ..StandardMaterial::from(Color::linear_rgb(0.5, 0.25, 1.0))
    };
    let wanted = drawn(base(), lit);
    let [dark, bright] = [10, 22].map(|x| wanted.at(x, 16)[2]);
    assert!(20 < dark && dark + 40 < bright, "{dark}, {bright}");
    let unchanged = ExtendedMaterial {
        base: base(),
        extension: Unchanged {},
    };
    assert_equal(&drawn(unchanged, lit), &wanted, "without a shader");
    let whole = ExtendedMaterial {
        base: base(),
        extension: Halved { factor: 1.0 },
    };
    assert_equal(&drawn(whole, lit), &wanted, "with a shader");
    assert!(log::take().is_empty());
}
