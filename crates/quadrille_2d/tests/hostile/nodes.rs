//! Nodes with random values.

use bevy_ecs::prelude::*;
use bevy_math::Rot2;
use bevy_text::{EditableText, TextCursorStyle};
use bevy_ui::prelude::*;
use bevy_ui::widget::{InlineImage, NodeImageMode, TextShadow};
use bevy_ui::{
    AngularColorStop, BackgroundGradient, BorderGradient, ColorStop, ConicGradient, CornerRadius,
    GlobalZIndex, Gradient, InterpolationColorSpace, LinearGradient, OuterColor,
    OverflowClipMargin, RadialGradient, RadialGradientShape, ScrollPosition, UiPosition,
    UiTransform, Val2, VisualBox,
};
use quadrille_2d::prelude::TextColor;

use super::Bad;
use super::dice::Dice;
use super::drawn::{self, Shelf};
use super::grids;

fn val(dice: &mut Dice) -> Val {
    let number = dice.float();
    dice.pick(&[
        Val::Auto,
        Val::Px(number),
        Val::Px(number),
        Val::Percent(number),
        Val::Vw(number),
        Val::VMax(number),
        Val::Em(number),
        Val::Rem(number),
    ])
}

fn sides(dice: &mut Dice) -> UiRect {
    UiRect {
        left: val(dice),
        right: val(dice),
        top: val(dice),
        bottom: val(dice),
    }
}

fn corner(dice: &mut Dice) -> CornerRadius {
    CornerRadius {
        x: val(dice),
        y: val(dice),
    }
}

fn node(dice: &mut Dice) -> Node {
    let axis = |dice: &mut Dice| {
        dice.pick(&[
            OverflowAxis::Visible,
            OverflowAxis::Clip,
            OverflowAxis::Scroll,
        ])
    };
    let visual_box = dice.pick(&[VisualBox::BorderBox, VisualBox::ContentBox]);
    let size = if dice.flip() {
        [Val::Px(30.0), Val::Px(20.0)]
    } else {
        [val(dice), val(dice)]
    };
    let mut node = Node {
        display: dice.pick(&[Display::Flex, Display::Grid, Display::Block, Display::None]),
        position_type: dice.pick(&[PositionType::Relative, PositionType::Absolute]),
        overflow: Overflow {
            x: axis(dice),
            y: axis(dice),
        },
        scrollbar_width: dice.float(),
        overflow_clip_margin: OverflowClipMargin {
            visual_box,
            margin: dice.float(),
        },
        left: val(dice),
        right: val(dice),
        top: val(dice),
        bottom: val(dice),
        width: size[0],
        height: size[1],
        min_width: val(dice),
        min_height: val(dice),
        max_width: val(dice),
        max_height: val(dice),
        aspect_ratio: dice.maybe(Dice::float),
        margin: sides(dice),
        padding: sides(dice),
        border: sides(dice),
        border_radius: BorderRadius {
            top_left: corner(dice),
            top_right: corner(dice),
            bottom_right: corner(dice),
            bottom_left: corner(dice),
        },
        flex_grow: dice.float(),
        flex_shrink: dice.float(),
        flex_basis: val(dice),
        row_gap: val(dice),
        column_gap: val(dice),
        ..Node::default()
    };
    if dice.flip() {
        grids::add(&mut node, dice);
    }
    node
}

/// An inline image in a text.
fn inline_image(dice: &mut Dice, shelf: &mut Shelf) -> InlineImage {
    InlineImage {
        color: dice.color(),
        image: drawn::image(dice, shelf),
        width: dice.maybe(Dice::float),
        height: dice.maybe(Dice::float),
        ..InlineImage::default()
    }
}

/// An editable text.
fn edited(dice: &mut Dice) -> impl Bundle {
    let text = EditableText {
        cursor_margin: dice.vec2(),
        cursor_width: dice.float(),
        visible_lines: dice.maybe(Dice::float),
        visible_width: dice.maybe(Dice::float),
        ..EditableText::new(dice.text())
    };
    let style = TextCursorStyle {
        color: dice.color(),
        selection_color: dice.color(),
        selection_radius: dice.float(),
        ..TextCursorStyle::default()
    };
    (text, style, drawn::font(dice), drawn::spacing(dice))
}

fn turned(dice: &mut Dice) -> UiTransform {
    if dice.flip() {
        return UiTransform::from_rotation(Rot2::radians(dice.0.f32()));
    }
    UiTransform {
        translation: Val2::new(val(dice), val(dice)),
        scale: dice.vec2(),
        rotation: Rot2 {
            cos: dice.float(),
            sin: dice.float(),
        },
    }
}

fn image_node(dice: &mut Dice, shelf: &mut Shelf) -> ImageNode {
    ImageNode {
        color: dice.color(),
        image: drawn::image(dice, shelf),
        texture_atlas: dice.maybe(|dice| drawn::atlas(dice, shelf)),
        flip_x: dice.flip(),
        flip_y: dice.flip(),
        rect: dice.maybe(Dice::rect),
        image_mode: match dice.0.u8(..4) {
            0 => NodeImageMode::Stretch,
            1 => NodeImageMode::Auto,
            2 => NodeImageMode::Sliced(drawn::slicer(dice)),
            _ => NodeImageMode::Tiled {
                tile_x: dice.flip(),
                tile_y: dice.flip(),
                stretch_value: dice.float(),
            },
        },
        visual_box: dice.pick(&[VisualBox::BorderBox, VisualBox::ContentBox]),
    }
}

fn looks(dice: &mut Dice) -> impl Bundle {
    let border = BorderColor {
        left: dice.color(),
        ..BorderColor::all(dice.color())
    };
    let outline = Outline {
        width: val(dice),
        offset: val(dice),
        color: dice.color(),
    };
    let [x, y, spread, blur] = [(); 4].map(|()| val(dice));
    let shadow = BoxShadow::new(dice.color(), x, y, spread, blur);
    (BackgroundColor(dice.color()), border, outline, shadow)
}

fn gradient(dice: &mut Dice) -> Gradient {
    use InterpolationColorSpace as Space;
    let color_space = dice.pick(&[
        Space::Oklaba,
        Space::OklchaLong,
        Space::Srgba,
        Space::LinearRgba,
        Space::Hsla,
        Space::HsvaLong,
        Space::OkhslaLong,
    ]);
    let count = dice.0.usize(..4);
    let stops = (0..count).map(|_| ColorStop::new(dice.color(), val(dice)).with_hint(dice.float()));
    let stops = stops.collect();
    let position = UiPosition::new(dice.vec2(), val(dice), val(dice));
    match dice.0.u8(..3) {
        0 => Gradient::Linear(LinearGradient {
            color_space,
            angle: dice.float(),
            stops,
        }),
        1 => Gradient::Radial(RadialGradient {
            color_space,
            position,
            shape: RadialGradientShape::Ellipse(val(dice), val(dice)),
            stops,
        }),
        _ => Gradient::Conic(ConicGradient {
            color_space,
            start: dice.float(),
            position,
            stops: (0..count)
                .map(|_| AngularColorStop {
                    color: dice.color(),
                    angle: dice.maybe(Dice::float),
                    hint: dice.float(),
                })
                .collect(),
        }),
    }
}

fn gradients(dice: &mut Dice) -> impl Bundle {
    (
        BackgroundGradient(vec![gradient(dice), gradient(dice)]),
        BorderGradient(vec![gradient(dice)]),
        OuterColor(dice.color()),
    )
}

/// Spawns nested nodes for `camera` to draw.
pub(crate) fn spawn(commands: &mut Commands, dice: &mut Dice, shelf: &mut Shelf, camera: Entity) {
    let mut parent = None;
    for _ in 0..dice.0.usize(1..5) {
        let mut entity = commands.spawn((node(dice), turned(dice), looks(dice)));
        entity.insert((
            Bad,
            UiTargetCamera(camera),
            ZIndex(dice.number() as i32),
            GlobalZIndex(dice.number() as i32),
            ScrollPosition(dice.vec2()),
        ));
        match dice.0.u8(..4) {
            0 => drop(entity.insert(image_node(dice, shelf))),
            2 => drop(entity.insert(edited(dice))),
            1 => drop(entity.insert((
                Text::new(dice.text()),
                drawn::font(dice),
                drawn::spacing(dice),
                TextColor(dice.color()),
                TextShadow {
                    offset: dice.vec2(),
                    color: dice.color(),
                },
            ))),
            _ => {}
        }
        if dice.flip() {
            entity.insert(gradients(dice));
        }
        let id = entity.id();
        if dice.flip() {
            let image = inline_image(dice, shelf);
            commands.spawn((image, ChildOf(id)));
        }
        if let Some(parent) = parent.filter(|_| dice.flip()) {
            commands.entity(id).insert(ChildOf(parent));
        }
        parent = Some(id);
    }
}
