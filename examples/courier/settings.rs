//! Settings of the player: effects of the picture, and keys; and their file.

use std::path::{Path, PathBuf};

use bevy_ecs::prelude::*;
use bevy_input::keyboard::KeyCode;
use examples::player_file::{read_text, warn};
use quadrille::vulkan::file::write_file;

use crate::quality::Quality;

/// First line of the file. Files of other versions are a message, and defaults.
const HEAD: &str = "courier settings 1";

/// Antialiasing of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Antialiasing {
    Off,
    Fxaa,
    Smaa,
    Taa,
    /// Antialiasing with fewer pixels.
    Upscaling,
}

impl Antialiasing {
    const ALL: [Self; 5] = [
        Self::Off,
        Self::Fxaa,
        Self::Smaa,
        Self::Taa,
        Self::Upscaling,
    ];

    /// Its name in the file and on the screen.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Fxaa => "fxaa",
            Self::Smaa => "smaa",
            Self::Taa => "taa",
            Self::Upscaling => "upscaling",
        }
    }
}

/// Effects that are on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    Bloom,
    Fog,
    Occlusion,
    Reflections,
    MotionBlur,
    Sharpening,
    Vignette,
}

impl Switch {
    pub(crate) const ALL: [Self; 7] = [
        Self::Bloom,
        Self::Fog,
        Self::Occlusion,
        Self::Reflections,
        Self::MotionBlur,
        Self::Sharpening,
        Self::Vignette,
    ];

    /// Its name on the screen; in the file `-` stands for each blank.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bloom => "bloom",
            Self::Fog => "fog",
            Self::Occlusion => "ambient occlusion",
            Self::Reflections => "reflections",
            Self::MotionBlur => "motion blur",
            Self::Sharpening => "sharpening",
            Self::Vignette => "vignette",
        }
    }
}

/// Volumes that the player chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    Sounds,
    Music,
}

impl Channel {
    pub(crate) const ALL: [Self; 2] = [Self::Sounds, Self::Music];

    /// Its name in the file and on the screen.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sounds => "sounds",
            Self::Music => "music",
        }
    }
}

/// Loudest value of a volume.
const LOUDEST: u8 = 10;

/// Actions with a key that the player chooses. The arrow keys steer in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Speed,
    Brakes,
    Left,
    Right,
    Climb,
    Sink,
}

impl Action {
    pub(crate) const ALL: [Self; 6] = [
        Self::Speed,
        Self::Brakes,
        Self::Left,
        Self::Right,
        Self::Climb,
        Self::Sink,
    ];

    /// Its name in the file and on the screen.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::Brakes => "brakes",
            Self::Left => "left",
            Self::Right => "right",
            Self::Climb => "climb",
            Self::Sink => "sink",
        }
    }
}

/// Keys that an action may have, by their names. Those of menus, and M, which mutes, are not among them.
const KEYS: [(&str, KeyCode); 26] = [
    ("a", KeyCode::KeyA),
    ("b", KeyCode::KeyB),
    ("c", KeyCode::KeyC),
    ("d", KeyCode::KeyD),
    ("e", KeyCode::KeyE),
    ("f", KeyCode::KeyF),
    ("g", KeyCode::KeyG),
    ("h", KeyCode::KeyH),
    ("i", KeyCode::KeyI),
    ("j", KeyCode::KeyJ),
    ("k", KeyCode::KeyK),
    ("l", KeyCode::KeyL),
    ("n", KeyCode::KeyN),
    ("q", KeyCode::KeyQ),
    ("s", KeyCode::KeyS),
    ("t", KeyCode::KeyT),
    ("u", KeyCode::KeyU),
    ("v", KeyCode::KeyV),
    ("w", KeyCode::KeyW),
    ("x", KeyCode::KeyX),
    ("y", KeyCode::KeyY),
    ("z", KeyCode::KeyZ),
    ("space", KeyCode::Space),
    ("shift", KeyCode::ShiftLeft),
    ("control", KeyCode::ControlLeft),
    ("right-shift", KeyCode::ShiftRight),
];

/// Settings of the player.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Antialiasing of the picture.
    pub(crate) antialiasing: Antialiasing,
    /// Volumes from 0 to 10, in the order of [`Channel::ALL`].
    pub(crate) volumes: [u8; Channel::ALL.len()],
    switches: [bool; Switch::ALL.len()],
    keys: [KeyCode; Action::ALL.len()],
}

impl Settings {
    /// Returns the settings of a player who has changed none, on a software device or a GPU.
    pub(crate) fn of_quality(quality: Quality, is_software: bool) -> Self {
        let is_high = quality == Quality::High;
        let reflections = quality.reflections(is_software);
        Self {
            antialiasing: match quality {
                Quality::Low | Quality::Medium => Antialiasing::Fxaa,
                Quality::High => Antialiasing::Taa,
            },
            volumes: [8, 8],
            // In the order of `Switch::ALL`.
            switches: [true, true, is_high, reflections, false, is_high, false],
            keys: [
                KeyCode::KeyW,
                KeyCode::KeyS,
                KeyCode::KeyA,
                KeyCode::KeyD,
                KeyCode::Space,
                KeyCode::ShiftLeft,
            ],
        }
    }

    /// Whether an effect is on.
    pub(crate) fn has(&self, switch: Switch) -> bool {
        self.switches[switch as usize]
    }

    /// Turns an effect on or off.
    pub(crate) fn toggle(&mut self, switch: Switch) {
        self.switches[switch as usize] ^= true;
    }

    /// Returns a volume from 0 to 10.
    pub(crate) fn volume(&self, channel: Channel) -> u8 {
        self.volumes[channel as usize]
    }

    /// Changes a volume by so many tenths.
    pub(crate) fn change_volume(&mut self, channel: Channel, by: i32) {
        let volume = &mut self.volumes[channel as usize];
        *volume = (i32::from(*volume) + by).clamp(0, LOUDEST.into()) as u8;
    }

    /// Goes on to another antialiasing.
    pub(crate) fn change_antialiasing(&mut self, by: i32) {
        let all = Antialiasing::ALL;
        let at = (self.antialiasing as i32 + by).rem_euclid(all.len() as i32);
        self.antialiasing = all[at as usize];
    }

    /// Returns the key of an action.
    pub(crate) fn key(&self, action: Action) -> KeyCode {
        self.keys[action as usize]
    }

    /// Returns the name of an action's key.
    pub(crate) fn key_name(&self, action: Action) -> &'static str {
        let key = self.key(action);
        let known = KEYS.iter().find(|(_, it)| *it == key);
        known.map_or("none", |(name, _)| name)
    }

    /// Gives an action a key; the action that had it gets the old one. Returns false for a key that no action may have.
    pub(crate) fn bind(&mut self, action: Action, key: KeyCode) -> bool {
        if !KEYS.iter().any(|(_, it)| *it == key) {
            return false;
        }
        let old = self.key(action);
        if let Some(other) = self.keys.iter_mut().find(|it| **it == key) {
            *other = old;
        }
        self.keys[action as usize] = key;
        true
    }

    /// Reads the settings of a file. There are defaults without a file; a broken one is a warning, and defaults.
    pub(crate) fn load(path: &Path, defaults: Self) -> Self {
        read_text(path)
            .and_then(|text| text.map_or(Ok(defaults), |text| defaults.parse(&text)))
            .unwrap_or_else(|problem| {
                warn(path, format!("{problem}; settings are the default ones"));
                defaults
            })
    }

    /// Returns these settings with the changes of a text.
    fn parse(mut self, text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            return Err(format!("its first line is not `{HEAD}`"));
        }
        for line in lines {
            let (name, value) = line.split_once(' ').unwrap_or((line, ""));
            self.set(name, value)
                .ok_or_else(|| format!("`{line}` is no setting"))?;
        }
        let is_twice = |(at, key): (usize, &KeyCode)| self.keys[..at].contains(key);
        match self.keys.iter().enumerate().any(is_twice) {
            true => Err("one key has two actions".to_owned()),
            false => Ok(self),
        }
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        if name == "antialiasing" {
            let known = Antialiasing::ALL.into_iter();
            self.antialiasing = known.into_iter().find(|it| it.name() == value)?;
        } else if let Some(channel) = Channel::ALL.into_iter().find(|it| it.name() == name) {
            let volume = value.parse().ok().filter(|it| *it <= LOUDEST)?;
            self.volumes[channel as usize] = volume;
        } else if let Some(action) = name.strip_prefix("key-") {
            let action = Action::ALL.into_iter().find(|it| it.name() == action)?;
            let (_, key) = KEYS.iter().find(|(it, _)| *it == value)?;
            self.keys[action as usize] = *key;
        } else {
            let switch = Switch::ALL.into_iter().find(|it| file_name(*it) == name)?;
            self.switches[switch as usize] = match value {
                "on" => true,
                "off" => false,
                _ => return None,
            };
        }
        Some(())
    }

    fn text(&self) -> String {
        let switch = |it: Switch| format!("{} {}\n", file_name(it), on_or_off(self.has(it)));
        let key = |it: Action| format!("key-{} {}\n", it.name(), self.key_name(it));
        let switches: String = Switch::ALL.into_iter().map(switch).collect();
        let keys: String = Action::ALL.into_iter().map(key).collect();
        let volume = |it: Channel| format!("{} {}\n", it.name(), self.volume(it));
        let volumes: String = Channel::ALL.into_iter().map(volume).collect();
        let antialiasing = self.antialiasing.name();
        format!("{HEAD}\nantialiasing {antialiasing}\n{switches}{volumes}{keys}")
    }
}

/// Returns the word of a switch.
pub(crate) fn on_or_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

fn file_name(switch: Switch) -> String {
    switch.name().replace(' ', "-")
}

/// Settings of a player who has changed none.
#[derive(Resource, Clone, Copy, Debug)]
pub(crate) struct DefaultSettings(pub(crate) Settings);

/// File of the settings, and what it holds; `None` reads and writes nothing.
#[derive(Resource, Clone, Debug)]
pub(crate) struct SettingsFile {
    /// Path of the file.
    pub(crate) path: Option<PathBuf>,
    /// Settings that were read or written last.
    pub(crate) saved: Settings,
}

impl SettingsFile {
    /// Writes settings that have changed, beside the old file, which is then replaced. A file that cannot be written is an
    /// error in the log.
    pub(crate) fn save(&mut self, settings: &Settings) {
        if self.saved == *settings {
            return;
        }
        self.saved = *settings;
        let Some(path) = &self.path else { return };
        if let Err(problem) = write_file(path, settings.text().as_bytes()) {
            bevy_log::error!("cannot write settings to {}: {problem}", path.display());
        }
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
