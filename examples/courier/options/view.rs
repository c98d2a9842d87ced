//! Picture and input of the screen of settings: keyboard, mouse and gamepads lead to the same commands.

use bevy_app::{App, AppExit, Last, Plugin, Startup, Update};
use bevy_ecs::prelude::*;
use bevy_input::gamepad::GamepadButton;
use bevy_input::keyboard::KeyCode;
use bevy_input::mouse::MouseButton;
use bevy_math::IVec2;
use bevy_ui::prelude::*;
use bevy_ui::{ComputedNode, UiGlobalTransform};
use bevy_window::ExitSystems;
use examples::input::{Devices, MenuInput};
use quadrille_2d::prelude::TextColor;
use quadrille_3d::prelude::*;

use super::{Command, ROWS, Screen};
use crate::delivery::Phase;
use crate::game::Game;
use crate::hud::{GOLD, font, panel};
use crate::player::{FollowCamera, play};
use crate::settings::{DefaultSettings, Settings, SettingsFile};

/// The panel.
#[derive(Component)]
struct Panel;

/// Row of the panel, by its index.
#[derive(Component, Clone, Copy)]
struct RowNode(usize);

/// Label of a row, or its value.
#[derive(Component, Clone, Copy)]
struct Cell {
    row: usize,
    is_value: bool,
}

/// Node that opens the screen by a click.
#[derive(Component)]
pub(crate) struct OpenButton;

/// Nodes that the pointer hits, with their rows; the button has none.
type Targets = (
    &'static ComputedNode,
    &'static UiGlobalTransform,
    Option<&'static RowNode>,
);

/// Adds the screen.
pub(crate) struct OptionsPlugin;

impl Plugin for OptionsPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Screen>()
            .add_systems(Startup, spawn)
            .add_systems(Update, (operate.before(play), write.after(play)))
            .add_systems(Last, save.after(ExitSystems));
    }
}

fn spawn(mut commands: Commands) {
    let gold = TextColor(GOLD);
    let row = Node {
        width: Val::Vh(76.0),
        justify_content: JustifyContent::SpaceBetween,
        padding: UiRect::axes(Val::Vh(2.0), Val::Vh(0.4)),
        ..Node::default()
    };
    commands
        .spawn((Panel, panel(0.0, 0.82), Visibility::Hidden))
        .with_children(|panel| {
            panel.spawn((Text::new("SETTINGS"), font(7.0), gold));
            for at in 0..ROWS.len() {
                let look = BackgroundColor(Color::NONE);
                panel
                    .spawn((RowNode(at), row.clone(), look))
                    .with_children(|node| {
                        for is_value in [false, true] {
                            let cell = Cell { row: at, is_value };
                            let color = TextColor(Color::WHITE);
                            node.spawn((cell, Text::default(), font(3.1), color));
                        }
                    });
            }
            let help = "arrows, mouse or gamepad choose and change     ESCAPE  back";
            let dim = TextColor(Color::srgb(0.6, 0.68, 0.8));
            panel.spawn((Text::new(help), font(2.6), dim));
        });
}

/// Returns the commands of keys and gamepads.
fn pressed((keys, _, _, pad): &Devices, screen: &Screen, stick_step: IVec2) -> Vec<Command> {
    let opens = keys.just_pressed(KeyCode::KeyO) || pad.just_pressed(GamepadButton::North);
    if !screen.is_open() {
        return opens.then_some(Command::Open).into_iter().collect();
    }
    let closes = keys.just_pressed(KeyCode::Escape) || pad.just_pressed(GamepadButton::East);
    if screen.is_binding && !closes {
        return keys
            .get_just_pressed()
            .copied()
            .map(Command::Bind)
            .collect();
    }
    let of_key = |key, command| keys.just_pressed(key).then_some(command);
    let of_pad = |is_so: bool, command| is_so.then_some(command);
    [
        of_pad(closes || opens, Command::Close),
        of_key(KeyCode::ArrowUp, Command::Move(-1)),
        of_key(KeyCode::ArrowDown, Command::Move(1)),
        of_key(KeyCode::ArrowLeft, Command::Change(-1)),
        of_key(KeyCode::ArrowRight, Command::Change(1)),
        of_key(KeyCode::Enter, Command::Change(1)),
        of_key(KeyCode::Space, Command::Change(1)),
        of_pad(stick_step.y != 0, Command::Move(stick_step.y)),
        of_pad(stick_step.x != 0, Command::Change(stick_step.x)),
        of_pad(pad.just_pressed(GamepadButton::South), Command::Change(1)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the commands of the mouse, which is over the button or a row.
fn clicked(
    (_, buttons, ..): &Devices,
    over: Option<Option<usize>>,
    is_open: bool,
    has_moved: bool,
) -> Vec<Command> {
    let left = buttons.just_pressed(MouseButton::Left);
    let right = buttons.just_pressed(MouseButton::Right);
    match (over, is_open) {
        (Some(None), false) if left => vec![Command::Open],
        (Some(Some(row)), true) => {
            let choose = (has_moved || left || right).then_some(Command::Choose(row));
            let change = left.then_some(Command::Change(1));
            let back = right.then_some(Command::Change(-1));
            choose.into_iter().chain(change).chain(back).collect()
        }
        _ => Vec::new(),
    }
}

/// Filter of nodes that the pointer chooses.
type IsTarget = Or<(With<RowNode>, With<OpenButton>)>;

/// Opens and closes the screen, and changes settings. While it is open the game gets no input.
fn operate(
    devices: Devices,
    (game, defaults): (Res<Game>, Res<DefaultSettings>),
    camera: Single<&Camera, With<FollowCamera>>,
    targets: Query<Targets, IsTarget>,
    mut screen: ResMut<Screen>,
    mut settings: ResMut<Settings>,
    mut menu: Local<MenuInput>,
) {
    let was_open = screen.is_open();
    let pointer = *devices.2;
    let (stick_step, has_moved) = menu.update(pointer, &devices.3);
    if game.rules.phase == Phase::Play {
        // A game that begins closes it.
        if *screen != Screen::default() {
            *screen = Screen::default();
        }
        return;
    }
    let size = camera.physical_target_size();
    let at = size.and_then(|size| pointer.in_pixels(size));
    let over = at.and_then(|at| {
        targets
            .iter()
            .filter(|(.., row)| row.is_some() == was_open)
            .find(|(node, place, _)| node.contains_point(**place, at))
            .map(|(.., row)| row.map(|row| row.0))
    });
    let keyed = pressed(&devices, &screen, stick_step);
    let moused = clicked(&devices, over, was_open, has_moved);
    let (mut next, mut changed) = (screen.clone(), *settings);
    for command in keyed.into_iter().chain(moused) {
        next.obey(command, &mut changed, &defaults.0);
    }
    next.takes_input = was_open || next.is_open();
    screen.set_if_neq(next);
    settings.set_if_neq(changed);
}

fn write(
    screen: Res<Screen>,
    settings: Res<Settings>,
    mut panel: Single<&mut Visibility, With<Panel>>,
    mut rows: Query<(&RowNode, &mut BackgroundColor)>,
    mut cells: Query<(&Cell, &mut Text, &mut TextColor)>,
) {
    if !screen.is_changed() && !settings.is_changed() {
        return;
    }
    panel.set_if_neq(match screen.is_open() {
        true => Visibility::Inherited,
        false => Visibility::Hidden,
    });
    for (row, mut back) in &mut rows {
        back.set_if_neq(BackgroundColor(match screen.chosen == Some(row.0) {
            true => Color::srgba(1.0, 0.62, 0.2, 0.24),
            false => Color::NONE,
        }));
    }
    for (cell, mut text, mut color) in &mut cells {
        let [label, value] = screen.texts(cell.row, &settings);
        let shown = if cell.is_value { value } else { label };
        if text.0 != shown {
            text.0 = shown;
        }
        color.set_if_neq(TextColor(match screen.chosen == Some(cell.row) {
            true => Color::srgb(1.0, 0.92, 0.75),
            false => Color::srgb(0.82, 0.88, 0.98),
        }));
    }
}

/// Writes settings when the screen is closed, or the game is.
fn save(
    screen: Res<Screen>,
    settings: Res<Settings>,
    mut file: ResMut<SettingsFile>,
    mut exits: MessageReader<AppExit>,
) {
    if !screen.is_open() || exits.read().count() > 0 {
        file.save(&settings);
    }
}
