//! Screen of settings: what its rows do. Plain data; `options/view.rs` has picture and input.

mod view;

use std::sync::LazyLock;

use bevy_ecs::prelude::*;
use bevy_input::keyboard::KeyCode;

use crate::settings::{Action, Channel, Settings, Switch, on_or_off};

pub(crate) use view::{OpenButton, OptionsPlugin};

/// Row of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    Antialiasing,
    Switch(Switch),
    Volume(Channel),
    Key(Action),
    Defaults,
    Back,
}

/// Rows from top to bottom.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    [Row::Antialiasing]
        .into_iter()
        .chain(Switch::ALL.map(Row::Switch))
        .chain(Channel::ALL.map(Row::Volume))
        .chain(Action::ALL.map(Row::Key))
        .chain([Row::Defaults, Row::Back])
        .collect()
});

/// Something that the player does on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Open,
    Close,
    /// To another row, down by so many.
    Move(i32),
    /// To a row.
    Choose(usize),
    /// Another value of the chosen row, by so many.
    Change(i32),
    /// The key of the chosen row's action.
    Bind(KeyCode),
}

/// State of the screen.
#[derive(Resource, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Screen {
    /// The chosen row, while the screen is open.
    chosen: Option<usize>,
    /// Whether the next key becomes that of the chosen row's action.
    is_binding: bool,
    /// Whether the game gets no input in this frame.
    pub(crate) takes_input: bool,
}

impl Screen {
    /// Whether it is open.
    pub(crate) fn is_open(&self) -> bool {
        self.chosen.is_some()
    }

    fn obey(&mut self, command: Command, settings: &mut Settings, defaults: &Settings) {
        let Some(chosen) = self.chosen else {
            if command == Command::Open {
                self.chosen = Some(0);
            }
            return;
        };
        let row = ROWS[chosen];
        match (command, self.is_binding) {
            (Command::Bind(key), true) => {
                if let Row::Key(action) = row {
                    self.is_binding = !settings.bind(action, key);
                }
            }
            (Command::Close, true) => self.is_binding = false,
            (Command::Close, false) => self.chosen = None,
            (Command::Move(by), false) => {
                let next = (chosen as i32 + by).rem_euclid(ROWS.len() as i32);
                self.chosen = Some(next as usize);
            }
            (Command::Choose(at), false) => self.chosen = Some(at.min(ROWS.len() - 1)),
            (Command::Change(by), false) => self.change(row, by, settings, defaults),
            _ => {}
        }
    }

    fn change(&mut self, row: Row, by: i32, settings: &mut Settings, defaults: &Settings) {
        match row {
            Row::Antialiasing => settings.change_antialiasing(by),
            Row::Switch(switch) => settings.toggle(switch),
            Row::Volume(channel) => settings.change_volume(channel, by),
            Row::Key(_) => self.is_binding = true,
            Row::Defaults => *settings = *defaults,
            Row::Back => self.chosen = None,
        }
    }

    /// Returns label and value of a row.
    fn texts(&self, at: usize, settings: &Settings) -> [String; 2] {
        let row = ROWS[at];
        let is_chosen = self.chosen == Some(at);
        let value = match row {
            Row::Antialiasing => settings.antialiasing.name().to_uppercase(),
            Row::Switch(switch) => on_or_off(settings.has(switch)).to_owned(),
            Row::Volume(channel) => settings.volume(channel).to_string(),
            Row::Key(_) if is_chosen && self.is_binding => "press a key".to_owned(),
            Row::Key(action) => settings.key_name(action).to_uppercase(),
            Row::Defaults | Row::Back => String::new(),
        };
        let label = match row {
            Row::Antialiasing => "antialiasing".to_owned(),
            Row::Switch(switch) => switch.name().to_owned(),
            Row::Volume(channel) => format!("volume: {}", channel.name()),
            Row::Key(action) => format!("key: {}", action.name()),
            Row::Defaults => "default settings".to_owned(),
            Row::Back => "back".to_owned(),
        };
        [label, value]
    }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
