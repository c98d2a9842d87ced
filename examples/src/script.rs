//! Input from a file in place of a player: a game is played again, the same way, without a
//! window.
//!
//! ```text
//! # frame  what
//! 10       press left
//! 40       release left
//! 45       tap space
//! 60       pointer 0.25 0.9
//! ```
//! `tap` is a press that is released in the next frame. The pointer's place is given in fractions
//! of the window, from its top left. Keys and mouse buttons have the names that
//! [`Script::KEYS`] and [`Script::BUTTONS`] list.

use std::fmt;
use std::path::{Path, PathBuf};

use bevy_app::{App, Plugin, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_input::keyboard::KeyCode;
use bevy_input::mouse::MouseButton;
use bevy_input::{ButtonInput, InputSystems};
use bevy_math::{UVec2, Vec2};
use bevy_window::{PrimaryWindow, Window};
use quadrille::vulkan::file::read_file;

/// Where the pointer is in the window, in fractions of its size from the top left; none while it
/// is outside.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct Pointer(pub Option<[f32; 2]>);

impl Pointer {
    /// Returns the position in pixels of a window of this size.
    pub fn in_pixels(self, size: UVec2) -> Option<Vec2> {
        self.0.map(|at| Vec2::from(at) * size.as_vec2())
    }
}

/// A file of input, in the order of frames.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
pub struct Script {
    events: Vec<(u64, Event)>,
}

/// Something that a player does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A key goes down or up.
    Key(KeyCode, bool),
    /// A mouse button goes down or up.
    Button(MouseButton, bool),
    /// The pointer moves to a place in fractions of the window.
    Pointer([f32; 2]),
}

/// Error of a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScriptError {
    /// The file.
    pub path: PathBuf,
    /// The line, counted from 1; 0 if the file cannot be read.
    pub line: usize,
    /// Problem, in words.
    pub problem: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.line {
            0 => write!(formatter, "{path}: {}", self.problem),
            line => write!(formatter, "{path}:{line}: {}", self.problem),
        }
    }
}

/// The longest script, in bytes: more is a mistake.
const MOST_BYTES: u64 = 16 << 20;

impl Script {
    /// The keys by their names in scripts.
    pub const KEYS: [(&str, KeyCode); 15] = [
        ("left", KeyCode::ArrowLeft),
        ("right", KeyCode::ArrowRight),
        ("up", KeyCode::ArrowUp),
        ("down", KeyCode::ArrowDown),
        ("space", KeyCode::Space),
        ("enter", KeyCode::Enter),
        ("escape", KeyCode::Escape),
        ("a", KeyCode::KeyA),
        ("d", KeyCode::KeyD),
        ("s", KeyCode::KeyS),
        ("w", KeyCode::KeyW),
        ("b", KeyCode::KeyB),
        ("o", KeyCode::KeyO),
        ("p", KeyCode::KeyP),
        ("r", KeyCode::KeyR),
    ];

    /// The mouse buttons by their names in scripts.
    pub const BUTTONS: [(&str, MouseButton); 2] = [
        ("mouse-left", MouseButton::Left),
        ("mouse-right", MouseButton::Right),
    ];

    /// Reads a file.
    ///
    /// # Errors
    /// The file and the line of the first mistake.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let unreadable = |problem: String| ScriptError {
            path: path.to_owned(),
            line: 0,
            problem,
        };
        let bytes = read_file(path, MOST_BYTES).map_err(|error| unreadable(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))?;
        Self::parse(&text).map_err(|(line, problem)| ScriptError {
            path: path.to_owned(),
            line,
            problem,
        })
    }

    /// Reads a script's text; a mistake comes with its line.
    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut events: Vec<(u64, Event)> = Vec::new();
        let mut last = 0;
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split('#').next().unwrap_or_default();
            let mut words = text.split_whitespace();
            let Some(frame) = words.next() else { continue };
            let words: Vec<&str> = words.collect();
            let fail = |problem| (line, problem);
            let number: u64 = frame
                .parse()
                .map_err(|_| fail(format!("`{frame}` is not the number of a frame")))?;
            if number < last {
                return Err(fail(format!("frame {number} comes after frame {last}")));
            }
            last = number;
            parse_event(number, &words, &mut events).map_err(fail)?;
        }
        // A tap may release later than the events that follow it in the file.
        events.sort_by_key(|(frame, _)| *frame);
        Ok(Self { events })
    }

    /// Returns the events of a frame.
    fn at(&self, frame: u64) -> impl Iterator<Item = Event> {
        let start = self.events.partition_point(|(at, _)| *at < frame);
        let rest = &self.events[start..];
        rest.iter()
            .take_while(move |(at, _)| *at == frame)
            .map(|(_, event)| *event)
    }
}

fn parse_event(frame: u64, words: &[&str], events: &mut Vec<(u64, Event)>) -> Result<(), String> {
    match *words {
        ["press", name] => events.push((frame, switch(name, true)?)),
        ["release", name] => events.push((frame, switch(name, false)?)),
        ["tap", name] => {
            events.push((frame, switch(name, true)?));
            events.push((frame + 1, switch(name, false)?));
        }
        ["pointer", x, y] => {
            events.push((frame, Event::Pointer([fraction(x)?, fraction(y)?])));
        }
        _ => {
            return Err(format!(
                "`{}` is none of: press KEY, release KEY, tap KEY, pointer X Y",
                words.join(" ")
            ));
        }
    }
    Ok(())
}

fn switch(name: &str, down: bool) -> Result<Event, String> {
    let key = Script::KEYS.iter().find(|(known, _)| *known == name);
    let button = Script::BUTTONS.iter().find(|(known, _)| *known == name);
    match (key, button) {
        (Some((_, key)), _) => Ok(Event::Key(*key, down)),
        (_, Some((_, button))) => Ok(Event::Button(*button, down)),
        (None, None) => {
            let keys = Script::KEYS.iter().map(|(name, _)| *name);
            let all: Vec<_> = keys
                .chain(Script::BUTTONS.iter().map(|(name, _)| *name))
                .collect();
            Err(format!("`{name}` is no key; there are {}", all.join(", ")))
        }
    }
}

fn fraction(word: &str) -> Result<f32, String> {
    let number: Option<f32> = word.parse().ok();
    number
        .filter(|number| (0.0..=1.0).contains(number))
        .ok_or_else(|| format!("`{word}` is not a number from 0 to 1"))
}

/// Plays a script, or without one follows the real pointer.
#[derive(Clone, Debug, Default)]
pub struct InputScript(pub Option<Script>);

#[derive(Resource, Default)]
struct Frame(u64);

impl Plugin for InputScript {
    fn build(&self, app: &mut App) {
        app.init_resource::<Pointer>().init_resource::<Frame>();
        match &self.0 {
            Some(script) => app
                .insert_resource(script.clone())
                .add_systems(PreUpdate, play.after(InputSystems)),
            None => app.add_systems(PreUpdate, follow.after(InputSystems)),
        };
    }
}

fn play(
    script: Res<Script>,
    mut frame: ResMut<Frame>,
    mut keys: ResMut<ButtonInput<KeyCode>>,
    mut buttons: ResMut<ButtonInput<MouseButton>>,
    mut pointer: ResMut<Pointer>,
) {
    for event in script.at(frame.0) {
        match event {
            Event::Key(key, true) => keys.press(key),
            Event::Key(key, false) => keys.release(key),
            Event::Button(button, true) => buttons.press(button),
            Event::Button(button, false) => buttons.release(button),
            Event::Pointer(place) => pointer.0 = Some(place),
        }
    }
    frame.0 += 1;
}

fn follow(window: Option<Single<&Window, With<PrimaryWindow>>>, mut pointer: ResMut<Pointer>) {
    pointer.0 = window.and_then(|window| {
        let place = window.cursor_position()?;
        Some([place.x / window.width(), place.y / window.height()])
    });
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
