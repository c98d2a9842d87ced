use std::collections::BTreeSet;

use bevy_camera::{
    ClearColorConfig, ImageRenderTarget, MainPassResolutionOverride, MsaaWriteback, Projection,
    RenderTarget, RenderTargetInfo, SubCameraView, Viewport,
};
use bevy_reflect::enums::VariantInfo;
use bevy_reflect::{TypeInfo, Typed};

use super::*;

/// `Type.field` of structs, `Type::Variant` and `Type::Variant.field` of enums.
fn fields<T: Typed>() -> Vec<String> {
    let info = T::type_info();
    let name = info.type_path_table().short_path();
    match info {
        TypeInfo::Struct(info) => (info.iter())
            .map(|field| format!("{name}.{}", field.name()))
            .collect(),
        TypeInfo::TupleStruct(info) => (info.iter())
            .map(|field| format!("{name}.{}", field.index()))
            .collect(),
        TypeInfo::Enum(info) => info.iter().flat_map(|it| variant(name, it)).collect(),
        _ => panic!("{name} has no fields"),
    }
}

fn variant(name: &str, variant: &VariantInfo) -> Vec<String> {
    let name = format!("{name}::{}", variant.name());
    match variant {
        VariantInfo::Struct(info) => (info.iter())
            .map(|field| format!("{name}.{}", field.name()))
            .collect(),
        VariantInfo::Tuple(info) => (info.iter())
            .map(|field| format!("{name}.{}", field.index()))
            .collect(),
        VariantInfo::Unit(_) => vec![name],
    }
}

/// Fields in the table.
fn table_fields() -> impl Iterator<Item = &'static str> {
    let table = include_str!("../../../tests/camera_fields.txt");
    let rows = table.lines().filter(|row| !row.starts_with('#'));
    rows.filter_map(|row| row.split_whitespace().next())
}

#[test]
fn camera_fields_table_is_complete() {
    let all = [
        fields::<Camera>(),
        fields::<Viewport>(),
        fields::<SubCameraView>(),
        fields::<RenderTargetInfo>(),
        fields::<CameraOutputMode>(),
        fields::<MsaaWriteback>(),
        fields::<ClearColorConfig>(),
        fields::<RenderTarget>(),
        fields::<ImageRenderTarget>(),
        fields::<Camera3d>(),
        fields::<Camera3dDepthLoadOp>(),
        fields::<CompositingSpace>(),
        fields::<MainPassResolutionOverride>(),
        fields::<Projection>(),
    ];
    let bevys: BTreeSet<String> = all.into_iter().flatten().collect();
    let ours: BTreeSet<String> = table_fields().map(str::to_owned).collect();
    let difference: Vec<_> = bevys.symmetric_difference(&ours).collect();
    assert!(difference.is_empty(), "{difference:#?}");
}

/// Fields of a camera that are warned about.
fn unsupported(bundle: impl Bundle) -> Vec<&'static str> {
    let mut world = World::new();
    let camera = world.spawn((Camera::default(), bundle)).id();
    let mut query = world.query::<CameraSettingsQuery>();
    let settings = query.get(&world, camera).expect("it is a camera");
    let fields = settings.unsupported().into_iter().flatten();
    fields.map(|(field, ..)| field).collect()
}

#[test]
fn unsupported_camera_fields_are_warned() {
    assert!(unsupported(Camera3d::default()).is_empty());
    let load = Camera3d {
        depth_load_op: Camera3dDepthLoadOp::Load,
        ..Camera3d::default()
    };
    assert_eq!(unsupported(load), ["Camera3d::depth_load_op"]);
    let far = Camera3d {
        depth_load_op: Camera3dDepthLoadOp::Clear(f32::NAN),
        ..Camera3d::default()
    };
    assert_eq!(unsupported(far), ["Camera3d::depth_load_op"]);
    let clears = Camera3d {
        depth_load_op: Camera3dDepthLoadOp::Clear(0.5),
        ..Camera3d::default()
    };
    assert!(unsupported(clears).is_empty());
    assert_eq!(unsupported(CompositingSpace::Oklab), ["CompositingSpace"]);
    assert!(unsupported(CompositingSpace::Linear).is_empty());
    let camera = Camera {
        viewport: Some(Viewport {
            depth: 0.0..0.5,
            ..Viewport::default()
        }),
        output_mode: CameraOutputMode::Write {
            blend_state: Some(wgpu_types::BlendState::REPLACE),
            clear_color: ClearColorConfig::Default,
        },
        ..Camera::default()
    };
    let fields = ["CameraOutputMode::Write::blend_state", "Viewport::depth"];
    let mut world = World::new();
    let camera = world.spawn(camera).id();
    let mut query = world.query::<CameraSettingsQuery>();
    let settings = query.get(&world, camera).expect("it is a camera");
    let found = settings.unsupported().into_iter().flatten();
    assert!(found.map(|(field, ..)| field).eq(fields));
}
