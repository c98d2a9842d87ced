//! The player's hand over a board: painting, panning, zooming, pausing.

use bevy_app::{App, Plugin, Update};
use bevy_ecs::prelude::*;
use bevy_input::ButtonInput;
use bevy_input::keyboard::KeyCode;
use bevy_input::mouse::{MouseButton, MouseScrollUnit, MouseWheel};
use bevy_window::{PrimaryWindow, Window};

use crate::constants::Paint;
use crate::{Size, View};

/// Input of the player, and the view of the board.
#[derive(Resource)]
pub struct Hand {
    /// The part of the board that the window shows.
    pub view: View,
    /// Strokes painted since the last frame.
    pub strokes: Vec<Paint>,
    /// Whether the simulation stands still.
    pub paused: bool,
    /// Generations a frame.
    pub speed: u32,
    size: Size,
    last: Option<[f32; 2]>,
}

/// The most generations a frame.
pub const MAX_SPEED: u32 = 1024;

/// The widest step of the wheel, in notches; a pixel of a touchpad is a fraction of one.
const WHEEL_PIXELS: f32 = 40.0;

impl Hand {
    /// Looks at a whole board through a window of so many pixels.
    pub fn new(size: Size, window: [f32; 2], speed: u32) -> Self {
        let view = View::fit(size, window);
        Self {
            view,
            strokes: Vec::new(),
            paused: false,
            speed,
            size,
            last: None,
        }
    }

    /// A run condition: whether there are strokes to draw.
    pub fn has_painted(hand: Res<Self>) -> bool {
        !hand.strokes.is_empty()
    }

    fn paint(&mut self, from: [f32; 2], to: [f32; 2], alive: bool) {
        let cell = |point: [f32; 2]| point.map(|value| value.floor() as i32);
        self.strokes
            .push(Paint::stroke(self.size, [cell(from), cell(to)], 0, alive));
    }
}

/// Reads mouse and keyboard: the left button paints (with shift it erases), the right or middle
/// one pans, the wheel zooms, space pauses, `+` and `-` change the speed.
impl Plugin for Hand {
    fn build(&self, app: &mut App) {
        let hand = Self {
            strokes: Vec::new(),
            ..*self
        };
        app.insert_resource(hand)
            .add_systems(Update, (keys, wheel, pointer));
    }
}

fn keys(keys: Res<ButtonInput<KeyCode>>, mut hand: ResMut<Hand>) {
    hand.paused ^= keys.just_pressed(KeyCode::Space);
    if keys.any_just_pressed([KeyCode::Equal, KeyCode::NumpadAdd]) {
        hand.speed = (hand.speed * 2).min(MAX_SPEED);
    }
    if keys.any_just_pressed([KeyCode::Minus, KeyCode::NumpadSubtract]) {
        hand.speed = (hand.speed / 2).max(1);
    }
}

fn wheel(
    mut turns: MessageReader<MouseWheel>,
    window: Option<Single<&Window, With<PrimaryWindow>>>,
    mut hand: ResMut<Hand>,
) {
    let Some((pixels, cursor)) = window.as_deref().and_then(|window| pointer_in(window)) else {
        return;
    };
    for turn in turns.read() {
        let notches = match turn.unit {
            MouseScrollUnit::Line => turn.y,
            MouseScrollUnit::Pixel => turn.y / WHEEL_PIXELS,
        };
        hand.view.zoom(1.2_f32.powf(notches), cursor, pixels);
    }
}

fn pointer(
    buttons: Res<ButtonInput<MouseButton>>,
    keys: Res<ButtonInput<KeyCode>>,
    window: Option<Single<&Window, With<PrimaryWindow>>>,
    mut hand: ResMut<Hand>,
) {
    let now = window.as_deref().and_then(|window| pointer_in(window));
    let Some((pixels, cursor)) = now else {
        hand.last = None;
        return;
    };
    let last = hand.last.replace(cursor).unwrap_or(cursor);
    if buttons.pressed(MouseButton::Left) {
        let alive = !keys.any_pressed([KeyCode::ShiftLeft, KeyCode::ShiftRight]);
        let from = hand.view.cell_at(last, pixels);
        let to = hand.view.cell_at(cursor, pixels);
        hand.paint(from, to, alive);
    }
    if buttons.any_pressed([MouseButton::Right, MouseButton::Middle]) {
        hand.view.pan([cursor[0] - last[0], cursor[1] - last[1]]);
    }
}

/// The window's size and the pointer in it, in pixels.
fn pointer_in(window: &Window) -> Option<([f32; 2], [f32; 2])> {
    let size = [
        window.physical_width() as f32,
        window.physical_height() as f32,
    ];
    let cursor = window.physical_cursor_position()?;
    Some((size, [cursor.x, cursor.y]))
}
