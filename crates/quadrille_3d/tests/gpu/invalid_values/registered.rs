//! The list of components with numbers is complete, by bevy's type registry.

use std::any::TypeId;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use bevy_app::App;
use bevy_ecs::reflect::{AppTypeRegistry, ReflectComponent, ReflectResource};
use bevy_reflect::enums::VariantInfo;
use bevy_reflect::{TypeInfo, TypeRegistry};

use super::*;

/// Drawn components whose numbers are not made invalid, by the reason.
const LEFT_OUT: &[(&str, &[&str])] = &[
    (
        "not registered, and without `f32`; tags and layers may have any value",
        &[
            "bevy_camera::camera::CameraMainTextureUsages",
            "bevy_camera::camera::ManualTextureViewHandle",
            "bevy_camera::components::Hdr",
            "bevy_camera::visibility::InheritedVisibility",
            "bevy_camera::visibility::NoCpuCulling",
            "bevy_camera::visibility::NoFrustumCulling",
            "bevy_camera::visibility::VisibleEntities",
            "bevy_camera::visibility::render_layers::RenderLayers",
            "bevy_light::NotShadowCaster",
            "bevy_light::NotShadowReceiver",
            "bevy_light::ShadowFilteringMethod",
            "bevy_light::TransmittedShadowReceiver",
            "bevy_light::point_light::PointLightTexture",
            "bevy_light::spot_light::SpotLightTexture",
            "bevy_mesh::components::Mesh3d",
            "bevy_mesh::components::MeshTag",
            "bevy_mesh::skinning::SkinnedMesh",
        ],
    ),
    (
        "computed by bevy from components that are tested",
        &[
            "bevy_light::cascade::Cascades",
            "bevy_mesh::morph::MorphWeights",
            "bevy_transform::components::global_transform::GlobalTransform",
        ],
    ),
    (
        "the scale factor of an image target is not one of entities in the world",
        &["bevy_camera::camera::RenderTarget"],
    ),
    (
        "drawn by 2D",
        &[
            "bevy_camera::components::Camera2d",
            "bevy_mesh::components::Mesh2d",
        ],
    ),
];

/// Crates whose components 2D draws: `quadrille_2d/tests/hostile` makes their numbers invalid.
const CRATES_OF_2D: [&str; 4] = ["bevy_sprite", "bevy_text", "bevy_ui", "bevy_window"];

/// Adds the types of fields.
fn add_fields(info: &'static TypeInfo, open: &mut Vec<&'static TypeInfo>) {
    match info {
        TypeInfo::Struct(it) => open.extend(it.iter().filter_map(|field| field.type_info())),
        TypeInfo::TupleStruct(it) => open.extend(it.iter().filter_map(|field| field.type_info())),
        TypeInfo::Tuple(it) => open.extend(it.iter().filter_map(|field| field.type_info())),
        TypeInfo::List(it) => open.extend(it.item_info()),
        TypeInfo::Array(it) => open.extend(it.item_info()),
        TypeInfo::Enum(it) => {
            for variant in it.iter() {
                match variant {
                    VariantInfo::Struct(it) => {
                        open.extend(it.iter().filter_map(|field| field.type_info()));
                    }
                    VariantInfo::Tuple(it) => {
                        open.extend(it.iter().filter_map(|field| field.type_info()));
                    }
                    VariantInfo::Unit(_) => {}
                }
            }
        }
        _ => {}
    }
}

/// Whether a type has a field of type `f32` or `u32` at any depth.
fn has_number(info: &'static TypeInfo) -> bool {
    let numbers = [
        TypeId::of::<f32>(),
        TypeId::of::<u32>(),
        TypeId::of::<Range<f32>>(),
        TypeId::of::<RangeInclusive<f32>>(),
    ];
    let mut known = BTreeSet::new();
    let mut open = vec![info];
    while let Some(info) = open.pop() {
        if numbers.contains(&info.type_id()) {
            return true;
        }
        if known.insert(info.type_path()) {
            add_fields(info, &mut open);
        }
    }
    false
}

/// Paths of the drawn components with numbers, and of those that are not registered.
fn numbered_components(registry: &TypeRegistry) -> BTreeSet<&'static str> {
    let rows = include_str!("../../components.txt").lines();
    let drawn = rows.filter_map(|row| row.strip_prefix("drawn"));
    let drawn = drawn.map(str::trim).filter(|name| {
        let is_2d = CRATES_OF_2D.iter().any(|it| name.starts_with(it));
        let info = registry.get_with_type_path(name);
        !is_2d && info.is_none_or(|it| has_number(it.type_info()))
    });
    let ours = registry.iter().filter(|it| {
        let is_ours = it.type_info().type_path().starts_with("quadrille_3d");
        let is_component = it.data::<ReflectComponent>().is_some();
        let is_resource = it.data::<ReflectResource>().is_some();
        is_ours && is_component && !is_resource && has_number(it.type_info())
    });
    drawn
        .chain(ours.map(|it| it.type_info().type_path()))
        .collect()
}

#[test]
fn numbers_of_drawn_components_are_all_tested() {
    let mut app = App::new();
    app.insert_resource(AppTypeRegistry::default());
    app.add_plugins((
        bevy_app::TaskPoolPlugin::default(),
        Quadrille3dPlugin::default(),
        WireframePlugin {},
        AutoExposurePlugin,
        GizmoPlugin,
    ));
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let found = numbered_components(&registry);
    let tested: BTreeSet<&str> = NUMBERED.iter().map(|it| (it.name)()).collect();
    let left_out = LEFT_OUT.iter().flat_map(|(_, names)| *names).copied();
    let left_out: BTreeSet<&str> = left_out.collect();
    let known: BTreeSet<&str> = tested.union(&left_out).copied().collect();
    let missing: Vec<_> = found.difference(&known).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let gone: Vec<_> = left_out.difference(&found).collect();
    assert!(
        gone.is_empty(),
        "no drawn components with numbers: {gone:#?}"
    );
}
