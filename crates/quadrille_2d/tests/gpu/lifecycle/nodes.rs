//! Parts of nodes and of the cameras that draw them.

use bevy_app::First;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_math::{Rot2, UVec2, Vec2};
use bevy_text::{
    EditableText, EditableTextGeneration, InlineBox, LineHeight, TextCursorStyle, TextEdit,
    TextReadWriteMode,
};
use bevy_ui::prelude::*;
use bevy_ui::widget::{InlineImage, NodeImageMode, TextShadow};
use bevy_ui::{
    AngularColorStop, BackgroundGradient, BorderGradient, ColorStop, ConicGradient, ContentSize,
    GlobalZIndex, Gradient, InterpolationColorSpace, LinearGradient, OuterColor,
    OverflowClipMargin, RadialGradient, RadialGradientShape, ScrollPosition, UiPosition,
    UiTransform, Val2,
};
use quadrille_2d::prelude::*;

use super::Asleep;
use super::assets::image;
use super::materials::Bar;
use super::values::{
    LineColors, Lines, atlas, begin_text, color, disable, enable, group, letters, line_colors,
    lines, look, part_of_image, point, remove_span, slicer, touch_parent, visibility, wake,
};
use super::viewports::{OF_SEEN, OF_VIEWPORT, begin_viewport};
use crate::common::Rig;
use crate::common::lifecycle::{Fixed, Library, Part, Random, part, remove, reset, touch};

/// Nodes that others are children of: their first among fixed entities, and how many.
const GROUPS: [usize; 2] = [2, 4];

/// Two cameras with a root each, a node in the first one, and a text in it.
pub(super) fn begin() -> Rig {
    let mut rig = super::rig();
    let world = rig.app.world_mut();
    let first = world.spawn((Camera2d, IsDefaultUiCamera)).id();
    let second = world.spawn((Camera2d, over(&mut Random::new(1)))).id();
    let whole = Node {
        width: Val::Percent(100.0),
        height: Val::Percent(100.0),
        ..Node::default()
    };
    let one = world
        .spawn((whole.clone(), UiTargetCamera(first), GlobalZIndex(0)))
        .id();
    let other = world
        .spawn((whole, UiTargetCamera(second), GlobalZIndex(1)))
        .id();
    let inner = world.spawn((Node::default(), ChildOf(one))).id();
    let text = (Text::new("text"), TextFont::from_font_size(10.0));
    let sized = Node {
        width: Val::Px(50.0),
        height: Val::Px(20.0),
        ..Node::default()
    };
    let text = world.spawn((text, sized, ChildOf(one))).id();
    begin_text(world, text, (Text::new(""), Visibility::Hidden));
    let (seen, viewport) = begin_viewport(world, one);
    world.insert_resource(Fixed(vec![
        first, second, one, other, inner, text, seen, viewport,
    ]));
    rig.app.add_systems(First, tell_apart);
    rig
}

/// Children, also those that queries leave out.
type AnyChild = (With<ChildOf>, Allow<Disabled>, Allow<Asleep>);

/// Orders of the stack end with the index: of equal ones the order is that of their lives, as in bevy.
fn tell_apart(mut nodes: Query<(Entity, &mut GlobalZIndex), AnyChild>) {
    for (entity, mut z) in &mut nodes {
        z.set_if_neq(GlobalZIndex((z.0 & !0xffff) | entity.index_u32() as i32));
    }
}

/// A part of an entity that is a node in any case.
macro_rules! node_part {
    ($name:literal, $remove:expr, |$world:ident, $random:ident| $value:expr) => {
        Part {
            name: $name,
            insert: |$world, entity, $random| {
                let value = $value;
                be_node($world, entity);
                $world.entity_mut(entity).insert(value);
            },
            remove: $remove,
            is_related: false,
        }
    };
}

pub(super) const OF_ENTITIES: &[Part] = &[
    node_part!("node", reset_node, |world, random| node(random)),
    node_part!("turned", reset::<UiTransform>, |world, random| turned(
        random
    )),
    node_part!("background", remove::<BackgroundColor>, |world, random| {
        BackgroundColor(color(random))
    }),
    node_part!("border", remove::<BorderColor>, |world, random| {
        border(random)
    }),
    node_part!("outline", remove_outline, |world, random| Outline {
        width: Val::Px(random.between(0.0, 4.0)),
        offset: Val::Px(random.between(-2.0, 4.0)),
        color: color(random),
    }),
    node_part!("shadow", remove::<BoxShadow>, |world, random| {
        let mut pixels = || Val::Px(random.between(-4.0, 6.0));
        let [x, y, spread, blur] = [(); 4].map(|()| pixels());
        BoxShadow::new(color(random), x, y, spread, blur)
    }),
    node_part!("outside", remove::<OuterColor>, |world, random| {
        OuterColor(color(random))
    }),
    node_part!("gradient", remove::<BackgroundGradient>, |world, random| {
        BackgroundGradient(vec![gradient(random)])
    }),
    node_part!(
        "border gradient",
        remove::<BorderGradient>,
        |world, random| BorderGradient(vec![gradient(random)])
    ),
    Part {
        name: "content",
        insert: insert_content,
        remove: remove_content,
        is_related: false,
    },
    node_part!("look", reset::<(TextColor, TextFont)>, |world, random| {
        look(random)
    }),
    node_part!("text shadow", remove::<TextShadow>, |world, random| {
        TextShadow {
            offset: Vec2::new(1.0, 2.0),
            color: color(random),
        }
    }),
    node_part!("span", remove_span, |world, random| TextSpan::new(letters(
        random
    ))),
    node_part!("lines", remove::<Lines>, |world, random| lines(random)),
    node_part!("line colors", remove::<LineColors>, |world, random| {
        line_colors(random)
    }),
    node_part!("material", remove::<MaterialNode<Bar>>, |world, random| {
        MaterialNode::<Bar>(Library::pick(world, random))
    }),
    node_part!("inline image", remove_inline_image, |world, random| {
        InlineImage {
            color: color(random),
            image: image(world, random),
            width: Some(random.pick(&[6.0, 9.0])),
            height: Some(8.0),
            flip_x: random.one_in(2),
            flip_y: random.one_in(2),
        }
    }),
    node_part!("cursor", remove::<TextCursorStyle>, |world, random| {
        TextCursorStyle {
            color: color(random),
            selection_color: color(random),
            unfocused_selection_color: color(random),
            ..TextCursorStyle::default()
        }
    }),
    node_part!("z", remove::<ZIndex>, |world, random| ZIndex(
        random.below(5) as i32 - 2
    )),
    node_part!("global z", remove::<GlobalZIndex>, |world, random| {
        GlobalZIndex((random.below(5) as i32 - 2) << 16)
    }),
    node_part!("scroll", reset::<ScrollPosition>, |world, random| {
        ScrollPosition(point(random, 4.0))
    }),
    node_part!("visibility", reset::<Visibility>, |world, random| {
        visibility(random)
    }),
    node_part!("group", to_first_group, |world, random| ChildOf(group(
        world, random, GROUPS
    ))),
    Part {
        name: "disabled",
        insert: disable::<Disabled>,
        remove: enable_node,
        is_related: false,
    },
    Part {
        name: "asleep",
        insert: disable::<Asleep>,
        remove: wake_node,
        is_related: false,
    },
];

const OF_GROUPS: &[Part] = &[
    part!("visibility", reset::<Visibility>, |world, random| {
        visibility(random)
    }),
    part!("turned", reset::<UiTransform>, |world, random| turned(
        random
    )),
    part!("background", remove::<BackgroundColor>, |world, random| {
        BackgroundColor(color(random))
    }),
];

const OF_CAMERAS: &[Part] = &[
    part!("msaa", reset::<Msaa>, |world, random| random
        .pick(&[Msaa::Off, Msaa::Sample4])),
    part!("hdr", remove::<bevy_camera::Hdr>, |world, _random| {
        bevy_camera::Hdr
    }),
];

const OF_SECOND: &[Part] = &[part!("camera", over_again, |world, random| over(random))];

pub(super) const OF_FIXED: &[&[Part]] = &[
    OF_CAMERAS,
    OF_SECOND,
    OF_GROUPS,
    OF_GROUPS,
    OF_GROUPS,
    OF_GROUPS,
    OF_SEEN,
    OF_VIEWPORT,
];

fn over(random: &mut Random) -> Camera {
    Camera {
        order: random.pick(&[1, -1]),
        is_active: !random.one_in(4),
        clear_color: random.pick(&[ClearColorConfig::None, ClearColorConfig::Default]),
        viewport: random.one_in(2).then(|| Viewport {
            physical_position: UVec2::new(random.below(50) as u32, random.below(30) as u32),
            physical_size: UVec2::new(40, 30),
            ..Viewport::default()
        }),
        ..Camera::default()
    }
}

fn over_again(world: &mut World, entity: Entity) {
    world.entity_mut(entity).insert(over(&mut Random::new(1)));
}

fn val(random: &mut Random) -> Val {
    let number = random.between(0.0, 30.0).round();
    random.pick(&[
        Val::Auto,
        Val::Px(number),
        Val::Percent(number * 2.0),
        Val::Vw(number),
        Val::VMin(number),
    ])
}

pub(super) fn node(random: &mut Random) -> Node {
    let axis = |random: &mut Random| {
        random.pick(&[
            OverflowAxis::Visible,
            OverflowAxis::Clip,
            OverflowAxis::Scroll,
        ])
    };
    Node {
        display: random.pick(&[
            Display::Flex,
            Display::Flex,
            Display::Grid,
            Display::Block,
            Display::None,
        ]),
        position_type: PositionType::Absolute,
        overflow: Overflow {
            x: axis(random),
            y: axis(random),
        },
        overflow_clip_margin: OverflowClipMargin {
            margin: random.pick(&[0.0, 2.0]),
            ..OverflowClipMargin::default()
        },
        left: val(random),
        top: val(random),
        width: val(random),
        height: val(random),
        min_width: Val::Px(random.pick(&[0.0, 8.0])),
        min_height: Val::Px(8.0),
        padding: UiRect::all(Val::Px(random.pick(&[0.0, 3.0]))),
        border: UiRect {
            left: Val::Px(random.pick(&[0.0, 3.0])),
            top: Val::Px(random.pick(&[0.0, 1.0])),
            ..UiRect::all(Val::Px(2.0))
        },
        border_radius: random.pick(&[
            BorderRadius::ZERO,
            BorderRadius::all(Val::Px(5.0)),
            BorderRadius::MAX,
        ]),
        flex_grow: random.pick(&[0.0, 1.0]),
        ..Node::default()
    }
}

fn turned(random: &mut Random) -> UiTransform {
    UiTransform {
        translation: Val2::px(random.below(9) as f32, 0.0),
        scale: random.pick(&[Vec2::ONE, Vec2::new(-1.0, 1.0), Vec2::new(1.5, 0.5)]),
        rotation: Rot2::radians(random.pick(&[0.0, 0.0, 0.4, 2.0])),
    }
}

fn border(random: &mut Random) -> BorderColor {
    BorderColor {
        left: color(random),
        ..BorderColor::all(color(random))
    }
}

fn image_node(world: &World, random: &mut Random) -> ImageNode {
    ImageNode {
        color: color(random),
        image: image(world, random),
        texture_atlas: atlas(world, random),
        flip_x: random.one_in(2),
        flip_y: random.one_in(2),
        rect: part_of_image(random),
        // Others than `Auto` are not measured: bevy keeps the size of an image that went.
        image_mode: match random.below(4) {
            0 | 1 => NodeImageMode::Stretch,
            2 => NodeImageMode::Sliced(slicer(random)),
            _ => NodeImageMode::Tiled {
                tile_x: random.one_in(2),
                tile_y: random.one_in(2),
                stretch_value: 0.5,
            },
        },
        ..ImageNode::default()
    }
}

fn gradient(random: &mut Random) -> Gradient {
    use InterpolationColorSpace as Space;
    let color_space = random.pick(&[Space::Oklaba, Space::Srgba, Space::HsvaLong]);
    let stops = [(); 3].map(|()| ColorStop::auto(color(random))).to_vec();
    match random.below(3) {
        0 => Gradient::Linear(LinearGradient {
            color_space,
            angle: random.between(0.0, 6.0),
            stops,
        }),
        1 => Gradient::Radial(RadialGradient {
            color_space,
            position: UiPosition::CENTER,
            shape: RadialGradientShape::FarthestCorner,
            stops,
        }),
        _ => Gradient::Conic(ConicGradient {
            color_space,
            start: random.unit(),
            position: UiPosition::CENTER,
            stops: [(); 3]
                .map(|()| AngularColorStop::auto(color(random)))
                .to_vec(),
        }),
    }
}

/// bevy keeps the width that an outline had.
fn remove_outline(world: &mut World, entity: Entity) {
    remove::<Outline>(world, entity);
    touch::<Node>(world, entity);
}

/// bevy keeps the size of a node's content.
fn remove_content(world: &mut World, entity: Entity) {
    remove::<(ImageNode, Text, EditableText, ContentSize)>(world, entity);
    remove::<(EditableTextGeneration, TextReadWriteMode)>(world, entity);
    reset::<ContentSize>(world, entity);
}

/// A text input, sometimes with all of its text selected, without focus.
fn input(random: &mut Random) -> EditableText {
    let mut text = EditableText::new(letters(random));
    if random.one_in(2) {
        text.queue_edit(TextEdit::SelectAll);
    }
    text
}

/// bevy gives a text input the styles that change, not those that its entity had before.
fn touch_input(world: &mut World, entity: Entity) {
    touch::<TextFont>(world, entity);
    touch::<LineHeight>(world, entity);
    touch::<TextLayout>(world, entity);
}

fn remove_inline_image(world: &mut World, entity: Entity) {
    remove::<(InlineImage, InlineBox)>(world, entity);
    touch_parent(world, entity);
}

/// Inserts a text, an image or an input: bevy has one of them measured.
fn insert_content(world: &mut World, entity: Entity, random: &mut Random) {
    be_node(world, entity);
    remove_content(world, entity);
    match random.below(5) {
        0..2 => {
            let image = image_node(world, random);
            world.entity_mut(entity).insert(image);
        }
        2..4 => {
            let text = Text::new(letters(random));
            world.entity_mut(entity).insert(text);
        }
        _ => {
            let text = input(random);
            world.entity_mut(entity).insert(text);
            touch_input(world, entity);
        }
    }
}

/// Nodes have no effect on the layout of others, where bevy keeps disabled ones.
pub(super) fn loose() -> Node {
    Node {
        position_type: PositionType::Absolute,
        ..Node::default()
    }
}

pub(super) fn reset_node(world: &mut World, entity: Entity) {
    world.entity_mut(entity).insert(loose());
}

fn be_node(world: &mut World, entity: Entity) {
    let first = world.resource::<Fixed>().0[GROUPS[0]];
    let node = (loose(), ChildOf(first));
    world.entity_mut(entity).insert_if_new(node);
}

/// One of many small nodes.
pub(super) fn insert_one_of_many(world: &mut World, entity: Entity, random: &mut Random) {
    let pixels = |random: &mut Random, most: usize| Val::Px(random.below(most) as f32);
    let node = Node {
        left: pixels(random, 90),
        top: pixels(random, 60),
        width: pixels(random, 9),
        height: pixels(random, 9),
        ..loose()
    };
    let first = world.resource::<Fixed>().0[GROUPS[0]];
    let parts = (node, BackgroundColor(color(random)), ChildOf(first));
    world.entity_mut(entity).insert(parts);
    if random.one_in(3) {
        let image = image_node(world, random);
        world.entity_mut(entity).insert(image);
    }
}

/// Roots would be drawn in the order of their lives, as in bevy.
fn to_first_group(world: &mut World, entity: Entity) {
    touch_parent(world, entity);
    let group = world.resource::<Fixed>().0[GROUPS[0]];
    world.entity_mut(entity).insert(ChildOf(group));
}

fn enable_node(world: &mut World, entity: Entity) {
    enable(world, entity);
    touch_node(world, entity);
}

fn wake_node(world: &mut World, entity: Entity) {
    wake(world, entity);
    touch_node(world, entity);
}

/// bevy gives a node the camera of its parent as it becomes a child, and the size of its content as that changes, unless
/// it is disabled: a node that has lost its text meanwhile would keep the text's size.
fn touch_node(world: &mut World, entity: Entity) {
    touch::<Node>(world, entity);
    touch::<ContentSize>(world, entity);
    touch::<Text>(world, entity);
    touch_input(world, entity);
    if let Some(parent) = world.get::<ChildOf>(entity).cloned() {
        world.entity_mut(entity).insert(parent);
    }
}
