//! Texts over the picture: score, clock, task; a pointer to the target that stays at the edge of the window.

use bevy_app::{App, Plugin, Startup, Update};
use bevy_ecs::prelude::*;
use bevy_math::Rot2;
use bevy_ui::UiTransform;
use bevy_ui::prelude::*;
use bevy_ui::widget::TextShadow;
use quadrille_2d::prelude::{FontSize, Justify, TextColor, TextFont, TextLayout};
use quadrille_3d::prelude::*;

use crate::delivery::Phase;
use crate::game::Game;
use crate::marker::{GIVE, TAKE};
use crate::player::{FollowCamera, follow};

/// Texts of the head-up display.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Score,
    Clock,
    Level,
    Task,
    Speed,
    Message,
}

/// Meters above or below the target that count as its height.
const LEVEL: f32 = 6.0;

/// Pointer to the target.
#[derive(Component)]
struct Pointer;

/// Distance to the target, beside the pointer.
#[derive(Component)]
struct Distance;

/// Components of a text of the display.
type LineParts = (
    &'static Line,
    &'static mut Text,
    &'static mut TextColor,
    &'static mut Visibility,
);

/// Components of the pointer.
type PointerParts = (
    &'static mut Node,
    &'static mut Visibility,
    &'static mut BorderColor,
    &'static mut BackgroundColor,
);

/// Components of the text that shows the distance.
type TextParts = (
    &'static mut Node,
    &'static mut Visibility,
    &'static mut Text,
);

/// Adds the head-up display.
pub(crate) struct HudPlugin;

impl Plugin for HudPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, (spawn, spawn_pointer))
            .add_systems(Update, (write, point).after(follow));
    }
}

/// Color of headings.
pub(crate) const GOLD: Color = Color::srgb(1.0, 0.72, 0.3);

/// Returns a panel over the whole picture, whose children lie below each other with this gap, in parts of the window's
/// height, and its shade of this opacity.
pub(crate) fn panel(gap: f32, opacity: f32) -> (Node, BackgroundColor) {
    let node = Node {
        position_type: PositionType::Absolute,
        width: Val::Percent(100.0),
        height: Val::Percent(100.0),
        flex_direction: FlexDirection::Column,
        align_items: AlignItems::Center,
        justify_content: JustifyContent::Center,
        row_gap: Val::Vh(gap),
        ..Node::default()
    };
    (
        node,
        BackgroundColor(Color::srgba(0.01, 0.015, 0.04, opacity)),
    )
}

/// Returns the font of a size, in parts of the window's height.
pub(crate) fn font(size: f32) -> TextFont {
    TextFont {
        font_size: FontSize::Vh(size),
        ..TextFont::default()
    }
}

/// Returns the shadow that keeps letters readable over lit windows.
pub(crate) fn shadow() -> TextShadow {
    TextShadow {
        offset: Vec2::splat(2.0),
        color: Color::srgba(0.0, 0.0, 0.02, 0.95),
    }
}

/// Returns the ground of a text, over which letters are readable in front of lit windows.
fn ground() -> BackgroundColor {
    BackgroundColor(Color::srgba(0.02, 0.04, 0.11, 0.5))
}

/// Returns the space between a text and the edge of its ground.
fn padding() -> UiRect {
    UiRect::axes(Val::Vh(1.4), Val::Vh(0.7))
}

/// Returns a node that spans the window at some distance from its top.
fn row(top: f32) -> Node {
    Node {
        position_type: PositionType::Absolute,
        top: Val::Percent(top),
        width: Val::Percent(100.0),
        justify_content: JustifyContent::Center,
        ..Node::default()
    }
}

fn spawn(mut commands: Commands) {
    let pale = Color::srgb(0.82, 0.9, 1.0);
    let rows = [
        (Line::Clock, 2.0, 6.5, Color::WHITE),
        (Line::Message, 21.0, 5.0, Color::srgb(1.0, 0.85, 0.4)),
        (Line::Task, 11.5, 3.2, pale),
    ];
    for (line, top, size, color) in rows {
        let text = (
            line,
            Text::default(),
            font(size),
            TextColor(color),
            shadow(),
            Node {
                padding: padding(),
                ..Node::default()
            },
            ground(),
        );
        commands.spawn(row(top)).with_child(text);
    }
    let corner = |left: bool, top: bool| Node {
        position_type: PositionType::Absolute,
        left: if left { Val::Percent(2.0) } else { Val::Auto },
        right: if left { Val::Auto } else { Val::Percent(2.0) },
        top: if top { Val::Percent(2.5) } else { Val::Auto },
        bottom: if top { Val::Auto } else { Val::Percent(4.0) },
        padding: padding(),
        ..Node::default()
    };
    let corners = [
        (Line::Score, corner(true, true), Justify::Left),
        (Line::Level, corner(false, true), Justify::Right),
        (Line::Speed, corner(false, false), Justify::Right),
    ];
    for (line, node, justify) in corners {
        commands.spawn((
            line,
            node,
            Text::default(),
            font(3.6),
            TextColor(pale),
            TextLayout::justify(justify),
            shadow(),
            ground(),
        ));
    }
}

/// Spawns the pointer to the target, and the distance beside it.
fn spawn_pointer(mut commands: Commands) {
    commands.spawn((
        Pointer,
        Node {
            position_type: PositionType::Absolute,
            width: Val::Vh(3.6),
            height: Val::Vh(3.6),
            border: UiRect::all(Val::Vh(0.7)),
            ..Node::default()
        },
        UiTransform::from_rotation(Rot2::degrees(45.0)),
        BorderColor::all(Color::WHITE),
        BackgroundColor(Color::NONE),
    ));
    commands.spawn((
        Distance,
        Node {
            position_type: PositionType::Absolute,
            padding: padding(),
            ..Node::default()
        },
        Text::default(),
        font(3.4),
        shadow(),
        ground(),
    ));
}

fn write(game: Res<Game>, mut lines: Query<LineParts>) {
    let rules = &game.rules;
    let is_shown = rules.phase != Phase::Title;
    for (line, mut text, mut color, mut visibility) in &mut lines {
        let shown = match (is_shown, line) {
            (false, _) => String::new(),
            (_, Line::Score) if rules.combo > 1 => {
                format!("{} points\ncombo x{}", rules.score, rules.combo)
            }
            (_, Line::Score) => format!("{} points", rules.score),
            (_, Line::Clock) => format!("{:.1}", rules.time),
            (_, Line::Level) => format!(
                "level {}\n{} of {} parcels",
                rules.level + 1,
                rules.delivered,
                rules.parcels()
            ),
            (_, Line::Task) if rules.phase != Phase::Play => String::new(),
            (_, Line::Task) if rules.is_carrying => "bring the parcel to the orange beam".into(),
            (_, Line::Task) => "take a parcel at the blue beam".into(),
            (_, Line::Speed) => format!(
                "{:.0} km/h\n{:.0} m",
                game.flight.velocity.length() * 3.6,
                game.flight.position.y
            ),
            (_, Line::Message) if rules.phase != Phase::Play => String::new(),
            (_, Line::Message) => rules.message.clone(),
        };
        // Its ground as well.
        visibility.set_if_neq(match shown.is_empty() {
            true => Visibility::Hidden,
            false => Visibility::Inherited,
        });
        if text.0 != shown {
            text.0 = shown;
        }
        if *line == Line::Clock {
            let is_late = rules.time < 10.0;
            color.set_if_neq(TextColor(match is_late {
                true => Color::srgb(1.0, 0.3, 0.25),
                false => Color::WHITE,
            }));
        }
    }
}

/// Returns the target in parts of the window from its top left, kept away from the edges, and whether it lies beyond them.
fn on_screen(camera: &Camera, place: &GlobalTransform, target: Vec3) -> (Vec2, bool) {
    let Some(ndc) = camera.world_to_ndc(place, target) else {
        return (Vec2::splat(0.5), true);
    };
    let from_eye = place.affine().inverse().transform_point3(target);
    let mut at = Vec2::new(ndc.x, -ndc.y);
    if from_eye.z > 0.0 {
        // Behind the camera the projection is mirrored; the pointer goes to the nearer side.
        at = Vec2::new(from_eye.x.signum() * 2.0, 0.2);
    }
    let shown = at.clamp(Vec2::new(-0.9, -0.62), Vec2::new(0.9, 0.56));
    ((shown + 1.0) / 2.0, shown != at)
}

/// Returns the distance to the target, and how far it lies above or below.
fn distance_text(at: Vec3, target: Vec3) -> String {
    let distance = at.distance(target);
    match target.y - at.y {
        up if up > LEVEL => format!("{distance:.0} m, {up:.0} up"),
        up if up < -LEVEL => format!("{distance:.0} m, {:.0} down", -up),
        _ => format!("{distance:.0} m"),
    }
}

fn point(
    game: Res<Game>,
    camera: Single<(&Camera, &Transform), With<FollowCamera>>,
    pointer: Single<PointerParts, With<Pointer>>,
    distance: Single<TextParts, (With<Distance>, Without<Pointer>)>,
) {
    let (camera, place) = camera.into_inner();
    let (mut node, mut visibility, mut color, mut fill) = pointer.into_inner();
    let (mut text_node, mut text_visibility, mut text) = distance.into_inner();
    let is_shown = game.rules.phase == Phase::Play;
    let shown = match is_shown {
        true => Visibility::Inherited,
        false => Visibility::Hidden,
    };
    visibility.set_if_neq(shown);
    text_visibility.set_if_neq(shown);
    if !is_shown {
        return;
    }
    let place = GlobalTransform::from(*place);
    let (at, is_beyond) = on_screen(camera, &place, game.rules.target);
    let at = 100.0 * at;
    node.left = Val::Percent(at.x - 1.0);
    node.top = Val::Percent(at.y - 1.8);
    // On the side of the pointer that has space.
    (text_node.left, text_node.right) = match at.x > 70.0 {
        true => (Val::Auto, Val::Percent(102.0 - at.x)),
        false => (Val::Percent(at.x + 2.0), Val::Auto),
    };
    text_node.top = Val::Percent(at.y - 2.6);
    let tint: Color = match game.rules.is_carrying {
        true => GIVE.into(),
        false => TAKE.into(),
    };
    color.set_if_neq(BorderColor::all(tint));
    // Filled where it shows a direction, empty around the target itself.
    fill.set_if_neq(BackgroundColor(match is_beyond {
        true => tint,
        false => Color::NONE,
    }));
    let meters = distance_text(game.flight.position, game.rules.target);
    if text.0 != meters {
        text.0 = meters;
    }
}
