//! Parts of sprites, meshes, text, tilemaps, gizmos and their cameras.

use bevy_app::{App, PreUpdate};
use bevy_camera::primitives::Aabb;
use bevy_camera::visibility::{NoFrustumCulling, VisibilityClass};
use bevy_camera::{Hdr, ImageRenderTarget, MsaaWriteback};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::reflect::ReflectComponent;
use bevy_math::{Quat, UVec2, Vec2, Vec3};
use bevy_sprite::SpriteScalingMode;
use bevy_text::{
    ComputedTextBlock, FontHinting, LetterSpacing, LineHeight, Strikethrough, TextLayoutInfo,
    Underline,
};
use bevy_transform::components::TransformTreeChanged;
use quadrille_2d::TileOrientation;
use quadrille_2d::prelude::*;

use super::Asleep;
use super::assets::{TARGET, image, tileset};
use super::materials::MATERIAL;
use super::values::{
    LineColors, Lines, atlas, begin_text, color, disable, enable, group, layers, letters,
    line_colors, lines, look, part_of_image, point, remove_span, slicer, touch_all, touch_parent,
    visibility, wake,
};
use crate::common::Rig;
use crate::common::lifecycle::{Fixed, Library, Part, Random, part, remove, reset, touch};

/// Entities that others are children of: their first among fixed entities, and how many.
const GROUPS: [usize; 2] = [3, 3];

/// A camera that draws to an image, and two that draw to the window; groups, the last of which is a text; chunks.
pub(super) fn begin() -> Rig {
    let mut rig = super::rig();
    register(&mut rig.app);
    let world = rig.app.world_mut();
    let camera = |order| Camera {
        order,
        ..Camera::default()
    };
    let mut fixed = vec![
        world.spawn((Camera2d, camera(-1), ToImage)).id(),
        world.spawn((Camera2d, camera(0))).id(),
        world.spawn((Camera2d, second(&mut Random::new(1)))).id(),
    ];
    for at in 0..GROUPS[1] {
        let group = (Transform::default(), Visibility::default());
        let mut group = world.spawn(group);
        if at == 2 {
            group.insert((Text2d::new("text"), TextFont::from_font_size(10.0)));
        }
        fixed.push(group.id());
    }
    // bevy lays text out once a camera has sprites in sight; this one lies outside.
    let all = (Text2d::new(""), RenderLayers::from_layers(&[0, 1]));
    begin_text(world, fixed[5], (all, Transform::from_xyz(0.0, 900.0, 0.0)));
    for _ in 0..2 {
        let chunk = (Transform::default(), Visibility::default());
        fixed.push(world.spawn(chunk).id());
    }
    world.insert_resource(Fixed(fixed));
    rig.app.add_systems(PreUpdate, follow_target);
    rig
}

/// Registers all that entities may travel with, which bevy does with its feature `reflect_auto_register`.
fn register(app: &mut App) {
    app.register_type::<Transform>()
        .register_type::<Visibility>()
        .register_type::<RenderLayers>()
        .register_type::<NoFrustumCulling>()
        .register_type::<Aabb>()
        .register_type::<Sprite>()
        .register_type::<Anchor>()
        .register_type::<Mesh2d>()
        .register_type::<Text2d>()
        .register_type::<Text2dShadow>()
        .register_type::<TextColor>()
        .register_type::<TextFont>()
        .register_type::<TextBounds>()
        .register_type::<TextLayout>()
        .register_type::<TextSpan>()
        .register_type::<TextBackgroundColor>()
        .register_type::<Gizmo>()
        .register_type::<Disabled>()
        .register_type::<(Underline, Strikethrough)>()
        .register_type::<LineColors>()
        .register_type::<(GlobalTransform, TransformTreeChanged, VisibilityClass)>()
        .register_type::<(InheritedVisibility, ViewVisibility)>()
        .register_type::<(LineHeight, LetterSpacing, FontHinting)>()
        .register_type::<(TextLayoutInfo, ComputedTextBlock)>()
        .register_type_data::<Underline, ReflectComponent>()
        .register_type_data::<Strikethrough, ReflectComponent>();
}

/// Has the image of the library as target, which may be another one in each frame.
#[derive(Component)]
struct ToImage;

fn follow_target(camera: Single<&mut RenderTarget, With<ToImage>>, library: Res<Library<Image>>) {
    let image = library.at(TARGET);
    let mut target = camera.into_inner();
    if target.as_image() != Some(&image) {
        *target = RenderTarget::Image(ImageRenderTarget::from(image));
    }
}

pub(super) const OF_ENTITIES: &[Part] = &[
    part!("transform", reset::<Transform>, |world, random| transform(
        random
    )),
    part!("sprite", remove::<Sprite>, |world, random| (
        sprite(world, random),
        NoFrustumCulling
    )),
    part!("anchor", reset::<Anchor>, |world, random| random.pick(&[
        Anchor::TOP_LEFT,
        Anchor::BOTTOM_CENTER,
        Anchor(Vec2::new(0.3, -0.2)),
    ])),
    part!("mesh", remove::<Mesh2d>, |world, random| (
        Mesh2d(Library::pick(world, random)),
        NoFrustumCulling
    )),
    MATERIAL,
    part!("text", remove::<Text2d>, |world, random| (
        Text2d::new(letters(random)),
        NoFrustumCulling
    )),
    part!("look", reset::<(TextColor, TextFont)>, |world, random| {
        look(random)
    }),
    part!("bounds", reset::<TextBounds>, |world, random| TextBounds {
        width: random.one_in(2).then_some(30.0),
        height: random.one_in(2).then_some(20.0),
    }),
    part!("justify", reset::<TextLayout>, |world, random| {
        TextLayout::justify(random.pick(&[Justify::Left, Justify::Center, Justify::Right]))
    }),
    part!("shadow", remove::<Text2dShadow>, |world, random| {
        Text2dShadow {
            offset: Vec2::new(1.0, -2.0),
            color: color(random),
        }
    }),
    part!("span", remove_span, |world, random| TextSpan::new(letters(
        random
    ))),
    part!("lines", remove::<Lines>, |world, random| lines(random)),
    part!("line colors", remove::<LineColors>, |world, random| {
        line_colors(random)
    }),
    part!("gizmo", remove::<Gizmo>, |world, random| Gizmo {
        handle: Library::pick(world, random),
        line_config: line_config(random),
        ..Gizmo::default()
    }),
    part!("visibility", reset::<Visibility>, |world, random| {
        visibility(random)
    }),
    part!("layers", remove::<RenderLayers>, |world, random| layers(
        random
    )),
    Part {
        is_related: true,
        ..part!("group", leave_group, |world, random| ChildOf(group(
            world, random, GROUPS
        )))
    },
    // Last: entities that are disabled have their parts.
    DISABLED,
    ASLEEP,
];

const DISABLED: Part = Part {
    name: "disabled",
    insert: disable::<Disabled>,
    remove: enable,
    is_related: false,
};

const ASLEEP: Part = Part {
    name: "asleep",
    insert: disable::<Asleep>,
    remove: wake,
    is_related: false,
};

const OF_CHUNKS: &[Part] = &[
    part!("transform", reset::<Transform>, |world, random| transform(
        random
    )),
    part!(
        "chunk",
        remove::<(TilemapChunk, Mesh2d)>,
        |world, random| (
            TilemapChunk {
                chunk_size: random.pick(&[UVec2::new(3, 2), UVec2::new(2, 2)]),
                tile_display_size: UVec2::new(9, 8),
                tileset: tileset(world, random),
                alpha_mode: random.pick(&[AlphaMode2d::Opaque, AlphaMode2d::Blend]),
            },
            NoFrustumCulling
        )
    ),
    part!("tiles", remove::<TilemapChunkTileData>, |world, random| {
        tiles(random)
    }),
    part!("visibility", reset::<Visibility>, |world, random| {
        visibility(random)
    }),
    DISABLED,
    ASLEEP,
];

const OF_GROUPS: &[Part] = &[
    part!("transform", reset::<Transform>, |world, random| {
        Transform::from_translation(point(random, 10.0).round().extend(0.0))
    }),
    part!("visibility", reset::<Visibility>, |world, random| {
        visibility(random)
    }),
];

const OF_CAMERAS: &[Part] = &[
    part!("layers", remove::<RenderLayers>, |world, random| layers(
        random
    )),
    part!("transform", reset::<Transform>, |world, random| {
        Transform::from_translation(point(random, 10.0).round().extend(0.0))
    }),
    part!("projection", reset_projection, |world, random| {
        Projection::from(OrthographicProjection {
            scale: random.pick(&[0.5, 2.0, -1.0]),
            ..OrthographicProjection::default_2d()
        })
    }),
    part!("msaa", reset::<Msaa>, |world, random| random.pick(&[
        Msaa::Off,
        Msaa::Sample2,
        Msaa::Sample4
    ])),
    part!("hdr", remove::<Hdr>, |world, _random| Hdr),
];

/// The second camera of the window also has a viewport, and may draw over the first.
const OF_SECOND: &[Part] = &[
    part!("camera", second_again, |world, random| second(random)),
    part!("layers", remove::<RenderLayers>, |world, random| layers(
        random
    )),
    part!("msaa", reset::<Msaa>, |world, random| random
        .pick(&[Msaa::Off, Msaa::Sample4])),
];

pub(super) const OF_FIXED: &[&[Part]] = &[
    OF_CAMERAS, OF_CAMERAS, OF_SECOND, OF_GROUPS, OF_GROUPS, OF_GROUPS, OF_CHUNKS, OF_CHUNKS,
];

fn second(random: &mut Random) -> Camera {
    Camera {
        order: random.pick(&[1, 2, -3]),
        is_active: !random.one_in(4),
        clear_color: random.pick(&[
            ClearColorConfig::None,
            ClearColorConfig::Default,
            ClearColorConfig::Custom(Color::srgba(0.5, 0.1, 0.2, 0.5)),
        ]),
        viewport: random.one_in(2).then(|| Viewport {
            physical_position: UVec2::new(random.below(50) as u32, random.below(30) as u32),
            physical_size: UVec2::new(40, 30),
            ..Viewport::default()
        }),
        msaa_writeback: random.pick(&[
            MsaaWriteback::Auto,
            MsaaWriteback::Off,
            MsaaWriteback::Always,
        ]),
        ..Camera::default()
    }
}

fn second_again(world: &mut World, entity: Entity) {
    world.entity_mut(entity).insert(second(&mut Random::new(1)));
}

fn reset_projection(world: &mut World, entity: Entity) {
    let projection = Projection::from(OrthographicProjection::default_2d());
    world.entity_mut(entity).insert(projection);
}

/// Turned or scaled, but for one in two: text is to lie on pixels now and then.
fn transform(random: &mut Random) -> Transform {
    let place = point(random, 35.0)
        .round()
        .extend(random.between(-9.0, 9.0));
    let scale = [1.0, 1.0, 0.5, -1.0];
    let turned = if random.one_in(2) {
        random.between(-3.0, 3.0)
    } else {
        0.0
    };
    Transform::from_translation(place)
        .with_rotation(Quat::from_rotation_z(turned))
        .with_scale(Vec3::new(random.pick(&scale), random.pick(&scale), 1.0))
}

fn sprite(world: &World, random: &mut Random) -> Sprite {
    let image_mode = match random.below(5) {
        0 => SpriteImageMode::Scale(random.pick(&[
            SpriteScalingMode::FillCenter,
            SpriteScalingMode::FitStart,
            SpriteScalingMode::FitCenter,
        ])),
        1 => SpriteImageMode::Sliced(slicer(random)),
        2 => SpriteImageMode::Tiled {
            tile_x: random.one_in(2),
            tile_y: random.one_in(2),
            stretch_value: random.pick(&[0.5, 1.0]),
        },
        _ => SpriteImageMode::Auto,
    };
    Sprite {
        image: image(world, random),
        texture_atlas: atlas(world, random),
        color: color(random),
        flip_x: random.one_in(2),
        flip_y: random.one_in(2),
        custom_size: random.pick(&[
            None,
            Some(Vec2::new(20.0, 12.0)),
            Some(Vec2::new(9.0, 25.0)),
            Some(Vec2::new(-9.0, 5.0)),
        ]),
        rect: part_of_image(random),
        image_mode,
        alpha_mode: random.pick(&[
            SpriteAlphaMode::Blend,
            SpriteAlphaMode::Blend,
            SpriteAlphaMode::Opaque,
            SpriteAlphaMode::Mask(0.5),
        ]),
    }
}

fn tiles(random: &mut Random) -> TilemapChunkTileData {
    let count = random.pick(&[4, 6, 6, 5]);
    let tile = |_| {
        (!random.one_in(4)).then(|| TileData {
            tileset_index: random.below(4) as u16,
            color: color(random),
            visible: !random.one_in(4),
            orientation: random.pick(&[TileOrientation::Default, TileOrientation::Rotate90]),
        })
    };
    TilemapChunkTileData((0..count).map(tile).collect())
}

/// One of many small sprites and meshes.
pub(super) fn insert_one_of_many(world: &mut World, entity: Entity, random: &mut Random) {
    let place = transform(random).with_scale(Vec3::splat(0.2));
    world.entity_mut(entity).insert((place, NoFrustumCulling));
    if random.one_in(3) {
        let mesh = Mesh2d(Library::pick(world, random));
        let material = MeshMaterial2d::<ColorMaterial>(Library::pick(world, random));
        world.entity_mut(entity).insert((mesh, material));
    } else {
        let sprite = sprite(world, random);
        world.entity_mut(entity).insert(sprite);
    }
}

fn line_config(random: &mut Random) -> GizmoLineConfig {
    GizmoLineConfig {
        width: random.between(1.0, 5.0),
        style: random.pick(&[
            GizmoLineStyle::Solid,
            GizmoLineStyle::Dotted,
            GizmoLineStyle::Dashed {
                gap_scale: 2.0,
                line_scale: 3.0,
            },
        ]),
        joints: random.pick(&[
            GizmoLineJoint::None,
            GizmoLineJoint::Miter,
            GizmoLineJoint::Round(3),
        ]),
        ..GizmoLineConfig::default()
    }
}

/// bevy computes neither visibility nor place again where a child becomes none.
fn leave_group(world: &mut World, entity: Entity) {
    touch_parent(world, entity);
    remove::<ChildOf>(world, entity);
    touch_all(world, entity);
    touch::<TextSpan>(world, entity);
}
