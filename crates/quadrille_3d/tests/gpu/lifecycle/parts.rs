//! Components that are added to and removed from entities and groups of entities.

use bevy_camera::visibility::{NoFrustumCulling, VisibilityRange};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_mesh::MeshTag;
use bevy_mesh::morph::{MeshMorphWeights, MorphWeights};
use bevy_mesh::skinning::SkinnedMesh;
use quadrille_3d::ForwardDecal;
use quadrille_3d::prelude::*;
use quadrille_3d::wireframe::{
    NoWireframe, Wireframe, WireframeColor, WireframeLineWidth, WireframeTopology, WireframeXray,
};

use super::assets::plain;
use super::materials::MATERIAL;
use super::{Asleep, MESHES, lights};
use crate::common::lifecycle::{Fixed, Library, Made, Part, Random, part, remove, reset, touch};

/// Entities that others are children of, or follow as joints.
pub(super) const GROUPS: usize = 3;
/// The first of them among fixed entities, behind the camera and the planet.
const FIRST_GROUP: usize = 2;

pub(super) const ENTITY_PARTS: &[Part] = &[
    part!("transform", reset::<Transform>, |world, random| transform(
        random
    )),
    part!("mesh", remove_mesh, |world, random| Mesh3d(Library::pick(
        world, random
    ))),
    MATERIAL,
    part!("visibility", reset::<Visibility>, |world, random| {
        visibility(random)
    }),
    part!("layers", remove::<RenderLayers>, |world, random| layers(
        random
    )),
    part!("no caster", remove::<NotShadowCaster>, |world, _random| {
        NotShadowCaster
    }),
    part!(
        "no receiver",
        remove::<NotShadowReceiver>,
        |world, _random| NotShadowReceiver
    ),
    part!(
        "receiver behind",
        remove::<TransmittedShadowReceiver>,
        |world, _random| { TransmittedShadowReceiver }
    ),
    part!("no culling", refresh_bounds, |world, _random| {
        NoFrustumCulling
    }),
    part!("range", remove::<VisibilityRange>, |world, random| {
        let start = random.between(0.0, 6.0);
        VisibilityRange {
            start_margin: start..start + random.between(0.0, 3.0),
            end_margin: start + 4.0..start + 6.0,
            use_aabb: false,
        }
    }),
    part!("lightmap", remove::<Lightmap>, |world, random| Lightmap {
        image: plain(world, random),
        bicubic_sampling: random.one_in(2),
        ..Lightmap::default()
    }),
    part!("tag", remove::<MeshTag>, |world, random| MeshTag::new(
        random.next() as u32
    )),
    Part {
        is_related: true,
        ..part!("group", leave_group, |world, random| ChildOf(group(
            world, random
        )))
    },
    part!("skin", remove::<SkinnedMesh>, |world, random| SkinnedMesh {
        inverse_bindposes: Library::pick(world, random),
        joints: (0..2).map(|_| group(world, random)).collect(),
    }),
    Part {
        is_related: true,
        ..part!(
            "morph weights",
            remove::<MeshMorphWeights>,
            |world, random| {
                let weights = vec![random.unit(), random.unit()];
                match random.one_in(3) {
                    true => MeshMorphWeights::Reference(group(world, random)),
                    false => MeshMorphWeights::Value { weights },
                }
            }
        )
    },
    part!("wireframe", remove::<Wireframe>, |world, _random| Wireframe),
    part!("no wireframe", remove::<NoWireframe>, |world, _random| {
        NoWireframe
    }),
    part!("wire color", remove::<WireframeColor>, |world, random| {
        WireframeColor {
            color: color(random),
        }
    }),
    part!(
        "wire width",
        remove::<WireframeLineWidth>,
        |world, random| WireframeLineWidth {
            width: random.between(0.5, 4.0),
        }
    ),
    part!(
        "wire topology",
        remove::<WireframeTopology>,
        |world, random| { random.pick(&[WireframeTopology::Triangles, WireframeTopology::Quads]) }
    ),
    part!("wire xray", remove::<WireframeXray>, |world, random| {
        WireframeXray(random.one_in(2))
    }),
    lights::DIRECTIONAL_LIGHT,
    lights::POINT_LIGHT,
    lights::SPOT_LIGHT,
    lights::RECT_LIGHT,
    lights::VOLUMETRIC_LIGHT,
    lights::REFLECTION_PROBE,
    lights::IRRADIANCE_VOLUME,
    lights::PARALLAX_CORRECTION,
    lights::FOG_VOLUME,
    lights::CLUSTERED_DECAL,
    part!("forward decal", remove_decal, |world, _random| ForwardDecal),
    part!("gizmo", remove::<Gizmo>, |world, random| Gizmo {
        handle: Library::pick(world, random),
        depth_bias: random.pick(&[0.0, -1.0, 0.1]),
        ..Gizmo::default()
    }),
    // Last: what bevy's systems leave alone while an entity is disabled is looked at again.
    part!("disabled", enable::<Disabled>, |world, _random| Disabled),
    part!("asleep", enable::<Asleep>, |world, _random| Asleep),
];

pub(super) const GROUP_PARTS: &[Part] = &[
    part!("morph weights", remove::<MorphWeights>, |world, random| {
        let weights = vec![random.unit(), random.unit()];
        MorphWeights::new(weights, None).expect("they are few")
    }),
    part!("transform", reset::<Transform>, |world, random| {
        Transform::from_xyz(random.between(-0.7, 0.7), random.between(-0.7, 0.7), 0.0)
            .with_rotation(Quat::from_rotation_y(random.between(-1.0, 1.0)))
    }),
    part!("visibility", reset::<Visibility>, |world, random| {
        visibility(random)
    }),
];

fn transform(random: &mut Random) -> Transform {
    let place = Vec3::from_array([1.0; 3].map(|most| random.between(-1.8 * most, 1.8)));
    let scale = [1.0, 1.0, 0.5, -1.0];
    Transform::from_translation(place)
        .with_rotation(Quat::from_euler(
            EulerRot::YXZ,
            random.between(-3.0, 3.0),
            random.between(-1.5, 1.5),
            random.unit(),
        ))
        .with_scale(Vec3::new(random.pick(&scale), random.pick(&scale), 1.0))
}

fn visibility(random: &mut Random) -> Visibility {
    random.pick(&[
        Visibility::Inherited,
        Visibility::Hidden,
        Visibility::Visible,
    ])
}

pub(super) fn layers(random: &mut Random) -> RenderLayers {
    match random.below(4) {
        0 => RenderLayers::layer(1),
        1 => RenderLayers::none(),
        2 => RenderLayers::layer(0),
        _ => RenderLayers::from_layers(&[0, 1, 70]),
    }
}

pub(super) fn color(random: &mut Random) -> Color {
    Color::srgb(random.unit(), random.unit(), random.unit())
}

fn group(world: &World, random: &mut Random) -> Entity {
    world.resource::<Fixed>().0[FIRST_GROUP + random.below(GROUPS)]
}

/// One of thousands: some have a mesh, a material or an image of their own.
pub(super) fn insert_one_of_many(world: &mut World, entity: Entity, random: &mut Random) {
    let mesh = if random.one_in(8) {
        let size = random.between(0.02, 0.2);
        world
            .resource_mut::<Assets<Mesh>>()
            .add(Cuboid::from_length(size))
    } else {
        Library::pick(world, random)
    };
    let material = if random.one_in(8) {
        let base_color_texture = random.one_in(4).then(|| {
            let image = Image::made(world, 0, random);
            world.resource_mut::<Assets<Image>>().add(image)
        });
        let material = StandardMaterial {
            base_color_texture,
            ..StandardMaterial::from(color(random))
        };
        world
            .resource_mut::<Assets<StandardMaterial>>()
            .add(material)
    } else {
        Library::pick(world, random)
    };
    let place = transform(random).with_scale(Vec3::splat(0.1));
    world
        .entity_mut(entity)
        .insert((Mesh3d(mesh), MeshMaterial3d(material), place));
}

/// A decal has a quad in place of the mesh.
fn remove_mesh(world: &mut World, entity: Entity) {
    remove::<Mesh3d>(world, entity);
    if world.get::<ForwardDecal>(entity).is_some() {
        remove::<ForwardDecal>(world, entity);
        world.entity_mut(entity).insert(ForwardDecal);
    }
}

/// The quad stays where the entity had no other mesh.
fn remove_decal(world: &mut World, entity: Entity) {
    remove::<ForwardDecal>(world, entity);
    let mut known = (0..MESHES).map(|slot| Library::<Mesh>::slot(world, slot));
    let mesh = world.get::<Mesh3d>(entity);
    if mesh.is_some_and(|mesh| !known.any(|it| it == mesh.0)) {
        remove::<Mesh3d>(world, entity);
    }
}

/// bevy does not compute bounds again that were left alone meanwhile.
fn refresh_bounds(world: &mut World, entity: Entity) {
    remove::<NoFrustumCulling>(world, entity);
    touch::<Mesh3d>(world, entity);
}

/// bevy computes neither visibility nor place again where a child becomes none.
fn leave_group(world: &mut World, entity: Entity) {
    remove::<ChildOf>(world, entity);
    touch::<Transform>(world, entity);
    touch::<Visibility>(world, entity);
}

fn enable<C: Component>(world: &mut World, entity: Entity) {
    remove::<C>(world, entity);
    touch::<Transform>(world, entity);
    touch::<Visibility>(world, entity);
    touch::<Mesh3d>(world, entity);
}
